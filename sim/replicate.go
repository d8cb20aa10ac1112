package sim

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat/distuv"

	"headroom/model"
)

// Replicate runs replications first to first+n-1 of a plan and returns their results in that order, whatever the
// number of processors. Each finished run is reported to progress, which may be nil.
func Replicate(p Plan, first uint32, n int, progress func()) ([]*Result, error) {
	results := make([]*Result, n)
	var mu sync.Mutex
	err := parallel(n, func(i int) (err error) {
		plan := p
		plan.Replication = first + uint32(i)
		results[i], err = Run(plan, nil)
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			progress()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// parallel calls do with 0 to n-1 on all processors and returns the error of the lowest number that has one.
func parallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = do(i)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// RiskReport is what the replications of a plan say together.
type RiskReport struct {
	Verdict      Verdict
	Reason       string
	Replications int
	Outcomes
	// POOM is OOMs as a part of the replications; POOMLow and POOMHigh are its exact (Clopper and Pearson 1934) 95 %
	// interval. The uncertainty of the profile is in it, since replications draw from it.
	POOM, POOMLow, POOMHigh float64
	// PeakQuantiles are nearest-rank quantiles of the peak, at RiskQuantiles. Runs are not cut at the limit.
	PeakQuantiles []model.Bytes
	PeakMean      model.Bytes
	JobsDoneMean  float64
	// SecondsPerJobMean is over the replications that did jobs and were not cut short; NaN if none did.
	SecondsPerJobMean float64
	// OOMSecondsMean is the mean time at which the limit was passed, over OOMs (0 s if refused); NaN if there are none.
	OOMSecondsMean float64
	// Limit is the one that most of those passed which ran out of memory; if none did, the host's.
	Limit model.Limit
	// Median is the result of the replication with the median peak.
	Median *Result
}

// RiskQuantiles are the probabilities at which a RiskReport gives quantiles of the peak.
var RiskQuantiles = []float64{0.01, 0.05, 0.5, 0.95, 0.99}

// AssessRisk replicates a plan, replications 1 to n, and judges them (Judge).
func AssessRisk(p Plan, n int, bound float64, progress func()) (*RiskReport, error) {
	if n < 1 {
		return nil, fmt.Errorf("sim: %d replications: at least 1 is needed", n)
	}
	cut, err := Replicate(p, 1, n, progress)
	if err != nil {
		return nil, err
	}
	whole, err := uncut(p, cut)
	if err != nil {
		return nil, err
	}
	r := &RiskReport{Replications: n}
	r.count(cut)
	r.peaks(cut, whole)
	r.POOM = float64(r.OOMs) / float64(n)
	r.POOMLow, r.POOMHigh = BinomialInterval(r.OOMs, n, 0.95)
	r.Limit = passed(cut, p.Machine.HostLimit())
	r.Verdict = Judge(r.Outcomes, n, r.Limit, bound)
	switch {
	case r.Verdict == Refuse:
		r.Reason = fmt.Sprintf("each of %s is refused: in the median one %s", model.Counted(n, "replication"), r.Median.Reason)
	case r.Stalls > 0:
		r.Reason = fmt.Sprintf("stall in %d of %s", r.Stalls, model.Counted(n, "replication"))
	case r.Limit.Bytes == 0:
		r.Reason = "the machine names no limit"
	default:
		r.Reason = fmt.Sprintf("%d of %s run out of memory: P(OOM) is between %.3f and %.3f", r.OOMs, model.Counted(n, "replication"), r.POOMLow, r.POOMHigh)
	}
	return r, nil
}

// passed returns the limit that most of the runs passed which ran out of memory, of equally many the first; if none
// did, the host's.
func passed(runs []*Result, host model.Limit) model.Limit {
	times, most := map[model.Limit]int{}, host
	for _, run := range runs {
		if !run.Verdict.Over() {
			continue
		}
		if times[run.Limit]++; times[run.Limit] > times[most] {
			most = run.Limit
		}
	}
	return most
}

// RiskBound is the largest probability of running out of memory that counts as fitting, where nobody says otherwise.
const RiskBound = 0.01

// Outcomes counts how replications came out.
type Outcomes struct {
	OOMs     int // those that passed a limit, and those that were refused because they would
	Refusals int
	Stalls   int
}

// Add counts a replication.
func (o *Outcomes) Add(v Verdict) {
	switch v {
	case OOM:
		o.OOMs++
	case Refuse:
		o.OOMs++
		o.Refusals++
	case Stall:
		o.Stalls++
	}
}

// Judge is the verdict on n replications that came out so: Refuse when all were refused, Stall when any stalled, Fits
// when the upper end of the 95 % interval of P(OOM) is at most bound or there is no limit to pass, OOM when the lower
// end is at least one half, and Risk otherwise.
func Judge(o Outcomes, n int, limit model.Limit, bound float64) Verdict {
	low, high := BinomialInterval(o.OOMs, n, 0.95)
	switch {
	case o.Refusals == n:
		return Refuse
	case o.Stalls > 0:
		return Stall
	case limit.Bytes == 0 || high <= bound:
		return Fits
	case low >= 0.5:
		return OOM
	}
	return Risk
}

// uncut returns the peaks that the replications reach when the limit does not stop them.
func uncut(p Plan, cut []*Result) ([]model.Bytes, error) {
	peaks := make([]model.Bytes, len(cut))
	err := parallel(len(cut), func(i int) error {
		peaks[i] = cut[i].Peak
		if !cut[i].Verdict.Over() {
			return nil
		}
		plan := p
		plan.IgnoreLimit, plan.Replication = true, uint32(i)+1
		whole, err := Run(plan, nil)
		if err == nil {
			peaks[i] = whole.Peak
		}
		return err
	})
	return peaks, err
}

func (r *RiskReport) count(runs []*Result) {
	var seconds, ooms, jobs float64
	finished := 0
	for _, run := range runs {
		jobs += float64(run.JobsDone)
		r.Add(run.Verdict)
		ooms += run.OOMAt.Seconds()
		if !math.IsNaN(run.SecondsPerJob) {
			finished++
			seconds += run.SecondsPerJob
		}
	}
	r.JobsDoneMean = jobs / float64(len(runs))
	r.SecondsPerJobMean, r.OOMSecondsMean = math.NaN(), math.NaN()
	if finished > 0 {
		r.SecondsPerJobMean = seconds / float64(finished)
	}
	if r.OOMs > 0 {
		r.OOMSecondsMean = ooms / float64(r.OOMs)
	}
}

func (r *RiskReport) peaks(runs []*Result, whole []model.Bytes) {
	sum := 0.0
	for _, peak := range whole {
		sum += float64(peak)
	}
	r.PeakMean = model.Bytes(math.Round(sum / float64(len(whole))))
	order := make([]int, len(whole))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(max(-1, min(1, whole[a]-whole[b]))) })
	for _, q := range RiskQuantiles {
		r.PeakQuantiles = append(r.PeakQuantiles, whole[order[NearestRank(q, len(order))]])
	}
	r.Median = runs[order[NearestRank(0.5, len(order))]]
}

// NearestRank returns the index of the q-quantile, q from 0 to 1, among n sorted values, 1 or more: of the least value
// than which at least the part q of all are not larger.
func NearestRank(q float64, n int) int {
	return max(0, min(n-1, int(math.Ceil(q*float64(n)))-1))
}

// BinomialInterval returns the exact two-sided interval of a probability of which k of n trials came true, after
// Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the case of the binomial".
func BinomialInterval(k, n int, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	high = 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}
