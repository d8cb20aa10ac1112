package probe

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

// nested is a version 2 hierarchy as systemd makes it: the user's manager delegates memory down to app.slice only.
const nested = `-- proc/7/cgroup --
0::/user.slice/user@1000.service/app.slice/run.scope
-- proc/7/mountinfo --
34 25 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
-- proc/meminfo --
MemTotal:       16000000 kB
MemAvailable:    8000000 kB
-- sys/fs/cgroup/cgroup.controllers --
cpuset cpu io memory pids
-- sys/fs/cgroup/user.slice/memory.max --
8589934592
-- sys/fs/cgroup/user.slice/memory.current --
900000000
-- sys/fs/cgroup/user.slice/user@1000.service/memory.max --
max
-- sys/fs/cgroup/user.slice/user@1000.service/memory.current --
800000000
-- sys/fs/cgroup/user.slice/user@1000.service/app.slice/memory.max --
4294967296
-- sys/fs/cgroup/user.slice/user@1000.service/app.slice/memory.current --
700000000
-- sys/fs/cgroup/user.slice/user@1000.service/app.slice/memory.peak --
750000000
-- sys/fs/cgroup/user.slice/user@1000.service/app.slice/memory.events --
low 0
high 3
max 21
oom 2
oom_kill 1
oom_group_kill 1
-- sys/fs/cgroup/user.slice/user@1000.service/app.slice/run.scope/cgroup.controllers --
pids`

// docker is a version 1 container without a cgroup namespace: the mount shows only the container's own part, and
// the limit of a group above it is known from memory.stat alone.
const docker = `-- proc/7/cgroup --
11:cpuset:/docker/4f1a
5:cpu,cpuacct:/docker/4f1a
4:pids,memory:/docker/4f1a
0::/system.slice/docker.service
-- proc/7/mountinfo --
812 801 0:26 / /sys/fs/cgroup rw,nosuid - tmpfs tmpfs rw,mode=755
815 812 0:33 /docker/4f1a /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:16 - cgroup cgroup rw,cpu,cpuacct
819 812 0:37 /docker/4f1a /sys/fs/cgroup/memory ro,nosuid master:20 - cgroup cgroup rw,memory,pids
-- proc/meminfo --
MemTotal:       16000000 kB
MemAvailable:    8000000 kB
-- sys/fs/cgroup/memory/memory.limit_in_bytes --
3221225472
-- sys/fs/cgroup/memory/memory.usage_in_bytes --
1000000000
-- sys/fs/cgroup/memory/memory.max_usage_in_bytes --
1200000000
-- sys/fs/cgroup/memory/memory.stat --
cache 4096
hierarchical_memory_limit 2147483648
hierarchical_memsw_limit 9223372036854771712`

