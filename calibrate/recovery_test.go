package calibrate_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/stream"
	"headroom/model/trace"
)

// enough is how many jobs each of the three recordings of a case needs so that all numbers can come back within 5 %.
// The spread between jobs is the hardest: as a variance follows the chi-square law, its estimate from J jobs of P
// partitions has a relative standard error of (1 + cv²/(P job_cv²)) / sqrt(2J), whoever estimates it. That of finish,
// with a cv of 0.1 and a job cv of 0.05, is 2.2 % with 4200 jobs; 5 % are then 2.3 standard errors, and 98 cases of 100
// are expected inside. With 2100 jobs it would be 3.1 %, and 89 cases.
const enough = 1400

// TestParametersAreRecovered simulates recordings of known profiles, each with numbers of its own, and calibrates
// them: every number comes back within 5 % and lies in its 95 % interval in at least nine cases of ten. That needs as
// many jobs as
//
//	HEADROOM_RECOVERY_CASES=100 go test ./calibrate -run Recovered -v -timeout 60m
//
// simulates. Without it there are fewer jobs, and numbers may be as much farther off as their errors grow.
func TestParametersAreRecovered(t *testing.T) {
	const enoughCases = 20 // for one parameter alone to say something
	cases, jobs := 6, 100
	if text := os.Getenv("HEADROOM_RECOVERY_CASES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("HEADROOM_RECOVERY_CASES is %q: a number of cases, 1 or more", text)
		}
		cases, jobs = n, enough
	}
	tolerance := 0.05 * math.Sqrt(enough/float64(jobs))
	var names []string
	near, inside, seen := map[string]int{}, map[string]int{}, map[string]int{}
	for _, parameters := range recoverAll(t, cases, jobs) {
		for _, p := range parameters {
			if seen[p.name] == 0 {
				names = append(names, p.name)
			}
			seen[p.name]++
			if math.Abs(p.value-p.truth) <= tolerance*p.truth {
				near[p.name]++
			}
			if p.low <= p.truth && p.truth <= p.high {
				inside[p.name]++
			}
		}
	}
	var total, allNear, allInside int
	for _, name := range names {
		t.Logf("%-16s in %3d cases, within %.0f %% in %3d, inside the interval in %3d",
			name, seen[name], 100*tolerance, near[name], inside[name])
		total, allNear, allInside = total+seen[name], allNear+near[name], allInside+inside[name]
		if seen[name] >= enoughCases && 10*min(near[name], inside[name]) < 9*seen[name] {
			t.Errorf("%s: of %d cases within %.0f %% in %d, inside the interval in %d",
				name, seen[name], 100*tolerance, near[name], inside[name])
		}
	}
	if 10*min(allNear, allInside) < 9*total {
		t.Errorf("of %d numbers %d are within %.0f %%, %d inside their intervals", total, allNear, 100*tolerance, allInside)
	}
}

// parameter is a number of a profile beside the true one.
type parameter struct {
	name                    string
	value, low, high, truth float64
}

