package cuda

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"headroom/backend"
	"headroom/backend/device/cpu"
	prover "headroom/backend/groth16"
	"headroom/model"
)

// tree is the circuit that the tests of the device prove, and twins the names of kinds that do.
var (
	tree  = model.Circuit{Family: "mimc", Log2Constraints: 10, Data: 128 * model.KiB, Leaf: 4 * model.KiB}
	twins = []string{"tree", "twin"}
)

const treeJobs, treePartitions = 4, 2

// openTrees returns kinds of those names. Their keys are in a folder that all devices of a test share.
func openTrees(t testing.TB, dir string, names ...string) (kinds []cpu.Kind) {
	t.Helper()
	for _, name := range names {
		keys, err := prover.OpenKeys(t.Context(), dir, tree, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := prover.NewProver(t.Context(), dir, keys, prover.Threads{})
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, cpu.Kind{Name: name, Keys: keys, Prover: p})
	}
	return kinds
}

// treeConfig is a configuration of one card with two workers.
func treeConfig() model.Config {
	c := model.DefaultConfig(1)
	c.JobsInFlight, c.Admission.Permits = 4, 4
	return c
}

// runTree proves jobs of both kinds on a device, which it closes, and returns their proofs.
func runTree(
	t testing.TB, config model.Config, make func(cpu.Setup) (backend.Device, error), dir string,
) (map[int32][]byte, *backend.Summary) {
	t.Helper()
	proofs := map[int32][]byte{}
	device, err := make(cpu.Setup{
		Kinds: openTrees(t, dir, twins...), Config: config,
		Proved: func(job int32, proof []byte) { proofs[job] = proof },
	})
	if err != nil {
		t.Fatal(err)
	}
	pipeline := backend.Pipeline{
		Config: config, Device: device, Clock: backend.StartClock(),
		Workload: model.Workload{Arrival: model.Arrival{Pattern: model.Closed}},
	}
	for _, name := range twins {
		pipeline.Kinds = append(pipeline.Kinds, model.Kind{Name: name, Partitions: treePartitions, Stages: cpu.Stages()})
		pipeline.Workload.Shares = append(pipeline.Workload.Shares, model.Share{Kind: name, Jobs: treeJobs / len(twins)})
	}
	summary, err := pipeline.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := device.Close(); err != nil {
		t.Error(err)
	}
	if summary.Stalled || summary.JobsDone+summary.JobsFailed != treeJobs {
		t.Errorf("%+v, want %d jobs to end", summary, treeJobs)
	}
	return proofs, summary
}

// onCards returns what makes a device with so many bytes of each card; 0 is all.
func onCards(t testing.TB, l *Library, cap model.Bytes) func(cpu.Setup) (backend.Device, error) {
	return func(s cpu.Setup) (backend.Device, error) {
		return NewDevice(t.Context(), DeviceSetup{Setup: s, Library: l, Cap: cap})
	}
}

// keysOnDemand has room for the keys of one kind in its ledger, so that they take turns.
func keysOnDemand(c *model.Config) {
	c.JobsInFlight = 1
	c.Admission.Budget = &model.Budget{Total: model.MiB, Kinds: map[string]model.Demand{}}
	for _, name := range twins {
		c.Admission.Budget.Kinds[name] = model.Demand{Reserve: model.KiB}
		c.Resident = append(c.Resident, model.Resident{
			Name: cpu.KeysOf(name), Bytes: 574 * model.KiB, OnDemand: true, Evictable: true, Kinds: []string{name},
		})
	}
}

// TestDeviceProvesWhatTheHostProves compares proofs, each of which the device verified, with those of the host.
func TestDeviceProvesWhatTheHostProves(t *testing.T) {
	library, dir := openCard(t).card.library, t.TempDir()
	want, _ := runTree(t, treeConfig(), func(s cpu.Setup) (backend.Device, error) { return cpu.New(t.Context(), s) }, dir)
	for name, set := range map[string]func(*model.Config){
		"b_g2 on the host":  func(*model.Config) {},
		"b_g2 on the card":  func(c *model.Config) { c.GPU.BG2 = model.OnDevice },
		"lock for the call": func(c *model.Config) { c.GPU.Lock, c.GPU.Prep, c.GPU.Split = model.LockCall, "", false },
		"late release":      func(c *model.Config) { c.FreeVectors = model.AfterFinish },
		"pool":              func(c *model.Config) { c.Pool = model.PoolRetain },
		"batch":             func(c *model.Config) { c.Batch = &model.Batch{Size: 2, Wait: model.Millisecond} },
		"keys on demand":    keysOnDemand,
	} {
		t.Run(name, func(t *testing.T) {
			config := treeConfig()
			set(&config)
			if err := config.Validate(nil); err != nil {
				t.Fatal(err)
			}
			got, summary := runTree(t, config, onCards(t, library, 0), dir)
			if !maps.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("the proofs differ from the host's: %+v", summary)
			}
		})
	}
}

// TestDeviceOnASmallCard holds that partitions which the card has no memory for fail, that the run goes on to its end,
// and that nothing is left on the card.
func TestDeviceOnASmallCard(t *testing.T) {
	c := openCard(t)
	smallCard(t, c.card.library)
}

func smallCard(t *testing.T, library *Library) {
	t.Helper()
	dir := t.TempDir()
	key, workspace := treeSizes(t, library, dir)
	keys := key * model.Bytes(len(twins))
	_, summary := runTree(t, treeConfig(), onCards(t, library, keys+workspace-1), dir)
	if summary.JobsFailed != treeJobs {
		t.Errorf("%+v, want no job done on a card of a byte too few", summary)
	}
	for _, err := range summary.Failures {
		if !OutOfMemory(err) || !strings.Contains(err.Error(), "cuda: job ") {
			t.Errorf("a stage failed with %v, want a partition's want of memory", err)
		}
	}
	_, err := onCards(t, library, key-1)(cpu.Setup{Kinds: openTrees(t, dir, "tree"), Config: treeConfig()})
	if !OutOfMemory(err) || !strings.Contains(err.Error(), "keys of tree on card 0") {
		t.Errorf("keys beyond the cap: %v", err)
	}
}

// treeSizes returns what a key and a workspace take of a card.
func treeSizes(t *testing.T, library *Library, dir string) (key, workspace model.Bytes) {
	t.Helper()
	kind := openTrees(t, dir, "tree")[0]
	defer kind.Prover.Close()
	card, err := library.Open(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := card.NewKey(kind.Keys.Proving(), false)
	if err != nil {
		t.Fatal(err)
	}
	book, bookErr := card.Memory()
	size, sizeErr := k.WorkspaceSize(1)
	for _, err := range []error{bookErr, sizeErr, k.Free(), card.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	return book.Taken.Device, size.Device
}
