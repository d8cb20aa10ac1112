package confine

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"headroom/backend/probe"
	"headroom/model"
)

// marked is a jail that says of itself which it is, and at the end that it has killed somebody.
type marked struct {
	free
	name Mechanism
}

func (m marked) describe() Outcome   { return Outcome{Mechanism: m.name} }
func (marked) tally() (tally, error) { return tally{limitKilled: true}, nil }

// making replaces the mechanisms for a test by such of which those named do not work.
func making(t *testing.T, broken ...Mechanism) {
	before := makers
	t.Cleanup(func() { makers = before })
	makers = nil
	for _, name := range []Mechanism{Cgroup, SystemdRun, Watchdog} {
		makers = append(makers, maker{name, func(model.Bytes) (jail, error) {
			if slices.Contains(broken, name) {
				return nil, errors.New(string(name) + " is broken")
			}
			return marked{name: name}, nil
		}})
	}
}

// The first mechanism that works is taken, or the one that is asked for and no other.
func TestTheMechanismThatIsTaken(t *testing.T) {
	for _, c := range []struct {
		broken  []Mechanism
		forced  Mechanism
		want    Mechanism // none: an error
		skipped []string
	}{
		{nil, Auto, Cgroup, nil},
		{[]Mechanism{Cgroup}, Auto, SystemdRun, []string{"cgroup: cgroup is broken"}},
		{[]Mechanism{Cgroup, SystemdRun}, Auto, Watchdog, []string{"cgroup: cgroup is broken", "systemd-run: systemd-run is broken"}},
		{nil, SystemdRun, SystemdRun, nil},
		{[]Mechanism{Cgroup}, Watchdog, Watchdog, nil},
		{[]Mechanism{SystemdRun}, SystemdRun, None, []string{"systemd-run: systemd-run is broken"}},
		{[]Mechanism{Cgroup, SystemdRun, Watchdog}, Auto, None, []string{"cgroup: cgroup is broken", "watchdog: watchdog is broken"}},
	} {
		making(t, c.broken...)
		chosen, skipped, err := choose(limit, c.forced)
		if c.want == None {
			if !errors.Is(err, ErrUnavailable) || chosen != nil {
				t.Errorf("asked for %q with %v broken: %v, %v; want an error", c.forced, c.broken, chosen, err)
				continue
			}
			for _, reason := range c.skipped {
				if !strings.Contains(err.Error(), reason) {
					t.Errorf("asked for %q with %v broken: %v does not say %q", c.forced, c.broken, err, reason)
				}
			}
			continue
		}
		if err != nil || chosen.describe().Mechanism != c.want {
			t.Errorf("asked for %q with %v broken: %v, %v; want %q", c.forced, c.broken, chosen, err, c.want)
		}
		var reasons []string
		for _, reason := range skipped {
			reasons = append(reasons, reason.Error())
		}
		if !slices.Equal(reasons, c.skipped) {
			t.Errorf("asked for %q with %v broken: passed over are %q, want %q", c.forced, c.broken, reasons, c.skipped)
		}
	}
	for _, forced := range []Mechanism{None, "jail"} {
		if _, _, err := choose(limit, forced); err == nil || !strings.Contains(err.Error(), `it must be "cgroup"`) {
			t.Errorf("asked for %q: %v", forced, err)
		}
	}
}

// A watchdog kills what is above the limit, and goes on when the child is not dead yet.
func TestTheWatchdogKillsAboveTheLimit(t *testing.T) {
	w, err := newWatchdog(limit)
	if err != nil {
		t.Fatal(err)
	}
	for _, seen := range []struct {
		mark model.Bytes
		kill bool
	}{{0, false}, {limit, false}, {limit + 1, true}, {limit - 1, true}} {
		if got := w.observe(1, seen.mark); got != seen.kill {
			t.Errorf("at %d bytes of %d: kill is %v, want %v", seen.mark, limit, got, seen.kill)
		}
		if end, err := w.tally(); err != nil || end.limitKilled != seen.kill {
			t.Errorf("at %d bytes of %d: at the end %+v, %v", seen.mark, limit, end, err)
		}
	}
}

// A child that ends by itself was not killed, although the limit killed another process beside it.
func TestAChildThatFinishesWasNotKilledWhateverTheLimitDid(t *testing.T) {
	making(t)
	e := newEater(t, small, "")
	child := start(t, t.Context(), e, limit, Watchdog)
	e.waitFull(t, 1)
	e.input.Close()
	out, err := child.Wait()
	if err != nil || !out.Finished || out.Killed || out.ExitCode != 7 {
		t.Errorf("outcome is %+v, %v, want finished with code 7", out, err)
	}
}

// A child that is being reaped is not signalled: its number may be another's by then.
func TestAChildThatIsReapedIsNotSignalled(t *testing.T) {
	e := newEater(t, small, "")
	child := start(t, t.Context(), e, 0, Auto)
	e.waitFull(t, 1)
	reaped := &Child{cmd: e.Cmd, reaping: true}
	reaped.kill()
	reaped.cancel()
	e.input.Close()
	out, err := child.Wait()
	if err != nil || !out.Finished || reaped.cancelled {
		t.Errorf("outcome is %+v, %v, want finished with code 7", out, err)
	}
}

// groupIn returns a cgroup in a folder that stands for one, with these files.
func groupIn(t *testing.T, version int, files map[string]string) *group {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &group{Group: probe.Group{Version: version, Dir: dir}}
}

// A group's limit is to blame for a kill only if the group stood at it.
func TestAKillForWantOfMemoryElsewhereIsNotTheGroups(t *testing.T) {
	for _, c := range []struct {
		name string
		g    *group
		want tally
	}{
		{"version 2, at its limit", groupIn(t, 2, map[string]string{"memory.events": "low 0\nmax 9\noom 2\noom_kill 1\n", "memory.peak": "4096\n"}), tally{4096, 1, true}},
		{"version 2, of an ancestor", groupIn(t, 2, map[string]string{"memory.events": "low 0\nmax 0\noom 0\noom_kill 1\n"}), tally{0, 1, false}},
		{"version 2, nobody", groupIn(t, 2, map[string]string{"memory.events": "max 9\noom 1\noom_kill 0\n"}), tally{0, 0, false}},
		{"version 1, at its limit", groupIn(t, 1, map[string]string{
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "memory.max_usage_in_bytes": "67108864\n", "memory.limit_in_bytes": "67108864\n",
		}), tally{limit, 1, true}},
		{"version 1, of an ancestor", groupIn(t, 1, map[string]string{
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "memory.max_usage_in_bytes": "4096\n", "memory.limit_in_bytes": "67108864\n",
		}), tally{4096, 1, false}},
	} {
		if got, err := c.g.tally(); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

// A limit is written with nothing to evade it by.
func TestALimitLeavesNoSwap(t *testing.T) {
	for version, want := range map[int]map[string]string{
		1: {"memory.limit_in_bytes": "67108864", "memory.memsw.limit_in_bytes": "67108864", "memory.swappiness": "0"},
		2: {"memory.max": "67108864", "memory.swap.max": "0", "memory.oom.group": "1"},
	} {
		empty := maps.Clone(want)
		for name := range empty {
			empty[name] = ""
		}
		g := groupIn(t, version, empty)
		if err := g.set(limit); err != nil || g.limit != limit {
			t.Errorf("version %d: a limit of %s, %v", version, g.limit, err)
		}
		for name, text := range want {
			if got, err := os.ReadFile(filepath.Join(g.Dir, name)); err != nil || string(got) != text {
				t.Errorf("version %d: %s is %q, %v; want %q", version, name, got, err, text)
			}
		}
	}
}
