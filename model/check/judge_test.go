package check

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

// A judge and its clones come to the same findings, whatever the one has seen since the other was made.
func TestAClonedJudgeGoesOnFromItsOwnPoint(t *testing.T) {
	for _, fails := range []bool{false, true} {
		valid := someStream(t, fails)
		broken := clone(valid)
		move(t, broken, 12, starts(model.Synth), 4)
		want := Run(broken)
		if len(want) == 0 {
			t.Fatal("the stream is not broken")
		}
		for at := range broken.Records {
			j := NewJudge(broken)
			for i := range at {
				j.Step(&broken.Records[i])
			}
			other := j.Clone()
			for i := at; i < len(valid.Records); i++ {
				j.Step(&valid.Records[i])
			}
			for i := at; i < len(broken.Records); i++ {
				other.Step(&broken.Records[i])
			}
			other.Finish()
			if diff := cmp.Diff(want, other.world.findings); diff != "" {
				t.Fatalf("cloned before record %d, a judge finds something else (-want +got):\n%s", at, diff)
			}
		}
	}
}

// A judge that is not an empty value has a memory, which clones must not share.
func TestEveryJudgeWithAMemoryIsCloned(t *testing.T) {
	s := someStream(t, false)
	for i, seat := range NewJudge(s).seats {
		_, clones := seat.judge.(remembering)
		if remembers := reflect.TypeOf(seat.judge).Size() > 0; remembers != clones {
			t.Errorf("checker %d has a memory: %t, which is cloned: %t", i+1, remembers, clones)
		}
	}
}

// Findings come with the step that breaks something, and checkers can be left out.
func TestAJudgeAnswersStepByStep(t *testing.T) {
	s := clone(someStream(t, false))
	s.Records[20].State.Permits++
	j := NewJudge(s, "replay")
	for i := range s.Records {
		found := j.Step(&s.Records[i])
		if len(found) != 0 != (i == 20) {
			t.Errorf("step %d: findings %v", i, found)
		}
	}
	if found := j.Finish(); len(found) != 0 {
		t.Errorf("at the end: %v", found)
	}
}
