package cuda

import (
	"errors"
	"fmt"
	"testing"

	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	cs "github.com/consensys/gnark/constraint/bls12-381"

	"headroom/model"
)

// TestSizesAgreeWithTheDriver prints, for each size and stage, what the size queries say that a prover holds of a card
// beside the baseline, what the library's book says and what the driver shows. Query and book are to be equal, and what
// the driver shows in all within 2 % of the baseline and the query together.
func TestSizesAgreeWithTheDriver(t *testing.T) {
	for _, log := range []int{10, 12, 14, 16, 18, 20} {
		t.Run(fmt.Sprintf("2^%d", log), func(t *testing.T) {
			c := openCard(t)
			secrets, err := NewSecrets()
			c.must(err)
			p := newProving(t, 1<<log-2, func(system *cs.R1CS) *groth16.ProvingKey {
				pk, _, err := c.card.Setup(system, secrets)
				c.must(err)
				return pk
			})
			c.must(c.card.library.loadKernels(0, true))
			compareStages(c, p)
		})
	}
}

// compareStages takes one partition through the stages.
func compareStages(c testCard, p proving) {
	card, err := c.card.library.Open(0, 0)
	c.must(err)
	defer func() { c.must(card.Close()) }()
	start, err := card.Memory()
	c.must(err)
	row := func(stage string, queried model.Bytes) {
		book, err := card.Memory()
		c.must(err)
		shown := book.Used() - start.Used()
		off := float64(shown-queried) / float64(start.Used()+queried)
		c.Logf("%-8s queried %10.3f MiB, booked %10.3f, shown %10.3f: %+.2f %% of %.1f MiB", stage,
			mebibytes(queried), mebibytes(book.Taken.Device), mebibytes(shown), 100*off, mebibytes(start.Used()+queried))
		if book.Taken.Device != queried {
			c.Errorf("%s: the book says %v, the queries %v", stage, book.Taken.Device, queried)
		}
		if off < -0.02 || off > 0.02 {
			c.Errorf("%s: the driver shows %v above the baseline, the queries say %v", stage, shown, queried)
		}
	}
	row("open", 0)
	keySize, err := card.KeySize(p.key, true)
	c.must(err)
	key, err := card.NewKey(p.key, true)
	c.must(err)
	row("key", keySize.Device)
	workspace, err := key.WorkspaceSize(1)
	c.must(err)
	both := keySize.Device + workspace.Device
	w, err := key.NewWorkspace(1)
	c.must(err)
	c.must(errors.Join(w.LoadVectors(p.a, p.b, p.c), w.LoadAssignment(p.private, p.inA, p.inB)))
	row("prep", both)
	_, err = w.Quotient()
	c.must(err)
	row("kernel", both)
	_, err = w.Assignment()
	c.must(err)
	row("tail", both)
	c.must(w.Free())
	row("finish", keySize.Device)
	c.must(key.Free())
	row("end", 0)
	end, err := card.Memory()
	c.must(err)
	if want := start.Used() + both; end.Peak.Device != both || end.Most < want-want/50 || end.Most > want+want/50 {
		c.Errorf("the most was %v by the book and %v by the driver, should be %v and %v", end.Peak.Device, end.Most, both, want)
	}
}

func mebibytes(b model.Bytes) float64 { return float64(b) / float64(model.MiB) }
