package profile

import (
	"fmt"
	"maps"

	"headroom/model"
)

// Under returns the kind as it is under a configuration: with the G2 multi-scalar multiplication on the configured
// side, and with a pool, from which a synthesis takes its vectors whole at its start. The live prover, whose kinds have
// circuits, pins what a pool retains and nothing else. It is an error if the profile does not say what the
// multiplication takes on a side other than the one it was recorded on.
func (k Kind) Under(c *model.Config) (Kind, error) {
	if err := k.moveBG2(c.GPU.BG2); err != nil {
		return k, err
	}
	switch {
	case c.Pool == model.PoolRetain:
		k.pool()
	case k.Circuit != nil:
		k.Footprint.Pinned = Quantity[model.Bytes]{}
	}
	return k, nil
}

// Has reports whether the kind has a stage.
func (k *Kind) Has(s model.Stage) bool {
	_, has := k.Work[s]
	return has
}

// Batched returns the work of a stage for some proofs that are joined, from that for the first of them.
func (k *Kind) Batched(s model.Stage, first model.Span, proofs int) model.Span {
	each := 1.0
	if q := k.Work[s].Batch; q != nil {
		each = q.Value
	}
	return model.Span(model.Nearest(float64(first) * (1 + each*float64(proofs-1))))
}

func (k *Kind) moveBG2(to model.Side) error {
	recorded := model.OnHost
	if k.BG2 != nil {
		recorded = k.BG2.Recorded
	}
	if to == recorded {
		return nil
	}
	if k.BG2 == nil || k.BG2.Host.Value == 0 || k.BG2.Device.Value == 0 {
		return fmt.Errorf("profile: kind %s was recorded with b_g2 on the %s, and what it takes on the %s is not known: give b_g2 both host and device", k.Name, recorded, to)
	}
	k.Work = maps.Clone(k.Work)
	last := model.Kernel
	if _, there := k.Work[model.Tail]; there {
		last = model.Tail
	}
	host, device := -k.BG2.Host.Value, k.BG2.Device.Value
	if to == model.OnHost {
		host, device = -host, -device
	}
	k.lengthen(model.Finish, host)
	k.lengthen(last, device)
	return nil
}

// lengthen adds to the mean work of a stage.
func (k *Kind) lengthen(s model.Stage, by model.Span) {
	w, there := k.Work[s]
	if !there {
		w.Law = Constant
	}
	w.Mean.Value = max(0, w.Mean.Value+by)
	k.Work[s] = w
}

// pool makes the footprint of synthesis what it holds besides its vectors: all up to what is left of its peak without
// them. Where the vectors are the last to be filled that is exact, else it is the most that it can be.
func (k *Kind) pool() {
	points := k.Footprint.During[model.Synth]
	if len(points) == 0 {
		return
	}
	rest := max(0, k.Footprint.Highest(model.Synth)-k.Footprint.Vectors.Value)
	k.Footprint.During = maps.Clone(k.Footprint.During)
	k.Footprint.During[model.Synth] = clip(points, rest)
}

// clip returns a footprint that is level where it was above a height.
func clip(points []Point, most model.Bytes) []Point {
	var out []Point
	add := func(progress float64, bytes model.Bytes) {
		out = append(out, Point{Progress: progress, Bytes: Exactly(bytes)})
	}
	for i, p := range points {
		if i > 0 {
			before := points[i-1]
			if low, high := before.Bytes.Value, p.Bytes.Value; (low > most) != (high > most) && p.Progress > before.Progress {
				part := float64(most-low) / float64(high-low)
				add(before.Progress+part*(p.Progress-before.Progress), most)
			}
		}
		add(p.Progress, min(p.Bytes.Value, most))
	}
	return out
}
