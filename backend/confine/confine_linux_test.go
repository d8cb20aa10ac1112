package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"headroom/backend/probe"
	"headroom/model"
)

const (
	limit = 64 * model.MiB
	small = 24 * model.MiB
	large = 512 * model.MiB
)

var howTo = map[Mechanism]string{
	Cgroup:     "run as root, or with a memory cgroup that the user may write, on cgroup version 1 and on version 2",
	SystemdRun: "run in a login session with systemd --user (XDG_RUNTIME_DIR set) to which the memory controller is delegated",
	Watchdog:   "it must work on every Linux",
}

// start starts the eater and skips the test when the mechanism does not work here.
func start(t *testing.T, ctx context.Context, e eater, size model.Bytes, mechanism Mechanism) *Child {
	t.Helper()
	child, err := Start(ctx, e.Cmd, size, Options{Mechanism: mechanism})
	if errors.Is(err, ErrUnavailable) && mechanism != Watchdog {
		t.Skipf("NOT TESTED: %v\nto test it: %s", err, howTo[mechanism])
	}
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// eachMechanism runs a test under each mechanism and checks that no cgroup is left.
func eachMechanism(t *testing.T, test func(t *testing.T, m Mechanism) Outcome) {
	for _, m := range []Mechanism{Cgroup, SystemdRun, Watchdog} {
		t.Run(string(m), func(t *testing.T) {
			out := test(t, m)
			if out.Mechanism != m {
				t.Errorf("mechanism is %q, want the one that was asked for, %q", out.Mechanism, m)
			}
			checkLimit(t, out)
			checkRemoved(t, out)
		})
	}
}

func checkLimit(t *testing.T, out Outcome) {
	t.Helper()
	if out.LimitBytes != limit {
		t.Errorf("limit is %s, want %s", out.LimitBytes, limit)
	}
	if (out.LimitFile == "") != (out.Mechanism == Watchdog) {
		t.Errorf("limit file of %s is %q", out.Mechanism, out.LimitFile)
	}
}

func checkRemoved(t *testing.T, out Outcome) {
	t.Helper()
	if out.LimitFile == "" {
		return
	}
	if _, err := os.Stat(filepath.Dir(out.LimitFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cgroup of %s is still there: %v", out.LimitFile, err)
	}
}

func TestAChildThatEatsMoreThanTheLimitIsKilledByIt(t *testing.T) {
	eachMechanism(t, func(t *testing.T, m Mechanism) Outcome {
		e := newEater(t, large, "")
		out, err := start(t, t.Context(), e, limit, m).Wait()
		if err != nil {
			t.Fatal(err)
		}
		if !out.Killed || out.Finished || out.Signal != syscall.SIGKILL || out.ExitCode != -1 {
			t.Errorf("outcome is %+v, want killed by the limit", out)
		}
		if m == Watchdog {
			if out.HighWater <= limit {
				t.Errorf("killed at a high-water mark of %s, which is not above %s", out.HighWater, limit)
			}
			return out
		}
		if out.OOMKills < 1 {
			t.Errorf("%d kills counted, want at least one", out.OOMKills)
		}
		if out.PeakBytes > limit+model.MiB || m == Cgroup && out.PeakBytes < limit-model.MiB {
			t.Errorf("the cgroup's peak is %s, want the limit of %s", out.PeakBytes, limit)
		}
		return out
	})
}

func TestAChildBelowTheLimitFinishes(t *testing.T) {
	eachMechanism(t, func(t *testing.T, m Mechanism) Outcome {
		e := newEater(t, small, "")
		child := start(t, t.Context(), e, limit, m)
		e.waitFull(t, 1)
		e.input.Close()
		out, err := child.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if !out.Finished || out.Killed || out.Signal != 0 || out.ExitCode != 7 || out.OOMKills != 0 {
			t.Errorf("outcome is %+v, want finished with code 7", out)
		}
		if out.MaxRSS < small || m == Cgroup && (out.PeakBytes < small || out.PeakBytes > limit) {
			t.Errorf("peaks are %s (process) and %s (cgroup), want at least %s", out.MaxRSS, out.PeakBytes, small)
		}
		return out
	})
}

func TestAKillByAnotherIsNotBlamedOnTheLimit(t *testing.T) {
	eachMechanism(t, func(t *testing.T, m Mechanism) Outcome {
		e := newEater(t, small, "")
		child := start(t, t.Context(), e, limit, m)
		e.waitFull(t, 1)
		if err := e.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		out, err := child.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if out.Killed || out.Starved || out.Finished || out.Signal != syscall.SIGKILL || out.OOMKills != 0 {
			t.Errorf("outcome is %+v, want SIGKILL that is not the limit's", out)
		}
		return out
	})
}

// A kill by the limit of a cgroup above takes the child and leaves its parent, which knows why.
func TestAKillForWantOfMemoryElsewhereIsTold(t *testing.T) {
	e := newEater(t, large, "confined")
	child := start(t, t.Context(), e, limit, Cgroup)
	said, err := io.ReadAll(e.output)
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if !out.Finished || out.ExitCode != 7 {
		t.Errorf("the parent's outcome is %+v, want finished with code 7", out)
	}
	if got := string(said); got != "starved true, killed false, signal killed\n" {
		t.Errorf("the parent says %q", got)
	}
}

func TestTheKernelTakesTheChildFirst(t *testing.T) {
	e := newEater(t, small, "")
	child := start(t, t.Context(), e, 0, Auto)
	e.waitFull(t, 1)
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", e.Process.Pid)); string(text) != "1000\n" || err != nil {
		t.Errorf("its oom_score_adj is %q, %v; want 1000, the most there is", text, err)
	}
	e.input.Close()
	if _, err := child.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestACancelledContextKillsTheWholeProcessGroup(t *testing.T) {
	eachMechanism(t, func(t *testing.T, m Mechanism) Outcome {
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("the operator changed his mind")
		e := newEater(t, small, "child")
		child := start(t, ctx, e, limit, m)
		e.waitFull(t, 2)
		cancel(reason)
		if _, err := io.Copy(io.Discard, e.output); err != nil { // ends when the last process that holds it has
			t.Fatal(err)
		}
		out, err := child.Wait()
		if !errors.Is(err, reason) {
			t.Errorf("error is %v, want the cause of the cancellation", err)
		}
		if out.Killed || out.Finished || out.Signal != syscall.SIGKILL {
			t.Errorf("outcome is %+v, want SIGKILL that is not the limit's", out)
		}
		return out
	})
}

func TestWhatTheChildLeavesInTheCgroupIsKilled(t *testing.T) {
	for _, m := range []Mechanism{Cgroup, SystemdRun} {
		t.Run(string(m), func(t *testing.T) {
			e := newEater(t, small, "daemon")
			child := start(t, t.Context(), e, limit, m)
			e.waitFull(t, 2)
			if err := e.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			held, err := unix.Dup(int(e.output.(*os.File).Fd())) // Wait closes the other
			if err != nil {
				t.Fatal(err)
			}
			out, err := child.Wait()
			if err != nil {
				t.Fatal(err)
			}
			checkRemoved(t, out)
			file := os.NewFile(uintptr(held), "output")
			defer file.Close()
			if _, err := io.Copy(io.Discard, file); err != nil { // would not end if the daemon lived on
				t.Fatal(err)
			}
		})
	}
}

func TestWithoutALimitOnlyTheMarksAreRead(t *testing.T) {
	e := newEater(t, small, "")
	child := start(t, t.Context(), e, 0, Auto)
	e.waitFull(t, 1)
	e.input.Close()
	out, err := child.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if out.Mechanism != None || out.LimitBytes != 0 || !out.Finished || out.ExitCode != 7 || out.MaxRSS < small {
		t.Errorf("outcome is %+v, want finished without a mechanism", out)
	}
}

func TestAutoTakesTheFirstMechanismThatWorksAndSaysWhyNotTheOthers(t *testing.T) {
	child := start(t, t.Context(), newEater(t, large, ""), limit, Auto)
	out, err := child.Wait()
	if err != nil {
		t.Fatal(err)
	}
	passed := map[Mechanism]int{Cgroup: 0, SystemdRun: 1, Watchdog: 2}
	if want, known := passed[out.Mechanism]; !known || len(out.Skipped) != want {
		t.Errorf("mechanism %q was taken after %d others: %v", out.Mechanism, len(out.Skipped), out.Skipped)
	}
	if !out.Killed {
		t.Errorf("outcome is %+v, want killed by the limit", out)
	}
	t.Logf("works here: %s; passed over: %v", out.Mechanism, out.Skipped)
}

// spy tells the test what the poller saw.
type spy struct {
	free
	seen chan model.Bytes
}

func (s spy) observe(_ int, highWater model.Bytes) bool {
	s.seen <- highWater
	return false
}

func TestTheHighWaterMarkIsTheChildsEvenIfTheParentIsLarger(t *testing.T) {
	parent, err := unix.Mmap(-1, 0, int(4*small), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(parent)
	s := spy{seen: make(chan model.Bytes)}
	before := makers
	defer func() { makers = before }()
	makers = []maker{{Watchdog, func(model.Bytes) (jail, error) { return s, nil }}}

	e := newEater(t, small, "")
	child := start(t, t.Context(), e, limit, Watchdog)
	for <-s.seen < small {
	}
	go func() {
		for range s.seen {
		}
	}()
	e.input.Close()
	out, err := child.Wait()
	close(s.seen)
	if err != nil {
		t.Fatal(err)
	}
	if out.HighWater < small || out.HighWater > 3*small {
		t.Errorf("high-water mark is %s, want little more than %s", out.HighWater, small)
	}
	if out.MaxRSS < 4*small {
		t.Errorf("ru_maxrss is %s: it no longer shows the parent's peak, so it need not be corrected", out.MaxRSS)
	}
}

func TestWhatCannotBeStartedIsRefusedWithTheReason(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	other := exec.Command("/proc/self/exe")
	other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1}}
	for _, c := range []struct {
		name      string
		ctx       context.Context
		cmd       *exec.Cmd
		limit     model.Bytes
		mechanism Mechanism
		want      string
	}{
		{"an ended context", ended, exec.Command("/proc/self/exe"), limit, Auto, "context canceled"},
		{"a negative limit", t.Context(), exec.Command("/proc/self/exe"), -1, Auto, "limit -1B: it must be at least 4KiB"},
		{"less than a page", t.Context(), exec.Command("/proc/self/exe"), 4095, Auto, "limit 4095B: it must be at least 4KiB"},
		{"a program that is not found", t.Context(), exec.Command("no-such-program"), limit, Auto, "no-such-program"},
		{"a file that is not there", t.Context(), &exec.Cmd{Path: "/no/such/file"}, limit, Auto, "/no/such/file cannot be run"},
		{"a file that is no program", t.Context(), &exec.Cmd{Path: "/proc/self/maps"}, limit, Auto, "/proc/self/maps cannot be run"},
		{"another user", t.Context(), other, limit, Auto, "Credential"},
		{"an unknown mechanism", t.Context(), exec.Command("/proc/self/exe"), limit, "jail", `mechanism "jail": it must be "cgroup"`},
		{"a mechanism without a limit", t.Context(), exec.Command("/proc/self/exe"), 0, Watchdog, "give a limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Start(c.ctx, c.cmd, c.limit, Options{Mechanism: c.mechanism})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "confine: ") {
				t.Errorf("error is %v, want one that contains %q", err, c.want)
			}
		})
	}
}

