package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"headroom/model"
)

// nodeLimits returns the memory of the nodes that the process is bound to, by its cpuset or by the policy that numactl
// --membind sets; nothing if it may take memory from all.
func (r Root) nodeLimits(pid int) (Limits, error) {
	nodes, err := r.nodes()
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	allowed, file, err := r.binding(pid)
	if err != nil || file == "" {
		return nil, err
	}
	limit := Limit{Of: HostMemory, File: file}
	var names []string
	for _, n := range nodes {
		if !slices.Contains(allowed, n) {
			continue
		}
		m, err := r.memory(path.Join(nodeDir, fmt.Sprintf("node%d", n), "meminfo"))
		if err != nil {
			return nil, err
		}
		names = append(names, strconv.Itoa(n))
		limit.Bytes += m.total
		if used := m.used(); used == Unknown || limit.Used == Unknown {
			limit.Used = Unknown
		} else {
			limit.Used += used
		}
	}
	if len(names) == len(nodes) {
		return nil, nil
	}
	limit.Name = "NUMA node " + strings.Join(names, ",")
	return Limits{limit}, nil
}

const nodeDir = "sys/devices/system/node"

// nodes returns the numbers of the nodes that have memory, in order; none where the kernel knows no nodes.
func (r Root) nodes() ([]int, error) {
	file := r.path(nodeDir, "has_memory")
	text, err := readText(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes, err := parseList(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return nodes, nil
}

// binding returns the nodes that a process may take memory from, and the file that says so; no file if none does.
func (r Root) binding(pid int) (nodes []int, file string, err error) {
	dir := r.processDir(pid)
	policy, err := firstLine(filepath.Join(dir, "numa_maps"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if list, bound := boundTo(policy); bound {
		file = filepath.Join(dir, "numa_maps")
		nodes, err = parseList(list)
	} else {
		file = filepath.Join(dir, "status")
		var status string
		if status, err = readText(file); err != nil {
			return nil, "", r.fault(pid, err)
		}
		list, found := statusField(status, "Mems_allowed_list")
		if !found {
			return nil, "", nil // a kernel without cpusets
		}
		nodes, err = parseList(list)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	return nodes, file, nil
}

// boundTo returns the nodes in a line of numa_maps such as "55d0549cb000 bind:0-1 file=/usr/bin/head". Other policies,
// such as prefer and interleave, take memory elsewhere when it is short.
func boundTo(line string) (list string, bound bool) {
	fields := strings.Fields(line)
	if len(fields) < 2 || !strings.HasPrefix(fields[1], "bind") {
		return "", false
	}
	_, list, bound = strings.Cut(fields[1], ":")
	return list, bound
}

// firstLine returns the first line of a file whose rest is costly to make.
func firstLine(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
}

// parseList reads a list of node numbers such as "0-1,3"; an empty text has none.
func parseList(text string) ([]int, error) {
	var list []int
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, fromErr := strconv.ParseUint(first, 10, 16)
		to, toErr := strconv.ParseUint(last, 10, 16)
		if fromErr != nil || toErr != nil || from > to || to >= model.MaxNodes {
			return nil, fmt.Errorf("%q is not a list of numbers below %d such as 0-1,3", text, model.MaxNodes)
		}
		for n := from; n <= to; n++ {
			list = append(list, int(n))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}
