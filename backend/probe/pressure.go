package probe

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"headroom/model"
)

// Resource is one of the resources for which the kernel tells how long tasks waited.
type Resource string

// The resources of pressure stall information (PSI).
const (
	CPU    Resource = "cpu"
	Memory Resource = "memory"
	IO     Resource = "io"
)

// Pressure is how long tasks of the machine were stalled for want of a resource: some is time in which at least one
// task waited, full is time in which all of them did.
type Pressure struct {
	SomeAvg10, FullAvg10 float64    // share of the last ten seconds, in per cent
	Some, Full           model.Span // since the machine was started, to the microsecond
}

// Pressure reads the stalls of a resource. It is an error when the kernel was built or started without PSI. Kernels
// before 5.13 have no full line for the CPU: it reads 0, as it does on later ones.
func (r Root) Pressure(resource Resource) (Pressure, error) {
	if err := r.check(); err != nil {
		return Pressure{}, err
	}
	file := r.path("proc/pressure", string(resource))
	text, err := readText(file)
	if err != nil {
		return Pressure{}, fmt.Errorf("probe: pressure: %w", err)
	}
	p, err := parsePressure(text)
	if err != nil {
		return Pressure{}, fmt.Errorf("probe: pressure: %s: %w", file, err)
	}
	return p, nil
}

// parsePressure reads lines such as "some avg10=1.50 avg60=0.17 avg300=0.13 total=1375037", with the total in
// microseconds.
func parsePressure(text string) (Pressure, error) {
	var p Pressure
	some := false
	for line := range strings.Lines(text) {
		kind, fields, _ := strings.Cut(strings.TrimSpace(line), " ")
		avg10, total := &p.SomeAvg10, &p.Some
		switch kind {
		case "some":
			some = true
		case "full":
			avg10, total = &p.FullAvg10, &p.Full
		default:
			continue
		}
		first, _, _ := strings.Cut(fields, " ")
		share, shareErr := strconv.ParseFloat(strings.TrimPrefix(first, "avg10="), 64)
		micros, totalErr := strconv.ParseUint(fields[strings.LastIndex(fields, "=")+1:], 10, 53)
		if shareErr != nil || totalErr != nil || !(share >= 0 && share <= 100) {
			return Pressure{}, fmt.Errorf("%q is not kind, avg10= in per cent, and total= in microseconds", strings.TrimSpace(line))
		}
		*avg10, *total = share, model.Span(micros)*model.Microsecond
	}
	if !some {
		return Pressure{}, errors.New("there is no line that begins with some")
	}
	return p, nil
}