func TestTheMemoryCgroupIsFoundInEveryLayout(t *testing.T) {
	for _, c := range []struct {
		name string
		root Root
		pid  int
		want Cgroup
		dirs []string
	}{
		{
			name: "hybrid, with memory under version 1", root: plantFile(t, "2641", "hybrid.txt"), pid: 2641,
			want: Cgroup{Version: 1, Path: "/system.slice/prover.service", Visible: true},
			dirs: []string{
				"/sys/fs/cgroup/memory/system.slice/prover.service", "/sys/fs/cgroup/memory/system.slice", "/sys/fs/cgroup/memory",
			},
		},
		{
			name: "version 2 alone", root: plantFile(t, "755", "v2.txt"), pid: 755,
			want: Cgroup{Version: 2, Path: "/prover", Visible: true},
			dirs: []string{"/sys/fs/cgroup/prover", "/sys/fs/cgroup"},
		},
		{
			name: "version 2, nested", root: plant(t, "7", nested), pid: 7,
			want: Cgroup{Version: 2, Path: "/user.slice/user@1000.service/app.slice/run.scope", Visible: true},
			dirs: []string{
				"/sys/fs/cgroup/user.slice/user@1000.service/app.slice/run.scope",
				"/sys/fs/cgroup/user.slice/user@1000.service/app.slice",
				"/sys/fs/cgroup/user.slice/user@1000.service",
				"/sys/fs/cgroup/user.slice",
				"/sys/fs/cgroup",
			},
		},
		{
			name: "a version 1 container whose mount begins at its own group", root: plant(t, "7", docker), pid: 7,
			want: Cgroup{Version: 1, Path: "/docker/4f1a", Visible: true},
			dirs: []string{"/sys/fs/cgroup/memory"},
		},
		{
			name: "a path that the mount does not show", pid: 7,
			root: plant(t, "7", strings.Replace(docker, "pids,memory:/docker/4f1a", "pids,memory:/kubepods/4f1a", 1)),
			want: Cgroup{Version: 1, Path: "/kubepods/4f1a"},
			dirs: []string{"/sys/fs/cgroup/memory"},
		},
		{
			name: "a path told from another root than the mount's", pid: 7,
			root: plant(t, "7", strings.Replace(nested, "0::/user.slice/user@1000.service/app.slice/run.scope", "0::/../..", 1),
				"-- sys/fs/cgroup/user.slice/user@1000.service/cgroup.procs --\n77\n7\n-- sys/fs/cgroup/user.slice/cgroup.procs --\n70"),
			want: Cgroup{Version: 2, Path: "/../..", Visible: true},
			dirs: []string{"/sys/fs/cgroup/user.slice/user@1000.service", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"},
		},
		{
			name: "a path below the mount that is not there", pid: 7,
			root: plant(t, "7", strings.Replace(nested, "run.scope", "gone.scope", 1)),
			want: Cgroup{Version: 2, Path: "/user.slice/user@1000.service/app.slice/gone.scope"},
			dirs: []string{"/sys/fs/cgroup"},
		},
		{
			name: "a path outside of the reader's cgroup namespace", pid: 7,
			root: plant(t, "7", strings.Replace(nested, "0::/user.slice", "0::/../../user.slice", 1)),
			want: Cgroup{Version: 2, Path: "/../../user.slice/user@1000.service/app.slice/run.scope"},
			dirs: []string{"/sys/fs/cgroup"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.root.Cgroup(c.pid)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.dirs, dirs(c.root, got.Groups)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			got.Groups = nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("cgroup (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutAMemoryControllerTheErrorSaysSo(t *testing.T) {
	for name, tree := range map[string]string{
		"no mount":                     "-- proc/7/cgroup --\n0::/\n-- proc/7/mountinfo --\n22 27 0:21 / /proc rw - proc proc rw",
		"version 2 without it":         strings.Replace(nested, "cpuset cpu io memory pids", "hugetlb", 1),
		"version 1 without membership": strings.NewReplacer("pids,memory:", "pids:", "0::/system.slice/docker.service\n", "").Replace(docker),
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := plant(t, "7", tree).Cgroup(7); !errors.Is(err, ErrNoController) {
				t.Errorf("got %+v, %v, want ErrNoController", c, err)
			}
		})
	}
}

// shared is a version 2 container that shares the host's cgroup namespace: the root file says that there is no limit,
// and only the path of the process leads to the real one.
const shared = `-- proc/7/cgroup --
0::/docker/4f1a
-- proc/7/mountinfo --
34 25 0:30 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw
-- sys/fs/cgroup/cgroup.controllers --
memory
-- sys/fs/cgroup/memory.max --
max
-- sys/fs/cgroup/docker/memory.max --
max
-- sys/fs/cgroup/docker/4f1a/memory.max --
536870912
-- sys/fs/cgroup/docker/4f1a/memory.high --
402653184
-- sys/fs/cgroup/docker/4f1a/memory.current --
300000000
-- sys/fs/cgroup/docker/4f1a/memory.stat --
anon 100000000
file 200000000
inactive_file 150000000`

// bound is docker with the cgroup file systems bind-mounted elsewhere, the part of another container first.
var bound = strings.NewReplacer("-- sys/fs/cgroup/memory/", "-- host/cg/",
	"819 812 0:37 /docker/4f1a /sys/fs/cgroup/memory ro", "818 812 0:37 /docker/9999 /mnt ro,nosuid - cgroup cgroup rw,memory\n819 812 0:37 /docker/4f1a /host/cg ro").Replace(docker)

func TestEveryCgroupLimitOnThePathIsListedWithItsFile(t *testing.T) {
	limit := func(bytes, used model.Bytes, name, file string) Limit {
		return Limit{Of: HostMemory, Bytes: bytes, Used: used, Name: name, File: file}
	}
	const stat = "\n-- sys/fs/cgroup/memory/memory.stat --\n"
	app := limit(4*model.GiB, Unknown, "cgroup /user.slice/user@1000.service/app.slice", "/sys/fs/cgroup/user.slice/user@1000.service/app.slice/memory.max")
	slice := limit(8*model.GiB, Unknown, "cgroup /user.slice", "/sys/fs/cgroup/user.slice/memory.max")
	own := limit(3*model.GiB, Unknown, "cgroup /", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
	above := limit(2*model.GiB, Unknown, "cgroup above /", "/sys/fs/cgroup/memory/memory.stat")
	cold := own
	cold.Used = 1000000000 - 200000000
	for _, c := range []struct {
		name string
		tree string
		want Limits
	}{
		{"version 2, nested", nested, Limits{app, slice}},
		{"version 2, the root file says unlimited", shared, Limits{
			limit(512*model.MiB, 150000000, "cgroup /docker/4f1a", "/sys/fs/cgroup/docker/4f1a/memory.max"),
			limit(384*model.MiB, 150000000, "memory.high of cgroup /docker/4f1a", "/sys/fs/cgroup/docker/4f1a/memory.high"),
		}},
		{"version 1 with a limit above the mount", docker, Limits{own, above}},
		{"version 1 with the tightest limit in sight", strings.Replace(docker, "2147483648", "3221225472", 1), Limits{own}},
		{"version 1 without limits, pages of 64 KiB", strings.NewReplacer("3221225472", "9223372036854710272", "2147483648", "9223372036854710272").Replace(docker), nil},
		{"version 1 without limits, pages of 4 KiB", strings.NewReplacer("3221225472", "9223372036854771712", "2147483648", "9223372036854771712").Replace(docker), nil},
		{"version 1, page cache that can be taken back", strings.NewReplacer("2147483648", "3221225472", stat, stat+"total_inactive_file 200000000\n").Replace(docker), Limits{cold}},
		{"version 1, more cache than there is memory", strings.NewReplacer("2147483648", "3221225472", stat, stat+"total_inactive_file 2000000000\n").Replace(docker),
			Limits{limit(own.Bytes, 0, own.Name, own.File)}},
		{"version 1, bind-mounted elsewhere", bound, Limits{
			limit(own.Bytes, Unknown, own.Name, "/host/cg/memory.limit_in_bytes"), limit(above.Bytes, Unknown, above.Name, "/host/cg/memory.stat"),
		}},
		{"no memory controller", strings.Replace(nested, "cpuset cpu io memory pids", "hugetlb", 1), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plant(t, "7", c.tree)
			got, err := root.cgroupLimits(7)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i].File = strings.TrimPrefix(got[i].File, string(root))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLimitOfARealGroupOfVersion2IsFound(t *testing.T) {
	root := plantFile(t, "755", "v2.txt")
	got, err := root.cgroupLimits(755)
	if err != nil {
		t.Fatal(err)
	}
	want := Limits{{Of: HostMemory, Bytes: model.GiB, Used: Unknown, Name: "cgroup /prover", File: root.path("sys/fs/cgroup/prover/memory.max")}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	group := Group{Version: 2, Dir: root.path("sys/fs/cgroup/prover")}
	if counts, err := group.OOM(); err != nil || counts != (OOM{}) {
		t.Errorf("counters are %+v, %v, want none", counts, err)
	}
}

func TestUsageIsThatOfTheNearestGroupThatCounts(t *testing.T) {
	for _, c := range []struct {
		name, tree string
		want       Usage
	}{
		{"version 2, the scope itself does not count", nested, Usage{Current: 700000000, Peak: 750000000}},
		{"version 2 before memory.peak", strings.Replace(nested, "memory.peak", "memory.low", 1), Usage{Current: 700000000}},
		{"version 1", docker, Usage{Current: 1000000000, Peak: 1200000000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cgroup, err := plant(t, "7", c.tree).Cgroup(7)
			if err != nil {
				t.Fatal(err)
			}
			got, err := cgroup.Usage()
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("usage is %+v, want %+v", got, c.want)
			}
		})
	}
	if _, err := (Cgroup{Groups: []Group{{Version: 2, Dir: t.TempDir()}}}).Usage(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("usage of a group that does not count: %v, want fs.ErrNotExist", err)
	}
}

func TestOOMCountersTellTheOwnLimitFromOthers(t *testing.T) {
	v1 := "-- memory.oom_control --\noom_kill_disable 0\nunder_oom 0\noom_kill 1\n-- memory.limit_in_bytes --\n67108864\n-- memory.max_usage_in_bytes --\n"
	v2 := "-- memory.events --\nlow 0\nhigh 0\nmax 5\noom 0\noom_kill 1"
	for _, c := range []struct {
		name, files string
		version     int
		want        OOM
	}{
		{"version 1 at its limit", v1 + "67108864", 1, OOM{Kills: 1, AtLimit: true}},
		{"version 1 a page below", v1 + "67104768", 1, OOM{Kills: 1, AtLimit: true}},
		{"version 1 far from it", v1 + "50000000", 1, OOM{Kills: 1}},
		{"version 1 at its limit of memory and swap", v1 + "50000000\n-- memory.memsw.limit_in_bytes --\n70000000\n-- memory.memsw.max_usage_in_bytes --\n70000000", 1, OOM{Kills: 1, AtLimit: true}},
		{"version 1 without a limit", strings.Replace(v1, "67108864", "9223372036854771712", 1) + "50000000", 1, OOM{Kills: 1}},
		{"version 2, killed for another's limit", v2, 2, OOM{Kills: 1}},
		{"version 2, killed for its own", strings.Replace(v2, "oom 0", "oom 4", 1), 2, OOM{Kills: 1, AtLimit: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Group{Version: c.version, Dir: string(plant(t, "7", c.files))}.OOM()
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("counters are %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDamagedCgroupFilesAreNamed(t *testing.T) {
	for _, c := range []struct{ file, content, want string }{
		{"memory.current", "12 kB", `"12 kB" is neither a number of bytes nor "max"`},
		{"memory.current", "", `"" is neither`},
		{"memory.max", "-1", `"-1" is neither`},
		{"memory.events", "oom 0", "there is no line with oom_kill"},
		{"memory.events", "oom 0\noom_kill many", `oom_kill is "many", not a count`},
	} {
		g := Group{Version: 2, Dir: t.TempDir()}
		write(t, filepath.Join(g.Dir, c.file), c.content+"\n")
		_, currentErr := g.Current()
		_, _, limitErr := g.Limit()
		_, oomErr := g.OOM()
		err := errors.Join(currentErr, limitErr, oomErr)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s with %q: %v, want %q and the file's name", c.file, c.content, err, c.want)
		}
	}
}

func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"0", "max", "67108864", "9223372036854771712", "18446744073709551615", "-1", "1e9", "", "07"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, limited, err := parseAmount(text)
		if amount < 0 || amount >= unlimited || (err != nil || !limited) && amount != 0 {
			t.Errorf("%q gives %d, %t, %v", text, amount, limited, err)
		}
	})
}

func FuzzCounter(f *testing.F) {
	f.Add("oom_kill_disable 0\nunder_oom 0\noom_kill 1", "oom_kill")
	f.Add("low 0\nhigh 0\nmax 5\noom -2", "oom")
	f.Add("oom_kill  1\n\nx", "")
	f.Fuzz(func(t *testing.T, text, key string) {
		value, err := parseCounter(text, key)
		if value < 0 || err == nil && !strings.Contains(text, key+" ") {
			t.Errorf("%q of %q is %d, %v", key, text, value, err)
		}
	})
}

func FuzzPathBelow(f *testing.F) {
	f.Add("/", "/user.slice/a.scope")
	f.Add("/docker/4f1a", "/docker/4f1a/sub")
	f.Add("/docker/4f1a", "/docker/4f1abc")
	f.Add("/", "/../../x")
	f.Add("/a/", "/a//b")
	f.Fuzz(func(t *testing.T, root, path string) {
		below, visible := pathBelow(root, path)
		if !visible {
			return
		}
		for _, g := range Root("/r").groups(2, "/mount", below) {
			if g.Dir != "/r/mount" && !strings.HasPrefix(g.Dir, "/r/mount/") {
				t.Errorf("%q below %q leaves the mount: %q", path, root, g.Dir)
			}
		}
	})
}

func FuzzCgroupFiles(f *testing.F) {
	f.Add("0::/a\n", "34 25 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	f.Add("4:memory:/docker/4f1a\n0::/\n", "35 31 0:32 /docker /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
	f.Add("4:memory\n", "35 31 - -\n")
	f.Fuzz(func(t *testing.T, membership, mounts string) {
		root := plant(t, "7")
		write(t, root.path("proc/7/cgroup"), membership)
		write(t, root.path("proc/7/mountinfo"), mounts)
		cgroup, err := root.Cgroup(7)
		if err == nil && len(cgroup.Groups) == 0 {
			t.Errorf("a cgroup without groups: %+v", cgroup)
		}
		for _, g := range cgroup.Groups {
			if !strings.HasPrefix(g.Dir, string(root)) {
				t.Errorf("%q is outside of the tree", g.Dir)
			}
		}
	})
}
