package sim_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
)

// stageRun names a stage of a job or partition.
type stageRun struct {
	job, partition int32
	stage          model.Stage
	block          model.Block
}

// lasted is how long a stage took and how it ended.
type lasted struct {
	span model.Span
	op   model.InputOp
}

// recording is what a run leaves open when its policy is known: durations, and what came from outside.
type recording struct {
	stages  map[stageRun]lasted
	outside []model.Record
}

func recordingOf(records []model.Record) recording {
	rec := recording{stages: map[stageRun]lasted{}}
	begun := map[model.Task]stageRun{}
	for _, r := range records {
		if r.Input.Op == model.Done || r.Input.Op == model.Failed {
			rec.stages[begun[r.Input.Task]] = lasted{r.End.Sub(r.Begin), r.Input.Op}
		} else {
			rec.outside = append(rec.outside, r)
		}
		for _, e := range r.Effects {
			if e.Op == model.Start {
				begun[e.Task] = stageRun{e.Job, e.Partition, e.Task.Stage, e.Task.Block}
			}
		}
	}
	return rec
}

// instant reports whether a stage took no time.
func (r *recording) instant() bool {
	for _, took := range r.stages {
		if took.span == 0 {
			return true
		}
	}
	return false
}

// due is a stage under way in a replay.
type due struct {
	at, begin model.Instant
	op        model.InputOp
	task      model.Task
}

// replay drives a fresh core with recorded durations, by an event loop that knows nothing of speeds.
func replay(t *rapid.T, config model.Config, kinds []model.Kind, rec recording) []model.Record {
	core, err := model.NewCore(config, kinds)
	if err != nil {
		t.Fatal(err)
	}
	var records []model.Record
	var running []due
	step := func(now, begin model.Instant, in model.Input) {
		effects, err := core.Step(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, model.Record{At: now, Input: in, Effects: effects, Begin: begin, End: now, State: core.State()})
		for _, e := range effects {
			if e.Op == model.Start {
				took := rec.stages[stageRun{e.Job, e.Partition, e.Task.Stage, e.Task.Block}]
				running = append(running, due{now + model.Instant(took.span), now, took.op, e.Task})
			}
		}
	}
	outside := rec.outside
	for len(running)+len(outside) > 0 {
		now := model.Instant(1<<63 - 1)
		for _, d := range running {
			now = min(now, d.at)
		}
		if len(outside) > 0 {
			now = min(now, outside[0].At)
		}
		over := slices.DeleteFunc(slices.Clone(running), func(d due) bool { return d.at > now })
		running = slices.DeleteFunc(running, func(d due) bool { return d.at <= now })
		slices.SortFunc(over, func(a, b due) int {
			return cmp.Or(cmp.Compare(b.task.Stage, a.task.Stage), cmp.Compare(a.task.Lane, b.task.Lane))
		})
		for _, d := range over {
			step(now, d.begin, model.Input{Op: d.op, Task: d.task})
		}
		for len(outside) > 0 && outside[0].At == now {
			step(now, now, outside[0].Input)
			outside = outside[1:]
		}
	}
	return records
}

func TestAReplayWithItsOwnDurationsHasItsOwnOrderAndPeak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true, steps: true})
		p.Disturb = drawDisturbance(t, p)
		result, want := mustRun(t, p)
		var kinds []model.Kind
		for i := range p.Profile.Kinds {
			kinds = append(kinds, p.Profile.Kinds[i].Model())
		}
		config := p.Config
		config.Resident = p.Profile.Resident // drawn plans leave it to the profile
		rec := recordingOf(want)
		got := replay(t, config, kinds, rec)
		sameRecords(t, want, got)
		if len(p.Disturb.Cancels) > 0 || p.Disturb.Fails != nil || rec.instant() {
			return // happenings know neither jobs that are given up nor the rounds of an instant
		}
		base := p.Profile.Baseline.Value
		for _, r := range p.Profile.Resident {
			base += r.Bytes
		}
		if peak, at := peakOf(happenings(got, p.Profile.Kinds), base); peak != result.Peak || at != result.PeakAt {
			t.Fatalf("the replay peaks at %s at %s, the run at %s at %s", peak, at, result.Peak, result.PeakAt)
		}
	})
}
