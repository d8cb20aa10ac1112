package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"

	"golang.org/x/sys/unix"

	"headroom/model"
)

// sharedLimits returns the size of the file system at /dev/shm; where there is none nothing can be shared.
func (r Root) sharedLimits(int) (Limits, error) {
	limit := Limit{Of: SharedMemory, Name: "/dev/shm", File: r.path("dev/shm")}
	var s unix.Statfs_t
	err := unix.Statfs(limit.File, &s)
	if errors.Is(err, fs.ErrNotExist) {
		limit.Name = "/dev/shm, which is not there"
		return Limits{limit}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", limit.File, err)
	}
	limit.Bytes, limit.Used = capacity(s.Blocks, s.Bfree, uint64(s.Bsize))
	return Limits{limit}, nil
}

// capacity returns the size and the used part of a file system from its counts of blocks. One of size 0 is a tmpfs
// without a limit.
func capacity(blocks, free, size uint64) (limit, used model.Bytes) {
	high, bytes := bits.Mul64(blocks, size)
	if blocks == 0 || high != 0 || bytes >= uint64(NoLimit) {
		return NoLimit, Unknown
	}
	return model.Bytes(bytes), model.Bytes((blocks - min(free, blocks)) * size)
}
