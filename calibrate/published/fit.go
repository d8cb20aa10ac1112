package published

import (
	"fmt"
	"math"
	"slices"

	"headroom/model/profile"
)

// Fit is a profile with what it was made from and how well it does.
type Fit struct {
	Profile *profile.Profile
	Numbers []Number
	Rows    []Judged
}

// Number is one of the numbers that the rows moved.
type Number struct {
	Name   string
	Unit   string
	Figure float64 // what the notes of the engine's authors say
	Spread float64 // the standard deviation of what they leave open
	Why    string  // where the figure is from
	Value  float64 // after the fit
	// Deviation is the standard deviation that the number is left with while the others stand.
	Deviation float64
}

// Judged is a row with what the profile predicts of it.
type Judged struct {
	Row
	Predicted Reading
	// LeftOut is what a profile predicts that was fitted to all other rows; zero for a row that was not left out.
	LeftOut Reading
}

// New fits a profile of that name to the rows, and predicts each row that Counts from the others. Rows of other engines
// than Engines are an error.
func New(name string, rows []Row) (*Fit, error) {
	for i := range rows {
		if !slices.Contains(Engines(), rows[i].Engine) {
			return nil, fmt.Errorf("published: row %d is of engine %q: one of %v", i+1, rows[i].Engine, Engines())
		}
	}
	p := newProblem(rows)
	offsets, deviations, err := p.solve(make([]float64, numNumbers))
	if err != nil {
		return nil, err
	}
	k := known{value: at(offsets)}
	for i, n := range numbers {
		k.deviation[i] = n.spread * deviations[i]
	}
	f := &Fit{Profile: k.profile(name), Numbers: k.numbers()}
	if f.Rows, err = p.judge(f.Profile, rows, offsets); err != nil {
		return nil, err
	}
	f.Profile.Provenance = provenance(f)
	return f, f.Profile.Validate()
}

// judgeReplications are for the predictions that a fit reports; the profile's own uncertainty is in them.
const judgeReplications = 100

// Counts reports whether the profile is judged by the row: whether it is of the engine that the profile is of, and
// ran to its end.
func (r *Row) Counts() bool { return r.Engine != "phase8" && r.SecondsPerJob > 0 }

// judge predicts the rows by a profile that was fitted to them, at offsets, and those that count also by one that was
// fitted to all others.
func (p *problem) judge(fitted *profile.Profile, rows []Row, offsets []float64) ([]Judged, error) {
	r, err := p.residuals(offsets)
	if err != nil {
		return nil, err
	}
	jacobian, err := p.jacobian(offsets, moves)
	if err != nil {
		return nil, err
	}
	judged := make([]Judged, len(rows))
	for i := range rows {
		j := &judged[i]
		j.Row = rows[i]
		if j.Predicted, err = Predict(fitted, &j.Row, 1, judgeReplications); err != nil {
			return nil, err
		}
		if !j.Counts() {
			continue
		}
		rest, err := p.without(slices.Index(p.rows, j.Row), offsets, r, jacobian)
		if err != nil {
			return nil, fmt.Errorf("published: without %s: %w", j.Name(), err)
		}
		k := known{value: at(rest)}
		if j.LeftOut, err = Predict(k.profile("rest"), &j.Row, 1, judgeReplications); err != nil {
			return nil, err
		}
	}
	return judged, nil
}

// MeanError returns the mean of the relative errors of seconds per job and of the peak over the rows that count,
// where they were published: of predictions, or of those made without the row.
func (f *Fit) MeanError(leftOut bool) float64 {
	sum, n := 0.0, 0
	for i := range f.Rows {
		r := &f.Rows[i]
		if !r.Counts() {
			continue
		}
		predicted := r.Predicted
		if leftOut {
			predicted = r.LeftOut
		}
		errors := r.Errors(predicted)
		for _, e := range errors[:2] {
			if !math.IsNaN(e) {
				sum += math.Abs(e)
				n++
			}
		}
	}
	return sum / float64(n)
}

// Errors returns the relative errors of a prediction of the row: of seconds per job, of the peak and of the span. What
// was not published, and the peak at which a run was killed, has NaN.
func (r *Row) Errors(predicted Reading) [3]float64 {
	relative := func(predicted, read float64) float64 {
		if read == 0 {
			return math.NaN()
		}
		return predicted/read - 1
	}
	peak := r.Peak
	if r.KilledAfter > 0 {
		peak = 0
	}
	return [3]float64{
		relative(predicted.SecondsPerJob, r.SecondsPerJob),
		relative(float64(predicted.Peak), float64(peak)),
		relative(float64(predicted.Span), float64(r.Span)),
	}
}

func (k *known) numbers() []Number {
	list := make([]Number, numNumbers)
	for i, n := range numbers {
		list[i] = Number{
			Name: n.name, Unit: n.unit, Figure: n.figure, Spread: n.spread, Why: n.why,
			Value: k.value[i], Deviation: k.deviation[i],
		}
	}
	return list
}
