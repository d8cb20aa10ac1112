package calibrate

import (
	"errors"
	"fmt"
	"slices"

	"headroom/model"
	"headroom/model/trace"
)

// checkAlike reports every trace that cannot be used by itself or does not fit the ones before it.
func checkAlike(list []named) error {
	var faults []error
	first := &list[0]
	for i := range list {
		n := &list[i]
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("calibrate: %s "+format, append([]any{n.source.Path}, args...)...))
		}
		h, g := &n.trace.Header, &first.trace.Header
		if i > 0 && n.hash == list[i-1].hash {
			fault("holds the same as %s: give each trace once", list[i-1].source.Path)
		}
		if h.Device == "virtual" {
			fault("was recorded on the virtual device, which holds no memory and only waits as another profile says")
		}
		if len(n.trace.Samples) == 0 {
			fault("has no samples of memory (clock %s): footprints need a trace that was recorded of a prover", h.Clock)
		}
		if n.trace.Baseline == nil {
			fault("has no reading of memory before the first job: footprints are what comes on top of it")
		}
		checkKinds(list[:i], n, fault)
		for _, same := range []struct{ what, of, wanted string }{
			{"on the machine", machine(&h.Machine), machine(&g.Machine)},
			{"by the clock", h.Clock, g.Clock},
			{"on the device", h.Device, g.Device},
			{"by the prover", h.Prover, g.Prover},
			{"with b_g2 on the", string(h.Config.GPU.BG2), string(g.Config.GPU.BG2)},
		} {
			if same.of != same.wanted {
				fault("was recorded %s %q, %s %q: the same in all traces", same.what, same.of, first.source.Path, same.wanted)
			}
		}
	}
	return errors.Join(faults...)
}

// checkKinds reports how a trace's kinds do not fit those of the traces before it. Kinds of one name must be the same;
// where traces have different kinds, only the sizes of the keys tell what is in their baselines.
func checkKinds(before []named, n *named, fault func(format string, args ...any)) {
	h := &n.trace.Header
	for i := range before {
		g, path := &before[i].trace.Header, before[i].source.Path
		shared := 0
		for _, k := range h.Kinds {
			j := slices.IndexFunc(g.Kinds, func(other model.Kind) bool { return other.Name == k.Name })
			if j < 0 {
				continue
			}
			shared++
			if k != g.Kinds[j] {
				fault("is of kinds %s, %s of %s: the same in all traces", describe(h), path, describe(g))
				return
			}
			a, known := h.Circuits[k.Name]
			if b, there := g.Circuits[k.Name]; a != b || known != there {
				fault("proves other circuits than %s: the same in all traces", path)
				return
			}
		}
		alike := shared == len(h.Kinds) && shared == len(g.Kinds)
		if !alike && !(tellsKeys(h) && tellsKeys(g)) {
			fault("is of kinds %s, %s of %s: the same kinds in all traces, unless their headers tell the sizes of the keys",
				describe(h), path, describe(g))
			return
		}
	}
}

// tellsKeys reports whether a header has the sizes of the keys of all its kinds.
func tellsKeys(h *trace.Header) bool {
	for _, k := range h.Kinds {
		if h.Keys[k.Name].Host == 0 {
			return false
		}
	}
	return true
}

// machine describes what of a machine must be the same.
func machine(m *trace.Machine) string {
	return fmt.Sprintf("%s, %s, %s", m.CPU, model.Counted(m.Cores, "core"), m.RAM.Short())
}

func describe(h *trace.Header) string {
	text := ""
	for i, k := range sortedKinds(h) {
		if i > 0 {
			text += " and "
		}
		text += fmt.Sprintf("%q (%s; %s)", k.Name, model.Counted(k.Partitions, "partition"), k.Stages)
	}
	return text
}
