package input

import (
	"errors"
	"fmt"
	"os"
)

// Create makes a file for writing, or empties the one that is there. Until it is closed it is locked against others who
// would do the same. A named pipe from which nobody reads is an error.
func Create(name string) (*os.File, error) {
	f, err := create(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		if err = Lock(f); err == nil {
			err = f.Truncate(0)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Lock locks a file that is open for writing until it is closed, or says that another program writes it. Where files
// cannot be locked it does nothing.
func Lock(f *os.File) error {
	if locked(f) {
		return fmt.Errorf("%s is being written by another program: name another file, or wait for its end", f.Name())
	}
	return nil
}
