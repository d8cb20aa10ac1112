package check

import (
	"strings"
	"testing"

	"headroom/model"
)

// A job that has reserved for all its partitions passes one that is refused, and with it those that wait behind that one
// although their own reservations would be granted. It does not pass one that is not refused.
func TestAJobThatHasReservedPassesALineWhoseFirstIsRefused(t *testing.T) {
	c := model.DefaultConfig(1)
	c.JobsInFlight = 4
	c.Admission = model.Admission{Permits: 1, Release: model.AfterSynthesis, Budget: &model.Budget{Total: 22, Kinds: map[string]model.Demand{
		"small": {Reserve: 4}, "large": {Reserve: 8}, "whole": {Reserve: 12, AcquireOrder: model.WorkingFirst},
	}}}
	if err := c.Validate(nil); err != nil {
		t.Fatal(err)
	}
	stages := model.StageSet(0).With(model.Synth, model.Kernel)
	kinds := []model.Kind{{Name: "small", Partitions: 1, Stages: stages}, {Name: "large", Partitions: 1, Stages: stages}, {Name: "whole", Partitions: 1, Stages: stages}}
	core, err := model.NewCore(c, kinds)
	if err != nil {
		t.Fatal(err)
	}
	r := &machine{core: core, stream: Stream{Config: c, Kinds: kinds}}
	for job, kind := range []uint16{0, 1, 0, 2} {
		r.step(t, model.Input{Op: model.Arrive, Job: int32(job), Kind: kind, Count: 1}, 0)
	}
	// 4 and 12 are reserved of 22: job 1 is refused, and job 2 waits behind it.
	r.step(t, model.Input{Op: model.Done, Task: r.running[0].task}, 0)
	if e := r.stream.Records[4].Effects; e[len(e)-1].Op != model.Start || e[len(e)-1].Job != 3 {
		t.Fatalf("the last effect is %+v, want the start of job 3", e[len(e)-1])
	}
	if err := Err(Run(r.stream)); err != nil {
		t.Error(err)
	}
	budget := *c.Admission.Budget
	budget.Total = 24 // 8 are free: it was the turn of job 1
	r.stream.Config.Admission.Budget = &budget
	if err := Err(Run(r.stream)); err == nil || !strings.Contains(err.Error(), "job 3 partition 0 is admitted before job 1, whose turn it is") {
		t.Errorf("with room for job 1 the findings are %v", err)
	}
}
