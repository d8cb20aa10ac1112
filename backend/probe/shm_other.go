//go:build !linux

package probe

import "errors"

// sharedLimits is an error: /dev/shm is measured on Linux only.
func (r Root) sharedLimits(int) (Limits, error) {
	return nil, errors.New("/dev/shm is measured on Linux only")
}
