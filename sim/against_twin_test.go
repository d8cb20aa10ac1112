package sim_test

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// TestARunIsWhatAPipelineOfGoroutinesDoes compares the simulator with a twin of goroutines and channels for a
// hundred drawn configurations at each release point.
func TestARunIsWhatAPipelineOfGoroutinesDoes(t *testing.T) {
	for _, release := range releases {
		t.Run(string(release), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				p := drawPlan(r, shape{steps: true})
				p.Config.Admission.Release = release
				result, records := mustRun(r, p)
				if leastGap(records) == 0 {
					r.Skip("two stages end at one instant")
				}
				got := inOrder(happenings(records, p.Profile.Kinds))
				// Failing inside a bubble would end the test binary: the twin only runs there.
				want := inOrder(runTwin(t, p, arrivalsOf(records)))
				if diff := cmp.Diff(want, got); diff != "" {
					r.Fatalf("the simulator differs (-twin +sim):\n%s", diff)
				}
				peak, at := peakOf(want, baseOf(p.Profile))
				if peak != result.Peak || at != result.PeakAt {
					r.Fatalf("the peak is %s at %s, want %s at %s", result.Peak, result.PeakAt, peak, at)
				}
				if makespan := makespanOf(want, arrivalsOf(records)); makespan != result.Makespan {
					r.Fatalf("the makespan is %s, want %s", result.Makespan, makespan)
				}
			})
		})
	}
}

func runTwin(t *testing.T, p sim.Plan, jobs []arrival) (log []happening) {
	sampler := profile.NewSampler(p.Profile.Kinds, p.Seed, p.Replication)
	synctest.Test(t, func(*testing.T) {
		twin := twin{config: p.Config, kinds: p.Profile.Kinds, work: sampler.Work}
		log = twin.run(jobs)
	})
	return log
}

func baseOf(p *profile.Profile) model.Bytes {
	base := p.Baseline.Value
	for _, r := range p.Resident {
		base += r.Bytes
	}
	return base
}

func makespanOf(log []happening, jobs []arrival) model.Span {
	var last model.Instant
	for _, h := range log {
		if h.What == "job done" {
			last = h.At
		}
	}
	return last.Sub(jobs[0].at)
}
