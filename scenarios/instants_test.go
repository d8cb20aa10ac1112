package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

func TestInstantsAreReadFromEverySortOfColumn(t *testing.T) {
	want := []model.Instant{0, 1_500_000_000, 1_500_000_000, 3_600_000_000_000}
	for name, text := range map[string]string{
		"seconds":    "# of a day\nat,kind\n0,a\n1.5,b\n\n1.5\n3600\n",
		"durations":  "0s\n1500ms\n1.5s\n1h",
		"RFC 3339":   "2006-01-02T15:04:05Z\n2006-01-02T15:04:06.5Z\n2006-01-02T15:04:06.500Z\n2006-01-02T17:04:05+01:00\n",
		"with blank": "TIMESTAMP,tokens\n2023-11-16 18:17:03.9799600,4808\n2023-11-16 18:17:05.4799600,1\n2023-11-16 18:17:05.4799600,1\n2023-11-16 19:17:03.9799600,2\n",
	} {
		got, err := ParseInstants([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBadInstantsAreRefusedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"0\nsoon\n":                     `line 2: "soon": seconds`,
		"0\nNaN\n":                      `line 2: "NaN": seconds`,
		"0\n1e99\n":                     `line 2: "1e99": seconds`,
		"0\n5\n4\n":                     `line 3: "4" is before`,
		"-1s\n":                         `line 1: "-1s" is before the line above it, or below 0`,
		"0\n1s\n":                       `line 2: "1s" is a duration: the lines before are numbers`,
		"at\nof\n-4\n":                  `line 3: "-4": seconds`,
		strings.Repeat("9", 400) + "\n": `line 1: "` + strings.Repeat("9", 200) + `..."`,
		"0\n1," + strings.Repeat("x", longestInstant) + "\n": "line 2: is longer than 65536 bytes",
	} {
		if _, err := ParseInstants([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: error %v, want one that begins with %s", text, err, want)
		}
	}
}

func TestArrivalsAreReadBesideTheScenario(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "day.csv"), []byte("at_s\n0\n2.5\n9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "schema: 1\nmachine: {ram: 8GiB}\nworkload: {jobs: %, kind: small, arrival: {file: day.csv}}\nprofile: example\n"
	s, err := Parse([]byte(strings.Replace(text, "%", "2", 1)), filepath.Join(folder, "s.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]model.Instant{0, 2_500_000_000, 9_000_000_000}, s.Workload.Arrival.Instants); diff != "" {
		t.Errorf("instants (-want +got):\n%s", diff)
	}
	_, err = Parse([]byte(strings.Replace(text, "%", "4", 1)), filepath.Join(folder, "s.yaml"), nil)
	if want := `s.yaml:3:50: workload.arrival.file is "day.csv", which lists 3 instants: at least one for each of the 4 jobs`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("four jobs of three instants: error %v, want %s", err, want)
	}
	_, err = Parse([]byte(strings.NewReplacer("day.csv", "night.csv", "%", "1").Replace(text)), filepath.Join(folder, "s.yaml"), nil)
	if want := `workload.arrival.file is "night.csv": open `; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("no such file: error %v, want %s", err, want)
	}
}

func FuzzParseInstants(f *testing.F) {
	for _, text := range []string{"0\n1.5\n", "a,b\n1h,2\n", "2006-01-02T15:04:05Z\n2006-01-02T15:04:06.5Z\n", "#\n\n\"3\",4\n", "1e9999"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseInstants(data)
		for i, at := range list {
			if at < 0 || (i > 0 && at < list[i-1]) {
				t.Fatalf("instants %v, error %v", list, err)
			}
		}
	})
}
