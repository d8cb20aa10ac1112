package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"headroom/model"
	"headroom/sim"
)

// DefaultReplications is how many replications a prediction takes where the caller has no wish: enough for the
// verdict fits at a risk bound of 1 %.
const DefaultReplications = 400

// Band is a predicted number: the median over replications and the interval that holds 95 % of them. The uncertainty
// of the profile's numbers is in it.
type Band struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Prediction is what a profile says of a configuration that was not run yet.
type Prediction struct {
	Verdict sim.Verdict `json:"verdict"` // fits, oom, risk, stall or refuse, as sim.AssessRisk has them
	Reason  string      `json:"reason"`
	Limit   model.Limit `json:"limit"` // Bytes is 0 when the machine names none
	// POOM is the part of the replications that pass the limit or are refused, with its exact 95 % interval.
	POOM          float64 `json:"p_oom"`
	POOMLow       float64 `json:"p_oom_low"`
	POOMHigh      float64 `json:"p_oom_high"`
	Peak          Band    `json:"peak_bytes"`
	AboveBaseline Band    `json:"peak_above_baseline_bytes"`
	SecondsPerJob Band    `json:"seconds_per_job"`
	Makespan      Band    `json:"makespan_s"`
	DevicePeak    Band    `json:"device_peak_bytes"` // of all devices together
	Replications  int     `json:"replications"`

	busy [model.NumStages]Band // mean seconds that a run of each stage takes
}

// Predict says what the plan's profile predicts of its configuration and workload on its machine, from that many
// replications. Peaks are those of runs that the limit does not stop.
func Predict(plan sim.Plan, replications int) (*Prediction, error) {
	if replications < 1 {
		return nil, fmt.Errorf("calibrate: %d replications: at least 1 is needed", replications)
	}
	plan.IgnoreLimit = true
	p := &Prediction{Limit: plan.Machine.HostLimit(), Replications: replications}
	var peaks, above, devices, seconds, makespans []float64
	var busy [model.NumStages][]float64
	var outcomes sim.Outcomes
	refused := "" // why the first one was
	for r := range replications {
		plan.Replication = uint32(r) + 1
		var b busyTimes
		result, err := sim.Run(plan, b.add)
		if err != nil {
			return nil, fmt.Errorf("calibrate: %w", err)
		}
		outcomes.Add(result.Verdict)
		switch result.Verdict {
		case sim.Stall:
			continue
		case sim.OOM:
			p.Limit = result.Limit
		case sim.Refuse:
			p.Limit, refused = result.Limit, cmp.Or(refused, result.Reason)
		}
		peaks = append(peaks, float64(result.Peak))
		above = append(above, float64(result.Peak-base(result)))
		devices = append(devices, float64(devicePeaks(result)))
		seconds = append(seconds, result.SecondsPerJob)
		makespans = append(makespans, result.Makespan.Seconds())
		for s := range busy {
			if b.runs[s] > 0 {
				busy[s] = append(busy[s], b.spent[s].Seconds()/float64(b.runs[s]))
			}
		}
	}
	p.Peak, p.AboveBaseline, p.SecondsPerJob, p.Makespan = band(peaks), band(above), band(seconds), band(makespans)
	p.DevicePeak = band(devices)
	for s := range busy {
		p.busy[s] = band(busy[s])
	}
	p.judge(outcomes, refused)
	return p, nil
}

// base returns the baseline of a replication: what its result says was resident before the first job.
func base(r *sim.Result) model.Bytes {
	for _, h := range r.AtPeak {
		if h.Owner == sim.OwnBaseline {
			return h.Bytes - r.Off
		}
	}
	return 0
}

// judge gives the verdict and its reason, with that of the first replication that was refused.
func (p *Prediction) judge(o sim.Outcomes, refused string) {
	p.POOM = float64(o.OOMs) / float64(p.Replications)
	p.POOMLow, p.POOMHigh = sim.BinomialInterval(o.OOMs, p.Replications, 0.95)
	p.Verdict = sim.Judge(o, p.Replications, p.Limit, sim.RiskBound)
	if p.Verdict == sim.Refuse {
		p.Reason = fmt.Sprintf("each of %s is refused: in the first one %s", model.Counted(p.Replications, "replication"), refused)
		return
	}
	if o.Stalls > 0 {
		p.Reason = fmt.Sprintf("stall in %d of %s", o.Stalls, model.Counted(p.Replications, "replication"))
		return
	}
	if p.Limit.Bytes == 0 {
		p.Reason = fmt.Sprintf("peaks at %s; the machine names no limit", model.Bytes(p.Peak.Median).Short())
		return
	}
	p.Reason = fmt.Sprintf("peaks at %s (%s to %s) with %s of %s to be had; %d of %s run out of memory",
		model.Bytes(p.Peak.Median).Short(), model.Bytes(p.Peak.Low).Short(), model.Bytes(p.Peak.High).Short(),
		p.Limit.Bytes.Short(), p.Limit.Name, o.OOMs, model.Counted(p.Replications, "replication"))
}

// band returns the median and the 95 % band of some values; zeros if there are none.
func band(values []float64) Band {
	values = slices.DeleteFunc(values, math.IsNaN)
	if len(values) == 0 {
		return Band{}
	}
	slices.Sort(values)
	at := func(q float64) float64 { return values[sim.NearestRank(q, len(values))] }
	return Band{Median: at(0.5), Low: at(0.025), High: at(0.975)}
}

// busyTimes adds up how long the stages of a run were under way.
type busyTimes struct {
	spent [model.NumStages]model.Span
	runs  [model.NumStages]int
}

func (b *busyTimes) add(r *model.Record) {
	if r.Input.Op == model.Done {
		s := r.Input.Task.Stage
		b.spent[s] += r.End.Sub(r.Begin)
		b.runs[s]++
	}
}

// devicePeaks returns what the devices held at their peaks, all together.
func devicePeaks(r *sim.Result) (peak model.Bytes) {
	for _, d := range r.Devices {
		peak += d.Peak
	}
	return peak
}
