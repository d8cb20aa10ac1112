package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/calibrate"
)

var update = flag.Bool("update", false, "write the tables of the documents anew")

// documents are the folders of traces, with the documents that their tables are in. The processors had other work when
// theirs were recorded: only the peaks are held to anything.
var documents = []struct {
	folder, document string
	quiet            bool
}{
	{filepath.Join("testdata", "cpu"), filepath.Join("testdata", "cpu", "tables.md"), false},
	{filepath.Join("..", "..", "..", "testdata", "h200"), filepath.Join("..", "..", "..", "docs", "h200.md"), true},
}

// TestTheDocumentsAreWhatTheTracesSay makes the tables anew, and holds what they are to show: medians of the errors of
// at most 5 %, and every verdict right.
func TestTheDocumentsAreWhatTheTracesSay(t *testing.T) {
	for _, d := range documents {
		t.Run(filepath.Base(d.folder), func(t *testing.T) {
			text, err := os.ReadFile(d.document)
			if err != nil {
				t.Fatal(err)
			}
			written, r, err := rewrite(d.folder, text)
			if err != nil {
				t.Fatal(err)
			}
			r.check(t, d.quiet)
			if d.quiet {
				r.checkQuote(t)
			}
			if *update {
				if err := os.WriteFile(d.document, written, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(text), string(written)); diff != "" {
				t.Errorf("%s is not what the traces say; go test -update rewrites it (-document +traces):\n%s", d.document, diff)
			}
		})
	}
}

// tolerated is the largest median of the errors.
const tolerated = 0.05

func (r *results) check(t *testing.T, quiet bool) {
	t.Helper()
	for _, m := range metrics {
		if !quiet && m.name != calibrate.AboveBaseline {
			continue
		}
		if e := median(off(r.of(predicted), m.name)); !(e <= tolerated) {
			t.Errorf("the median error of the %s is %.1f %%, at most %.0f %% is right", m.text, 100*e, 100*tolerated)
		}
	}
	for _, row := range r.of(predicted) {
		if !row.VerdictRight {
			t.Errorf("%s: predicted %s, came out %s", row.name, row.Verdict, row.Outcome)
		}
	}
}

// checkQuote holds what the README says of the runs to them.
func (r *results) checkQuote(t *testing.T) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, right := r.of(predicted), 0
	for _, row := range rows {
		if row.VerdictRight {
			right++
		}
	}
	var medians []any
	far := map[string]int{}
	for _, m := range metrics {
		errors := off(rows, m.name)
		medians = append(medians, 100*median(errors))
		for _, e := range errors {
			if e > 0.08 {
				far[m.name]++
			}
		}
	}
	want := fmt.Sprintf("median error %.1f %% for the peak above the baseline, %.1f %% for device memory, %.1f %% for seconds per job",
		medians...) + fmt.Sprintf(", and %d of %d verdicts; %d peaks and %d times were off by more than 8 %%",
		right, len(rows), far[calibrate.AboveBaseline], far[calibrate.SecondsPerJob])
	if text := strings.Join(strings.Fields(string(readme)), " "); !strings.Contains(text, want) {
		t.Errorf("README.md does not say what the traces say: %s", want)
	}
}

// TestAPredictionDoesNotLookAtTheRun holds that a prediction follows from the profile and the header alone.
func TestAPredictionDoesNotLookAtTheRun(t *testing.T) {
	f, err := readFolder(documents[0].folder)
	if err != nil {
		t.Fatal(err)
	}
	recorded := *f.recordings[len(f.recordings)-1].trace
	want, err := calibrate.Compare(f.profile, &recorded, 40)
	if err != nil {
		t.Fatal(err)
	}
	recorded.Records = recorded.Records[:len(recorded.Records)/2]
	got, err := calibrate.Compare(f.profile, &recorded, 40)
	if err != nil {
		t.Fatal(err)
	}
	if got.Verdict != want.Verdict {
		t.Errorf("the verdict is %s, with all of the run there %s", got.Verdict, want.Verdict)
	}
	for _, m := range metrics {
		a, b := got.Metric(m.name), want.Metric(m.name)
		if a != nil && b != nil && a.Predicted != b.Predicted {
			t.Errorf("%s is predicted as %+v, with all of the run there as %+v", m.text, a.Predicted, b.Predicted)
		}
	}
}

func TestTheMedianIsTheMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{1, 2}, 1.5}, {[]float64{1, 2, 9}, 2}} {
		if got := median(c.values); got != c.want {
			t.Errorf("the median of %v is %g, want %g", c.values, got, c.want)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("no values have a median")
	}
}
