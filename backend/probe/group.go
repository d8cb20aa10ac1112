package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"headroom/model"
)

// Group is one cgroup of the memory controller.
//
// A cgroup's memory is more than the resident memory of its processes: it counts the page cache of the files they
// read, which the kernel takes back before it kills, and kernel memory. So Current and Peak may stand at the limit
// of a process that is far from it.
type Group struct {
	Version int    // of the cgroup interface, 1 or 2
	Path    string // below the mount, "/" for its root
	Dir     string // the directory with its files
}

// file returns the group's file that has this name under version 1 or under version 2.
func (g Group) file(v1, v2 string) string {
	if g.Version == 1 {
		return filepath.Join(g.Dir, v1)
	}
	return filepath.Join(g.Dir, v2)
}

// LimitFile returns the file that holds the group's limit.
func (g Group) LimitFile() string { return g.file("memory.limit_in_bytes", "memory.max") }

// Current returns what the group holds now, its descendants included. The error wraps fs.ErrNotExist where the
// kernel does not count, as in the root of version 2.
func (g Group) Current() (model.Bytes, error) {
	amount, _, err := readAmount(g.file("memory.usage_in_bytes", "memory.current"))
	return amount, err
}

// Peak returns the highest Current since the group was made or its mark was reset. The error wraps fs.ErrNotExist
// where the kernel does not tell: version 2 before Linux 5.19.
func (g Group) Peak() (model.Bytes, error) {
	amount, _, err := readAmount(g.file("memory.max_usage_in_bytes", "memory.peak"))
	return amount, err
}

// Limit returns the group's limit, and false when it has none.
func (g Group) Limit() (Limit, bool, error) {
	file := g.LimitFile()
	amount, limited, err := readAmount(file)
	if g.Version == 2 && errors.Is(err, fs.ErrNotExist) {
		return Limit{}, false, nil // the root, or a group for which the controller is not enabled
	}
	return Limit{Of: HostMemory, Bytes: amount, Used: Unknown, Name: "cgroup " + g.Path, File: file}, limited, err
}

// High returns the amount above which the kernel slows the group down until it has shrunk, and false when it has none,
// as under version 1. It kills nobody, and nothing that must be resident goes on above it.
func (g Group) High() (Limit, bool, error) {
	if g.Version == 1 {
		return Limit{}, false, nil
	}
	file := filepath.Join(g.Dir, highFile)
	amount, limited, err := readAmount(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Limit{}, false, nil // as for Limit
	}
	return Limit{Of: HostMemory, Bytes: amount, Used: Unknown, Name: highFile + " of cgroup " + g.Path, File: file}, limited, err
}

const highFile = "memory.high"

// used returns what the group holds without the page cache that it has not used lately, which the kernel takes back
// first; Unknown where the kernel does not tell.
func (g Group) used() model.Bytes {
	current, err := g.Current()
	if err != nil {
		return Unknown
	}
	text, err := readText(filepath.Join(g.Dir, "memory.stat"))
	if err != nil {
		return Unknown
	}
	key := "inactive_file"
	if g.Version == 1 {
		key = "total_inactive_file" // with the descendants
	}
	inactive, err := parseCounter(text, key)
	if err != nil {
		return Unknown
	}
	return max(0, current-model.Bytes(inactive))
}

// OOM is what the kernel did to a group for want of memory.
type OOM struct {
	Kills   int64 // processes of the group that were killed, be it for its own limit, an ancestor's or the machine's
	AtLimit bool  // the group stood at its own limit and could not grow; if not, its limit killed nobody
}

// OOM reads the counters.
func (g Group) OOM() (OOM, error) {
	events := g.file("memory.oom_control", "memory.events")
	text, err := readText(events)
	if err != nil {
		return OOM{}, fmt.Errorf("probe: cgroup: %w", err)
	}
	kills, err := parseCounter(text, "oom_kill")
	if err != nil {
		return OOM{}, fmt.Errorf("probe: cgroup: %s: %w", events, err)
	}
	if g.Version == 1 {
		memory, err := g.stoodAt("memory.max_usage_in_bytes", "memory.limit_in_bytes")
		swap, swapErr := g.stoodAt("memory.memsw.max_usage_in_bytes", "memory.memsw.limit_in_bytes")
		if errors.Is(swapErr, fs.ErrNotExist) {
			swapErr = nil
		}
		return OOM{Kills: kills, AtLimit: memory || swap}, errors.Join(err, swapErr)
	}
	hits, err := parseCounter(text, "oom")
	if err != nil {
		return OOM{}, fmt.Errorf("probe: cgroup: %s: %w", events, err)
	}
	return OOM{Kills: kills, AtLimit: hits > 0}, nil
}

// chargeBatch is what the kernel charges to a group at once (MEMCG_CHARGE_BATCH, 64 pages of 4 KiB). It tries single
// pages before it gives up, so a group that was refused memory stood closer to its limit than this.
const chargeBatch = 256 * model.KiB

// stoodAt reports whether a version 1 peak came up to its limit. The counters of refusals (failcnt) do not tell: with
// equal limits of memory and of memory with swap, Linux 6.18 leaves both at 0.
func (g Group) stoodAt(peakFile, limitFile string) (bool, error) {
	peak, _, peakErr := readAmount(filepath.Join(g.Dir, peakFile))
	limit, limited, limitErr := readAmount(filepath.Join(g.Dir, limitFile))
	return limited && peak > limit-chargeBatch, errors.Join(peakErr, limitErr)
}

// inherited returns the tightest limit on the way to the root of a version 1 hierarchy, what the mount hides included.
func (g Group) inherited() (Limit, bool, error) {
	file := filepath.Join(g.Dir, "memory.stat")
	text, err := readText(file)
	if err != nil {
		return Limit{}, false, fmt.Errorf("probe: cgroup: %w", err)
	}
	value, err := parseCounter(text, "hierarchical_memory_limit")
	if err != nil {
		return Limit{}, false, fmt.Errorf("probe: cgroup: %s: %w", file, err)
	}
	return Limit{Of: HostMemory, Bytes: model.Bytes(value), Used: Unknown, Name: "cgroup above " + g.Path, File: file}, value < unlimited, nil
}

// unlimited is the least value that version 1 prints for no limit: the largest multiple of the page size, which is
// 9223372036854771712 with pages of 4 KiB and this with pages of 64 KiB.
const unlimited = math.MaxInt64 - 64<<10 + 1

func readAmount(path string) (amount model.Bytes, limited bool, err error) {
	text, err := readText(path)
	if err != nil {
		return 0, false, fmt.Errorf("probe: cgroup: %w", err)
	}
	if amount, limited, err = parseAmount(text); err != nil {
		return 0, false, fmt.Errorf("probe: cgroup: %s: %w", path, err)
	}
	return amount, limited, nil
}

// parseAmount reads a number of bytes; limited is false for "max" and for the values that mean no limit, which are 0.
func parseAmount(text string) (amount model.Bytes, limited bool, err error) {
	if text == "max" {
		return 0, false, nil
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf(`%q is neither a number of bytes nor "max"`, text)
	}
	if value >= unlimited {
		return 0, false, nil
	}
	return model.Bytes(value), true, nil
}

// parseCounter returns the value of a key in lines of "key value".
func parseCounter(text, key string) (int64, error) {
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), key+" ")
		if !found {
			continue
		}
		value, err := strconv.ParseInt(rest, 10, 64)
		if err != nil || value < 0 {
			return 0, fmt.Errorf("%s is %q, not a count", key, rest)
		}
		return value, nil
	}
	return 0, fmt.Errorf("there is no line with %s", key)
}
