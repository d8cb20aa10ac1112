package confine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"headroom/backend/probe"
	"headroom/model"
)

// pollPeriod is how often a child's high-water mark is read, and with it how late the watchdog can be.
const pollPeriod = 5 * time.Millisecond

// Child is a process that Start began.
type Child struct {
	cmd       *exec.Cmd
	jail      jail
	mechanism Mechanism
	skipped   []error

	ctx       context.Context
	stopWatch func() bool // of the watch on ctx

	pollStop, pollDone chan struct{}
	lastSeen           model.Bytes // high-water mark; the poller's until pollDone is closed
	// inheritable is the most of ru_maxrss that can be the parent's: exec keeps the peak of the memory it replaces.
	inheritable model.Bytes

	mu        sync.Mutex
	reaping   bool // the child's number may be given to another process: it must not be signalled any more
	cancelled bool // the child was killed because of ctx
}

// Start runs the command under a limit of at least a page; 0 means without one, only to learn the high-water marks.
//
// The child gets a process group of its own, so signals of the terminal do not reach it; when ctx ends, the whole
// group is killed. Start may change the command's Path, Args, Env and SysProcAttr. Wait must be called in every case:
// it also removes the cgroup. If the parent itself is killed, the child and its cgroup stay. The child is the first that the
// kernel kills for want of memory, whosever limit is reached.
func Start(ctx context.Context, cmd *exec.Cmd, limit model.Bytes, options Options) (*Child, error) {
	if err := prepare(ctx, cmd, limit); err != nil {
		return nil, fmt.Errorf("confine: %w", err)
	}
	held, skipped, err := choose(limit, options.Mechanism)
	if err != nil {
		return nil, err
	}
	counterError := counterError() // before the start: it takes a while on a machine of many cores
	held.enter(cmd)
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("confine: %w", err), held.remove())
	}
	c := &Child{
		cmd: cmd, jail: held, mechanism: held.describe().Mechanism, skipped: skipped, ctx: ctx,
		pollStop: make(chan struct{}), pollDone: make(chan struct{}), inheritable: math.MaxInt64,
	}
	if self, err := probe.Live.Process(os.Getpid()); err == nil {
		c.inheritable = self.HighWater + counterError
	}
	offer(cmd.Process.Pid)
	go c.poll()
	c.stopWatch = context.AfterFunc(ctx, c.cancel)
	return c, nil
}

// offer has the kernel take the child before its parent and before all others where memory is short for whatever reason.
// Where that cannot be told to it, it chooses as ever.
func offer(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0)
}

// Mechanism returns how the child is confined.
func (c *Child) Mechanism() Mechanism { return c.mechanism }

// counterError returns by how much the parent's high-water mark may be read too low. If that cannot be told it is more
// than any machine has, so that no ru_maxrss passes for the child's own.
func counterError() model.Bytes {
	machine, err := probe.Live.Machine()
	if err != nil {
		return math.MaxInt64 / 2
	}
	return machine.CounterError()
}

// prepare refuses what cannot be started, before a mechanism wraps the command and hides the reason, and gives the
// command an absolute path and a process group.
func prepare(ctx context.Context, cmd *exec.Cmd, limit model.Bytes) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("not started: %w", err)
	}
	if page := model.Bytes(os.Getpagesize()); limit != 0 && limit < page {
		return fmt.Errorf("limit %s: it must be at least %s, a page, or 0 for none", limit, page)
	}
	if cmd.Err != nil {
		return cmd.Err
	}
	if cmd.Process != nil {
		return fmt.Errorf("%s was started before", cmd.Path)
	}
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	if attr.Credential != nil || attr.Chroot != "" {
		return errors.New("a command with SysProcAttr.Credential or Chroot: the child must keep the parent's user and root")
	}
	if !attr.Setsid { // which makes a process group too
		attr.Setpgid, attr.Pgid = true, 0
	}
	cmd.SysProcAttr = &attr
	path := cmd.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cmd.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := unix.Access(path, unix.X_OK); err != nil {
		return fmt.Errorf("%s cannot be run: %w", path, err)
	}
	// /proc/self would be the shell's or systemd-run's own when they run the program.
	if rest, self := strings.CutPrefix(path, "/proc/self/"); self {
		path = fmt.Sprintf("/proc/%d/%s", os.Getpid(), rest)
	}
	cmd.Path = path
	return nil
}

// poll reads the child's high-water mark until it is told to stop, and kills the child when the jail asks for it.
func (c *Child) poll() {
	defer close(c.pollDone)
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		if p, err := probe.Live.Process(c.cmd.Process.Pid); err == nil {
			c.lastSeen = p.HighWater
			if c.jail.observe(c.cmd.Process.Pid, p.HighWater) {
				c.kill()
			}
		}
		select {
		case <-ticker.C:
		case <-c.pollStop:
			return
		}
	}
}

// kill ends the child's process group.
func (c *Child) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.killLocked()
}

func (c *Child) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = c.killLocked()
}

func (c *Child) killLocked() bool {
	return !c.reaping && syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) == nil
}

// Wait waits for the child's end, kills what is left of its process group and cgroup, and removes the cgroup. How the
// child ended is no error; that ctx ended it is (the cause), and so is what could not be read or removed. Wait must be
// called once, when reading from the command's pipes is done.
func (c *Child) Wait() (Outcome, error) {
	deadErr := waitDead(c.cmd.Process.Pid)
	close(c.pollStop)
	<-c.pollDone
	c.stopWatch()
	cancelled := c.finish(deadErr == nil)

	found, tallyErr := c.jail.tally()
	waitErr := c.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(waitErr, &exit) {
		waitErr = nil
	}
	out := c.conclude(found)
	err := errors.Join(deadErr, waitErr, tallyErr, c.jail.remove())
	if cancelled && !out.Finished {
		err = errors.Join(context.Cause(c.ctx), err)
	}
	if err != nil {
		err = fmt.Errorf("confine: %w", err)
	}
	return out, err
}

// finish kills what the dead child left of its process group, and ends all signalling. As long as the child is a
// zombie no other process or group can have its number.
func (c *Child) finish(zombie bool) (cancelled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if zombie {
		c.killLocked()
	}
	c.reaping = true
	return c.cancelled
}

// conclude says how the child ended.
func (c *Child) conclude(found tally) Outcome {
	out := c.jail.describe()
	out.Skipped = c.skipped
	out.PeakBytes, out.OOMKills = found.peak, found.oomKills
	out.HighWater = c.lastSeen
	state := c.cmd.ProcessState
	out.ExitCode = state.ExitCode() // -1 also for no state, when somebody else has reaped the child
	if state == nil {
		return out
	}
	status := state.Sys().(syscall.WaitStatus)
	out.Finished = status.Exited()
	if status.Signaled() {
		out.Signal = status.Signal()
	}
	out.Killed = out.Signal == syscall.SIGKILL && found.limitKilled
	out.Starved = out.Signal == syscall.SIGKILL && !out.Killed && found.oomKills > 0
	out.MaxRSS = model.Bytes(state.SysUsage().(*syscall.Rusage).Maxrss) * model.KiB
	if out.MaxRSS > c.inheritable {
		out.HighWater = out.MaxRSS
	}
	return out
}

// waitDead returns when the process is dead, and leaves it to be reaped.
func waitDead(pid int) error {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
