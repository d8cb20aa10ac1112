package probe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"headroom/model"
)

// driver puts a program that answers as nvidia-smi, and nothing else, into PATH.
func driver(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, smi), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

// container is a container of 512 MiB on a machine of 1 GiB, most of which others hold.
var container = []string{shared, lockable, `-- proc/meminfo --
MemTotal:        1048576 kB
MemAvailable:     102400 kB
SwapTotal:       2097152 kB
SwapFree:        1048576 kB
-- proc/cpuinfo --
processor	: 0
model name	: AMD EPYC
-- proc/sys/kernel/osrelease --
6.18.44
-- proc/sys/vm/overcommit_memory --
1
-- proc/sys/vm/max_map_count --
10
-- proc/7/maps --
1
2
3
4
5
6
7
8
9
10
-- proc/pressure/memory --
some avg10=12.50 avg60=0.17 avg300=0.13 total=1375037
full avg10=5.00 avg60=0.14 avg300=0.10 total=1165930
-- dev/shm/buffer --
`}

func TestAnExaminationFindsWhatIsOdd(t *testing.T) {
	driver(t, "echo '"+smiText+"'")
	t.Setenv(visibleDevices, "0")
	root := plant(t, "7", container...)
	got, err := root.Examine(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	var limits, findings []string
	for _, l := range got.Limits {
		limits = append(limits, string(l.Of)+" "+l.Name)
	}
	for _, f := range got.Findings {
		findings = append(findings, f.About+": "+strings.ReplaceAll(f.Text, string(root), ""))
	}
	wantLimits := []string{
		"host_memory RAM", "host_memory cgroup /docker/4f1a", "host_memory memory.high of cgroup /docker/4f1a",
		"shared_memory /dev/shm", "locked_memory memlock", "device_memory GPU 0 (NVIDIA GeForce RTX 5070 Ti)",
	}
	wantFindings := []string{
		"ram: memory.high of cgroup /docker/4f1a grants 384.0 MiB of 1.0 GiB of RAM: whoever reads only the RAM plans with too much",
		"ram: RAM has only 100.0 MiB left, since others hold 924.0 MiB of it: verdicts count the whole of memory.high of cgroup /docker/4f1a, so reserve what others hold",
		"swap: there are 2.0 GiB of swap, of which no limit and no prediction knows: what is swapped out makes a prover slow and not safe",
		"ram: vm.overcommit_memory is 1: the kernel refuses nobody memory and kills when there is none",
		"memlock: memlock is 8.0 MiB: beyond it pinning fails, often as if memory were short, although it is not (ulimit -l)",
		"mappings: 10 of 10 mappings are used: the next blocks cannot be mapped or pinned, although memory is there (/proc/sys/vm/max_map_count)",
		"gpu: GPU 0 shows 15.9 GiB, of which the driver keeps 402.0 MiB",
		"pressure: in the last ten seconds tasks waited for memory in 12 % of the time, all of them in 5 %",
	}
	if diff := cmp.Diff(wantLimits, limits); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantFindings, findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if got.Swap != 2*model.GiB || got.SwapUsed != model.GiB {
		t.Errorf("swap is %s of %s", got.SwapUsed, got.Swap)
	}
}

func TestAnExaminationSaysWhatItCannotRead(t *testing.T) {
	driver(t, "echo 'NVIDIA-SMI has failed because it could not communicate with the driver'; exit 9\n")
	files := strings.Join(container, "\n")
	for _, c := range []struct{ old, new, about, want string }{
		{"-- proc/7/limits --", "-- proc/7/other --", "unreadable", "limits: "},
		{"-- proc/sys/vm/max_map_count --", "-- proc/sys/vm/other --", "unreadable", "max_map_count"},
		{"-- proc/sys/vm/overcommit_memory --\n1", "-- proc/sys/vm/overcommit_memory --\nx", "unreadable", `overcommit_memory is "x"`},
		{"536870912", "many", "unreadable", `docker/4f1a/memory.max: "many" is neither`},
		{"MemTotal:        1048576 kB", "MemTotal: 1 MB", "unreadable", `MemTotal is "1 MB"`},
		{"-- proc/pressure/memory --", "-- proc/pressure/cpu --", "pressure", "waiting for memory cannot be seen"},
		{"-- sys/fs/cgroup/cgroup.controllers --\nmemory", "-- sys/fs/cgroup/cgroup.controllers --\npids", "cgroup", "no cgroup mount has the memory controller"},
		{"0::/docker/4f1a", "0::/../../docker/4f1a", "cgroup", "is not below the mount"},
		{"-- dev/shm/buffer --", "-- dev/other --", "shm", "/dev/shm, which is not there: nothing can be shared"},
		{"Max resident set ", "Max address space         4096000000 unlimited bytes\nMax resident set ", "ulimit",
			"the address space of a process is limited to 3.8 GiB: a prover reserves far more than it holds, and is refused memory although it is there (ulimit -v)"},
		{"Max data size             unlimited", "Max data size             1073741824", "ulimit", "the data size of a process is limited to 1.0 GiB"},
		{"", "", "gpu", "nvidia-smi failed (exit status 9): NVIDIA-SMI has failed because"},
	} {
		got, err := plant(t, "7", strings.Replace(files, c.old, c.new, 1)).Examine(t.Context(), 7)
		if err != nil {
			t.Errorf("%s: %v", c.old, err)
			continue
		}
		found := false
		for _, f := range got.Findings {
			found = found || f.About == c.about && strings.Contains(f.Text, c.want)
		}
		if !found {
			t.Errorf("no finding about %s says %q: %+v", c.about, c.want, got.Findings)
		}
	}
}

func TestHiddenDevicesAreNone(t *testing.T) {
	driver(t, "echo '"+smiText+"'")
	t.Setenv(visibleDevices, "7")
	if _, err := GPUs(t.Context()); !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), `CUDA_VISIBLE_DEVICES is "7", which is none of the 3`) {
		t.Errorf("error is %v, want ErrNoGPU and the variable", err)
	}
	driver(t, "echo 'No devices were found'")
	if _, err := GPUs(t.Context()); !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), "lists none") {
		t.Errorf("error is %v, want ErrNoGPU because there is none", err)
	}
}

