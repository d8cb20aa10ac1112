package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"headroom/model"
	"headroom/model/profile"
)

// judgeReplications is enough for a median.
const judgeReplications = 60

// judge fills in how well the profile predicts its own traces, and each of them when it is left out.
func (in *inputs) judge(p *profile.Profile, f *fitted, r *Report, done func()) error {
	results, errs := make([]judged, len(in.histories)), make([]error, len(in.histories))
	var all sync.WaitGroup
	var telling sync.Mutex
	for i := range results {
		all.Go(func() {
			results[i], errs[i] = in.judgeTrace(i, p)
			telling.Lock()
			defer telling.Unlock()
			done()
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var peaks, seconds []float64
	for i := range results {
		j := &results[i]
		r.Warnings = append(r.Warnings, j.warnings...)
		p.Provenance.Fit = append(p.Provenance.Fit, j.fit...)
		if n := len(j.fit); n > 0 && j.fit[n-1].HeldOut {
			left := &j.fit[n-1]
			peaks, seconds = append(peaks, math.Abs(left.PeakError)), append(seconds, math.Abs(left.SecondsError))
		}
	}
	if len(peaks) > 0 {
		r.LeftOut = &LeftOut{offBy(peaks), offBy(seconds)}
		r.Good = r.LeftOut.Peak.Median <= Tolerance && r.LeftOut.Seconds.Median <= Tolerance
	}
	in.advise(f, r)
	return nil
}

// judged is how well a trace is predicted: by the profile, and by the others' if they suffice.
type judged struct {
	fit      []profile.FitQuality
	warnings []string
}

// judgeTrace tells how well the profile predicts one trace, and how well the others do.
func (in *inputs) judgeTrace(i int, p *profile.Profile) (j judged, err error) {
	h := in.histories[i]
	warn := func(text string) { j.warnings = append(j.warnings, h.name+": "+text) }
	own, ok, err := quality(p, h)
	if err != nil {
		return j, err
	}
	if !ok {
		warn("did not finish, so that predictions cannot be held against it")
		return j, nil
	}
	j.fit = append(j.fit, own)
	if len(in.histories) == 1 {
		return j, nil
	}
	rest, err := in.refit(i)
	if err != nil {
		warn(fmt.Sprintf("is needed, the others alone say too little: %v", err))
		return j, nil
	}
	for _, text := range rest.unsettled {
		warn("when it is left out " + text)
	}
	left, _, err := quality(rest.profile(p.Name), h)
	left.HeldOut = true
	j.fit = append(j.fit, left)
	return j, err
}

// refit fits everything again without one of the histories. What that tells of the forms is not known then either.
func (in *inputs) refit(without int) (*fitted, error) {
	rest := *in
	rest.histories = slices.Delete(slices.Clone(in.histories), without, without+1)
	if err := rest.checkEnough(); err != nil {
		return nil, err
	}
	return rest.fit()
}

// quality holds the profile against a history; false if that did not finish. Peaks are those above the baseline.
func quality(p *profile.Profile, h *history) (profile.FitQuality, bool, error) {
	q := profile.FitQuality{Trace: h.name}
	_, above := h.peak()
	measured := h.secondsPerJob()
	if above <= 0 || measured <= 0 {
		return q, false, nil
	}
	predicted, err := Predict(planOf(p, &h.trace.Header), judgeReplications)
	if err != nil {
		return q, false, err
	}
	q.MeasuredPeak, q.PredictedPeak = above, model.Bytes(predicted.AboveBaseline.Median)
	q.PeakError = rounded(predicted.AboveBaseline.Median/float64(above) - 1)
	q.SecondsError = rounded(predicted.SecondsPerJob.Median/measured - 1)
	return q, true, nil
}

// rounded keeps four places, which is more than a part of a percent means.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// offBy sums up the sizes of errors, of which there is one at least.
func offBy(sizes []float64) Off { return Off{median(sizes), slices.Max(sizes)} }

// advise says what more to record.
func (in *inputs) advise(f *fitted, r *Report) {
	add := func(format string, args ...any) { r.Record = append(r.Record, fmt.Sprintf(format, args...)) }
	switch {
	case len(in.histories) == 1:
		add("another configuration: with one trace it cannot be told how well others are predicted")
	case r.LeftOut == nil:
		add("runs that finish: no prediction could be held against one that was left out")
	case !r.Good:
		add("more configurations, alike those to be predicted: with each left out in turn the median error is %.1f %% "+
			"for the peak and %.1f %% for seconds per job, of %.0f %% allowed",
			100*r.LeftOut.Peak.Median, 100*r.LeftOut.Seconds.Median, 100*Tolerance)
	}
	alone, together := f.evidence.company()
	if together < 0.01 {
		add("a configuration in which stages run at the same time: it cannot be told how they slow each other")
	}
	if alone < 0.01 {
		add("a configuration with one permit, one job in flight and one GPU worker: no stage was seen alone, " +
			"so that its work is known only as far as its slowdown")
	}
	if f.drift > Tolerance/2 {
		add("again when nothing else runs: the machine's speed differed by %.1f %% between the traces, "+
			"and nothing can be predicted closer than that", 100*f.drift)
		return // more jobs would not help
	}
	for _, k := range f.sortedKeys() {
		if width := half * f.precision[k]; width > Tolerance && f.share(k) > Tolerance {
			add("about %.0f times as many jobs: the work of %s of %q is known only to within %.0f %%",
				math.Ceil(width*width/Tolerance/Tolerance), k.stage, in.kinds[k.kind].Name, 100*width)
		}
	}
}

// company returns the parts of the time with somebody busy in which one stage ran alone, and in which several did.
func (e *evidence) company() (alone, together float64) {
	total := 0.0
	for _, h := range e.histories {
		for i := 1; i < len(h.timeline.at); i++ {
			runners := int32(0)
			for _, n := range h.timeline.who[i-1] {
				runners += n
			}
			dt := float64(h.timeline.at[i] - h.timeline.at[i-1])
			switch {
			case runners == 1:
				alone += dt
			case runners > 1:
				together += dt
			default:
				continue
			}
			total += dt
		}
	}
	return alone / max(1, total), together / max(1, total)
}

// share returns the part of a kind's work that falls to a stage.
func (f *fitted) share(k key) float64 {
	total := 0.0
	for _, other := range f.sortedKeys() {
		if other.kind == k.kind {
			total += float64(f.laws[other].Mean.Value)
		}
	}
	return float64(f.laws[k].Mean.Value) / total
}

// explain fills in where the profile comes from.
func (f *fitted) explain(p *profile.Profile, r *Report) {
	in := f.inputs
	v := &p.Provenance
	v.Machine, v.Versions = machine(&in.machine), in.versions
	for i, h := range in.histories {
		partitions := 0
		for j := range h.busy {
			if b := &h.busy[j]; b.counts && b.stage == model.Synth {
				partitions++
			}
		}
		v.Traces = append(v.Traces, profile.TraceRef{
			Path: in.sources[i].Path, SHA256: in.sources[i].SHA256, Jobs: h.jobsDone, Partitions: partitions,
		})
	}
	note := func(format string, args ...any) { v.Notes = append(v.Notes, fmt.Sprintf(format, args...)) }
	note("Work is what a stage would take alone: its busy time, from its worker's begin to its end, times its speed " +
		"under the interference of this profile.")
	note("Interference: %s; of the forms tried the simplest that no richer one beats on jobs left out of its fit.",
		f.chosen.family)
	if n := in.failures(); n > 0 {
		note("Failed or cancelled jobs: %d. The work of their stages, and samples while a stage ran that failed, "+
			"are left out.", n)
	}
	note("Intervals hold 95 %%: means, capacity and slowdowns by the sandwich estimator over jobs, " +
		"spreads by analysis of variance, footprints by the jackknife over stretches of samples as long as a job, " +
		"the baseline as that of one run.")
	note("Between the traces the machine's speed differed by %.1f %% (standard deviation); "+
		"the intervals of the means hold another run's.", 100*f.drift)
	note("Footprints: non-negative least squares of resident memory above the baseline, %d samples, "+
		"which scatter by %s; %d too near to a change were left out.",
		f.memory.readings, model.Bytes(f.memory.sigma).Short(), f.dropped)
	if r.Retention >= 0 {
		note("When all was freed %s stayed above the baseline.", r.Retention.Short())
	}
	note("A block shrinks while it is freed: freeing is the part of it that is held on average.")
	note("Keys and whatever else was loaded before the first job are in the baseline, but for the data of config.resident.")
	if in.besides() && len(p.Resident) > 0 {
		note("The list of config.resident in a scenario replaces the one here: repeat %q in it.", retained)
	}
	note("Peaks under fit are what is above the baseline.")
}
