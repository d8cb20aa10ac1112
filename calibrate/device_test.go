package calibrate_test

import (
	"math"
	"strings"
	"testing"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/sim"
)

// cards is the truth with a second kind, keys, and memory on devices that differs by stage.
func cards() *profile.Profile {
	p := truth()
	p.DeviceBaseline = profile.Exactly(500 * model.MiB)
	large := p.Kinds[0]
	large.Name = "large"
	large.Keys = profile.Keys{Host: profile.Exactly(600 * model.MiB), Device: profile.Exactly(900 * model.MiB)}
	large.Footprint.VRAM = onStages(400, 490, 300)
	p.Kinds[0].Keys = profile.Keys{Host: profile.Exactly(200 * model.MiB), Device: profile.Exactly(150 * model.MiB)}
	p.Kinds[0].Footprint.VRAM = onStages(100, 152, 152)
	p.Kinds = []profile.Kind{large, p.Kinds[0]}
	return p
}

func onStages(prep, kernel, tail model.Bytes) map[model.Stage]profile.Quantity[model.Bytes] {
	return map[model.Stage]profile.Quantity[model.Bytes]{
		model.Prep: profile.Exactly(prep * model.MiB), model.Kernel: profile.Exactly(kernel * model.MiB),
		model.Tail: profile.Exactly(tail * model.MiB),
	}
}

// onCards returns a recording of some kinds of a profile on one device, with what its header and samples say of that.
func onCards(p *profile.Profile, c model.Config, jobs int, seed uint64, kinds ...string) *trace.Trace {
	some := *p
	some.Kinds = nil
	for _, name := range kinds {
		some.Kinds = append(some.Kinds, *p.Kind(name))
	}
	t := recorded(&some, c, jobs, seed, 1e6)
	t.Header.Keys = map[string]trace.Keys{}
	host, device := some.Baselines(some.Kinds)
	keys := host - some.Baseline.Value
	for _, k := range some.Kinds {
		t.Header.Keys[k.Name] = trace.Keys{Host: k.Keys.Host.Value, Device: k.Keys.Device.Value}
	}
	t.Baseline.RSSBytes, t.Baseline.VRAMBytes = host, device
	for i := range t.Samples {
		t.Samples[i].RSSBytes += keys
	}
	readDevice(t, &some, device)
	return t
}

// readDevice gives the samples their readings of the device: what is always there, and what each worker's partition
// holds in the stage that began last. The first sample after a new peak tells of that, as a recorder's does.
func readDevice(t *trace.Trace, p *profile.Profile, baseline model.Bytes) {
	workers := make([]model.Bytes, t.Header.Config.Workers())
	level, peak, told, next := baseline, baseline, baseline, 0
	for i := range t.Records {
		r := &t.Records[i]
		for ; next < len(t.Samples) && t.Samples[next].At < r.At; next++ {
			t.Samples[next].VRAMBytes = level
			if peak > told {
				t.Samples[next].VRAMBytes, told = peak, peak
			}
		}
		set := func(worker int32, bytes model.Bytes) {
			level += bytes - workers[worker]
			workers[worker] = bytes
		}
		if r.Input.Op == model.Done && r.Input.Task.Stage == model.Tail {
			set(r.Input.Task.Lane, 0)
		}
		for _, e := range r.Effects {
			if q, there := p.Kinds[e.Kind].Footprint.VRAM[e.Task.Stage]; there && e.Op == model.Start {
				set(e.Task.Lane, q.Value)
			}
		}
		peak = max(peak, level)
	}
}

// onTwo returns a configuration with two workers.
func onTwo(permits model.Count, release model.Release) model.Config {
	c := config(permits, release, permits)
	c.GPU.WorkersPerDevice, c.GPU.BG2 = 2, model.OnDevice
	return c
}