// recoverAll recovers the profiles of that many cases, as many at a time as there are processors.
func recoverAll(t *testing.T, cases, jobs int) [][]parameter {
	results, errs := make([][]parameter, cases), make([]error, cases)
	var wg sync.WaitGroup
	tickets := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range cases {
		wg.Go(func() {
			tickets <- struct{}{}
			results[i], errs[i] = recovered(uint64(i)+1, jobs)
			<-tickets
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return results
}

// recovered calibrates recordings of a profile with numbers of its own and pairs its numbers with the true ones. Few
// jobs may not tell that the kernel slows the synthesis down, or what is held while it is freed; the pair is then left
// out.
func recovered(seed uint64, jobs int) ([]parameter, error) {
	want := varied(seed)
	var traces []*trace.Trace
	for i, c := range []model.Config{
		config(1, model.AfterFinish, 1), config(2, model.AfterSend, 2), config(3, model.AfterSynthesis, 3),
	} {
		traces = append(traces, recorded(want, c, jobs, seed*10+uint64(i), 2e6))
	}
	got, err := calibrate.FitUnjudged(traces, "recovered")
	if err != nil {
		return nil, err
	}
	var list []parameter
	k, l := &want.Kinds[0], &got.Kinds[0]
	for s := model.Parse; s < model.NumStages; s++ {
		if _, there := k.Work[s]; !there {
			continue
		}
		a, b := k.Work[s], l.Work[s]
		list = append(list, pairUp(s.String()+" mean", a.Mean, b.Mean), pairUp(s.String()+" cv", a.CV, b.CV))
		if a.JobCV.Value > 0 {
			list = append(list, pairUp(s.String()+" job cv", a.JobCV, b.JobCV))
		}
	}
	list = append(list,
		pairUp("vectors", k.Footprint.Vectors, l.Footprint.Vectors),
		pairUp("assignment", k.Footprint.Assignment, l.Footprint.Assignment),
		pairUp("call", k.Footprint.Call, l.Footprint.Call))
	if l.Footprint.Freeing != nil {
		list = append(list, pairUp("freeing", *k.Footprint.Freeing, *l.Footprint.Freeing))
	}
	for _, p := range k.Footprint.During[model.Synth] {
		found := rampAt(l.Footprint.During[model.Synth], p.Progress)
		list = append(list, pairUp(fmt.Sprintf("ramp at %g", p.Progress), p.Bytes, found))
	}
	list = append(list, pairUp("cores", want.Interference.Resources[0].Capacity, got.Interference.Resources[0].Capacity))
	for _, s := range got.Interference.Slowdowns {
		if s.Stage == model.Synth && s.By == model.Kernel {
			factor := want.Interference.Slowdowns[0].Points[0].Factor
			list = append(list, pairUp("synth by kernel", factor, s.Points[0].Factor))
		}
	}
	return list, nil
}

func pairUp[T ~int64 | ~float64](name string, want, got profile.Quantity[T]) parameter {
	return parameter{name, float64(got.Value), float64(got.Low), float64(got.High), float64(want.Value)}
}

// rampAt returns the corner there, or what lies between its neighbours.
func rampAt(points []profile.Point, progress float64) profile.Quantity[model.Bytes] {
	for i, p := range points {
		if p.Progress == progress {
			return p.Bytes
		}
		if p.Progress > progress {
			part := (progress - points[i-1].Progress) / (p.Progress - points[i-1].Progress)
			between := func(a, b model.Bytes) model.Bytes { return a + model.Bytes(part*float64(b-a)) }
			a, b := points[i-1].Bytes, p.Bytes
			return profile.Quantity[model.Bytes]{
				Value: between(a.Value, b.Value), Low: between(a.Low, b.Low), High: between(a.High, b.High),
			}
		}
	}
	return profile.Quantity[model.Bytes]{}
}

// varied returns the truth with every mean, size and slowdown between 0.7 and 1.4 times as large, by the seed.
func varied(seed uint64) *profile.Profile {
	p := truth()
	key, n := stream.NewKey(seed, 0, 1<<21), uint32(0)
	factor := func() float64 {
		n++
		return 0.7 + 0.7*key.Uniform(n, 0)
	}
	k := &p.Kinds[0]
	for s := model.Parse; s < model.NumStages; s++ {
		if w, there := k.Work[s]; there {
			w.Mean.Value = model.Span(float64(w.Mean.Value) * factor())
			k.Work[s] = w
		}
	}
	freeing := profile.Exactly(0.3 * factor())
	k.Footprint.Freeing = &freeing
	sizes := []*profile.Quantity[model.Bytes]{&k.Footprint.Vectors, &k.Footprint.Assignment, &k.Footprint.Call}
	for i := range k.Footprint.During[model.Synth] {
		sizes = append(sizes, &k.Footprint.During[model.Synth][i].Bytes)
	}
	for _, q := range sizes {
		q.Value = model.Bytes(float64(q.Value) * factor())
	}
	slow := p.Interference.Slowdowns[0].Points
	slow[0].Factor.Value = 1 + 0.35*factor()
	slow[1].Factor = slow[0].Factor
	p.Interference.Resources[0].Capacity.Value = 1.3 + 0.5*factor()
	return p
}
