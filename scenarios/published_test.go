package scenarios

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

func TestThePublishedTableIsReadWithWhatIsCensoredAndWhatIsMissing(t *testing.T) {
	rows, err := Published()
	if err != nil || len(rows) != 23 {
		t.Fatalf("%d rows, %v; want 23", len(rows), err)
	}
	want := []PublishedRow{
		{
			Variant: "phase12-pre", PartitionWorkers: 12, GPUWorkers: 2, GPUThreads: 32, JobsInFlight: 15, Proofs: 20, RAM: 755 * model.GiB,
			PeakRSS: 668 * model.GiB, PeakCensored: true, Outcome: "oom", Source: "000_88b38fb7a63069f0.txt; 004_5f44c7bd701fc3e9.txt",
			Note: "censored: highest reading before the kill after 8 proofs; had swung between 560 and 668",
		},
		{
			Variant: "phase12-pre", PartitionWorkers: 15, GPUWorkers: 2, GPUThreads: 32, JobsInFlight: 15, Proofs: 20, RAM: 755 * model.GiB,
			Outcome: "oom", Source: "004_5f44c7bd701fc3e9.txt", Note: "killed at once",
		},
		{
			Variant: "phase11", PartitionWorkers: 10, GPUWorkers: 2, GPUThreads: 32, JobsInFlight: 15, Proofs: 20, RAM: 755 * model.GiB,
			SecondsPerProof: 36.7, ProveSpan: 57400 * model.Millisecond, Outcome: "ok", Source: "cuzk-project.md phase 11", Note: "average prove span 57.4 s",
		},
	}
	if diff := cmp.Diff(want, rows[7:10]); diff != "" {
		t.Errorf("rows 8 to 10 (-want +got):\n%s", diff)
	}
}

func TestADamagedPublishedTableIsRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"engine_variant", "engine", "line 1 is not the header"},
		{"phase12-post,1,1,", "phase12-post,one,1,", `row 1: partition_workers is "one"`},
		{">=668", ">=66x", `row 8: peak_rss_gib is "66x"`},
		{",57.4,", ",57;4,", `row 10: avg_prove_span_s is "57;4"`},
		{"phase8,30,", "phase8,", "wrong number of fields"},
	} {
		_, err := readPublished([]byte(strings.Replace(string(publishedCSV), c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want ...%s", c.new, err, c.want)
		}
	}
}
