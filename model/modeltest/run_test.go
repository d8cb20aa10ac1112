package modeltest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/check"
	"headroom/model/modeltest"
)

// checkers are the names of all checkers, for runs that are not judged.
var checkers = func() (names []string) {
	for _, c := range check.Checkers() {
		names = append(names, c.Name)
	}
	return names
}()

// runs returns how many random runs a test makes: a few thousand, or a million with HEADROOM_LONG=1, which takes
// minutes: HEADROOM_LONG=1 go test -run Bound -timeout 1h ./model/modeltest
func runs() uint64 {
	if os.Getenv("HEADROOM_LONG") != "" {
		return 1_000_000
	}
	return 3000
}

// small is a setup of few jobs and partitions, which come near to every bound.
func small(choose modeltest.Choose) modeltest.Setup {
	s := modeltest.Setup{Config: modeltest.Config(choose), Kinds: modeltest.Kinds(choose)[:1], Jobs: 1 + choose(6)}
	s.Config.JobsInFlight = modeltest.Pick(choose, 2, model.Unbounded, model.Unbounded)
	s.Kinds[0].Stages = s.Kinds[0].Stages.With(model.Finish)
	return s
}

// No run has more partitions with vectors at once than the structure of its configuration admits.
func TestNoRunPassesTheStructuralBound(t *testing.T) {
	reached := 0
	for seed := range runs() {
		choose := modeltest.Choose(rand.New(rand.NewPCG(seed, 11)).IntN)
		s := small(choose)
		most, err := mostHolding(choose, s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		bound := s.Config.StructuralBound(s.Kinds[0].Partitions)
		if bound.Partitions > 0 && most > bound.Partitions {
			t.Fatalf("seed %d: %d partitions hold vectors at once; the bound is %s; %+v", seed, most, bound.Formula, s)
		}
		if most == bound.Partitions {
			reached++
		}
	}
	if reached < 100 {
		t.Errorf("the bound was reached in %d runs", reached)
	}
}

// mostHolding drives a core to its end without judging it.
func mostHolding(choose modeltest.Choose, s modeltest.Setup) (int, error) {
	core, err := model.NewCore(s.Config, s.Kinds)
	if err != nil {
		return 0, err
	}
	s.Without = checkers
	r, most := modeltest.NewRun(choose, core, s), 0
	for !r.Over() {
		if err := r.Next(); err != nil {
			return 0, err
		}
		n := 0
		for p := model.InSynth; p <= model.OnGPU; p++ {
			n += core.Count(0, p)
		}
		if s.Config.FreeVectors == model.AfterFinish {
			n += core.Count(0, model.InFinish)
		}
		most = max(most, n)
	}
	return most, nil
}

// deaf is a core that a stage's end does not reach.
type deaf struct{ *model.Core }

func (d deaf) Step(in model.Input, effects []model.Effect) ([]model.Effect, error) {
	if in.Op == model.Done {
		return effects, nil
	}
	return d.Core.Step(in, effects)
}

func TestARunThatGoesNowhereIsAnError(t *testing.T) {
	choose := modeltest.Choose(rand.New(rand.NewPCG(1, 1)).IntN)
	s := modeltest.Setup{Config: model.DefaultConfig(1), Kinds: modeltest.Kinds(choose), Jobs: 1, Without: checkers}
	core, err := model.NewCore(s.Config, s.Kinds)
	if err != nil {
		t.Fatal(err)
	}
	if err := modeltest.Drive(choose, deaf{core}, s); err == nil || !strings.HasSuffix(err.Error(), "nothing runs and no stall is reported") {
		t.Errorf("error %v", err)
	}
}

func TestEveryConfigIsValid(t *testing.T) {
	for seed := range uint64(2000) {
		c := modeltest.Config(rand.New(rand.NewPCG(seed, 2)).IntN)
		if err := c.Validate(nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestChoicesOfAListAreInRange(t *testing.T) {
	choose := modeltest.Listed([]byte{7, 200, 3})
	if got := fmt.Sprint(choose(5), choose(7), choose(4), choose(9)); got != "2 4 3 0" {
		t.Errorf("choices %s", got)
	}
}
