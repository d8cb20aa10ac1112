package calibrate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"headroom/model"
	"headroom/model/trace"
)

// inputs are traces that belong together, in an order that does not depend on the caller's.
type inputs struct {
	histories []*history
	sources   []Source
	kinds     []model.Kind // sorted by name
	circuits  []*model.Circuit
	keys      []trace.Keys   // of each kind, as far as the headers tell
	blocks    []model.Blocks // likewise
	machine   trace.Machine
	versions  map[string]string
	warnings  []string
}

// leastJobs is the fewest jobs of a kind that say anything about how jobs differ.
const leastJobs = 3

func newInputs(traces []*trace.Trace, sources []Source) (*inputs, error) {
	if len(traces) == 0 {
		return nil, errors.New("calibrate: there are no traces: " +
			"at least one is needed, better three of different configurations")
	}
	if sources != nil && len(sources) != len(traces) {
		return nil, fmt.Errorf("calibrate: %d sources for %d traces: one for each, or none", len(sources), len(traces))
	}
	list := make([]named, len(traces))
	for i, t := range traces {
		n := &list[i]
		var err error
		if n.hash, err = contentHash(t); err != nil {
			return nil, fmt.Errorf("calibrate: trace %d: %w", i+1, err)
		}
		n.trace = t
		if sources != nil {
			n.source = sources[i]
		}
		n.source.SHA256 = cmp.Or(n.source.SHA256, n.hash)
		n.source.Path = cmp.Or(n.source.Path, "trace "+n.hash[:12])
	}
	slices.SortFunc(list, compareNamed)
	if err := checkAlike(list); err != nil {
		return nil, err
	}
	return assemble(list)
}

// named is a trace with its source and the hash of what it holds.
type named struct {
	trace  *trace.Trace
	source Source
	hash   string
}

func compareNamed(a, b named) int {
	return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.source.Path, b.source.Path))
}

// contentHash is the SHA-256 of what a trace holds, whatever the file looks like.
func contentHash(t *trace.Trace) (string, error) {
	sum := sha256.New()
	w, err := trace.NewWriter(sum, &t.Header)
	if err != nil {
		return "", err
	}
	if t.Baseline != nil {
		w.Baseline(*t.Baseline)
	}
	for i := range t.Records {
		w.Step(&t.Records[i])
	}
	for i := range t.Samples {
		w.Sample(t.Samples[i])
	}
	if t.End != nil {
		w.End(*t.End)
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// assemble reads the histories of traces that belong together.
func assemble(list []named) (*inputs, error) {
	in := &inputs{machine: list[0].trace.Header.Machine, versions: map[string]string{}}
	for _, n := range list {
		in.addKinds(&n.trace.Header)
	}
	for _, n := range list {
		h, err := newHistory(n.source.Path, n.trace, in.indices(n.trace))
		if err != nil {
			return nil, err
		}
		in.histories = append(in.histories, h)
		in.sources = append(in.sources, n.source)
		in.note(h)
	}
	return in, in.checkEnough()
}

// addKinds adds the kinds of a header that are not known yet.
func (in *inputs) addKinds(h *trace.Header) {
	for _, k := range h.Kinds {
		at, known := slices.BinarySearchFunc(in.kinds, k.Name, func(k model.Kind, name string) int {
			return cmp.Compare(k.Name, name)
		})
		if known {
			continue
		}
		var circuit *model.Circuit
		if c, there := h.Circuits[k.Name]; there {
			circuit = &c
		}
		in.kinds = slices.Insert(in.kinds, at, k)
		in.circuits = slices.Insert(in.circuits, at, circuit)
		in.keys = slices.Insert(in.keys, at, h.Keys[k.Name])
		in.blocks = slices.Insert(in.blocks, at, h.Blocks[k.Name])
	}
}

// indices returns the index among the sorted kinds of each of the trace's.
func (in *inputs) indices(t *trace.Trace) []int {
	out := make([]int, len(t.Header.Kinds))
	for i := range out {
		out[i] = slices.IndexFunc(in.kinds, func(k model.Kind) bool { return k.Name == t.Header.Kinds[i].Name })
	}
	return out
}

// note keeps the versions and the warnings of a trace.
func (in *inputs) note(h *history) {
	header := &h.trace.Header
	if header.Tool != "" {
		in.versions["recorder"] = header.Tool
	}
	if header.Prover != "" {
		in.versions["prover"] = header.Prover
	}
	warn := func(format string, args ...any) {
		in.warnings = append(in.warnings, h.name+": "+fmt.Sprintf(format, args...))
	}
	for _, w := range h.trace.Warnings {
		warn("%s", w)
	}
	switch end := h.trace.End; {
	case end == nil:
		warn("was cut off: what was over by then is used")
	case end.Outcome != trace.Finished:
		warn("ended as %q: what was over by then is used", string(end.Outcome))
	}
	if arrived := h.trace.Header.Workload.Jobs(); h.jobsDone < arrived {
		warn("%d done and %d failed of %s: the others are left out", h.jobsDone, h.failures, model.Counted(arrived, "job"))
	}
}

// failures returns how many jobs of all traces failed.
func (in *inputs) failures() (n int) {
	for _, h := range in.histories {
		n += h.failures
	}
	return n
}

// checkEnough reports a lack of jobs, the stages of which no run counts, and that there is no run without a pool.
func (in *inputs) checkEnough() error {
	jobs, seen := make([]int, len(in.kinds)), make([]model.StageSet, len(in.kinds))
	for _, h := range in.histories {
		for i := range h.busy {
			b := &h.busy[i]
			if !b.counts {
				continue
			}
			seen[b.kind] = seen[b.kind].With(b.stage)
			if b.stage == model.Synth && b.partition == 0 {
				jobs[b.kind] += b.proofs
			}
		}
	}
	var faults []error
	if !slices.ContainsFunc(in.histories, func(h *history) bool { return !h.pooled }) {
		faults = append(faults, errors.New("calibrate: every trace ran with config.pool: retain, where vectors are held before they are "+
			"filled: what a synthesis holds cannot be told from them; record one with config.pool: none"))
	}
	for k, kind := range in.kinds {
		if jobs[k] < leastJobs {
			faults = append(faults, fmt.Errorf("calibrate: %s of kind %q done (of all kinds %d failed): "+
				"at least %d are needed, and ten or more say how they vary", model.Counted(jobs[k], "job"), kind.Name, in.failures(), leastJobs))
			continue
		}
		if missing := kind.Stages &^ seen[k]; missing != 0 {
			faults = append(faults, fmt.Errorf("calibrate: no job of kind %q was done with its stages %s: record some",
				kind.Name, missing))
		}
	}
	return errors.Join(faults...)
}

func sortedKinds(h *trace.Header) []model.Kind {
	return slices.SortedFunc(slices.Values(h.Kinds), func(a, b model.Kind) int { return cmp.Compare(a.Name, b.Name) })
}

// columns numbers the unknowns of the footprints.
func (in *inputs) columns() columns {
	return columns{len(in.kinds), slices.ContainsFunc(in.histories, func(h *history) bool { return h.pooled })}
}
