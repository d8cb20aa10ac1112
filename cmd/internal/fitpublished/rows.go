package main

import (
	"slices"

	"headroom/calibrate/published"
	"headroom/scenarios"
)

// rows returns the rows of the published table that are of the engines which the profile covers.
func rows(table []scenarios.PublishedRow) []published.Row {
	var list []published.Row
	for _, t := range table {
		if !slices.Contains(published.Engines(), t.Variant) {
			continue
		}
		r := published.Row{
			Engine: t.Variant, Workers: t.PartitionWorkers, GPUWorkers: t.GPUWorkers,
			JobsInFlight: t.JobsInFlight, Jobs: t.Proofs,
			SecondsPerJob: t.SecondsPerProof, Span: t.ProveSpan, Peak: t.PeakRSS,
		}
		if t.PeakCensored {
			r.KilledAfter = killedAfter
		}
		list = append(list, r)
	}
	return list
}

// killedAfter is the number of jobs that were done when the run with the censored peak was killed, from the note of
// its row.
const killedAfter = 8
