package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"headroom/backend"
	"headroom/backend/device/cpu"
	"headroom/backend/device/cuda"
	"headroom/backend/groth16"
	"headroom/backend/probe"
	"headroom/model"
	"headroom/model/trace"
)

// Child is the body of the child process: it reads a Spec from in, runs it, and writes the trace to out.
func Child(ctx context.Context, in io.Reader, out io.Writer) error {
	var spec Spec
	if err := json.NewDecoder(in).Decode(&spec); err != nil {
		return fmt.Errorf("record: the child was not told what to run: %w", err)
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	runtime.GOMAXPROCS(processors(&spec))
	if spec.PrepareOnly {
		return prepare(ctx, &spec)
	}
	kinds, err := spec.shapes()
	if err != nil {
		return err
	}
	c := &child{spec: &spec, kinds: kinds}
	if err := c.open(ctx); err != nil {
		return err
	}
	return errors.Join(c.run(ctx, out), c.device.Close())
}

// processors is how many threads the Go scheduler may run at once: more than stages can ask for. Then it is the
// operating system that divides the cores between the threads of stages, evenly and in small slices, as it does
// in provers whose stages are plain threads, and a stage's speed follows from what runs beside it.
func processors(s *Spec) int {
	stages := int(min(s.Config.Admission.Permits, 32)) + 2*s.Config.Workers() + int(min(s.Config.Finalizers, 8))
	return runtime.NumCPU() + stages
}

// child is a run in the child process.
type child struct {
	spec     *Spec
	kinds    []model.Kind
	device   backend.Device
	verified func() int
	opened   []cpu.Kind   // by kind; nil: the device is virtual
	cards    *cuda.Device // nil: another device proves

	mu     sync.Mutex // guards writer: steps and samples come from two goroutines
	writer *trace.Writer
}

func (c *child) run(ctx context.Context, out io.Writer) error {
	header := c.spec.header(c.kinds)
	c.addKeys(header)
	c.describeCards(ctx, header)
	header.Started = time.Now().UTC().Format(time.RFC3339)
	var err error
	if c.writer, err = trace.NewWriter(out, header); err != nil {
		return err
	}
	groth16.ReturnHeap()
	if err := probe.Live.ResetHighWater(); err != nil {
		slog.Warn("the peak includes the loading of keys", "reason", err)
	}
	clock := backend.StartClock()
	stop, err := c.watch(clock)
	if err != nil {
		return err
	}
	pipeline := backend.Pipeline{
		Config: c.spec.Config, Kinds: c.kinds, Workload: c.spec.Workload, Seed: c.spec.Seed,
		Device: c.device, Clock: clock, Record: c.step,
	}
	summary, err := pipeline.Run(ctx)
	return errors.Join(err, stop(), c.end(ctx, summary, err))
}

// step writes a step of the pipeline. The writer's error shows when the trace is ended.
func (c *child) step(r *model.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.writer.Step(r)
}

// watch begins to sample the memory of this process and returns what ends it. Each sample also hands the trace
// so far to the parent, so that it survives a kill.
func (c *child) watch(clock backend.Clock) (stop func() error, err error) {
	baseline := false
	sampler, err := probe.NewSampler(probe.Live, os.Getpid(), clock.Now, func(s probe.Sample) {
		memory := c.memory(s)
		c.mu.Lock()
		defer c.mu.Unlock()
		if !baseline {
			baseline = true
			_ = c.writer.Baseline(trace.Baseline{At: s.At, Memory: memory})
		}
		_ = c.writer.Sample(trace.Sample{
			At: s.At, Memory: memory,
			PSISomeMicros: int64(s.MemorySome / model.Microsecond), PSIFullMicros: int64(s.MemoryFull / model.Microsecond),
		})
		_ = c.writer.Flush()
	})
	if err != nil {
		return nil, err
	}
	for _, w := range sampler.Warnings {
		slog.Warn("samples are incomplete", "reason", w)
	}
	ticker := time.NewTicker(time.Duration(c.spec.SampleEvery))
	end := sampler.Start(ticker.C)
	return func() error {
		ticker.Stop()
		return end()
	}, nil
}

// memory adds to a reading of the host's memory that of the cards. It is called by one goroutine at a time.
func (c *child) memory(s probe.Sample) trace.Memory {
	m := trace.Memory{
		RSSBytes: s.Resident, AnonBytes: s.Anon, FileBytes: s.File, ShmemBytes: s.Shmem,
		CgroupBytes: s.CgroupCurrent, CgroupPeakBytes: s.CgroupPeak,
	}
	if c.cards == nil {
		return m
	}
	taken, err := c.cards.Memory()
	if err != nil {
		slog.Warn("a sample lacks the cards' memory", "reason", err)
	}
	m.VRAMBytes, m.PinnedBytes = taken.Device, taken.Pinned
	return m
}

// end writes the last line of the trace.
func (c *child) end(ctx context.Context, summary *backend.Summary, failure error) error {
	end := trace.End{Outcome: trace.Finished, ProofsVerified: c.verified()}
	if failure != nil {
		end.Outcome, end.Error = trace.Broken, failure.Error()
	}
	if ctx.Err() != nil {
		end.Outcome = trace.Cancelled
	}
	if summary != nil {
		end.JobsDone, end.MakespanNs = summary.JobsDone, summary.Makespan
		if short := shortfall(summary); short != nil && end.Outcome == trace.Finished {
			end.Outcome, end.Error = trace.Broken, short.Error()
		}
	}
	p, err := probe.Live.Process(os.Getpid())
	end.VmHWMBytes = p.HighWater
	if c.cards != nil {
		var peaks error
		end.VRAMPeakBytes, peaks = c.cards.Peaks()
		err = errors.Join(err, peaks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(err, c.writer.End(end), c.writer.Close())
}

// shortfall says which jobs a run that came to its end did not do; nil if it did all.
func shortfall(s *backend.Summary) error {
	switch {
	case s.Stalled:
		return fmt.Errorf("record: jobs are left after %d, and nothing can proceed", s.JobsDone)
	case len(s.Failures) > 0:
		return fmt.Errorf("record: %d of %s failed, the first because of this: %w",
			s.JobsFailed, model.Counted(s.JobsFailed+s.JobsDone, "job"), s.Failures[0])
	}
	return nil
}

// machine says what this machine is. Its cores are those that the prover may run on: stages share no others.
func machine() trace.Machine {
	m, err := probe.Live.Machine()
	if err != nil {
		slog.Warn("the description of the machine is incomplete", "reason", err)
	}
	return trace.Machine{CPU: m.CPU, Cores: m.CoresAllowed, RAM: m.RAM, Kernel: m.Kernel}
}
