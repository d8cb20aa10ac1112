package groth16

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lockPoll is how often a process looks whether another has finished building the same file.
const lockPoll = 20 * time.Millisecond

// errLocked is what tryLock returns while another process builds the file.
var errLocked = errors.New("locked")

// cached loads the file at path, or builds and loads it. A file is built under a lock, in a temporary file beside it
// that is renamed when it is complete, so a reader sees a whole file or none and two processes build it once. load
// returns an error wrapping [fs.ErrNotExist] or errDamaged to ask for building.
func cached(ctx context.Context, path string, load func() error, build func(*os.File) error, warn func(error)) error {
	locked := path + ".lock"
	for _, file := range []string{path, locked} {
		if err := maybeFile(file); err != nil {
			return err
		}
	}
	err := load()
	if !rebuildable(err) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	unlock, err := lock(ctx, locked)
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	defer unlock()
	// Whoever held the lock before may have built the file.
	if err = load(); !rebuildable(err) {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		warn(err)
	}
	if err := writeAtomic(path, build); err != nil {
		return err
	}
	return load()
}

// maybeFile refuses a path at which there is something else than a file, such as a pipe, of which reading might never end.
func maybeFile(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	what := "no regular file"
	if info.IsDir() {
		what = "a folder"
	}
	return fmt.Errorf("%s is %s, and a file is to be there: remove it, or cache in another folder", path, what)
}

// errDamaged marks a cache file that has to be built again.
var errDamaged = errors.New("damaged")

func rebuildable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errDamaged)
}

// lock waits for the exclusive lock. The system drops it when the process ends, however it ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		err := tryLock(f)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-ticker.C:
		}
	}
}

// writeAtomic writes the file under a temporary name and renames it. The caller holds the file's lock, so
// temporary files that are there already were left by a process that was killed.
func writeAtomic(path string, fill func(*os.File) error) error {
	dir, base := filepath.Dir(path), filepath.Base(path)+".tmp-"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(dir, base)
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("make %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}
