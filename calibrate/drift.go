package calibrate

import "math"

// speedDrift is how far the speed of a whole run is from that of another on the same machine: clocks, neighbours, where
// memory came to lie. It is the standard deviation of the logarithm of a run's work, beyond what its jobs explain, by
// the moments of DerSimonian and Laird (1986), "Meta-analysis in clinical trials". One run does not tell: it is 0.
func (f *fitted) speedDrift() float64 {
	e := f.evidence
	runs := len(e.histories)
	if runs < 2 {
		return 0
	}
	o := e.observe(f.chosen.interference())
	m := e.moments(o, everyone)
	shares, counts := f.groupShares(o), make([]float64, e.groups*runs)
	for _, member := range e.members {
		counts[member.history*e.groups+member.group]++
	}
	jobs := make([]float64, e.clusters) // what each job adds to the mean of its run
	run := make([]int, e.clusters)
	for i, member := range e.members {
		count := counts[member.history*e.groups+member.group]
		jobs[member.cluster] += shares[member.group] * (o[i].log - m.mean[member.group]) / count
		run[member.cluster] = member.history
	}
	means, sizes, variances := make([]float64, runs), make([]float64, runs), make([]float64, runs)
	for c, v := range jobs {
		means[run[c]] += v
		sizes[run[c]]++
	}
	for c, v := range jobs {
		d := v - means[run[c]]/sizes[run[c]]
		variances[run[c]] += d * d * sizes[run[c]] / max(1, sizes[run[c]]-1)
	}
	return math.Sqrt(between(means, variances))
}

// between returns the variance of the true means of some runs, from what was measured of them and its variances.
func between(means, variances []float64) float64 {
	var sum, squares, mean, q float64
	for i, v := range variances {
		w := 1 / max(v, 1e-12)
		sum += w
		squares += w * w
		mean += w * means[i]
	}
	mean /= sum
	for i, v := range variances {
		q += (means[i] - mean) * (means[i] - mean) / max(v, 1e-12)
	}
	return max(0, (q-float64(len(means)-1))/(sum-squares/sum))
}

// groupShares returns the part of all work that falls to each group.
func (f *fitted) groupShares(o []observation) []float64 {
	shares, total := make([]float64, f.evidence.groups), 0.0
	for i := range o {
		w := math.Exp(o[i].log)
		shares[o[i].group] += w
		total += w
	}
	for g := range shares {
		shares[g] /= total
	}
	return shares
}

// widen widens the intervals of the means so that they hold those of another run, which drifts from these. The means
// are drawn one by one, so that each must vary more for their sum to vary as much. Two runs count as three here: with
// Student's quantile of one degree of freedom, 12.7, the intervals would say nothing at all.
func (f *fitted) widen() {
	keys := f.sortedKeys()
	total, squares := 0.0, 0.0
	for _, k := range keys {
		mean := float64(f.laws[k].Mean.Value)
		total += mean
		squares += mean * mean
	}
	runs := float64(len(f.evidence.histories))
	drift := f.drift * student(max(2, runs-1))
	another := drift * drift * (1 + 1/runs) * total * total / squares
	for _, k := range keys {
		w := f.laws[k]
		mean := float64(w.Mean.Value)
		w.Mean = meanInterval(mean, mean*math.Sqrt(f.precision[k]*f.precision[k]+another))
		f.laws[k] = w
	}
}
