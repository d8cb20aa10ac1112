package probe

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Maps is how many mappings a process may have, which is how many blocks it can map or pin one by one.
type Maps struct {
	Limit int64  // vm.max_map_count
	Used  int64  // those of the process now
	File  string // that has the limit
}

// Maps reads the limit and counts the mappings of a process.
func (r Root) Maps(pid int) (Maps, error) {
	if err := r.check(); err != nil {
		return Maps{}, err
	}
	m := Maps{File: r.path("proc/sys/vm/max_map_count")}
	text, err := readText(m.File)
	if err != nil {
		return m, fmt.Errorf("probe: mappings: %w", err)
	}
	if m.Limit, err = strconv.ParseInt(text, 10, 64); err != nil || m.Limit < 0 {
		return m, fmt.Errorf("probe: mappings: %s is %q, not a count", m.File, text)
	}
	list, err := os.ReadFile(r.path("proc", strconv.Itoa(pid), "maps"))
	if err != nil {
		return m, r.fault(pid, err)
	}
	m.Used = int64(bytes.Count(list, []byte("\n")))
	return m, nil
}
