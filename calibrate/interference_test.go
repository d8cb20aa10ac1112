package calibrate

import (
	"math"
	"slices"
	"testing"

	"headroom/model"
)

// onFour is a family of all sorts of terms on four cores.
var onFour = &family{cores: 4, shared: true, terms: []term{
	{}, {stage: model.Finish}, {stage: model.Synth, by: model.Kernel}, {stage: model.Synth, by: model.Synth, doubling: true},
}}

// Where nothing was seen, a number is as unlikely as it is far from what one expects: half a nat at a factor of the root
// of e.
func TestNumbersThatNothingIsSaidOfAreAsExpected(t *testing.T) {
	e := newEvidence(nil, math.MaxInt)
	x := onFour.start()
	if want := []float64{4, 1, 1, 1}; !slices.Equal(x, want) || e.loss(onFour, x, everyone) != 0 {
		t.Fatalf("expected are %v with a loss of %g, want %v with none", x, e.loss(onFour, x, everyone), want)
	}
	for i, way := range []float64{-1, 1, 1, 1} {
		x := onFour.start()
		x[i] *= math.Exp(way * priorWidth)
		if got := e.loss(onFour, x, everyone); math.Abs(got-0.5) > 1e-9 {
			t.Errorf("number %d off by a standard deviation: the loss is %g, want 0.5", i, got)
		}
	}
	found, err := e.fit(onFour, []float64{2, 3, 3, 3}, everyone)
	for i, want := range onFour.start() {
		if err != nil || math.Abs(found[i]/want-1) > 0.02 {
			t.Fatalf("found are %v (%v), want %v", found, err, onFour.start())
		}
	}
}

// No stage speeds another up, and there are no more cores than the machine has.
func TestNumbersStayWithinSense(t *testing.T) {
	e := newEvidence(nil, math.MaxInt)
	inside, distance := onFour.clamp([]float64{5, 4.5, 0.5, 0.9})
	if want := []float64{4, 4, 1, 1}; !slices.Equal(inside, want) || math.Abs(distance-(1+0.25+0.25+0.01)) > 1e-9 {
		t.Errorf("inside are %v, %g away, want %v", inside, distance, want)
	}
	for _, x := range [][]float64{{5, 1, 1, 1}, {4, 1, 0.5, 1}} {
		if loss := e.loss(onFour, x, everyone); loss < 100 {
			t.Errorf("%v, which makes no sense, costs %g", x, loss)
		}
	}
}

// A search that is given up is told of once.
func TestASearchThatIsGivenUpIsToldOf(t *testing.T) {
	e := newEvidence(nil, math.MaxInt)
	if _, err := e.fit(onFour, onFour.start(), everyone); err != nil || len(e.unsettled) > 0 {
		t.Fatalf("four numbers from where they are: %v, unsettled are %q", err, e.unsettled)
	}
	many := &family{cores: 4, shared: true}
	for _, s := range []model.Stage{model.Parse, model.Synth} { // with each of five others: too many for so few steps
		for by := model.Prep; by < model.NumStages; by++ {
			many = many.with(term{stage: s, by: by})
		}
	}
	from := slices.Repeat([]float64{1.5}, len(many.terms))
	for range 2 {
		if _, err := e.fit(many, from, everyone); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{many.String()}; !slices.Equal(e.unsettled, want) {
		t.Errorf("%d numbers from afar: unsettled are %q, want %q", len(many.terms), e.unsettled, want)
	}
}

// The interval of a factor is as wide as the factor moves when its number moves by the standard error.
func TestIntervalsOfFactorsAreThoseOfTheirNumbers(t *testing.T) {
	const at, step = 1.2, 1e-4
	for _, doubling := range []bool{false, true} {
		f := &family{cores: 16, terms: []term{{stage: model.Synth, by: model.Synth, doubling: doubling}}}
		points := f.interference([]float64{at}, []float64{step}).Slowdowns[0].Points
		moved := f.interference([]float64{at + step}, nil).Slowdowns[0].Points
		for i, p := range points {
			want := half * (moved[i].Factor.Value - p.Factor.Value)
			if got := p.Factor.High - p.Factor.Value; math.Abs(got/want-1) > 0.01 {
				t.Errorf("doubling %v: the factor of %d is known to %g, want %g", doubling, p.N, got, want)
			}
		}
	}
}

// Works that never vary are taken to vary a little: a thousandth.
func TestConstantWorksVaryALittle(t *testing.T) {
	e := &evidence{groups: 1}
	m := e.moments([]observation{{log: 3}, {log: 3}, {log: 3}}, everyone)
	if m.n[0] != 3 || m.mean[0] != 3 || m.deviation[0] != 1e-3 {
		t.Errorf("moments are %+v", m)
	}
}

// Terms are tried of the stages that take a hundredth of the time or more.
func TestStagesOfHardlyAnyTimeAreNotTried(t *testing.T) {
	e := &evidence{}
	for stage, length := range map[model.Stage]model.Instant{model.Synth: 900, model.Kernel: 90, model.Finish: 10, model.Dealloc: 9} {
		e.members = append(e.members, member{interval: &interval{stage: stage, begin: 5, end: 5 + length}})
	}
	if got, want := e.stages(), []model.Stage{model.Synth, model.Kernel}; !slices.Equal(got, want) {
		t.Errorf("stages are %v, want %v", got, want)
	}
}

// A form with a number more is better if it says more than two nats, and more than the standard error of that.
func TestABetterFormIsWorthItsNumber(t *testing.T) {
	plain := &tried{scores: make([]float64, 4)}
	for _, c := range []struct {
		scores []float64
		want   bool
	}{
		{[]float64{1, 1, 1, 1}, true},
		{[]float64{0.5, 0.5, 0.5, 0.5}, false},    // two nats
		{[]float64{0.6, 0.6, 0.6, 0.6}, true},     // 2.4 nats, the same of each job
		{[]float64{9, -3, -2, -1.5}, false},       // 2.5 nats, with a standard error of 11.4
		{[]float64{2, 1.5, -0.5, -0.5}, false},    // 2.5 nats, with one of 2.6
		{[]float64{2, 1.4, -0.4, -0.4}, true},     // 2.6 nats, with one of 2.5
		{[]float64{-1, -1, -1, -1}, false},        // worse
		{[]float64{-8, -8, -8, -8.000001}, false}, // far worse
	} {
		if got := (&tried{scores: c.scores}).better(plain); got != c.want {
			gain, deviation := (&tried{scores: c.scores}).gain(plain)
			t.Errorf("%v: better is %v, want %v: %g nats with a standard error of %g", c.scores, got, c.want, gain, deviation)
		}
	}
}

// The form is chosen by the first jobs of each history.
func TestEvidenceIsOfTheFirstJobs(t *testing.T) {
	h := &history{busy: []interval{{job: 0, counts: true, last: 3}, {job: 1, counts: true, last: 5}, {job: 2, counts: true, last: 9}, {job: 1, last: 7}}}
	e := newEvidence([]*history{h, h}, 2)
	if len(e.members) != 4 || e.clusters != 4 || e.groups != 1 || !slices.Equal(e.until, []int{6, 6}) {
		t.Errorf("%d intervals of %d jobs in %d groups, up to segments %v: want 4, 4, 1 and 6", len(e.members), e.clusters, e.groups, e.until)
	}
}
