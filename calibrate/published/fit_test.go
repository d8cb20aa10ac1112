package published

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// shapes are rows without readings, light and heavy, of each way in which a permit returns.
func shapes() []Row {
	return []Row{
		{Engine: "phase12-post", Workers: 1, GPUWorkers: 1, JobsInFlight: 2, Jobs: 2},
		{Engine: "phase12-post", Workers: 5, GPUWorkers: 1, JobsInFlight: 4, Jobs: 4},
		{Engine: "phase12-post", Workers: 10, GPUWorkers: 2, JobsInFlight: 8, Jobs: 8},
		{Engine: "phase12-post", Workers: 12, GPUWorkers: 2, JobsInFlight: 8, Jobs: 8},
		{Engine: "phase12-pre", Workers: 10, GPUWorkers: 2, JobsInFlight: 8, Jobs: 8},
		{Engine: "phase11", Workers: 12, GPUWorkers: 3, JobsInFlight: 8, Jobs: 8},
	}
}

// Rows that were simulated with known numbers lead back to them: those that the rows decide are found, and the
// others make no difference to what is predicted.
func TestTheNumbersBehindSimulatedRowsAreFound(t *testing.T) {
	const replications = 6
	moved := [numNumbers]float64{
		synthTime: -1, synthOf2: 0.5, synthOf5: 0.5, synthOf10: 0.3, fillBegin: 0.5, kernelTime: -0.3, kernelBeside10: 0.2,
	}
	truth := known{value: at(moved[:])}
	rows := shapes()
	for i := range rows {
		read, err := Predict(truth.profile("truth"), &rows[i], 1, replications)
		if err != nil {
			t.Fatal(err)
		}
		rows[i].SecondsPerJob, rows[i].Span, rows[i].Peak = read.SecondsPerJob, read.Span, read.Peak
	}
	p := newProblem(rows)
	p.replications = replications
	offsets, deviations, err := p.solve(make([]float64, numNumbers))
	if err != nil {
		t.Fatal(err)
	}
	found := known{value: at(offsets)}
	for i := range numbers {
		if !moves(i) && offsets[i] != 0 {
			t.Errorf("%s was moved by %.3g spreads: the fit is to leave it", numbers[i].name, offsets[i])
		}
	}
	for _, i := range []int{synthTime, synthOf5, synthOf10, kernelTime, kernelBeside10} {
		if math.Abs(found.value[i]/truth.value[i]-1) > 0.01 {
			t.Errorf("%s is found as %.4g, was %.4g", numbers[i].name, found.value[i], truth.value[i])
		}
	}
	for i, d := range deviations {
		if !(d > 0 && d <= 1) {
			t.Errorf("%s has a deviation of %v spreads: evidence can only narrow it", numbers[i].name, d)
		}
	}
	for i := range rows {
		predicted, err := Predict(found.profile("found"), &rows[i], 1, replications)
		if err != nil {
			t.Fatal(err)
		}
		for k, e := range rows[i].Errors(predicted) {
			if math.Abs(e) > 0.01 {
				t.Errorf("%s: reading %d is predicted with an error of %.2f %%", rows[i].Name(), k, 100*e)
			}
		}
	}
}

func TestARowThatCannotBeExplainedCountsInProportion(t *testing.T) {
	if a, b := cost([]float64{1, -2}), 5.0; a != b {
		t.Errorf("two small residuals cost %v, want %v", a, b)
	}
	if step := cost([]float64{11}) - cost([]float64{10}); step != 2*tolerated {
		t.Errorf("beyond %v a unit of a residual costs %v, want %v", tolerated, step, 2*tolerated)
	}
}

// Of two readings of a number, weighed like its figure of 0, the number is a third of their sum, and half of one of them
// without the other.
func TestARowIsLeftOutOfTheLeastSquares(t *testing.T) {
	const one, other = 0.5, 1.3
	p := &problem{evidence: []evidence{{row: 0}, {row: 1}}}
	x := (one + other) / 3
	rest, err := p.without(1, []float64{x}, []float64{x - one, x - other, x}, mat.NewDense(3, 1, []float64{1, 1, 1}))
	if err != nil || math.Abs(rest[0]-one/2) > 1e-12 {
		t.Errorf("the number is %v (%v), want %v", rest, err, one/2)
	}
}

func TestRowsOfAnotherEngineAreRefused(t *testing.T) {
	rows := []Row{{Engine: "phase11", Workers: 1, GPUWorkers: 1, JobsInFlight: 1, Jobs: 1}, {Engine: "phase3"}}
	_, err := New("p", rows)
	want := `published: row 2 is of engine "phase3": one of [phase8 phase11 phase12-pre phase12-post]`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v", err)
	}
}

func TestARunThatWasKilledIsJudgedByTheJobsItHadDone(t *testing.T) {
	k := known{value: at(make([]float64, numNumbers))}
	row := Row{
		Engine: "phase12-pre", Workers: 15, GPUWorkers: 2, JobsInFlight: 15, Jobs: 20,
		Peak: 600 * model.GiB, KilledAfter: 3,
	}
	read, err := Predict(k.profile("p"), &row, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if read.JobsDone >= 20 || read.Peak <= row.Peak || read.Peak > row.Peak+20*model.GiB {
		t.Errorf("read %+v: want a run that ends when %s are passed", read, row.Peak)
	}
	list := gather([]Row{row})
	if len(list) != 1 || list[0].value != 3 || list[0].of(read) != read.JobsDone {
		t.Errorf("evidence is %+v: want the 3 jobs alone", list)
	}
}

// TestSpansAddUp compares with partitions that are followed one by one.
func TestSpansAddUp(t *testing.T) {
	k := known{value: at(make([]float64, numNumbers))}
	for _, row := range shapes() {
		plan := row.plan(k.profile("p"))
		type partition struct{ job, index int32 }
		type slot struct {
			index int32
			gen   uint32
		}
		var spans spans
		var sum model.Span
		taken, finishing := map[partition]model.Instant{}, map[slot]partition{}
		_, err := sim.Run(plan, func(r *model.Record) {
			spans.add(r)
			if task := r.Input.Task; r.Input.Op == model.Done && task.Stage == model.Finish {
				sum += r.At.Sub(taken[finishing[slot{task.Slot, task.Gen}]])
			}
			for _, e := range r.Effects {
				switch {
				case e.Op == model.Take:
					taken[partition{e.Job, e.Partition}] = r.At
				case e.Op == model.Start && e.Task.Stage == model.Finish:
					finishing[slot{e.Task.Slot, e.Task.Gen}] = partition{e.Job, e.Partition}
				}
			}
		})
		if err != nil || model.Span(spans) != sum || sum == 0 || len(taken) != row.Jobs*partitions {
			t.Errorf("%s: the spans of %d partitions add up to %s, want %s (%v)",
				row.Name(), len(taken), model.Span(spans), sum, err)
		}
	}
}

func TestTheProfileIsValidAtEveryFigure(t *testing.T) {
	for offset := -3.0; offset <= 3; offset++ {
		offsets := make([]float64, numNumbers)
		for i := range offsets {
			offsets[i] = offset
		}
		k := known{value: at(offsets)}
		for i, n := range numbers {
			k.deviation[i] = n.spread
		}
		p := k.profile("p")
		if err := p.Validate(); err != nil {
			t.Errorf("at %v spreads: %v", offset, err)
		}
		if q := p.Kinds[0].Work[model.Synth].Mean; q.Source != profile.Fitted || q.Low >= q.Value || q.High <= q.Value {
			t.Errorf("at %v spreads synthesis takes %+v", offset, q)
		}
	}
}
