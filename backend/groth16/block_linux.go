package groth16

import "golang.org/x/sys/unix"

// withoutHugePages makes residence exact. Neighbouring blocks are one mapping to the kernel, so a huge page could
// span two of them, be resident before it is written, and stay charged to the cgroup after one of them is gone.
// A kernel built without huge pages refuses the advice and needs none.
func withoutHugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) }
