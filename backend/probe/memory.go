package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"headroom/model"
)

// memory is what meminfo tells, of the machine or of one of its memory nodes. What it does not tell is Unknown.
type memory struct {
	total, free, available  model.Bytes
	filePages, shmem        model.Bytes
	swapTotal, swapFree     model.Bytes
	commitLimit, commitment model.Bytes
}

// used returns what is taken and cannot be taken back at once. A node does not tell what is available: there the page
// cache counts as such.
func (m *memory) used() model.Bytes {
	switch {
	case m.available != Unknown:
		return max(0, m.total-m.available)
	case m.free == Unknown || m.filePages == Unknown || m.shmem == Unknown:
		return Unknown
	}
	return max(0, m.total-m.free-m.filePages+m.shmem)
}

// memory reads a meminfo file. It is an error when that does not tell the total.
func (r Root) memory(path string) (memory, error) {
	file := r.path(path)
	text, err := readText(file)
	if err != nil {
		return memory{}, err
	}
	m, err := parseMemory(text)
	if err != nil {
		return memory{}, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// parseMemory reads lines such as "MemTotal:  16 kB" or, of a node, "Node 0 MemTotal:  16 kB".
func parseMemory(text string) (memory, error) {
	m := memory{Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown, Unknown}
	amounts := map[string]*model.Bytes{
		"MemTotal": &m.total, "MemFree": &m.free, "MemAvailable": &m.available, "FilePages": &m.filePages, "Shmem": &m.shmem,
		"SwapTotal": &m.swapTotal, "SwapFree": &m.swapFree, "CommitLimit": &m.commitLimit, "Committed_AS": &m.commitment,
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		amount, known := amounts[key[strings.LastIndexByte(key, ' ')+1:]]
		if !known {
			continue
		}
		size, err := parseKiB(value)
		if err != nil {
			return memory{}, fmt.Errorf("%s is %w", key, err)
		}
		*amount = size
	}
	if m.total <= 0 {
		return memory{}, errors.New("it has no MemTotal")
	}
	return m, nil
}

// parseKiB reads an amount such as "  1752 kB". The kernel's kB is 1024 bytes.
func parseKiB(text string) (model.Bytes, error) {
	text = strings.TrimSpace(text)
	kib, found := strings.CutSuffix(text, " kB")
	number, err := strconv.ParseUint(kib, 10, 52)
	if err != nil || !found {
		return 0, fmt.Errorf("%q, not a number of kB", text)
	}
	return model.Bytes(number) * model.KiB, nil
}

// ramName is the name of the limit that the machine's memory is.
const ramName = "RAM"

// ramLimits returns the machine's RAM and, where the kernel promises no more than it has, CommitLimit: it bounds what
// all processes may ask for, be it resident or not.
func (r Root) ramLimits(int) (Limits, error) {
	const path = "proc/meminfo"
	m, err := r.memory(path)
	if err != nil {
		return nil, err
	}
	limits := Limits{{Of: HostMemory, Bytes: m.total, Used: m.used(), Name: ramName, File: r.path(path)}}
	mode, err := r.Overcommit()
	if err != nil {
		return limits, err
	}
	if mode == NeverOvercommit && m.commitLimit != Unknown {
		limits = append(limits, Limit{Of: HostMemory, Bytes: m.commitLimit, Used: m.commitment, Name: "CommitLimit (vm.overcommit_memory is 2)", File: r.path(path)})
	}
	return limits, nil
}

// NeverOvercommit is the mode in which the kernel refuses to promise more memory than CommitLimit.
const NeverOvercommit = 2

// Overcommit returns vm.overcommit_memory: 0, the default, refuses what is obviously too much; 1 nothing; 2 what
// exceeds CommitLimit.
func (r Root) Overcommit() (int, error) {
	file := r.path("proc/sys/vm/overcommit_memory")
	text, err := readText(file)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // a kernel that cannot be told keeps its default
	}
	if err != nil {
		return 0, err
	}
	mode, err := strconv.Atoi(text)
	if err != nil || mode < 0 || mode > NeverOvercommit {
		return 0, fmt.Errorf("%s is %q, not 0, 1 or 2", file, text)
	}
	return mode, nil
}
