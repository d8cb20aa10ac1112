package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"headroom/model"
)

// lineView is any line after the header as it stands in the file.
type lineView struct {
	At       *model.Instant  `json:"at"`
	Sample   json.RawMessage `json:"sample"`
	Baseline json.RawMessage `json:"baseline"`
	End      json.RawMessage `json:"end"`

	Input     string `json:"input"`
	Kind      uint16 `json:"kind"`
	Job       int32  `json:"job"`
	Partition int32  `json:"partition"`
	Count     int32  `json:"count"`
	taskView
	Began   model.Instant `json:"began"`
	Ended   model.Instant `json:"ended"`
	Effects []effectView  `json:"effects"`
	Permits *int32        `json:"permits"`
	Channel int32         `json:"channel"`
	Blocked int32         `json:"blocked"`
	Ledger  int64         `json:"ledger"`
}

type effectView struct {
	Do        string  `json:"do"`
	Kind      uint16  `json:"kind"`
	Job       int32   `json:"job"`
	Partition int32   `json:"partition"`
	Proofs    *uint16 `json:"proofs"`
	Device    uint8   `json:"device"`
	taskView
	After  int64  `json:"after"`
	Call   bool   `json:"call"`
	Bytes  *int64 `json:"bytes"`
	Reused bool   `json:"reused"`
}

type taskView struct {
	Stage string `json:"stage"`
	Block string `json:"block"`
	Lane  int32  `json:"lane"`
	Slot  int32  `json:"slot"`
	Gen   uint32 `json:"gen"`
}

// parse reads a line after the header.
func (r *Reader) parse(text []byte) (Line, error) {
	var v lineView
	if err := r.decode(text, &v); err != nil {
		return Line{}, err
	}
	if r.ended {
		return Line{}, errors.New("follows the end, which must be the last line")
	}
	if v.End != nil {
		e := &End{}
		err := errors.Join(r.decode(v.End, viewEnd(e)), e.check())
		r.ended = err == nil
		return Line{End: e}, err
	}
	if v.At == nil || *v.At < 0 {
		return Line{}, errors.New(`needs an instant "at" of at least 0 ns`)
	}
	switch {
	case v.Input != "":
		s, err := r.step(&v)
		return Line{Step: s}, err
	case v.Sample != nil:
		s := &Sample{At: *v.At}
		if s.At < r.sampled {
			return Line{}, fmt.Errorf("has a sample at %d ns, after one at %d ns: samples are in order of time", s.At, r.sampled)
		}
		r.sampled = s.At
		return Line{Sample: s}, errors.Join(r.decode(v.Sample, viewSample(s)), s.check())
	case v.Baseline != nil:
		if r.started {
			return Line{}, errors.New("has a second baseline: a run begins once")
		}
		r.started = true
		b := &Baseline{At: *v.At}
		view := viewMemory(&b.Memory)
		return Line{Baseline: b}, errors.Join(r.decode(v.Baseline, &view), b.check())
	}
	return Line{}, errors.New(`needs one of "input", "sample", "baseline" and "end"`)
}

// step reads a step of the core.
func (r *Reader) step(v *lineView) (*model.Record, error) {
	s := &model.Record{At: *v.At, Begin: v.Began, End: v.Ended}
	if v.Began < 0 || v.Ended < 0 {
		return nil, fmt.Errorf("began and ended at %d and %d ns: at least 0", v.Began, v.Ended)
	}
	var err error
	if s.Input, err = r.input(v); err != nil {
		return nil, err
	}
	for i := range v.Effects {
		e, err := r.effect(&v.Effects[i])
		if err != nil {
			return nil, fmt.Errorf("effect %d: %w", i+1, err)
		}
		s.Effects = append(s.Effects, e)
	}
	r.owners.note(s.Effects)
	s.State, err = r.state(v)
	return s, err
}

func (r *Reader) input(v *lineView) (model.Input, error) {
	op, err := opOf(v.Input, "input", model.Arrive, model.Wake)
	if err != nil {
		return model.Input{}, err
	}
	task, err := v.task()
	if err != nil {
		return model.Input{}, err
	}
	in := model.Input{Op: op, Kind: v.Kind, Job: v.Job, Count: v.Count, Task: task}
	if err := r.fits(&in); err != nil {
		return in, err
	}
	found, known := r.owners.of(&in)
	if known && found != (owner{v.Job, v.Partition}) {
		return in, fmt.Errorf("is about job %d partition %d: in slot %d there is job %d partition %d",
			v.Job, v.Partition, task.Slot, found.job, found.partition)
	}
	if op == model.Done || op == model.Failed {
		in.Job = 0 // the task says it
	}
	return in, nil
}

