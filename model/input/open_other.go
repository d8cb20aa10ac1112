//go:build !unix

package input

import "os"

func open(name string) (*os.File, error) { return os.Open(name) }

func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
}

func locked(*os.File) bool { return false }
