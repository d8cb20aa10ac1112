package main

import (
	"fmt"
	"io"
	"math"

	"headroom/calibrate/published"
	"headroom/scenarios"
	"headroom/sim"
)

func printNumbers(w io.Writer, fit *published.Fit) {
	fmt.Fprintf(w, "number\tfigure\tfrom\tfitted\t95 %% interval\t\n")
	for _, n := range fit.Numbers {
		fmt.Fprintf(w, "%s\t%.3g ± %.2g\t%s\t%.4g %s\t%.4g to %.4g\t\n",
			n.Name, n.Figure, 2*n.Spread, n.Why, n.Value, n.Unit,
			max(0, n.Value-2*n.Deviation), n.Value+2*n.Deviation)
	}
	fmt.Fprintln(w)
}

func printRows(w io.Writer, fit *published.Fit) {
	fmt.Fprint(w, "row\ts a job\tpredicted\terror\tleft out\tpeak, GiB\tpredicted\terror\tleft out\t"+
		"span, s\tpredicted\terror\t\n")
	for i := range fit.Rows {
		r := &fit.Rows[i]
		own, left := r.Errors(r.Predicted), [3]float64{math.NaN(), math.NaN(), math.NaN()}
		if r.Counts() {
			left = r.Errors(r.LeftOut)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.Name(),
			number(r.SecondsPerJob), number(r.Predicted.SecondsPerJob), percent(own[0]), percent(left[0]),
			number(r.Peak.GiB()), number(r.Predicted.Peak.GiB()), percent(own[1]), percent(left[1]),
			number(r.Span.Seconds()), number(r.Predicted.Span.Seconds()), percent(own[2]))
	}
	fmt.Fprintf(w, "\nmean error over the rows of phases 11 and 12: %.2f %%; of each row when it is left out: %.2f %%\n\n",
		100*fit.MeanError(false), 100*fit.MeanError(true))
}

// number prints a reading; nothing if there is none.
func number(x float64) string {
	if x == 0 || math.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("%.4g", x)
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", 100*x)
}

// printRisks prints how likely the embedded scenarios of phase 12 run out of memory with the fitted profile.
func printRisks(w io.Writer, fit *published.Fit) error {
	fmt.Fprintf(w, "scenario\tP(OOM)\t95 %% interval\tmean time to OOM\tpeak at 5 %%\t50 %%\t95 %%\t\n")
	for _, name := range []string{
		"phase12-pre-10", "phase12-pre-12", "phase12-pre-15", "phase12-pre-20", "phase12-post-10", "phase12-post-12",
	} {
		s, err := scenarios.Load(name, nil)
		if err != nil {
			return err
		}
		plan := sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: fit.Profile, Seed: s.Seed}
		r, err := sim.AssessRisk(plan, 400, sim.RiskBound, nil)
		if err != nil {
			return err
		}
		first := ""
		if r.OOMs > 0 {
			first = fmt.Sprintf("%.0f s", r.OOMSecondsMean)
		}
		fmt.Fprintf(w, "%s\t%.3f\t%.3f to %.3f\t%s\t%s\t%s\t%s\t\n", name, r.POOM, r.POOMLow, r.POOMHigh, first,
			r.PeakQuantiles[1].Short(), r.PeakQuantiles[2].Short(), r.PeakQuantiles[3].Short())
	}
	return nil
}
