package groth16

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"

	"headroom/model"
)

// chunk is how much data is read before it is hashed, so that residence grows while synthesis advances.
const chunk = model.MiB

// openData opens the file of test data of this size, which it makes if there is none: the same bytes everywhere. A
// file of another size is built again; its content needs no checksum, since proofs are about what is read.
func openData(ctx context.Context, dir string, size model.Bytes) (*os.File, error) {
	path := filepath.Join(dir, fmt.Sprintf("data-%d.bin", size))
	var file *os.File
	load := func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil && info.Size() != int64(size) {
			err = fmt.Errorf("%w: it has %d bytes and should have %d", errDamaged, info.Size(), int64(size))
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
		file = f
		return nil
	}
	build := func(f *os.File) error {
		source := rand.NewChaCha8(sha256.Sum256([]byte("headroom test data")))
		_, err := io.CopyN(f, source, int64(size))
		return err
	}
	warn := func(err error) { slog.Warn("groth16: data file is built again", "file", path, "reason", err) }
	if err := cached(ctx, path, load, build, warn); err != nil {
		return nil, fmt.Errorf("groth16: data: %w", err)
	}
	return file, nil
}

// readLeaves reads the data into memory and digests each unit into a tree leaf. The first bytes of every leaf are
// mixed with the job and the partition, so that no two partitions have a leaf in common.
func readLeaves(
	ctx context.Context, file io.ReaderAt, c circuit, data []byte, leaves []node, job, partition int,
) error {
	s, leaf := c.shape(), families[c.Family].leaf
	var tweak [16]byte
	binary.BigEndian.PutUint64(tweak[:8], uint64(job))
	binary.BigEndian.PutUint64(tweak[8:], uint64(partition))
	unit := int(s.unit)
	step := max(1, int(chunk)/unit) * unit
	for at := 0; at < len(data); at += step {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		part := data[at:min(at+step, len(data))]
		if _, err := file.ReadAt(part, int64(at)); err != nil {
			return fmt.Errorf("read data at byte %d: %w", at, err)
		}
		for i := 0; i < len(part); i += int(c.Leaf) {
			for j := range tweak {
				part[i+j] ^= tweak[j]
			}
		}
		for i := 0; i < len(part); i += unit {
			leaves[(at+i)/unit] = leaf(sha256.Sum256(part[i:min(i+unit, len(part))]))
		}
	}
	clear(leaves[s.units:])
	return nil
}
