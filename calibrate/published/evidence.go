package published

// How far the readings of a row can be trusted, as a standard deviation of their logarithm: the same configuration
// was published with 44.9 and 44.0 s, memory was sampled from outside, an engine of phase 8 had other kernels, and a
// run that was killed had done half a job more or less than it is said to have.
const (
	secondsSpread      = 0.015
	olderSecondsSpread = 0.03
	peakSpread         = 0.015
	spanSpread         = 0.03
	killedSpread       = 0.06
)

// tolerated is the number of standard deviations up to which a residual counts squared; beyond that it counts only
// in proportion, so that one reading that the model cannot explain does not bend the others (Huber 1964).
const tolerated = 2.0

// replications are how many runs a prediction of a fit is the mean of. They are the same at every step, so that the
// fit sees a smooth function.
const replications = 16

// evidence is one reading of a row, with how far it can be trusted.
type evidence struct {
	row    int
	value  float64
	spread float64
	of     func(Reading) float64
}

// gather returns the readings of the rows that the fit uses. The spans of phase 11 are left out: see the profile's
// notes.
func gather(rows []Row) []evidence {
	var list []evidence
	add := func(row int, value, spread float64, of func(Reading) float64) {
		if value > 0 {
			list = append(list, evidence{row, value, spread, of})
		}
	}
	for i := range rows {
		r := &rows[i]
		spread := secondsSpread
		if r.Engine == "phase8" {
			spread = olderSecondsSpread
		}
		add(i, r.SecondsPerJob, spread, func(x Reading) float64 { return x.SecondsPerJob })
		if r.KilledAfter > 0 {
			add(i, float64(r.KilledAfter), killedSpread, func(x Reading) float64 { return x.JobsDone })
			continue
		}
		add(i, float64(r.Peak), peakSpread, func(x Reading) float64 { return float64(x.Peak) })
		if r.Engine == "phase12-post" {
			add(i, r.Span.Seconds(), spanSpread, func(x Reading) float64 { return x.Span.Seconds() })
		}
	}
	return list
}
