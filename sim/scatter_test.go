package sim_test

import (
	"math"
	"testing"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// The memory of replications is off by the scatter of the profile, at every moment of one alike, and nothing else
// changes. The replication that draws nothing is as it is without.
func TestTheMemoryOfReplicationsScatters(t *testing.T) {
	const scatter = 5 * model.MiB
	plan := fullPlan(20)
	plan.Profile.Baseline = profile.Exactly(model.GiB)
	exact, scattered := *plan.Profile, *plan.Profile
	scattered.Scatter = profile.Exactly(scatter)
	run := func(p *profile.Profile, replication uint32) *sim.Result {
		plan.Profile, plan.Replication, plan.IgnoreLimit = p, replication, true
		r, err := sim.Run(plan, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if a, b := run(&exact, 0), run(&scattered, 0); a.Peak != b.Peak || b.Off != 0 {
		t.Errorf("without a draw the peak is %v, off by %v; should be %v", b.Peak, b.Off, a.Peak)
	}
	const replications = 400
	sum, squares := 0.0, 0.0
	for r := range uint32(replications) {
		a, b := run(&exact, r+1), run(&scattered, r+1)
		if b.Peak != a.Peak+b.Off || b.Makespan != a.Makespan {
			t.Fatalf("replication %d peaks at %v in %v and is off by %v; should be %v in %v besides",
				r+1, b.Peak, b.Makespan, b.Off, a.Peak, a.Makespan)
		}
		held := model.Bytes(0)
		for _, h := range b.AtPeak {
			held += h.Bytes
		}
		if held != b.Peak {
			t.Fatalf("replication %d: the owners hold %v of %v", r+1, held, b.Peak)
		}
		sum += float64(b.Off)
		squares += float64(b.Off) * float64(b.Off)
	}
	mean := sum / replications
	deviation := math.Sqrt(squares/replications - mean*mean)
	if math.Abs(mean) > 0.2*float64(scatter) || math.Abs(deviation/float64(scatter)-1) > 0.15 {
		t.Errorf("off by %v in the mean, with a standard deviation of %v; should be 0 and %v",
			model.Bytes(mean), model.Bytes(deviation), scatter)
	}
}
