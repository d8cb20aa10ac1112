package cpu_test

import (
	"bytes"
	"errors"
	"maps"
	"sync"
	"testing"

	"headroom/backend/device/cpu"
	"headroom/model"
)

// pins knows what is pinned, and refuses one try.
type pins struct {
	mu            sync.Mutex
	sizes         map[*byte]int
	pinned, tried int
	refused       int // the number of the try; 0: none
	other         int // than a, b and c of a circuit of 2^10
}

var errRefused = errors.New("it is too much")

func (p *pins) pin(memory []byte) (unpin func() error, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tried++; p.tried == p.refused {
		return nil, errRefused
	}
	p.pinned++
	p.sizes[&memory[0]] = len(memory)
	if len(memory) != 3*32<<10 {
		p.other++
	}
	return func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		memory[0] = 0 // a fault if it is not mapped any more
		delete(p.sizes, &memory[0])
		return nil
	}, nil
}

// A pool's blocks are pinned once each, a, b and c alone, and unpinned at the end. One that cannot be pinned costs its job
// and no other: the next partition tries again.
func TestAPoolIsPinned(t *testing.T) {
	want := prove(t, plain()).proofs
	p := pins{sizes: map[*byte]int{}, refused: 2}
	config := plain()
	config.Pool, config.Admission.Permits, config.JobsInFlight = model.PoolRetain, 1, 1
	got := proveWith(t, config, func(s *cpu.Setup) { s.Pin = p.pin })
	if len(got.failures) != 1 || !errors.Is(got.failures[0], errRefused) {
		t.Errorf("failures are %v, want one: %v", got.failures, errRefused)
	}
	if len(want)-len(got.proofs) != 1 {
		t.Errorf("%d jobs are done, want all but one of %d", len(got.proofs), len(want))
	}
	maps.DeleteFunc(want, func(job int32, _ []byte) bool { return got.proofs[job] == nil })
	if !maps.EqualFunc(got.proofs, want, bytes.Equal) {
		t.Error("the proofs differ from those without a pool")
	}
	if made := got.effects[model.Pooled] - got.reused; p.pinned == 0 || p.pinned > made || len(p.sizes) != 0 {
		t.Errorf("%d blocks were pinned and %d still are, want at most the %d of the pool, and none", p.pinned, len(p.sizes), made)
	}
	if p.other > 0 {
		t.Errorf("%d times something else was pinned than a, b and c", p.other)
	}
}

// Resident data is pinned where the configuration has it so.
func TestResidentDataIsPinned(t *testing.T) {
	config := model.DefaultConfig(1)
	config.Resident = []model.Resident{
		{Name: "plain", Bytes: model.MiB}, {Name: "pinned", Bytes: 2 * model.MiB, Pinned: true},
	}
	p := pins{sizes: map[*byte]int{}}
	d, err := cpu.New(t.Context(), cpu.Setup{Config: config, Pin: p.pin})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range p.sizes {
		if size != int(2*model.MiB) {
			t.Errorf("%d bytes are pinned, want 2 MiB", size)
		}
	}
	if err := d.Close(); err != nil || p.pinned != 1 || len(p.sizes) != 0 {
		t.Errorf("%d blocks were pinned and %d still are, want one and none: %v", p.pinned, len(p.sizes), err)
	}
	refusing := pins{refused: 1}
	if _, err := cpu.New(t.Context(), cpu.Setup{Config: config, Pin: refusing.pin}); !errors.Is(err, errRefused) {
		t.Errorf("data that cannot be pinned: %v, want %v", err, errRefused)
	}
}
