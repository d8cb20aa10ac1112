package main

import (
	"math"
	"slices"

	"headroom/calibrate"
	"headroom/calibrate/diagnose"
	"headroom/model/profile"
)

// row is a run with its prediction.
type row struct {
	recording
	*calibrate.Comparison
	share float64 // of the steady state for which the devices were busy
	// before says that the trace names the profile, which was therefore there before the run.
	before bool
	flat   *diagnose.Report // what memory did in a run of many proofs; nil in others
}

// results are all runs with their predictions.
type results struct {
	profile *profile.Profile
	rows    []row
	missing []string
}

// manyProofs is how many proofs show whether memory stays flat.
const manyProofs = 1000

// results predicts every run with the profile.
func (f *folder) results() (*results, error) {
	r := &results{profile: f.profile, missing: f.missing}
	hash := f.profile.Hash()
	for _, recorded := range f.recordings {
		t := recorded.trace
		row := row{recording: recorded, before: t.Header.ProfileHash == hash}
		var err error
		if row.Comparison, err = calibrate.Compare(f.profile, t, calibrate.DefaultReplications); err != nil {
			return nil, err
		}
		if row.share, err = calibrate.DeviceShare(t); err != nil {
			return nil, err
		}
		if t.End != nil && t.End.ProofsVerified >= manyProofs {
			if row.flat, err = diagnose.Of(t, 0); err != nil {
				return nil, err
			}
		}
		r.rows = append(r.rows, row)
	}
	return r, nil
}

// of returns the rows of a role.
func (r *results) of(role string) []row {
	return slices.DeleteFunc(slices.Clone(r.rows), func(row row) bool { return row.role != role })
}

// metrics are those that are compared, as the document names them.
var metrics = []struct{ name, text string }{
	{calibrate.AboveBaseline, "peak RSS above the baseline"},
	{calibrate.DevicePeakBytes, "peak VRAM"},
	{calibrate.SecondsPerJob, "seconds per job"},
}

// off returns the sorted sizes of a metric's errors over the rows that have it.
func off(rows []row, metric string) []float64 {
	var list []float64
	for _, row := range rows {
		if m := row.Metric(metric); m != nil {
			list = append(list, math.Abs(m.Error))
		}
	}
	slices.Sort(list)
	return list
}

// median returns the middle of sorted values; NaN if there are none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}
