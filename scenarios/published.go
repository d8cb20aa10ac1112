package scenarios

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"headroom/model"
)

//go:embed published.csv
var publishedCSV []byte

// PublishedRow is a run that the authors of the reference engine published. A number of 0 was not published.
type PublishedRow struct {
	Variant          string // of the engine, by phase of its development
	PartitionWorkers int
	GPUWorkers       int
	GPUThreads       int
	JobsInFlight     int
	Proofs           int
	RAM              model.Bytes // of the machine
	SecondsPerProof  float64
	// ProveSpan is of a proof: the sum over its partitions of the time from GPU start to the end of finish, lock waits
	// included.
	ProveSpan    model.Span
	PeakRSS      model.Bytes
	PeakCensored bool   // the peak was at least PeakRSS: the run was killed
	Outcome      string // ok or oom
	Source       string
	Note         string
}

// Published returns the published table, in its order. An error means that the table in the program is damaged.
func Published() ([]PublishedRow, error) { return readPublished(publishedCSV) }

// publishedColumns are the columns of the table, in order, which is that of the fields of PublishedRow without
// PeakCensored.
const publishedColumns = "engine_variant,partition_workers,gpu_workers,gpu_threads,jobs_in_flight,proofs,ram_gib," +
	"seconds_per_proof,avg_prove_span_s,peak_rss_gib,outcome,source,note"

func readPublished(data []byte) ([]PublishedRow, error) {
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("scenarios: published table: %w", err)
	}
	if len(records) == 0 || strings.Join(records[0], ",") != publishedColumns {
		return nil, fmt.Errorf("scenarios: published table: line 1 is not the header %s", publishedColumns)
	}
	rows := make([]PublishedRow, 0, len(records)-1)
	for i, r := range records[1:] {
		row, err := publishedRow(r)
		if err != nil {
			return nil, fmt.Errorf("scenarios: published table: row %d: %w", i+1, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func publishedRow(r []string) (PublishedRow, error) {
	row := PublishedRow{Variant: r[0], Outcome: r[10], Source: r[11], Note: r[12]}
	peak, censored := strings.CutPrefix(r[9], ">=")
	row.PeakCensored = censored
	columns := strings.Split(publishedColumns, ",")
	for i, target := range []any{
		&row.PartitionWorkers, &row.GPUWorkers, &row.GPUThreads, &row.JobsInFlight, &row.Proofs,
		&row.RAM, &row.SecondsPerProof, &row.ProveSpan, &row.PeakRSS,
	} {
		text := r[i+1]
		if target == &row.PeakRSS {
			text = peak
		}
		if text == "" {
			continue
		}
		if err := readCell(text, target); err != nil {
			return row, fmt.Errorf("%s is %q: %w", columns[i+1], text, err)
		}
	}
	return row, nil
}

// readCell reads a number into a count, a number of seconds, a size in GiB or a span in seconds.
func readCell(text string, target any) (err error) {
	switch t := target.(type) {
	case *int:
		*t, err = strconv.Atoi(text)
	case *float64:
		*t, err = strconv.ParseFloat(text, 64)
	case *model.Bytes:
		*t, err = model.ParseBytes(text + "GiB")
	case *model.Span:
		*t, err = model.ParseSpan(text + "s")
	}
	return err
}
