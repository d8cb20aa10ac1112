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
	s := modeltest.Setup{Config: modeltest.Config(choose), Kinds: modeltest.Kinds(choose), Jobs: 1 + choose(6)}
	s.Config.JobsInFlight = modeltest.Pick(choose, 2, model.Unbounded, model.Unbounded)
	for i := range s.Kinds {
		s.Kinds[i].Stages = s.Kinds[i].Stages.With(model.Finish)
	}
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
		partitions := 0
		for _, k := range s.Kinds {
			partitions = max(partitions, k.Partitions)
		}
		bound := s.Config.StructuralBound(partitions)
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

// No run holds more resident data at once than the structure of its configuration admits.
func TestNoRunPassesTheBoundOfItsData(t *testing.T) {
	reached, beyond := 0, 0
	for seed := range runs() {
		choose := modeltest.Choose(rand.New(rand.NewPCG(seed, 12)).IntN)
		s := modeltest.ChooseSetup(choose)
		if len(s.Config.Resident) == 0 {
			continue
		}
		most, err := mostData(choose, s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		bound, all := s.Config.DataBound(), model.Bytes(0)
		for _, r := range s.Config.Resident {
			all += r.Bytes + r.Transient
		}
		switch {
		case most > bound:
			t.Fatalf("seed %d: %s of data is held at once; the bound is %s; %+v", seed, most, bound, s)
		case most == bound && bound < all:
			reached++
		case bound < all:
			beyond++
		}
	}
	if reached < 100 {
		t.Errorf("a bound below all data was reached in %d runs, and not in %d", reached, beyond)
	}
}

// mostData drives a core to its end and returns the most that its data held between two steps, with its transient bytes.
func mostData(choose modeltest.Choose, s modeltest.Setup) (most model.Bytes, err error) {
	core, err := model.NewCore(s.Config, s.Kinds)
	if err != nil {
		return 0, err
	}
	s.Without = checkers
	r, held := modeltest.NewRun(choose, core, s), model.Bytes(0)
	for i := range s.Config.Resident {
		if d := &s.Config.Resident[i]; !d.OnDemand {
			held += d.Bytes
		}
	}
	for most = held; !r.Over(); most = max(most, held) {
		if err := r.Next(); err != nil {
			return 0, err
		}
		last := &r.Records()[len(r.Records())-1]
		if last.Input.Task.Stage == model.Load {
			d := &s.Config.Resident[last.Input.Task.Slot]
			held -= d.Transient
			if last.Input.Op == model.Failed {
				held -= d.Bytes
			}
		}
		for _, e := range last.Effects {
			d := model.Resident{}
			if int(e.Task.Slot) < len(s.Config.Resident) {
				d = s.Config.Resident[e.Task.Slot]
			}
			switch {
			case e.Op == model.Start && e.Task.Stage == model.Load:
				held += d.Bytes + d.Transient
			case e.Op == model.Evict:
				held -= d.Bytes
			}
		}
	}
	return most, nil
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
		for k := range s.Kinds {
			for p := model.InSynth; p <= model.OnGPU; p++ {
				n += core.Count(k, p)
			}
			if s.Config.FreeVectors == model.AfterFinish {
				n += core.Count(k, model.InFinish)
			}
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