func TestMemoryThatOthersHoldIsFound(t *testing.T) {
	for used, want := range map[model.Bytes]int{2 * model.GiB: 0, 7 * model.GiB: 1, 9 * model.GiB: 1} {
		e := Examination{Host: Host{Machine: Machine{RAM: 8 * model.GiB}, Limits: Limits{{Of: HostMemory, Bytes: 8 * model.GiB, Used: used, Name: "RAM"}}}}
		if e.judgeLimits(); len(e.Findings) != want {
			t.Errorf("others hold %s: findings are %+v, want %d", used, e.Findings, want)
		}
	}
}

func TestAnUnreadableLimitIsAnErrorAndTheOthersAreTold(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root reads every file: a folder stands for the unreadable one")
	}
	root := plant(t, "7", container...)
	file := root.path("sys/fs/cgroup/docker/4f1a/memory.max")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0); err != nil {
		t.Fatal(err)
	}
	limits, err := root.Limits(7)
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error is %v, want one that names %s", err, file)
	}
	if binding, limited := limits.Binding(HostMemory); !limited || binding.Bytes != 384*model.MiB {
		t.Errorf("binding is %+v, want memory.high, which can be read", binding)
	}
}

func TestSharedMemoryIsTheFileSystemsSize(t *testing.T) {
	root := plant(t, "7", "-- dev/shm/buffer --")
	var s unix.Statfs_t
	if err := unix.Statfs(root.path("dev/shm"), &s); err != nil {
		t.Fatal(err)
	}
	got, err := root.sharedLimits(7)
	if want := model.Bytes(s.Blocks) * model.Bytes(s.Bsize); err != nil || len(got) != 1 || got[0].Bytes != want {
		t.Errorf("got %+v, %v, want %s", got, err, want)
	}
	for _, c := range []struct {
		blocks, free, size uint64
		limit, used        model.Bytes
	}{
		{16384, 16383, 4096, 64 * model.MiB, 4 * model.KiB},
		{0, 0, 4096, NoLimit, Unknown}, // a tmpfs without a limit
		{1, 2, 4096, 4 * model.KiB, 0},
		{1 << 63, 0, 4096, NoLimit, Unknown},
	} {
		if limit, used := capacity(c.blocks, c.free, c.size); limit != c.limit || used != c.used {
			t.Errorf("%+v: got %d, %d", c, limit, used)
		}
	}
}
