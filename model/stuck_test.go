package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A ledger that is too small for a partition by a byte says so by the byte, and one that is far too small in round sizes.
func TestAStallSaysByHowMuchTheLedgerIsTooSmall(t *testing.T) {
	for _, c := range []struct {
		reserve Bytes
		want    []string
	}{
		{GiB + 1, []string{
			"the ledger has 1073741824 B of 1073741824 B free",
			"job 0 of kind large holds 0 B of the ledger and waits for the admission of 1 partition, each with 1073741825 B of the ledger",
		}},
		{3*GiB + 1, []string{
			"the ledger has 1.0 GiB of 1.0 GiB free",
			"job 0 of kind large holds 0 B of the ledger and waits for the admission of 1 partition, each with 3.0 GiB of the ledger",
		}},
	} {
		config := DefaultConfig(1)
		config.Admission.Budget = &Budget{Total: GiB, Kinds: map[string]Demand{"large": {Reserve: c.reserve}}}
		core, err := NewCore(config, []Kind{{Name: "large", Partitions: 1, Stages: StageSet(0).With(Synth, Kernel)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := core.Step(Input{Op: Arrive, Count: 1}, nil); err != nil || !core.Stalled() {
			t.Fatalf("stalled: %t, error %v", core.Stalled(), err)
		}
		if diff := cmp.Diff(c.want, core.Stuck()); diff != "" {
			t.Errorf("%s is reserved (-want +got):\n%s", c.reserve, diff)
		}
	}
}
