package profile

import (
	"maps"
	"math"
	"slices"

	"headroom/model"
	"headroom/model/stream"
)

// drawPurpose keeps the draws of parameters apart from those of work.
const drawPurpose = 1 << 18

// Draw returns a copy of the profile in which every quantity with an interval has a value drawn from it: normal
// about the value, on each side as wide as the interval is there, and resident memory is off by a draw of its scatter.
// Replications that draw like this carry the uncertainty of the calibration into what they predict.
func (p *Profile) Draw(seed uint64, replication uint32) *Profile {
	d := drawer{key: stream.NewKey(seed, replication, drawPurpose)}
	out := *p
	drawQuantity(&d, &out.Baseline)
	drawIfThere(&d, &out.DeviceBaseline)
	out.Interference = d.interference(p.Interference)
	out.Kinds = slices.Clone(p.Kinds)
	for i := range out.Kinds {
		k := &out.Kinds[i]
		drawIfThere(&d, &k.Keys.Host)
		drawIfThere(&d, &k.Keys.Device)
		k.Work = maps.Clone(k.Work)
		for s := model.Parse; s < model.NumStages; s++ {
			if w, ok := k.Work[s]; ok {
				drawQuantity(&d, &w.Mean)
				drawQuantity(&d, &w.CV)
				drawQuantity(&d, &w.JobCV)
				drawPointer(&d, &w.Batch)
				k.Work[s] = w
			}
		}
		if k.BG2 != nil {
			b := *k.BG2
			drawQuantity(&d, &b.Host)
			drawQuantity(&d, &b.Device)
			k.BG2 = &b
		}
		d.footprint(&k.Footprint)
	}
	if p.Scatter.Value > 0 {
		out.Off = model.Bytes(d.normal() * float64(p.Scatter.Value))
	}
	return &out
}

// drawer numbers the quantities of a profile in a fixed order.
type drawer struct {
	key  stream.Key
	next uint32
}

// normalHalfWidth is the half width of the 95 % interval of the standard normal distribution.
const normalHalfWidth = 1.959963984540054

// normal returns the next number of a standard normal distribution.
func (d *drawer) normal() float64 {
	z := stream.Normal(d.key.Uniform(d.next, 0))
	d.next++
	return z
}

func drawQuantity[T ~int64 | ~float64](d *drawer, q *Quantity[T]) {
	z := d.normal()
	if !q.HasInterval() {
		return
	}
	width := float64(q.High - q.Value)
	if z < 0 {
		width = float64(q.Value - q.Low)
	}
	q.Value = T(math.Max(0, float64(q.Value)+z*width/normalHalfWidth))
}

// drawIfThere draws a quantity that most profiles lack; one that is absent takes no number.
func drawIfThere[T ~int64 | ~float64](d *drawer, q *Quantity[T]) {
	if *q != (Quantity[T]{}) {
		drawQuantity(d, q)
	}
}

// drawPointer draws a quantity that may be absent, into a copy.
func drawPointer[T ~int64 | ~float64](d *drawer, q **Quantity[T]) {
	if *q != nil {
		drawn := **q
		drawQuantity(d, &drawn)
		*q = &drawn
	}
}

func (d *drawer) interference(in Interference) Interference {
	out := Interference{Slowdowns: slices.Clone(in.Slowdowns), Resources: slices.Clone(in.Resources)}
	for i := range out.Slowdowns {
		s := &out.Slowdowns[i]
		s.Points = slices.Clone(s.Points)
		for j := range s.Points {
			drawQuantity(d, &s.Points[j].Factor)
			s.Points[j].Factor.Value = math.Max(s.Points[j].Factor.Value, leastFactor)
			if j > 0 && in.Slowdowns[i].Points[j].Factor == in.Slowdowns[i].Points[j-1].Factor {
				s.Points[j].Factor = s.Points[j-1].Factor // a level stretch is one number and stays level
			}
		}
	}
	for i := range out.Resources {
		r := &out.Resources[i]
		r.Demand = maps.Clone(r.Demand)
		drawQuantity(d, &r.Capacity)
		r.Capacity.Value = math.Max(r.Capacity.Value, leastFactor)
		for s := model.Parse; s < model.NumStages; s++ {
			if q, ok := r.Demand[s]; ok {
				drawQuantity(d, &q)
				r.Demand[s] = q
			}
		}
	}
	return out
}

// leastFactor keeps drawn slowdowns and capacities above zero, where no work would ever end.
const leastFactor = 1e-3

func (d *drawer) footprint(f *Footprint) {
	for _, q := range []*Quantity[model.Bytes]{&f.Parse, &f.Vectors, &f.Assignment, &f.Call} {
		drawQuantity(d, q)
	}
	if drawPointer(d, &f.Freeing); f.Freeing != nil {
		f.Freeing.Value = math.Min(f.Freeing.Value, 1)
	}
	drawIfThere(d, &f.Pinned)
	drawIfThere(d, &f.Shm)
	f.VRAM = maps.Clone(f.VRAM)
	for s := model.Parse; s < model.NumStages; s++ {
		if q, ok := f.VRAM[s]; ok {
			drawQuantity(d, &q)
			f.VRAM[s] = q
		}
	}
	f.During = maps.Clone(f.During)
	for s := model.Parse; s < model.NumStages; s++ {
		points, ok := f.During[s]
		if !ok {
			continue
		}
		points = slices.Clone(points)
		for i := range points {
			drawQuantity(d, &points[i].Bytes)
		}
		f.During[s] = points
	}
}
