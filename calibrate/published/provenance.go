package published

import (
	"fmt"
	"math"

	"headroom/model/profile"
)

// provenance says what the profile was made from and how well it does, row by row.
func provenance(f *Fit) profile.Provenance {
	p := profile.Provenance{
		Machine: "96-core Threadripper PRO 7995WX, 8 channels of DDR5, 755 GiB, one RTX 5070 Ti with 16 GB; " +
			"nothing was run for this profile",
		Versions: map[string]string{"cuzk": "phases 8 to 12, before its budget manager"},
		Notes: []string{
			"Written by go run ./cmd/internal/fitpublished from the published table and the stage times " +
				"in the engine's notes; do not edit.",
			"Numbers from: measured are single stage times of the notes, derived are arithmetic on the circuit's counts " +
				"or on figures of the notes, assumed have no source, " +
				"fitted began at a figure of the notes and were moved by the rows.",
			"The hold of the device is kernel and tail. About half of it is kernels, the rest is uploads of the vectors, " +
				"which compete with synthesis for memory.",
			"finish is what is left of the G2 multiplication when the lock is back: " +
				"it begins when prep ends and takes 1.7 s with 32 threads.",
			"While the keys are read, pages of their file are resident too: up to as much as the keys themselves. " +
				"With one worker the highest memory is taken to be from then.",
			"The spans of phase 11 are not fitted. With 2, 3 and 4 GPU workers they are 19, 27 and 34 times 3.0 to 3.1 s: " +
				"ten partitions that reach an idle device together. By them the device is idle for a seventh of the time, " +
				"while by the peaks partitions pile up in front of it. The matrix products of syntheses slow each other " +
				"only while they run at once, so that syntheses which have drifted apart are faster; " +
				"the profile knows only how many run.",
			fmt.Sprintf("Mean error of seconds per job and peaks over the rows of phases 11 and 12: %.1f %%; "+
				"of each row when the profile is fitted to the others: %.1f %%.",
				100*f.MeanError(false), 100*f.MeanError(true)),
		},
	}
	for i := range f.Rows {
		r := &f.Rows[i]
		if note := r.misfit(); note != "" {
			p.Notes = append(p.Notes, note)
		}
		if r.SecondsPerJob == 0 {
			continue
		}
		p.Fit = append(p.Fit, r.quality(r.Predicted, false))
		if r.Counts() {
			p.Fit = append(p.Fit, r.quality(r.LeftOut, true))
		}
	}
	return p
}

// misfitAbove is the error from which the notes mention a reading.
const misfitAbove = 0.05

// misfit says what the profile does not reproduce of a row, or nothing.
func (j *Judged) misfit() string {
	note := ""
	for i, e := range j.Errors(j.Predicted) {
		if math.IsNaN(e) || math.Abs(e) < misfitAbove {
			continue
		}
		what := [...]string{
			fmt.Sprintf("%.1f s a job, predicted %.1f s", j.SecondsPerJob, j.Predicted.SecondsPerJob),
			fmt.Sprintf("a peak of %s, predicted %s", j.Peak.Short(), j.Predicted.Peak.Short()),
			fmt.Sprintf("a span of %.1f s a job, predicted %.1f s", j.Span.Seconds(), j.Predicted.Span.Seconds()),
		}[i]
		note += "; " + what
	}
	if note == "" {
		return ""
	}
	return "Not reproduced, " + j.Name() + ": " + note[2:] + "."
}

// quality returns the errors of a prediction as a profile states them; what was not published has 0.
func (j *Judged) quality(predicted Reading, heldOut bool) profile.FitQuality {
	q := profile.FitQuality{
		Trace: j.Name(), HeldOut: heldOut, MeasuredPeak: j.Peak, PredictedPeak: mebibytes(predicted.Peak),
	}
	errors := j.Errors(predicted)
	if !math.IsNaN(errors[0]) {
		q.SecondsError = toPart(errors[0])
	}
	if !math.IsNaN(errors[1]) {
		q.PeakError = toPart(errors[1])
	}
	return q
}
