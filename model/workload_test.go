package model

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func sequence(shares ...Share) []int {
	var order []int
	w := Workload{Shares: shares}
	next := w.Sequence()
	for share := next(); share >= 0; share = next() {
		order = append(order, share)
	}
	return order
}

func TestSharesArriveInterleaved(t *testing.T) {
	for _, c := range []struct {
		name   string
		shares []Share
		want   []int
	}{
		{"one kind", []Share{{Jobs: 3}}, []int{0, 0, 0}},
		{"in proportion to their jobs", []Share{{Jobs: 2}, {Jobs: 4}}, []int{1, 0, 1, 1, 0, 1}},
		{"in turn when equal", []Share{{Jobs: 2}, {Jobs: 2}}, []int{0, 1, 0, 1}},
		{"in proportion to their weights, until one runs out", []Share{{Jobs: 2, Weight: 2}, {Jobs: 3, Weight: 1}}, []int{0, 1, 0, 1, 1}},
	} {
		if diff := cmp.Diff(c.want, sequence(c.shares...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestNoShareFallsBehind holds each share, at every job, to its part of the jobs so far: less than one job from
// it for two shares; for more, less than their number.
func TestNoShareFallsBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 5).Draw(t, "jobs")
		var shares []Share
		total := 0
		for _, n := range jobs {
			shares = append(shares, Share{Jobs: n})
			total += n
		}
		order := sequence(shares...)
		sent := make([]int, len(jobs))
		for k, share := range order {
			sent[share]++
			for i, n := range jobs {
				due := float64(n) * float64(k+1) / float64(total)
				if math.Abs(float64(sent[i])-due) >= max(1, float64(len(jobs)-1)) {
					t.Fatalf("after %d jobs share %d of %v has sent %d, due are %v", k+1, i, jobs, sent[i], due)
				}
			}
		}
		if !slices.Equal(sent, jobs) {
			t.Fatalf("sent %v of %v", sent, jobs)
		}
	})
}

func TestTheTightestBoundOfHostMemoryIsTheLimit(t *testing.T) {
	ram := Limit{Bytes: 24 * GiB, Name: "RAM", File: "/proc/meminfo"}
	for _, c := range []struct {
		machine Machine
		want    Limit
	}{
		{Machine{}, Limit{}},
		{Machine{RAM: 755 * GiB, Reserve: 87 * GiB}, Limit{Bytes: 668 * GiB, Name: "machine.ram minus machine.reserve"}},
		{Machine{RAM: 755 * GiB, CgroupLimit: 64 * GiB}, Limit{Bytes: 64 * GiB, Name: "machine.cgroup_limit"}},
		{Machine{RAM: 512 * GiB, NUMA: []NUMANode{{128 * GiB}, {100 * GiB}}}, Limit{Bytes: 228 * GiB, Name: "machine.numa"}},
		{Machine{RAM: 24 * GiB, Found: []Limit{ram}}, ram},
		{Machine{RAM: 24 * GiB, CgroupLimit: GiB, Found: []Limit{ram}}, Limit{Bytes: GiB, Name: "machine.cgroup_limit"}},
		{Machine{Reserve: GiB}, Limit{}}, // refused by Validate; a negative bound must not come of it
	} {
		if diff := cmp.Diff(c.want, c.machine.HostLimit()); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.machine, diff)
		}
	}
}
