package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"headroom/backend/confine"
	"headroom/model"
	"headroom/model/trace"
)

// Options say how to run a child and where its trace goes.
type Options struct {
	// Command is the program and arguments that run Child, usually this program itself.
	Command []string
	// Trace is the path of the trace; a name that ends in .zst is compressed. Empty keeps it in memory only.
	Trace string
	// Limit is the memory that the child may have; 0 is no limit.
	Limit     model.Bytes
	Mechanism confine.Mechanism
	// Progress is called with the number of jobs done as it grows; nil: nobody is told.
	Progress func(jobsDone int)
	// Log is where the child's log goes.
	Log io.Writer
}

// Outcome is a run that has ended, however it did.
type Outcome struct {
	confine.Outcome
	Trace *trace.Trace
}

// Peak returns the child's peak of resident memory as the kernel saw it; after a kill, the last value that was seen.
func (o *Outcome) Peak() model.Bytes { return o.Trace.End.VmHWMBytes }

// ErrNoRoom is wrapped when the limit killed the child before its trace began, so that there is none.
var ErrNoRoom = errors.New("the limit killed the prover before it began")

// ErrStarved is wrapped when the kernel killed the prover for want of memory although it was below its limit, or had none:
// that of a cgroup above was reached, or the machine's memory was used up.
var ErrStarved = errors.New("the kernel killed the prover for want of memory, and not for a limit of this run: headroom doctor lists those of this machine")

// Run prepares the keys in a child without a limit, then runs the spec in a child under the limit and keeps its
// trace. That a child was killed by the limit is an outcome, not an error, if there is a trace. A trace that was
// begun gets an end whatever happens.
func Run(ctx context.Context, spec Spec, o Options) (*Outcome, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if err := Prepare(ctx, spec, o); err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	child, err := start(running, &spec, &o)
	if err != nil {
		return nil, err
	}
	recorded, readErr := child.read()
	if readErr != nil {
		cancel() // a run that is not recorded is not worth its end
	}
	_, _ = io.Copy(io.Discard, child.stdout) // so that the child is never blocked on a trace that nobody reads
	outcome, err := child.process.Wait()
	switch {
	case readErr != nil:
		err = fmt.Errorf("record: the child's trace: %w", readErr)
	case err != nil:
		err = fmt.Errorf("record: %w", err)
	case recorded == nil && outcome.Killed:
		err = fmt.Errorf("record: %w: it is %s", ErrNoRoom, outcome.LimitBytes.Short())
	case recorded == nil && outcome.Starved:
		err = fmt.Errorf("record: before it began %w", ErrStarved)
	case recorded == nil || (outcome.Finished && outcome.ExitCode != 0):
		err = fmt.Errorf("record: the child ended early (%s)%s", how(outcome), child.log.words())
	}
	if err != nil {
		child.abandon(ctx, recorded, err)
		return nil, err
	}
	result := &Outcome{Outcome: outcome, Trace: recorded}
	return result, child.close(result)
}

// Prepare makes the keys and the data that a spec needs, in a child that has no memory limit.
func Prepare(ctx context.Context, spec Spec, o Options) error {
	if spec.Device == Virtual {
		return nil
	}
	spec.PrepareOnly = true
	o.Limit, o.Mechanism, o.Trace = 0, confine.Auto, ""
	child, err := start(ctx, &spec, &o)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, child.stdout)
	outcome, err := child.process.Wait()
	if err != nil {
		return fmt.Errorf("record: making keys: %w", err)
	}
	if outcome.Starved {
		return fmt.Errorf("record: making keys: %w", ErrStarved)
	}
	if !outcome.Finished || outcome.ExitCode != 0 {
		return fmt.Errorf("record: making keys failed (%s)%s", how(outcome), child.log.words())
	}
	return nil
}

// childProcess is a started child and what is read from it.
type childProcess struct {
	options *Options
	process *confine.Child
	stdout  io.Reader
	log     childLog
	writer  *trace.Writer // nil: in memory only
	flushed model.Instant // the sample up to which the file is complete, whatever happens to this process
}

func start(ctx context.Context, spec *Spec, o *Options) (*childProcess, error) {
	spec.LimitBytes = o.Limit
	input, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	c := &childProcess{options: o}
	c.log.to = o.Log
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.Stderr = &c.log
	if c.stdout, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if c.process, err = confine.Start(ctx, cmd, o.Limit, confine.Options{Mechanism: o.Mechanism}); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return c, nil
}