// fits reports whether the fields of an input are those that its operation has, within their ranges.
func (r *Reader) fits(in *model.Input) error {
	ends := in.Op == model.Done || in.Op == model.Failed
	switch {
	case in.Job < 0:
		return fmt.Errorf("has job %d: at least 0", in.Job)
	case ends && in.Task.Stage == model.NoStage:
		return fmt.Errorf("needs a stage: %s says that one is over", in.Op)
	case ends && (in.Task.Stage == model.Dealloc) != (in.Task.Block != model.NoBlock):
		return errors.New("has a block without the stage dealloc, or dealloc without a block")
	case in.Op == model.Wake && (in.Task != model.Task{Slot: in.Task.Slot, Gen: in.Task.Gen}):
		return errors.New("has a stage, block or lane, which wake has not")
	case !ends && in.Op != model.Wake && in.Task != (model.Task{}):
		return fmt.Errorf("has a stage, block, lane, slot or gen, which %s has not", in.Op)
	case in.Op == model.Arrive && (in.Count < 1 || in.Count > model.MaxJobs || in.Job > model.MaxJobs-in.Count):
		return fmt.Errorf("brings %d jobs from number %d on: at least 1 and at most %d in all",
			in.Count, in.Job, model.MaxJobs)
	case in.Op == model.Arrive && int(in.Kind) >= len(r.header.Kinds):
		return fmt.Errorf("is of kind %d: the header has %d kinds, numbered from 0", in.Kind, len(r.header.Kinds))
	case in.Op != model.Arrive && (in.Count != 0 || in.Kind != 0):
		return fmt.Errorf("has a count or a kind, which %s has not", in.Op)
	}
	return nil
}

func (r *Reader) effect(v *effectView) (model.Effect, error) {
	op, err := opOf(v.Do, "effect", model.JobStart, model.Stall)
	if err != nil {
		return model.Effect{}, err
	}
	task, err := v.task()
	switch {
	case err != nil:
		return model.Effect{}, err
	case int(v.Kind) >= len(r.header.Kinds):
		return model.Effect{}, fmt.Errorf("is of kind %d: the header has %d kinds, numbered from 0",
			v.Kind, len(r.header.Kinds))
	case v.Job < 0:
		return model.Effect{}, fmt.Errorf("has job %d: at least 0", v.Job)
	case v.Partition < 0 || int(v.Partition) >= r.header.Kinds[v.Kind].Partitions:
		return model.Effect{}, fmt.Errorf("has partition %d: from 0 to %d for this kind",
			v.Partition, r.header.Kinds[v.Kind].Partitions-1)
	case model.Count(v.Device) >= r.header.Config.GPU.Devices:
		return model.Effect{}, fmt.Errorf("has device %d: the header's configuration has %d, numbered from 0",
			v.Device, r.header.Config.GPU.Devices)
	case op == model.Start && task.Stage == model.NoStage:
		return model.Effect{}, errors.New("needs a stage to start")
	case (op == model.Freed || op == model.Pooled) && task.Block == model.NoBlock:
		return model.Effect{}, errors.New("needs a block that was freed")
	case v.After < 0 || (op == model.WakeAt) != (v.After > 0):
		return model.Effect{}, fmt.Errorf("has after %d ns: above 0 for wake_at and for nothing else", v.After)
	}
	proofs := usualProofs(op, task.Stage)
	if v.Proofs != nil {
		proofs = *v.Proofs
	}
	e := model.Effect{
		Op: op, Device: v.Device, Call: v.Call, Reused: v.Reused, Kind: v.Kind, Proofs: proofs,
		Job: v.Job, Partition: v.Partition, Task: task, After: model.Span(v.After),
	}
	if bytes := r.takes.of(&e); v.Bytes != nil && *v.Bytes != int64(bytes) && !r.doubted {
		r.doubted = true
		r.warn("line %d says bytes %d of %s: by the header it is %d", r.lines.number, *v.Bytes, op, int64(bytes))
	}
	return e, nil
}

func (v *taskView) task() (model.Task, error) {
	t := model.Task{Lane: v.Lane, Slot: v.Slot, Gen: v.Gen}
	stage, known := model.StageOf(v.Stage)
	if !known && v.Stage != "" {
		return t, fmt.Errorf("has stage %q: one of load, parse, synth, prep, kernel, tail, finish, dealloc", v.Stage)
	}
	t.Stage = stage
	if v.Lane < 0 || v.Slot < 0 {
		return t, fmt.Errorf("has lane %d and slot %d: at least 0", v.Lane, v.Slot)
	}
	if v.Block != "" {
		block, known := model.BlockOf(v.Block)
		if !known {
			return t, fmt.Errorf("has block %q: one of vectors, assignment, parse", v.Block)
		}
		t.Block = block
	}
	return t, nil
}

// state reads the counts after a step. Permits are left out where there is no limit and where none is free.
func (r *Reader) state(v *lineView) (model.State, error) {
	s := model.State{Channel: v.Channel, Blocked: v.Blocked, Ledger: model.Bytes(v.Ledger)}
	limit := r.header.Config.Admission.Permits
	switch {
	case v.Permits != nil:
		s.Permits = model.Count(*v.Permits)
	case limit == model.Unbounded:
		s.Permits = model.Unbounded
	}
	if s.Permits < 0 || s.Permits > limit {
		return s, fmt.Errorf("has %d free permits: from 0 to %s", s.Permits, limit)
	}
	if s.Channel < 0 || s.Blocked < 0 || s.Ledger < 0 {
		return s, fmt.Errorf("has %d partitions in the channel, %d blocked and %d bytes reserved: at least 0",
			s.Channel, s.Blocked, v.Ledger)
	}
	return s, nil
}

// opOf returns the operation of that name among those from first to last.
func opOf[T interface {
	~uint8
	String() string
}](name, noun string, first, last T) (T, error) {
	var names []string
	for op := first; op <= last; op++ {
		if op.String() == name {
			return op, nil
		}
		names = append(names, op.String())
	}
	return 0, fmt.Errorf("%s %q is not known: one of %s", noun, name, strings.Join(names, ", "))
}
