//go:build !unix

package groth16

import (
	"errors"
	"os"
)

func tryLock(*os.File) error {
	return errors.New("the cache needs file locks, which this build has for Linux and other Unix systems only")
}
