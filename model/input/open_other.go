//go:build !unix

package input

import "os"

func open(name string) (*os.File, error) { return os.Open(name) }
