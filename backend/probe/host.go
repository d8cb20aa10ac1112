package probe

import (
	"context"
	"errors"
	"fmt"

	"headroom/model"
)

// Host is what a machine grants to one process.
type Host struct {
	Machine Machine
	Limits  Limits // those of Root.Limits, and one of device memory for each GPU
	GPUs    []GPU
	NoGPU   error // why there are none
}

// Host reads what the machine grants to a process. GPUs are those of the machine that the program runs on. The error
// joins everything that could not be read; the host then has what could. That there is no GPU is no error.
func (r Root) Host(ctx context.Context, pid int) (*Host, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var h Host
	var faults [3]error
	h.Machine, faults[0] = r.Machine()
	h.Limits, faults[1] = r.Limits(pid)
	if h.GPUs, faults[2] = GPUs(ctx); errors.Is(faults[2], ErrNoGPU) {
		h.NoGPU, faults[2] = faults[2], nil
	}
	for i, g := range h.GPUs {
		h.Limits = append(h.Limits, Limit{
			Of: DeviceMemory, Device: i, Bytes: g.Usable, Used: g.Used, Name: fmt.Sprintf("GPU %d (%s)", i, g.Name), File: smi,
		})
	}
	return &h, errors.Join(faults[:]...)
}

// Describe returns the host as a scenario describes a machine, each bound of host memory with its file: what
// machine: here stands for. It is an error when a limit grants nothing at all.
func (h *Host) Describe() (model.Machine, error) {
	m := model.Machine{RAM: h.Machine.RAM, Cores: h.Machine.CoresAllowed, GPUs: make([]model.GPUSpec, len(h.GPUs))}
	for _, l := range h.Limits {
		switch {
		case l.Bytes == NoLimit:
		case l.Of == HostMemory && l.Bytes == 0:
			return m, fmt.Errorf("probe: %s is 0 (%s): nothing can run", l.Name, l.File)
		case l.Of == HostMemory:
			m.Found = append(m.Found, model.Limit{Bytes: l.Bytes, Name: l.Name, File: l.File})
		case l.Of == SharedMemory:
			m.Shm = l.Bytes
		case l.Of == LockedMemory:
			m.Memlock = l.Bytes
		case l.Of == DeviceMemory:
			m.GPUs[l.Device].VRAM = l.Bytes
		}
	}
	return m, nil
}

// Shortfall is something of which a host grants less than a machine has that a scenario describes.
type Shortfall struct {
	Key           string // what the amount is, such as machine.shm of the scenario
	Needs, Grants int64  // bytes; of machine.gpus, devices
	Limit         Limit  // what grants no more; its Bytes may be more than Grants, by the scenario's reserve
}

// Devices reports whether the amounts are numbers of devices.
func (s *Shortfall) Devices() bool { return s.Key == devicesKey }

const devicesKey = "machine.gpus"

// String says both amounts and what grants the lesser one.
func (s Shortfall) String() string {
	if s.Devices() {
		return fmt.Sprintf("%s lists %d: this host grants %d (%s)", s.Key, s.Needs, s.Grants, s.Limit.File)
	}
	needs, grants := model.Bytes(s.Needs), model.Bytes(s.Grants)
	by := s.Limit.Name
	if grants != s.Limit.Bytes {
		by = fmt.Sprintf("%s of %s minus machine.reserve", by, s.Limit.Bytes.Short())
	}
	size := model.Apart(needs, grants)
	text := fmt.Sprintf("%s is %s: this host grants %s by %s (%s), which is short by %s",
		s.Key, size(needs), size(grants), by, s.Limit.File, (needs - grants).Short())
	if s.Limit.Name == ramName && needs-grants < needs/16 {
		text += fmt.Sprintf("; the kernel keeps some of the installed memory, and %dMiB is what it shows", s.Limit.Bytes/model.MiB)
	}
	return text
}

// Shortfalls returns everything of which the host grants less than the machine of a scenario has. What the scenario
// reserves for others is reserved here too. Memory and number of GPUs count only if devices are to be used.
func (h *Host) Shortfalls(m *model.Machine, devices bool) []Shortfall {
	var list []Shortfall
	if needs := m.HostLimit(); needs.Bytes > 0 {
		tightest, grants := h.granted(m.Reserve)
		list = short(list, needs.Name, needs.Bytes, grants, tightest)
	}
	for _, other := range []struct {
		key   string
		needs model.Bytes
		of    Kind
	}{{"machine.shm", m.Shm, SharedMemory}, {"machine.memlock", m.Memlock, LockedMemory}} {
		if limit, limited := h.Limits.Binding(other.of); limited {
			list = short(list, other.key, other.needs, limit.Bytes, limit)
		}
	}
	if !devices {
		return list
	}
	if needs, grants := len(m.GPUs), len(h.GPUs); needs > grants {
		list = append(list, Shortfall{Key: devicesKey, Needs: int64(needs), Grants: int64(grants), Limit: Limit{Of: DeviceMemory, File: smi}})
	}
	for _, limit := range h.Limits {
		if limit.Of == DeviceMemory && limit.Device < len(m.GPUs) {
			list = short(list, fmt.Sprintf("%s[%d].vram", devicesKey, limit.Device), m.GPUs[limit.Device].VRAM, limit.Bytes, limit)
		}
	}
	return list
}

// Pinning returns the shortfall, if any, of a process that needs to lock so many bytes in memory.
func (h *Host) Pinning(needs model.Bytes) []Shortfall {
	limit, limited := h.Limits.Binding(LockedMemory)
	if !limited {
		return nil
	}
	return short(nil, "pinned memory", needs, limit.Bytes, limit)
}

// short appends a shortfall if there is one.
func short(list []Shortfall, key string, needs, grants model.Bytes, by Limit) []Shortfall {
	if needs <= grants {
		return list
	}
	return append(list, Shortfall{Key: key, Needs: int64(needs), Grants: int64(grants), Limit: by})
}

// granted returns the limit of host memory that grants least when a reserve is taken off the RAM, and how much.
func (h *Host) granted(reserve model.Bytes) (Limit, model.Bytes) {
	tightest, least := Limit{}, NoLimit
	for _, l := range h.Limits {
		if l.Of != HostMemory {
			continue
		}
		bytes := l.Bytes
		if l.Name == ramName {
			bytes = max(0, bytes-reserve)
		}
		if bytes < least {
			tightest, least = l, bytes
		}
	}
	return tightest, least
}