// read reads the child's trace until the child closes it, writing it down as it comes. The trace is nil if the
// child wrote nothing.
func (c *childProcess) read() (*trace.Trace, error) {
	out := bufio.NewReader(c.stdout)
	if _, err := out.Peek(1); errors.Is(err, io.EOF) {
		return nil, nil
	}
	reader, err := trace.NewReader(out)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	t := &trace.Trace{Header: *reader.Header()}
	if m := c.process.Mechanism(); m != confine.None {
		t.Header.Mechanism = string(m)
	}
	if c.options.Trace != "" {
		if c.writer, err = trace.Create(c.options.Trace, &t.Header); err != nil {
			return nil, err
		}
		if err := c.writer.Flush(); err != nil { // so that the file is a trace from the first moment on
			return t, err
		}
	}
	jobs := 0
	for {
		line, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		if err := c.keep(t, &line); err != nil {
			return t, err
		}
		if done := jobsDone(&line); done > 0 && c.options.Progress != nil {
			jobs += done
			c.options.Progress(jobs)
		}
	}
}

// keep adds a line to the trace in memory and, but for its end, to the file.
func (c *childProcess) keep(t *trace.Trace, line *trace.Line) error {
	var err error
	switch {
	case line.Step != nil:
		t.Records = append(t.Records, *line.Step)
		if c.writer != nil {
			err = c.writer.Step(line.Step)
		}
	case line.Sample != nil:
		t.Samples = append(t.Samples, *line.Sample)
		if c.writer != nil {
			err = c.writer.Sample(*line.Sample)
		}
		if at := line.Sample.At; c.writer != nil && at.Sub(c.flushed) >= model.Second {
			c.flushed = at
			err = c.writer.Flush()
		}
	case line.Baseline != nil:
		t.Baseline = line.Baseline
		if c.writer != nil {
			err = c.writer.Baseline(*line.Baseline)
		}
	case line.End != nil:
		t.End = line.End
	}
	return err
}

func jobsDone(line *trace.Line) int {
	done := 0
	if line.Step != nil {
		for _, e := range line.Step.Effects {
			if e.Op == model.JobDone {
				done++
			}
		}
	}
	return done
}

// close gives the trace its end, with what only the parent knows.
func (c *childProcess) close(o *Outcome) error {
	if o.Trace.End == nil {
		o.Trace.End = endOf(o.Trace, trace.Killed)
		o.Trace.End.Signal, o.Trace.End.VmHWMBytes = o.Signal.String(), o.HighWater
		if o.Starved {
			o.Trace.End.Error = ErrStarved.Error()
		}
	}
	o.Trace.End.CgroupPeakBytes = o.PeakBytes
	if c.writer == nil {
		return nil
	}
	_ = c.writer.End(*o.Trace.End)
	err := c.writer.Close() // returns the first error of all writing
	if err != nil {
		removeUnreadable(c.options.Trace)
	}
	return err
}

// abandon ends the file of a trace whose run failed: with the child's own end, or one that says why.
func (c *childProcess) abandon(ctx context.Context, t *trace.Trace, failure error) {
	if c.writer == nil {
		return
	}
	if t.End == nil {
		outcome := trace.Broken
		if ctx.Err() != nil {
			outcome = trace.Cancelled
		}
		t.End = endOf(t, outcome)
		t.End.Error = failure.Error()
	}
	_ = errors.Join(c.writer.End(*t.End), c.writer.Close()) // there is an error already that says more
	removeUnreadable(c.options.Trace)
}

// removeUnreadable removes the file of a trace of which not a line after the header can be read, as a full disk leaves it.
// What is no regular file, such as a pipe, stays.
func removeUnreadable(path string) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return
	}
	if !readable(path) {
		os.Remove(path)
	}
}

func readable(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return true // who may not read it cannot judge it
	}
	defer file.Close()
	reader, err := trace.NewReader(file)
	if err != nil {
		return false
	}
	defer reader.Close()
	_, err = reader.Next()
	return err == nil
}

// endOf is the end of a trace whose child could not write one. No job is done before the first arrival.
func endOf(t *trace.Trace, o trace.Outcome) *trace.End {
	end := &trace.End{Outcome: o}
	first := model.Instant(-1)
	for i := range t.Records {
		r := &t.Records[i]
		if r.Input.Op == model.Arrive && first < 0 {
			first = r.At
		}
		for _, e := range r.Effects {
			if e.Op == model.JobDone {
				end.JobsDone++
				end.MakespanNs = r.At.Sub(first)
			}
		}
	}
	return end
}

func how(o confine.Outcome) string {
	switch {
	case o.Killed:
		return fmt.Sprintf("killed at its limit of %s", o.LimitBytes.Short())
	case o.Finished:
		return fmt.Sprintf("exit code %d", o.ExitCode)
	}
	return "signal " + o.Signal.String()
}
