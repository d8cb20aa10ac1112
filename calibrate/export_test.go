package calibrate

import (
	"headroom/model/profile"
	"headroom/model/trace"
)

// FitUnjudged is Fit without the predictions by which a profile is judged, which take most of the time.
func FitUnjudged(traces []*trace.Trace, name string) (*profile.Profile, error) {
	p, _, err := FitWithDrift(traces, name)
	return p, err
}

// FitWithDrift is FitUnjudged with what Fit reports of the drift.
func FitWithDrift(traces []*trace.Trace, name string) (*profile.Profile, float64, error) {
	in, err := newInputs(traces, nil)
	if err != nil {
		return nil, 0, err
	}
	f, err := in.fit()
	if err != nil {
		return nil, 0, err
	}
	return f.profile(name), f.drift, nil
}

// UnequalBatches returns what Fit says of the stages that take another time for each proof of a batch.
func UnequalBatches(traces []*trace.Trace) ([]string, error) {
	in, err := newInputs(traces, nil)
	if err != nil {
		return nil, err
	}
	f, err := in.fit()
	if err != nil {
		return nil, err
	}
	return f.unequal(), nil
}
