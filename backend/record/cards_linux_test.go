//go:build cgo

package record_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"headroom/backend/groth16"
	"headroom/backend/record"
	"headroom/model"
	"headroom/model/trace"
)

// fakeCards compiles a library whose cards count memory and whose sums are all infinity.
func fakeCards(t *testing.T) string {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("NOT TESTED, no gcc: runs on cards are not tested. To run it: apt-get install gcc && go test ./backend/record")
	}
	path := filepath.Join(t.TempDir(), "cards.so")
	source := filepath.Join("..", "device", "cuda", "testdata", "fake.c")
	if out, err := exec.Command(compiler, "-shared", "-fPIC", source, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// The trace of a run on cards tells what they hold: before the first job, of each partition and at the most. No proof is
// right here, which changes nothing of that.
func TestATraceTellsTheMemoryOfCards(t *testing.T) {
	spec := smallSpec(t)
	spec.Device, spec.Library, spec.Config.Pool = record.CUDA, fakeCards(t), model.PoolRetain
	spec.SampleEvery = model.Millisecond
	if _, err := groth16.OpenKeys(t.Context(), spec.KeyDir, spec.Kinds[0].Circuit, nil); err != nil {
		t.Fatal(err) // the cards could make none
	}
	o, err := record.Run(context.Background(), spec, options(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Trace.Header.Devices) != 1 || len(o.Trace.End.VRAMPeakBytes) != 1 {
		t.Fatalf("devices are %+v, peaks %v", o.Trace.Header.Devices, o.Trace.End.VRAMPeakBytes)
	}
	d, blocks := o.Trace.Header.Devices[0], o.Trace.Header.Blocks["small"]
	if d.Total != model.GiB || d.Driver != 64*model.MiB || d.Keys == 0 || d.Used != d.Driver+d.Keys {
		t.Errorf("the device is %+v", d)
	}
	if at := o.Trace.Baseline.VRAMBytes; at != d.Used {
		t.Errorf("the baseline has %v in use, should have %v", at, d.Used)
	}
	peak := o.Trace.End.VRAMPeakBytes[0]
	if above := peak - d.Used; above != blocks.Device && above != 2*blocks.Device {
		t.Errorf("the most is %v above the baseline, should be the %v of one partition or two", above, blocks.Device)
	}
	higher := func(a, b trace.Sample) int { return int(a.VRAMBytes - b.VRAMBytes) }
	if s := slices.MaxFunc(o.Trace.Samples, higher); s.VRAMBytes != peak {
		t.Errorf("the highest sample has %v in use, should have %v", s.VRAMBytes, peak)
	}
	want, last := groth16.SizesOf(spec.Kinds[0].Circuit).Pinned, o.Trace.Samples[len(o.Trace.Samples)-1].PinnedBytes
	if blocks.Pinned != want || last == 0 || last%want != 0 || last > 4*want {
		t.Errorf("%v are pinned at the end, should be one to four blocks of %v", last, want)
	}
}
