//go:build unix

package groth16

import "golang.org/x/sys/unix"

func mapMemory(size int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		withoutHugePages(b)
	}
	return b, err
}

func unmapMemory(b []byte) error { return unix.Munmap(b) }
