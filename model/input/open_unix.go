//go:build unix

package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// open opens without waiting, and reads with it.
func open(name string) (*os.File, error) {
	return opened(os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// create opens or makes a file to write to, without waiting, and writes with it.
func create(name string) (*os.File, error) {
	f, err := opened(os.OpenFile(name, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o666))
	if info, statErr := os.Stat(name); errors.Is(err, syscall.ENXIO) && statErr == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		err = fmt.Errorf("%s is a pipe from which nobody reads: name a file, or begin to read first", name)
	}
	return f, err
}

// opened has a file that was opened without waiting wait from now on.
func opened(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(int(f.Fd()), false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// locked reports whether a file could not be locked because another has locked it.
func locked(f *os.File) bool {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
