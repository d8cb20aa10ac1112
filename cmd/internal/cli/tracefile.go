package cli

import (
	"fmt"
	"os"

	"headroom/cmd/internal/output"
	"headroom/model"
	"headroom/model/trace"
	"headroom/sim"
)

// traceFile writes the trace that --trace asks for. The file gets its name when the trace is complete.
type traceFile struct {
	path, partial string // equal if the path is no regular file, such as a pipe
	out           *trace.Writer
}

// refuseTrace refuses a path of --trace at which no trace can be written. An empty one asks for none.
func refuseTrace(path string) error {
	if path == "" {
		return nil
	}
	if err := output.Trace(path); err != nil {
		return refuse(fmt.Errorf("--trace: %w", err))
	}
	return nil
}

// createTrace begins a trace.
func createTrace(path string, h *trace.Header) (*traceFile, error) {
	t := &traceFile{path: path, partial: output.Partial(path)}
	var err error
	if t.out, err = trace.Create(t.partial, h); err != nil {
		t.discard()
		return nil, fmt.Errorf("--trace %s: %w", path, err)
	}
	return t, nil
}

// traceHeader says what is simulated.
func traceHeader(p *sim.Plan) *trace.Header {
	h := &trace.Header{
		Tool:    Version(),
		Machine: trace.Machine{Cores: p.Machine.Cores, RAM: p.Machine.RAM},
		Clock:   trace.Virtual,
		Config:  p.Config, Workload: p.Workload,
		ProfileHash: p.Profile.Hash(),
		Seed:        p.Seed, Replication: p.Replication,
		LimitBytes: p.Machine.HostLimit().Bytes,
		Blocks:     map[string]model.Blocks{},
	}
	drawn := p.Profile
	if p.Replication != 0 {
		drawn = drawn.Draw(p.Seed, p.Replication)
	}
	for _, share := range p.Workload.Shares {
		k := drawn.Kind(share.Kind)
		h.Blocks[k.Name] = k.Footprint.Blocks()
		h.Kinds = append(h.Kinds, k.Model())
		if k.Circuit != nil {
			if h.Circuits == nil {
				h.Circuits = map[string]model.Circuit{}
			}
			h.Circuits[k.Name] = *k.Circuit
		}
	}
	return h
}

// traceEnd says how a run of the plan ended.
func traceEnd(p *sim.Plan, r *sim.Result) trace.End {
	end := trace.End{Outcome: trace.Finished, JobsDone: r.JobsDone, MakespanNs: r.Makespan, PeakBytes: r.Peak}
	switch {
	case r.Verdict.Over() && !p.IgnoreLimit:
		end.Outcome = trace.OOM
	case r.Verdict == sim.Stall:
		end.Outcome, end.Error = trace.Broken, r.Reason
	}
	return end
}

// step writes a step; an error shows when the trace is finished.
func (t *traceFile) step(r *model.Record) { _ = t.out.Step(r) }

// finish writes the end and gives the file its name.
func (t *traceFile) finish(end trace.End) error {
	_ = t.out.End(end)
	err := t.out.Close() // returns the first error of all writing
	if err == nil && t.partial != t.path {
		err = os.Rename(t.partial, t.path)
	}
	if err != nil {
		return fmt.Errorf("--trace %s: %w", t.path, err)
	}
	return nil
}

// discard removes what is left of a trace that was not finished.
func (t *traceFile) discard() {
	if t.partial != t.path {
		os.Remove(t.partial)
	}
}
