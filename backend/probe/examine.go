package probe

import (
	"context"
	"fmt"
	"strings"

	"headroom/model"
)

// Finding is something about a host that is wrong, or that is easily overlooked in a plan for it.
type Finding struct {
	About string // a word for programs: cgroup, ram, swap, shm, memlock, ulimit, mappings, pressure, gpu, unreadable
	Text  string
}

// Examination is what can be told of a host before anything runs on it.
type Examination struct {
	Host
	Maps           *Maps     // nil where they could not be read
	Pressure       *Pressure // of memory; nil likewise
	Overcommit     int       // as Root.Overcommit
	Swap, SwapUsed model.Bytes
	Findings       []Finding
}

// Examine looks at everything that bounds a process. What cannot be read is a finding, so that the rest is still told;
// where there is no process file system it is an error.
func (r Root) Examine(ctx context.Context, pid int) (*Examination, error) {
	host, err := r.Host(ctx, pid)
	if host == nil {
		return nil, err
	}
	e := &Examination{Host: *host}
	e.unreadable(err)
	if m, err := r.Maps(pid); err == nil {
		e.Maps = &m
	} else {
		e.unreadable(err)
	}
	e.Overcommit, _ = r.Overcommit() // as of the next, the error is one of the host's already
	if m, err := r.memory("proc/meminfo"); err == nil {
		e.Swap = max(0, m.swapTotal)
		e.SwapUsed = max(0, e.Swap-max(0, m.swapFree))
	}
	e.judgeCgroup(r.Cgroup(pid))
	e.judgeLimits()
	e.judgeRest()
	e.judgeUlimits(r.processDir(pid) + "/limits")
	if p, err := r.Pressure(Memory); err == nil {
		e.Pressure = &p
		e.note(p.SomeAvg10 >= 1, "pressure", "in the last ten seconds tasks waited for memory in %.0f %% of the time, all of them in %.0f %%", p.SomeAvg10, p.FullAvg10)
	} else {
		e.note(true, "pressure", "waiting for memory cannot be seen: %v", err)
	}
	return e, nil
}

func (e *Examination) note(is bool, about, format string, args ...any) {
	if is {
		e.Findings = append(e.Findings, Finding{about, strings.TrimPrefix(fmt.Sprintf(format, args...), "probe: ")})
	}
}

// unreadable notes every error of a joined one.
func (e *Examination) unreadable(err error) {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, err := range joined.Unwrap() {
			e.unreadable(err)
		}
		return
	}
	e.note(err != nil, "unreadable", "%v", err)
}

func (e *Examination) judgeCgroup(c Cgroup, err error) {
	if err != nil {
		e.note(true, "cgroup", "no cgroup bounds memory as far as can be seen: %v", err)
		return
	}
	e.note(!c.Visible, "cgroup", "the own cgroup, %s, is not below the mount %s: its limit cannot be read, and only that of the mount's root is told",
		c.Path, c.Groups[len(c.Groups)-1].Dir)
}

// judgeLimits looks at the limits of host memory: a cgroup or a node that grants less than the RAM is what programs that
// read only the RAM fall into, and of any limit much may be held by others.
func (e *Examination) judgeLimits() {
	binding, limited := e.Limits.Binding(HostMemory)
	if !limited {
		return
	}
	ram := e.Machine.RAM
	size := model.Apart(binding.Bytes, ram)
	e.note(binding.Bytes < ram, "ram", "%s grants %s of %s of RAM: whoever reads only the RAM plans with too much",
		binding.Name, size(binding.Bytes), size(ram))
	least, known := binding.Left()
	if !known {
		return
	}
	tightest := binding
	for _, l := range e.Limits {
		if left, known := l.Left(); l.Of == HostMemory && known && left < least {
			tightest, least = l, left
		}
	}
	e.note(tightest != binding || binding.Used > binding.Bytes/4, "ram", "%s has only %s left, since others hold %s of it: verdicts count the whole of %s, so reserve what others hold",
		tightest.Name, least.Short(), tightest.Used.Short(), binding.Name)
}

// judgeUlimits looks at limits of what a process may map, be it resident or not. They are no bounds of resident memory,
// which is less, but a prover that meets one ends as if there were none left.
func (e *Examination) judgeUlimits(file string) {
	text, err := readText(file)
	if err != nil {
		return // as said of memlock
	}
	for _, u := range []struct{ of, flag string }{{"address space", "-v"}, {"data size", "-d"}} {
		most, err := parseMax(text, u.of)
		e.note(err == nil && most != NoLimit, "ulimit", "the %s of a process is limited to %s: a prover reserves far more than it holds, and is refused memory although it is there (ulimit %s)",
			u.of, most.Short(), u.flag)
	}
}

// little is the amount of shared and of locked memory up to which a limit is likely to be somebody's default: Docker
// gives 64 MiB of /dev/shm, and Linux 64 KiB or 8 MiB of memlock.
const little = 64 * model.MiB

func (e *Examination) judgeRest() {
	e.note(e.Swap > 0, "swap", "there are %s of swap, of which no limit and no prediction knows: what is swapped out makes a prover slow and not safe", e.Swap.Short())
	e.note(e.Overcommit == 1, "ram", "vm.overcommit_memory is 1: the kernel refuses nobody memory and kills when there is none")
	if shm, limited := e.Limits.Binding(SharedMemory); limited {
		e.note(shm.Bytes == 0, "shm", "%s: nothing can be shared through it", shm.Name)
		e.note(shm.Bytes > 0 && shm.Bytes <= little, "shm", "%s has %s, a container's default: whoever shares buffers needs more (--shm-size)", shm.Name, shm.Bytes.Short())
	}
	if lock, limited := e.Limits.Binding(LockedMemory); limited {
		e.note(lock.Bytes <= little, "memlock", "memlock is %s: beyond it pinning fails, often as if memory were short, although it is not (ulimit -l)", lock.Bytes.Short())
	}
	if m := e.Maps; m != nil {
		e.note(m.Used > m.Limit/10*9, "mappings", "%d of %d mappings are used: the next blocks cannot be mapped or pinned, although memory is there (%s)", m.Used, m.Limit, m.File)
	}
	e.note(e.NoGPU != nil, "gpu", "%v", e.NoGPU)
	for i, g := range e.GPUs {
		e.note(g.Total != Unknown && g.Usable < g.Total, "gpu", "GPU %d shows %s, of which the driver keeps %s", i, g.Total.Short(), (g.Total - g.Usable).Short())
		e.note(g.Used != Unknown && g.Used > g.Usable/100, "gpu", "GPU %d is not empty: others hold %s", i, g.Used.Short())
	}
}
