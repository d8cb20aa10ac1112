//go:build unix && !linux

package groth16

// withoutHugePages has nothing to do where the system makes no huge pages by itself.
func withoutHugePages([]byte) {}
