package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/model"
)

// nominal is a machine that was sold with 128 GiB, and what a container on it is granted.
func nominal() *Host {
	return &Host{
		Machine: Machine{RAM: 128757 * model.MiB, Cores: 16, CoresAllowed: 8},
		GPUs:    []GPU{{Name: "L4", Total: 23034 * model.MiB, Usable: 22563 * model.MiB}, {Name: "GB10", Total: Unknown, Usable: NoLimit}},
		Limits: Limits{
			{Of: HostMemory, Bytes: 128757 * model.MiB, Name: "RAM", File: "/proc/meminfo"},
			{Of: HostMemory, Bytes: 100 * model.GiB, Name: "cgroup /a", File: "/a/memory.max"},
			{Of: SharedMemory, Bytes: 64 * model.MiB, Name: "/dev/shm", File: "/dev/shm"},
			{Of: LockedMemory, Bytes: NoLimit, Name: "memlock", File: "/proc/self/limits"},
			{Of: DeviceMemory, Device: 0, Bytes: 22563 * model.MiB, Name: "GPU 0 (L4)", File: "nvidia-smi"},
			{Of: DeviceMemory, Device: 1, Bytes: NoLimit, Name: "GPU 1 (GB10)", File: "nvidia-smi"},
		},
	}
}

func TestTheHostIsDescribedAsAMachine(t *testing.T) {
	got, err := nominal().Describe()
	if err != nil {
		t.Fatal(err)
	}
	cgroup := model.Limit{Bytes: 100 * model.GiB, Name: "cgroup /a", File: "/a/memory.max"}
	want := model.Machine{
		RAM: 128757 * model.MiB, Cores: 8, Shm: 64 * model.MiB, GPUs: []model.GPUSpec{{VRAM: 22563 * model.MiB}, {}},
		Found: []model.Limit{{Bytes: 128757 * model.MiB, Name: "RAM", File: "/proc/meminfo"}, cgroup},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
	if limit := got.HostLimit(); limit != cgroup {
		t.Errorf("limit is %+v, want %+v", limit, cgroup)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	if list := nominal().Shortfalls(&got, true); len(list) > 0 {
		t.Errorf("the host grants less than itself: %v", list)
	}
	none := &Host{Limits: Limits{{Of: HostMemory, Name: "cgroup /a", File: "/a/memory.max"}}}
	if _, err := none.Describe(); err == nil || !strings.Contains(err.Error(), "cgroup /a is 0 (/a/memory.max)") {
		t.Errorf("a limit of 0: %v", err)
	}
}

func TestWhatTheHostDoesNotGrantIsSaidWithBothAmounts(t *testing.T) {
	bare := nominal()
	bare.Limits = bare.Limits[:1]
	bare.GPUs = nil
	for _, c := range []struct {
		name    string
		host    *Host
		machine model.Machine
		devices bool
		want    []string
	}{
		{"nothing is assumed", nominal(), model.Machine{}, true, nil},
		{"nominal sizes", bare, model.Machine{RAM: 128 * model.GiB}, true, []string{
			"machine.ram minus machine.reserve is 128.0 GiB: this host grants 125.7 GiB by RAM (/proc/meminfo), which is short by 2.3 GiB; the kernel keeps some of the installed memory, and 128757MiB is what it shows"}},
		{"the visible size", bare, model.Machine{RAM: 128757 * model.MiB}, true, nil},
		{"another machine's reserve", bare, model.Machine{RAM: 755 * model.GiB, Reserve: 700 * model.GiB}, true, []string{
			"machine.ram minus machine.reserve is 55.0 GiB: this host grants 0 B by RAM of 125.7 GiB minus machine.reserve (/proc/meminfo), which is short by 55.0 GiB"}},
		{"a cgroup", nominal(), model.Machine{RAM: 120 * model.GiB}, true, []string{
			"machine.ram minus machine.reserve is 120.0 GiB: this host grants 100.0 GiB by cgroup /a (/a/memory.max), which is short by 20.0 GiB"}},
		{"a plan that is confined", nominal(), model.Machine{RAM: 755 * model.GiB, CgroupLimit: 64 * model.GiB}, true, nil},
		{"bound to nodes", nominal(), model.Machine{NUMA: []model.NUMANode{{RAM: 128 * model.GiB}}}, true, []string{
			"machine.numa is 128.0 GiB: this host grants 100.0 GiB by cgroup /a (/a/memory.max), which is short by 28.0 GiB"}},
		{"shared and locked memory", nominal(), model.Machine{Shm: 4 * model.GiB, Memlock: 8 * model.GiB}, true, []string{
			"machine.shm is 4.0 GiB: this host grants 64.0 MiB by /dev/shm (/dev/shm), which is short by 3.9 GiB"}},
		{"GPUs", nominal(), model.Machine{GPUs: []model.GPUSpec{{VRAM: 24 * model.GiB}, {VRAM: 128 * model.GiB}, {}}}, true, []string{
			"machine.gpus lists 3: this host grants 2 (nvidia-smi)",
			"machine.gpus[0].vram is 24.0 GiB: this host grants 22.0 GiB by GPU 0 (L4) (nvidia-smi), which is short by 2.0 GiB"}},
		{"GPUs that are not used", nominal(), model.Machine{GPUs: make([]model.GPUSpec, 3)}, false, nil},
	} {
		var got []string
		for _, s := range c.host.Shortfalls(&c.machine, c.devices) {
			got = append(got, s.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestWhatIsPinnedMustBeLockable(t *testing.T) {
	if list := nominal().Pinning(44 * model.GiB); len(list) > 0 {
		t.Errorf("without a limit: %v", list)
	}
	host := &Host{Limits: Limits{{Of: LockedMemory, Bytes: 8 * model.MiB, Name: "memlock", File: "/proc/self/limits"}}}
	if list := host.Pinning(8 * model.MiB); len(list) > 0 {
		t.Errorf("just as much: %v", list)
	}
	list := host.Pinning(44 * model.GiB)
	want := "pinned memory is 44.0 GiB: this host grants 8.0 MiB by memlock (/proc/self/limits), which is short by 44.0 GiB"
	if len(list) != 1 || list[0].String() != want {
		t.Errorf("got %v, want %s", list, want)
	}
}

// TestAmountsAreNeverNegative holds what unsigned or unchecked subtraction breaks: whatever is used and reserved,
// nothing that is granted or left is below 0 or above its limit.
func TestAmountsAreNeverNegative(t *testing.T) {
	bytes := rapid.Int64Range(0, int64(1024*model.TiB))
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) model.Bytes { return model.Bytes(bytes.Draw(t, label)) }
		h := &Host{}
		for range rapid.IntRange(1, 3).Draw(t, "limits") {
			l := Limit{Of: HostMemory, Bytes: draw("bytes"), Used: draw("used"), Name: rapid.SampledFrom([]string{"RAM", "cgroup"}).Draw(t, "name")}
			if left, known := l.Left(); left < 0 || left > l.Bytes || !known {
				t.Fatalf("%+v leaves %d", l, left)
			}
			h.Limits = append(h.Limits, l)
		}
		m := model.Machine{RAM: draw("ram"), CgroupLimit: draw("cgroup limit")}
		m.Reserve = model.Bytes(rapid.Int64Range(0, int64(m.RAM)).Draw(t, "reserve"))
		for _, s := range h.Shortfalls(&m, true) {
			if s.Grants < 0 || s.Needs <= s.Grants || s.Grants > int64(s.Limit.Bytes) {
				t.Fatalf("%+v of %+v", s, m)
			}
		}
	})
}
