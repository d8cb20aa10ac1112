package render

import (
	"fmt"

	"headroom/backend/record"
	"headroom/model"
	"headroom/sim"
)

// Recording is a live run as JSON, or one that was refused: what has no value is nil.
type Recording struct {
	Schema         int              `json:"schema"`
	Outcome        string           `json:"outcome"` // finished, killed, failed or refused
	Signal         string           `json:"signal,omitempty"`
	Mechanism      string           `json:"mechanism"`
	LimitBytes     int64            `json:"limit_bytes"`
	HostPeakBytes  *int64           `json:"host_peak_bytes"`
	BaselineBytes  *int64           `json:"baseline_bytes"`
	SecondsPerJob  *float64         `json:"seconds_per_job"`
	MakespanS      *float64         `json:"makespan_s"`
	JobsDone       int              `json:"jobs_done"`
	ProofsVerified int              `json:"proofs_verified"`
	Devices        []RecordedDevice `json:"devices"` // of a run on cards
	Predicted      *Prediction      `json:"predicted"`
	Trace          string           `json:"trace"`
	Warnings       []string         `json:"warnings"` // about the prediction
}

// Prediction is what was predicted of a run before it began.
type Prediction struct {
	Verdict       string   `json:"verdict"`
	HostPeakBytes int64    `json:"host_peak_bytes"`
	PeakLow       int64    `json:"host_peak_bytes_low"` // of the 90 % band of replications
	PeakHigh      int64    `json:"host_peak_bytes_high"`
	POOM          float64  `json:"p_oom"`
	SecondsPerJob *float64 `json:"seconds_per_job"`
}

// NewRecording returns a live run as JSON. The prediction may be nil; the warnings are about it.
func NewRecording(o *record.Outcome, prediction *sim.RiskReport, trace string, warnings []string) Recording {
	end := o.Trace.End
	r := Recording{
		Schema: Schema, Outcome: string(end.Outcome), Signal: end.Signal,
		Mechanism: string(o.Mechanism), LimitBytes: int64(o.LimitBytes),
		HostPeakBytes: new(int64(o.Peak())), MakespanS: new(end.MakespanNs.Seconds()),
		JobsDone: end.JobsDone, ProofsVerified: end.ProofsVerified,
		Devices: recordedDevices(o.Trace, prediction), Predicted: newPrediction(prediction),
		Trace: trace, Warnings: append([]string{}, warnings...),
	}
	if o.Trace.Baseline != nil {
		r.BaselineBytes = new(int64(o.Trace.Baseline.RSSBytes))
	}
	if end.JobsDone > 0 {
		r.SecondsPerJob = finite(*r.MakespanS / float64(end.JobsDone))
	}
	return r
}

// RefusedRecording returns the JSON of a live run that was not begun because of what is predicted of it.
func RefusedRecording(prediction *sim.RiskReport, warnings []string) Recording {
	return Recording{
		Schema: Schema, Outcome: "refused", Devices: []RecordedDevice{}, Predicted: newPrediction(prediction),
		Warnings: append([]string{}, warnings...),
	}
}

func newPrediction(p *sim.RiskReport) *Prediction {
	if p == nil {
		return nil
	}
	q := p.PeakQuantiles
	return &Prediction{
		Verdict: string(p.Verdict), POOM: p.POOM,
		HostPeakBytes: int64(q[2]), PeakLow: int64(q[1]), PeakHigh: int64(q[3]),
		SecondsPerJob: finite(p.SecondsPerJobMean),
	}
}

// Recording prints a live run that was begun.
func (t Text) Recording(r *Recording) {
	fmt.Fprintf(t.W, "%s: %s done, %s verified\n\n", r.Outcome, model.Counted(r.JobsDone, "job"), model.Counted(r.ProofsVerified, "proof"))
	facts := [][2]string{
		{"peak resident memory", bytesShort(*r.HostPeakBytes)},
	}
	if r.BaselineBytes != nil {
		facts = append(facts, [2]string{"baseline", bytesShort(*r.BaselineBytes)})
	}
	for i := range r.Devices {
		facts = append(facts, r.Devices[i].fact(i))
	}
	facts = append(facts, [2]string{"makespan", seconds(*r.MakespanS)})
	if r.SecondsPerJob != nil {
		facts = append(facts, [2]string{"seconds per job", seconds(*r.SecondsPerJob)})
	}
	if r.LimitBytes > 0 {
		facts = append(facts, [2]string{"limit", bytesShort(r.LimitBytes) + " by " + r.Mechanism})
	}
	if p := r.Predicted; p != nil {
		facts = append(facts, [2]string{"predicted", fmt.Sprintf("%s, peak %s (%s to %s)",
			p.Verdict, bytesShort(p.HostPeakBytes), bytesShort(p.PeakLow), bytesShort(p.PeakHigh))})
	}
	t.facts(append(facts, [2]string{"trace", r.Trace}))
	t.Warnings(r.Warnings)
}

func bytesShort(b int64) string { return model.Bytes(b).Short() }
