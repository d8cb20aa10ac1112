package calibrate

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// unequal says of which stages a further proof of a batch takes another time than the first, although the works of
// batches are read as if it took the same: where batches of two sizes differ by twice Tolerance for each proof, and
// by three standard errors over the jobs.
func (f *fitted) unequal() []string {
	type size struct {
		key
		proofs int
	}
	sums := map[size]map[int]*[2]float64{} // by cluster: the sum of the logarithms, and how many
	for i, o := range f.evidence.observe(f.chosen.interference()) {
		m := f.evidence.members[i].interval
		s := size{key{m.kind, m.stage}, m.proofs}
		if sums[s] == nil {
			sums[s] = map[int]*[2]float64{}
		}
		if sums[s][o.cluster] == nil {
			sums[s][o.cluster] = &[2]float64{}
		}
		sums[s][o.cluster][0] += o.log
		sums[s][o.cluster][1]++
	}
	var list []string
	for _, k := range f.sortedKeys() {
		var sizes []int
		for s, jobs := range sums {
			if s.key == k && len(jobs) >= leastJobs {
				sizes = append(sizes, s.proofs)
			}
		}
		if len(sizes) < 2 {
			continue
		}
		slices.Sort(sizes)
		few, many := sizes[0], sizes[len(sizes)-1]
		a, errA := meanOf(sums[size{k, few}])
		b, errB := meanOf(sums[size{k, many}])
		if d := b - a; math.Abs(d) > 2*Tolerance && math.Abs(d) > 3*math.Hypot(errA, errB) {
			list = append(list, fmt.Sprintf("%s of %q takes %.2f times as long for each proof in batches of %d as in those of %d: "+
				"the profile has one time for both", k.stage, f.inputs.kinds[k.kind].Name, math.Exp(d), many, few))
		}
	}
	return list
}

// meanOf returns the mean over jobs of what each has in the mean, and its standard error.
func meanOf(jobs map[int]*[2]float64) (mean, deviation float64) {
	n := float64(len(jobs))
	for _, cluster := range slices.Sorted(maps.Keys(jobs)) {
		sum := jobs[cluster]
		mean += sum[0] / sum[1] / n
	}
	for _, cluster := range slices.Sorted(maps.Keys(jobs)) {
		sum := jobs[cluster]
		d := sum[0]/sum[1] - mean
		deviation += d * d / (n * (n - 1))
	}
	return mean, math.Sqrt(deviation)
}
