package explain

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"headroom/model"
)

// TestWhyNamesWhatLimits holds the sentences against the configuration that they are about.
func TestWhyNamesWhatLimits(t *testing.T) {
	config := func(change func(*model.Config)) *model.Config {
		c := model.DefaultConfig(1)
		c.JobsInFlight, c.Admission.Permits, c.Channel.Capacity = 15, 12, 3
		change(&c)
		return &c
	}
	release := func(r model.Release) *model.Config { return config(func(c *model.Config) { c.Admission.Release = r }) }
	for _, c := range []struct {
		config *model.Config
		want   []string
	}{
		{release(model.AfterSynthesis), []string{"when synthesis ends, which with 12 permits", "wait in send", "So at most 150 "}},
		{release(model.AfterSend), []string{"when the channel takes", "Up to 3 in the channel and 2 with", "So at most 17 "}},
		{release(model.AfterKernel), []string{"when the kernel is over, which with 12 permits", "So at most 12 "}},
		{release(model.AfterFinish), []string{"when the finish is over, which with 12 permits", "So at most 12 "}},
		{
			config(func(c *model.Config) { c.FreeVectors = model.AfterFinish }),
			[]string{"wait for a finalizer", "So at most 150 "},
		},
		{config(func(c *model.Config) { c.Synthesis.MaxParallel = 7 }), []string{"At most 7 partitions can be in synthesis"}},
		{
			config(func(c *model.Config) { c.Admission.Budget = &model.Budget{Total: 9 * model.GiB, Margin: model.GiB} }),
			[]string{"The ledger admits what fits into 8GiB"},
		},
		{
			config(func(c *model.Config) { c.Admission.Permits, c.JobsInFlight = model.Unbounded, model.Unbounded }),
			[]string{"Permits are unbounded", "Jobs in flight are unbounded", "So nothing bounds"},
		},
	} {
		got := strings.Join(why(c.config, 10, c.config.StructuralBound(10)), "\n")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing in:\n%s", want, got)
			}
		}
	}
}

// TestWithoutASpeedThereAreNoSharesOfIt has a combination that stalls: bytes are divided, seconds are not.
func TestWithoutASpeedThereAreNoSharesOfIt(t *testing.T) {
	of := func(peak int64, perJob *big.Rat) *Case {
		return &Case{Peak: model.Bytes(peak), peak: big.NewRat(peak, 1), perJob: perJob}
	}
	p := Pair{space: &space{knobs: []Knob{{Name: "a"}, {Name: "b"}}}}
	shares := p.shares([]*Case{of(10, big.NewRat(1, 1)), of(14, nil), of(10, big.NewRat(2, 1)), of(20, big.NewRat(3, 1))})
	for i, want := range []model.Bytes{7, 3} {
		if shares[i].Bytes != want || !math.IsNaN(shares[i].SecondsPerJob) {
			t.Errorf("share %d is %+v, want %d bytes and no seconds", i, shares[i], want)
		}
	}
}
