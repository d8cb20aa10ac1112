package probe

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"headroom/model"
)

// Machine describes a machine by what bears on a run. It has no host name, so that it can be published.
type Machine struct {
	CPU          string      // model name; empty where the kernel does not tell, as on most ARM machines
	Cores        int         // logical processors that are online
	CoresAllowed int         // those of them on which the calling process may run
	Kernel       string      // release, such as 6.18.44
	RAM          model.Bytes // MemTotal: without what firmware and kernel keep for themselves
}

// Machine reads the description. The error joins everything that could not be read.
func (r Root) Machine() (Machine, error) {
	if err := r.check(); err != nil {
		return Machine{}, err
	}
	var m Machine
	memory, memoryErr := r.memory("proc/meminfo")
	m.RAM = memory.total
	info, infoErr := readText(r.path("proc/cpuinfo"))
	m.CPU, m.Cores = parseCPUInfo(info)
	kernel, kernelErr := readText(r.path("proc/sys/kernel/osrelease"))
	m.Kernel = kernel
	allowed, allowedErr := r.coresAllowed()
	m.CoresAllowed = allowed
	if err := errors.Join(memoryErr, infoErr, kernelErr, allowedErr); err != nil {
		return m, fmt.Errorf("probe: machine: %w", err)
	}
	return m, nil
}

func (r Root) coresAllowed() (int, error) {
	pid, err := r.self()
	if err != nil {
		return 0, err
	}
	p, err := r.process(pid)
	if err != nil {
		return 0, err
	}
	status, err := p.NewStatus()
	return len(status.CpusAllowedList), err
}

// CounterError is how far the resident memory of a process, as the kernel counts it, can be off. Since Linux 6.2 each
// processor keeps the last max(32, 2 a core) pages of each of three counters (percpu_counter_batch) to itself.
// Process.HighWater is made from such counters, and before 6.16 so are the other amounts.
func (m Machine) CounterError() model.Bytes {
	pages := 3 * m.Cores * max(32, 2*m.Cores)
	return model.Bytes(pages) * model.Bytes(os.Getpagesize())
}

// parseCPUInfo returns the first model name of /proc/cpuinfo and its number of processors.
func parseCPUInfo(text string) (name string, processors int) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "processor":
			processors++
		case "model name":
			if name == "" {
				name = strings.TrimSpace(value)
			}
		}
	}
	return name, processors
}

// String prints the description in a line, such as "AMD EPYC, 2 cores, 23.5 GiB RAM, Linux 6.18.44".
func (m Machine) String() string {
	name := m.CPU
	if name == "" {
		name = "unknown processor"
	}
	cores := model.Counted(m.Cores, "core")
	if m.CoresAllowed != m.Cores {
		cores = fmt.Sprintf("%d of %d cores", m.CoresAllowed, m.Cores)
	}
	return fmt.Sprintf("%s, %s, %s RAM, Linux %s", name, cores, m.RAM.Short(), m.Kernel)
}
