package groth16

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"headroom/model"
)

// Keys is a compiled circuit with its proving and verifying key. While it is loaded it is read-only and safe for
// concurrent use; Load and Unload are not to be called while anything else uses it.
type Keys struct {
	circuit circuit
	dir     string
	setup   Setup
	system  *cs.R1CS
	proving *groth16.ProvingKey
	checks  *groth16.VerifyingKey
}

// OpenKeys loads the compiled circuit and its keys from dir, or makes them there: they are written atomically with
// their checksum, and a file that is damaged or of another version is built again with a warning on slog.
// Processes may open the same keys at once. progress, if not nil, hears each step before it begins. The context
// is looked at between steps; gnark's setup cannot be interrupted: one of 2^20 takes minutes, and its keys hundreds of
// MiB.
//
// The keys are for tests: whoever ran the setup could have kept its secrets.
func OpenKeys(ctx context.Context, dir string, of model.Circuit, progress func(step string)) (*Keys, error) {
	return OpenKeysWith(ctx, dir, of, gnarkSetup, progress)
}

// Setup makes the keys of a compiled circuit with secrets that it draws.
type Setup func(*cs.R1CS) (*groth16.ProvingKey, *groth16.VerifyingKey, error)

func gnarkSetup(system *cs.R1CS) (*groth16.ProvingKey, *groth16.VerifyingKey, error) {
	pk, vk := new(groth16.ProvingKey), new(groth16.VerifyingKey)
	return pk, vk, groth16.Setup(system, pk, vk)
}

// OpenKeysWith is OpenKeys with another setup than gnark's, such as one on a card. Keys that are there already are
// taken, whatever made them.
func OpenKeysWith(
	ctx context.Context, dir string, of model.Circuit, setup Setup, progress func(step string),
) (*Keys, error) {
	if err := of.Validate("circuit"); err != nil {
		return nil, fmt.Errorf("groth16: %w", err)
	}
	k := &Keys{circuit: circuit(of), dir: dir, setup: setup}
	if progress == nil {
		progress = func(string) {}
	}
	if err := k.open(ctx, progress); err != nil {
		return nil, err
	}
	return k, nil
}

// Load loads the keys again after an Unload, as OpenKeys did.
func (k *Keys) Load(ctx context.Context) error { return k.open(ctx, func(string) {}) }

// Unload forgets the keys and the compiled circuit, and gives their memory back to the system.
func (k *Keys) Unload() {
	k.system, k.proving, k.checks = nil, nil, nil
	ReturnHeap()
}

// Loaded reports whether the keys can be used.
func (k *Keys) Loaded() bool { return k.proving != nil }

// open loads the keys from their file, or makes it.
func (k *Keys) open(ctx context.Context, progress func(step string)) error {
	defer ReturnHeap()
	c, header := k.circuit, k.circuit.header()
	path := filepath.Join(k.dir, fmt.Sprintf("%s-%d-depth%d-open%d.keys",
		header.Family, header.Log2, header.Depth, header.Challenges))
	progress(fmt.Sprintf("open keys of %v", c))
	load := func() error { return k.read(path, header) }
	build := func(f *os.File) error {
		if err := k.build(ctx, progress); err != nil {
			return err
		}
		return k.write(f, header)
	}
	warn := func(err error) { slog.Warn("groth16: keys are built again", "file", path, "reason", err) }
	if err := cached(ctx, path, load, build, warn); err != nil {
		k.system, k.proving, k.checks = nil, nil, nil
		return fmt.Errorf("groth16: keys of %v: %w", c, err)
	}
	return nil
}

// build compiles the circuit and runs the setup.
func (k *Keys) build(ctx context.Context, progress func(string)) (err error) {
	progress(fmt.Sprintf("compile %v", k.circuit))
	if k.system, err = compile(k.circuit); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	progress(fmt.Sprintf("set up keys of %v", k.circuit))
	k.proving, k.checks, err = k.setup(k.system)
	return err
}

// compile returns the circuit's constraints and checks them against the extent that its sizes are computed from.
func compile(c circuit) (*cs.R1CS, error) {
	f, s := families[c.Family], c.shape()
	compiled, err := frontend.Compile(ecc.BLS12_381.ScalarField(), r1cs.NewBuilder,
		newTreeCircuit(f, s.depth, s.challenges))
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	system := compiled.(*cs.R1CS)
	want := f.extent(s.depth, s.challenges)
	if got := system.GetNbConstraints(); got != want.constraints || wires(system) != want.wires {
		return nil, fmt.Errorf("compile: %d constraints and %d wires, should be %d and %d",
			got, wires(system), want.constraints, want.wires)
	}
	return system, nil
}

func wires(s *cs.R1CS) int {
	return s.GetNbPublicVariables() + s.GetNbSecretVariables() + s.NbInternalVariables
}

// Size returns the memory that the keys and the compiled circuit hold on the Go heap while they are used: points,
// NTT tables and instructions, without small change.
func (k *Keys) Size() model.Bytes {
	pk := k.proving
	g1 := len(pk.G1.A) + len(pk.G1.B) + len(pk.G1.K) + len(pk.G1.Z)
	size := model.Bytes(g1)*curve.SizeOfG1AffineUncompressed + model.Bytes(len(pk.G2.B))*curve.SizeOfG2AffineUncompressed
	size += model.Bytes(len(pk.InfinityA) + len(pk.InfinityB))
	// Twiddles, coset powers, and the inverses of both; twiddles of all stages add up to one domain.
	size += 4 * fr.Bytes * model.Bytes(pk.Domain.Cardinality)
	size += model.Bytes(len(k.system.Instructions)) * model.Bytes(unsafe.Sizeof(constraint.PackedInstruction{}))
	size += model.Bytes(len(k.system.CallData)) * 4
	return size
}
