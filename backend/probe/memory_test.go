package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

func TestTheMachinesMemoryIsALimit(t *testing.T) {
	ram := func(total, used model.Bytes) Limit {
		return Limit{Of: HostMemory, Bytes: total, Used: used, Name: "RAM", File: "/proc/meminfo"}
	}
	const strict = "-- proc/sys/vm/overcommit_memory --\n2"
	for _, c := range []struct {
		name  string
		files []string
		want  Limits
	}{
		{"sold as 128 GiB", []string{"-- proc/meminfo --\nMemTotal: 131847168 kB\nMemAvailable: 131847168 kB"}, Limits{ram(128757*model.MiB, 0)}},
		{"before MemAvailable", []string{"-- proc/meminfo --\nMemTotal: 1024 kB"}, Limits{ram(model.MiB, Unknown)}},
		{"more available than there is", []string{"-- proc/meminfo --\nMemTotal: 1024 kB\nMemAvailable: 2048 kB"}, Limits{ram(model.MiB, 0)}},
		{"nothing promised beyond CommitLimit", []string{strict, "-- proc/meminfo --\nMemTotal: 1024 kB\nMemAvailable: 1000 kB\nCommitLimit: 512 kB\nCommitted_AS: 600 kB"},
			Limits{ram(model.MiB, 24*model.KiB), {Of: HostMemory, Bytes: 512 * model.KiB, Used: 600 * model.KiB, Name: "CommitLimit (vm.overcommit_memory is 2)", File: "/proc/meminfo"}}},
		{"a CommitLimit that does not bind", []string{"-- proc/sys/vm/overcommit_memory --\n1", "-- proc/meminfo --\nMemTotal: 1024 kB\nCommitLimit: 512 kB"}, Limits{ram(model.MiB, Unknown)}},
	} {
		root := plant(t, "7", c.files...)
		got, err := root.ramLimits(7)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i := range got {
			got[i].File = strings.TrimPrefix(got[i].File, string(root))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestWhatIsLeftIsNeverNegative(t *testing.T) {
	for _, c := range []struct {
		limit Limit
		want  model.Bytes
		known bool
	}{
		{Limit{Bytes: 64 * model.GiB, Used: 20 * model.GiB}, 44 * model.GiB, true},
		{Limit{Bytes: 64 * model.GiB, Used: 70 * model.GiB}, 0, true},
		{Limit{Bytes: 64 * model.GiB, Used: Unknown}, 0, false},
		{Limit{Bytes: NoLimit, Used: 70 * model.GiB}, 0, false},
		{Limit{Bytes: 0, Used: NoLimit}, 0, true},
	} {
		if got, known := c.limit.Left(); got != c.want || known != c.known {
			t.Errorf("%+v leaves %s, %t, want %s, %t", c.limit, got, known, c.want, c.known)
		}
	}
}

func TestTheFirstOfTheTightestLimitsOfAKindBinds(t *testing.T) {
	limits := Limits{
		{Of: HostMemory, Bytes: 5, Name: "RAM"}, {Of: HostMemory, Bytes: 3, Name: "a"}, {Of: HostMemory, Bytes: 3, Name: "b"},
		{Of: SharedMemory, Bytes: 1}, {Of: LockedMemory, Bytes: NoLimit},
	}
	if got, limited := limits.Binding(HostMemory); !limited || got.Name != "a" {
		t.Errorf("binding is %+v, %t, want a", got, limited)
	}
	if got, limited := limits.Binding(LockedMemory); limited {
		t.Errorf("a limit that is not set binds: %+v", got)
	}
	if got, limited := limits.Binding(DeviceMemory); limited {
		t.Errorf("a limit that is not there binds: %+v", got)
	}
}

// bindable is a machine of two nodes with memory and one without.
const bindable = `-- sys/devices/system/node/has_memory --
0-1
-- sys/devices/system/node/node0/meminfo --
Node 0 MemTotal:       1024 kB
Node 0 MemFree:         100 kB
Node 0 FilePages:       500 kB
Node 0 Shmem:           300 kB
-- sys/devices/system/node/node1/meminfo --
Node 1 MemTotal:       2048 kB
Node 1 MemFree:        2048 kB
-- proc/7/numa_maps --
55d0549cb000 %s file=/usr/bin/head mapped=2 N0=2 kernelpagesize_kB=4
-- proc/7/status --
Mems_allowed:	00000000,00000003
Mems_allowed_list:	%s`

func TestNodesBindWhoMayNotTakeMemoryFromAll(t *testing.T) {
	const used = (1024 - 100 - 500 + 300) * model.KiB
	for _, c := range []struct {
		name, policy, allowed string
		want                  Limits
	}{
		{"free", "default", "0-2", nil},
		{"a policy that gives way", "prefer:0", "0-2", nil},
		{"cpuset", "default", "0,2", Limits{{Of: HostMemory, Bytes: model.MiB, Used: used, Name: "NUMA node 0", File: "/proc/self/status"}}},
		{"numactl --membind", "bind:1", "0-2", Limits{{Of: HostMemory, Bytes: 2 * model.MiB, Used: Unknown, Name: "NUMA node 1", File: "/proc/self/numa_maps"}}},
		{"numactl --membind with a flag", "bind=static:1", "0-2", Limits{{Of: HostMemory, Bytes: 2 * model.MiB, Used: Unknown, Name: "NUMA node 1", File: "/proc/self/numa_maps"}}},
		{"numactl to all nodes", "bind:0-1", "0-2", nil},
	} {
		root := plant(t, "7", strings.Replace(strings.Replace(bindable, "%s", c.policy, 1), "%s", c.allowed, 1))
		got, err := root.nodeLimits(7)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for i := range got {
			got[i].File = strings.TrimPrefix(got[i].File, string(root))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got, err := plant(t, "7").nodeLimits(7); err != nil || got != nil {
		t.Errorf("without nodes: %+v, %v", got, err)
	}
}

// lockable is a process with a memlock of 8 MiB.
const lockable = `-- proc/7/limits --
Limit                     Soft Limit           Hard Limit           Units     
Max data size             unlimited            unlimited            bytes     
Max resident set          unlimited            unlimited            bytes     
Max locked memory         8388608              unlimited            bytes     
-- proc/7/status --
VmLck:	     512 kB
CapEff:	000001fffeffffff
-- proc/7/uid_map --
         0       1000          1`

func TestMemlockBindsWhomNoCapabilityLiftsIt(t *testing.T) {
	want := Limit{Of: LockedMemory, Bytes: 8 * model.MiB, Used: 512 * model.KiB, Name: "memlock", File: "/proc/self/limits"}
	lifted := want
	lifted.Bytes, lifted.Name = NoLimit, "memlock of 8.0 MiB, which CAP_IPC_LOCK lifts"
	unset := want
	unset.Bytes = NoLimit
	first := strings.Replace(lockable, "0       1000          1", "0          0 4294967295", 1)
	for _, c := range []struct {
		name, files string
		want        Limit
	}{
		{"root of a container only", lockable, want},
		{"root", first, lifted},
		{"root without the capability", strings.Replace(first, "000001fffeffffff", "000001fffeffbfff", 1), want},
		{"unlimited", strings.Replace(lockable, "8388608  ", "unlimited", 1), unset},
	} {
		root := plant(t, "7", c.files)
		got, err := root.lockedLimits(7)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got[0].File = strings.TrimPrefix(got[0].File, string(root))
		if diff := cmp.Diff(Limits{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestMappingsAreCounted(t *testing.T) {
	root := plant(t, "7", "-- proc/sys/vm/max_map_count --\n65530\n-- proc/7/maps --\n55d0549cb000-55d0549cd000 r--p\n55d0549cd000-55d0549d3000 r-xp")
	got, err := root.Maps(7)
	want := Maps{Limit: 65530, Used: 2, File: root.path("proc/sys/vm/max_map_count")}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestDamagedLimitFilesAreNamed(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"-- proc/meminfo --\nMemTotal: 18446744073709551615 kB", `proc/meminfo: MemTotal is "18446744073709551615 kB", not a number of kB`},
		{"-- proc/meminfo --\nMemTotal: 0 kB", `proc/meminfo: it has no MemTotal`},
		{"-- proc/meminfo --\nMemTotal: 9 kB\n-- proc/sys/vm/overcommit_memory --\n3", `overcommit_memory is "3", not 0, 1 or 2`},
		{strings.Replace(bindable, "%s", "bind:x", 1), `numa_maps: "x" is not a list of numbers`},
		{strings.Replace(bindable, "%s", "default", 1), `status: "%s" is not a list of numbers`},
		{strings.Replace(bindable, "0-1\n", "1-0\n", 1), `has_memory: "1-0" is not a list`},
		{strings.Replace(lockable, "8388608", "-1", 1), `proc/self/limits: max locked memory is "-1", neither`},
		{strings.Replace(lockable, "Max locked", "Min locked", 1), `proc/self/limits: there is no line of the max locked memory`},
		{strings.Replace(lockable, "512 kB", "512", 1), `proc/self/status: VmLck is "512", not a number of kB`},
		{"-- proc/sys/vm/max_map_count --\n-1", `max_map_count is "-1", not a count`},
	} {
		root := plant(t, "7", c.files)
		_, err := root.Limits(7)
		_, mapsErr := root.Maps(7)
		if text := err.Error() + mapsErr.Error(); !strings.Contains(text, c.want) {
			t.Errorf("errors are %s, want %s", text, c.want)
		}
	}
}

func FuzzMemory(f *testing.F) {
	f.Add("MemTotal:       24684092 kB\nMemFree: 1 kB\nMemAvailable: 2 kB\n")
	f.Add("Node 0 MemTotal:       1024 kB\nNode 0 FilePages: 500 kB\nNode 0 Shmem: 300 kB\nNode 0 MemFree: 4 kB")
	f.Add("MemTotal: 18446744073709551615 kB")
	f.Add(":\nMemTotal\nMemTotal:-1 kB")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMemory(text)
		if err != nil {
			if m != (memory{}) {
				t.Errorf("%q gives %+v, %v", text, m, err)
			}
			return
		}
		if used := m.used(); m.total <= 0 || used < Unknown {
			t.Errorf("%q gives %+v, used %d", text, m, used)
		}
	})
}

func FuzzList(f *testing.F) {
	for _, seed := range []string{"0", "0-1,3", "", "1023", "1024", "3-1", "0-18446744073709551615", "-", ",", "1,1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseList(text)
		if err != nil && list != nil {
			t.Errorf("%q gives %v, %v", text, list, err)
		}
		for i, n := range list {
			if n < 0 || n >= model.MaxNodes || i > 0 && n <= list[i-1] {
				t.Errorf("%q gives %v", text, list)
			}
		}
	})
}

func FuzzLocked(f *testing.F) {
	f.Add("Max locked memory         8388608              8388608              bytes     \n")
	f.Add("Max locked memory         unlimited            unlimited            bytes     \n")
	f.Add("Max locked memory ")
	f.Fuzz(func(t *testing.T, text string) {
		if limit, err := parseLocked(text); limit < 0 || err != nil && limit != 0 {
			t.Errorf("%q gives %d, %v", text, limit, err)
		}
	})
}

func FuzzPolicy(f *testing.F) {
	for _, seed := range []string{"55d0549cb000 bind:0-1 file=/x", "55 bind=static:0", "55 default", "bind:0", "a bind"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if list, bound := boundTo(line); bound && !strings.Contains(line, ":"+list) || !bound && list != "" {
			t.Errorf("%q gives %q, %t", line, list, bound)
		}
	})
}
