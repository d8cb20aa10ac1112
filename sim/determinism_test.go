package sim_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/sim"
)

// onProcessors calls do with so many processors at work.
func onProcessors(n int, do func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	do()
}

func TestAPlanComesToTheSameBytesOnAnyNumberOfProcessors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true})
		p.Disturb = drawDisturbance(t, p)
		var outputs [3][]byte
		for i, n := range []int{1, 2, 2} {
			onProcessors(n, func() {
				var out bytes.Buffer
				result, err := sim.Run(p, func(r *model.Record) { fmt.Fprintf(&out, "%+v\n", *r) })
				if err != nil {
					t.Fatalf("run: %v", err)
				}
				fmt.Fprintf(&out, "%+v\n", *result)
				outputs[i] = out.Bytes()
			})
		}
		for _, other := range outputs[1:] {
			if !bytes.Equal(outputs[0], other) {
				t.Fatalf("two runs of a plan differ:\n%s", cmp.Diff(string(outputs[0]), string(other)))
			}
		}
	})
}

func TestReplicationsAreRunsOfTheirNumberOnAnyNumberOfProcessors(t *testing.T) {
	const first, n = 3, 20
	p := riskyPlan(5 * model.GiB)
	var want []*sim.Result
	for i := range uint32(n) {
		p.Replication = first + i
		result, _ := run(t, p)
		want = append(want, result)
	}
	for _, processors := range []int{1, 2, 7} {
		onProcessors(processors, func() {
			got, err := sim.Replicate(p, first, n, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("on %d processors replications differ from runs (-want +got):\n%s", processors, diff)
			}
		})
	}
}

func TestReplicationsDiffer(t *testing.T) {
	p := riskyPlan(0)
	results, err := sim.Replicate(p, 0, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Makespan == results[1].Makespan || results[0].Peak == results[1].Peak {
		t.Errorf("two replications have a makespan of %s and %s and a peak of %s and %s: neither draws anew",
			results[0].Makespan, results[1].Makespan, results[0].Peak, results[1].Peak)
	}
}