// TestDevicesAreFitted holds that traces of different kinds give one profile, with what each holds on its device.
func TestDevicesAreFitted(t *testing.T) {
	want := cards()
	for i := range want.Kinds {
		want.Kinds[i].BG2 = &profile.BG2{Recorded: model.OnDevice}
	}
	got, err := calibrate.FitUnjudged([]*trace.Trace{
		onCards(want, onTwo(1, model.AfterFinish), 12, 1, "small"),
		onCards(want, onTwo(3, model.AfterSend), 12, 2, "large"),
		onCards(want, onTwo(3, model.AfterSynthesis), 12, 3, "large", "small"),
	}, "cards")
	if err != nil {
		t.Fatal(err)
	}
	about := func(what string, got, want model.Bytes) {
		t.Helper()
		if d := got - want; d < -2*model.MiB || d > 2*model.MiB {
			t.Errorf("%s is %s, want %s", what, got.Short(), want.Short())
		}
	}
	about("baseline", got.Baseline.Value, want.Baseline.Value)
	about("device baseline", got.DeviceBaseline.Value, want.DeviceBaseline.Value)
	for i := range want.Kinds {
		w, g := &want.Kinds[i], &got.Kinds[i]
		about(w.Name+" keys", g.Keys.Host.Value, w.Keys.Host.Value)
		about(w.Name+" keys on the device", g.Keys.Device.Value, w.Keys.Device.Value)
		if g.BG2 == nil || g.BG2.Recorded != model.OnDevice {
			t.Errorf("%s was recorded with b_g2 on the device: %+v", w.Name, g.BG2)
		}
		for s, q := range w.Footprint.VRAM {
			about(w.Name+" on the device in "+s.String(), g.Footprint.VRAM[s].Value, q.Value)
		}
	}
	for _, kinds := range [][]string{{"small"}, {"large"}, {"large", "small"}} {
		c := onTwo(4, model.AfterKernel)
		c.GPU.WorkersPerDevice = 3
		compared, err := calibrate.Compare(got, onCards(want, c, 10, 7, kinds...), 60)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{calibrate.DevicePeakBytes, calibrate.PeakBytes} {
			if m := compared.Metric(name); m == nil || math.Abs(m.Error) > 0.03 {
				t.Errorf("%v: %s is %+v", kinds, name, m)
			}
		}
	}
}

// What a header tells of devices is held from the first stage there to the end of the last, whatever was read of it.
func TestWhatHeadersTellOfDevicesIsTakenAsItIs(t *testing.T) {
	want := cards()
	var traces []*trace.Trace
	for i, permits := range []model.Count{1, 3} {
		c := onTwo(permits, model.AfterSend)
		c.GPU.BG2 = model.OnHost
		r := onCards(want, c, 12, uint64(i)+1, "large", "small")
		r.Header.Blocks = map[string]model.Blocks{"large": {Device: 450 * model.MiB}}
		traces = append(traces, r)
	}
	got, err := calibrate.FitUnjudged(traces, "cards")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []model.Stage{model.Prep, model.Kernel, model.Tail} {
		told := profile.Quantity[model.Bytes]{Value: 450 * model.MiB, Source: profile.Derived}
		if q := got.Kind("large").Footprint.VRAM[s]; q != told {
			t.Errorf("large in %s holds %+v, told %s", s, q, told.Value.Short())
		}
		if q := got.Kind("small").Footprint.VRAM[s]; q.Source == profile.Derived {
			t.Errorf("small in %s holds %+v, which nobody told", s, q)
		}
	}
}

// Keys that come and go are on devices too, and must not be taken for what partitions hold there.
func TestDataThatComesAndGoesHidesWhatPartitionsHold(t *testing.T) {
	c := onTwo(2, model.AfterSend)
	c.GPU.BG2 = model.OnHost
	c.Resident = []model.Resident{{Name: "keys of small", Bytes: model.MiB, Evictable: true}}
	p, err := calibrate.FitUnjudged([]*trace.Trace{onCards(cards(), c, 12, 1, "small")}, "cards")
	if err != nil {
		t.Fatal(err)
	}
	if vram := p.Kinds[0].Footprint.VRAM; vram != nil {
		t.Errorf("partitions hold %v on devices, want nothing told", vram)
	}
}

// TestADeviceThatIsTooSmall holds that what may be taken of a device is a limit like another.
func TestADeviceThatIsTooSmall(t *testing.T) {
	p := cards()
	for i := range p.Kinds {
		p.Kinds[i].BG2 = &profile.BG2{Recorded: model.OnDevice}
	}
	recorded := onCards(p, onTwo(3, model.AfterSend), 6, 1, "large")
	for _, c := range []struct {
		cap     model.Bytes
		outcome trace.Outcome
		verdict sim.Verdict
		right   bool
	}{
		{1800 * model.MiB, trace.Finished, sim.Fits, true},
		{1780 * model.MiB, trace.Broken, sim.OOM, true},
		{1780 * model.MiB, trace.Finished, sim.OOM, false},
	} {
		recorded.Header.CapBytes, recorded.End.Outcome = c.cap, c.outcome
		got, err := calibrate.Compare(p, recorded, calibrate.DefaultReplications)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != c.verdict || got.VerdictRight != c.right {
			t.Errorf("with %s to be had and a run that %s: %s, right %t", c.cap.Short(), c.outcome, got.Verdict, got.VerdictRight)
		}
	}
}

func TestTracesOfDifferentKindsNeedTheSizesOfTheirKeys(t *testing.T) {
	p := cards()
	a, b := onCards(p, config(1, model.AfterFinish, 1), 6, 1, "small"), onCards(p, config(2, model.AfterSend, 2), 6, 2, "large")
	a.Header.Keys = nil
	_, err := calibrate.FitUnjudged([]*trace.Trace{a, b}, "cards")
	if err == nil || !strings.Contains(err.Error(), "unless their headers tell the sizes of the keys") {
		t.Errorf("error %v", err)
	}
}
