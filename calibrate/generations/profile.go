// Package generations makes one profile for several generations of a published prover on one machine: what the process
// holds, the memory and the synthesis of a partition and how stages slow each other are those of one fit, and each
// generation brings the times of its stages.
package generations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"headroom/model"
	"headroom/model/profile"
)

// The kinds of job: a proof of 32 GiB PoRep as the generations cut it.
const (
	Partition = "porep-32g"        // phases 11 and 12, and the shared fit
	Whole     = "porep-32g-whole"  // phases 2 and 3: all circuits of a proof at once
	Phase8    = "porep-32g-phase8" // phases 7 and 8
	Phase9    = "porep-32g-phase9" // vectors are registered with the device before the lock
	Today     = "porep-32g-today"  // synthesis without a pre-compiled circuit, vectors in pinned memory
)

// circuits is the number of circuits of a proof; a partition has one of them.
const circuits = 10

// Profile returns the profile of that name. The shared one must have the kind Partition.
func Profile(name string, shared *profile.Profile) (*profile.Profile, error) {
	partition := shared.Kind(Partition)
	if partition == nil {
		return nil, fmt.Errorf("generations: profile %s has no kind %s, from which the others are made",
			shared.Name, Partition)
	}
	p := &profile.Profile{
		Name: name, Baseline: shared.Baseline, DeviceBaseline: shared.DeviceBaseline, Resident: shared.Resident,
		Interference: shared.Interference, Provenance: provenance(shared),
		Kinds: []profile.Kind{*partition, whole(partition)},
	}
	for _, kind := range []string{Phase8, Phase9, Today} {
		p.Kinds = append(p.Kinds, cut(kind, partition, loaded(&shared.Interference)))
	}
	slices.SortFunc(p.Kinds, func(a, b profile.Kind) int { return strings.Compare(a.Name, b.Name) })
	return p, p.Validate()
}

// cut returns the kind of a generation that proves partition by partition: the shared one with its own times.
func cut(name string, partition *profile.Kind, loaded slowdowns) profile.Kind {
	k := *partition
	k.Name, k.BG2 = name, nil
	k.Work = maps.Clone(partition.Work)
	for _, t := range Times() {
		if t.Kind == name {
			k.Work[t.Stage] = t.work(partition.Work[t.Stage], loaded[t.Stage])
		}
	}
	if name == Today {
		k.Footprint.Pinned = k.Footprint.Vectors
		k.Footprint.During = map[model.Stage][]profile.Point{model.Synth: ramp(&k.Footprint)}
	}
	return k
}

// whole returns the kind of a proof whose circuits are synthesized together and proved in one call. Its bytes are those
// of all its partitions. What such a call allocates besides was not seen: the published peak is that of the circuits.
func whole(partition *profile.Kind) profile.Kind {
	work := map[model.Stage]profile.Work{model.Parse: partition.Work[model.Parse]}
	k := profile.Kind{Name: Whole, Partitions: 1, Work: work}
	for _, t := range Times() {
		if t.Kind == Whole {
			k.Work[t.Stage] = t.work(profile.Work{}, 1)
		}
	}
	f := &k.Footprint
	f.Parse = partition.Footprint.Parse
	f.Vectors = times(partition.Footprint.Vectors, circuits)
	f.Assignment = times(partition.Footprint.Assignment, circuits)
	f.During = map[model.Stage][]profile.Point{model.Synth: ramp(f)}
	return k
}

// ramp is a synthesis that fills its vectors evenly, without a pre-compiled circuit and its transient copy.
func ramp(f *profile.Footprint) []profile.Point {
	point := func(progress float64, bytes model.Bytes) profile.Point {
		derived := profile.Quantity[model.Bytes]{Value: bytes, Source: profile.Derived}
		return profile.Point{Progress: progress, Bytes: derived}
	}
	return []profile.Point{point(0, 0), point(1, f.Vectors.Value+f.Assignment.Value)}
}

func times(q profile.Quantity[model.Bytes], n model.Bytes) profile.Quantity[model.Bytes] {
	q.Value, q.Low, q.High = q.Value*n, q.Low*n, q.High*n
	return q
}

// slowdowns is how much longer the stages take while ten partitions are synthesized.
type slowdowns map[model.Stage]float64

// loaded reads the slowdowns by ten syntheses off the laws of the machine; a stage without one has 1.
func loaded(x *profile.Interference) slowdowns {
	s := slowdowns{}
	for stage := model.Parse; stage < model.NumStages; stage++ {
		s[stage] = 1
	}
	for _, law := range x.Slowdowns {
		for _, p := range law.Points {
			if law.By == model.Synth && p.N == circuits {
				s[law.Stage] *= p.Factor.Value
			}
		}
	}
	return s
}

func provenance(shared *profile.Profile) profile.Provenance {
	return profile.Provenance{
		Machine:  shared.Provenance.Machine,
		Versions: map[string]string{"cuzk": "phases 2 to 12, and its budget manager"},
		Notes: []string{
			"Written by go run ./cmd/internal/fitgenerations from the profile " + shared.Name +
				" and the stage times in the engine's notes; do not edit.",
			"Of each kind but " + Partition + " only the times of its stages are its own: " +
				"docs/generations.md lists them with their sources.",
			"A time that was read while about ten partitions were synthesized is divided by what ten syntheses slow the stage.",
		},
	}
}