func TestAForcedMechanismThatDoesNotWorkIsAnError(t *testing.T) {
	t.Setenv("PATH", "")
	_, err := Start(t.Context(), exec.Command("/proc/self/exe"), limit, Options{Mechanism: SystemdRun})
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "systemd-run") {
		t.Errorf("error is %v, want ErrUnavailable with systemd-run named", err)
	}
}

func TestAFailedStartLeavesNoCgroup(t *testing.T) {
	own, err := probe.Live.Cgroup(os.Getpid())
	if err != nil {
		t.Skipf("NOT TESTED: %v\nto test it: %s", err, howTo[Cgroup])
	}
	e := newEater(t, small, "")
	e.Dir = "/no/such/directory"
	_, err = Start(t.Context(), e.Cmd, limit, Options{})
	if err == nil {
		t.Fatal("started in a directory that is not there")
	}
	for _, g := range own.Groups {
		if left, _ := filepath.Glob(filepath.Join(g.Dir, ownPrefix()+"*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func FuzzProperties(f *testing.F) {
	f.Add("ActiveState=failed\nResult=oom-kill\n")
	f.Add("=\n\nA\nB==C")
	f.Fuzz(func(t *testing.T, text string) {
		for key, value := range parseProperties(text) {
			if !strings.Contains(text, key+"="+value) {
				t.Errorf("%q=%q is not in %q", key, value, text)
			}
		}
	})
}
