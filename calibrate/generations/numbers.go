package generations

import (
	"fmt"

	"headroom/model"
	"headroom/model/profile"
)

// Number is a number that a profile is made of.
type Number struct {
	Name  string
	Value string // with its unit
	From  profile.Source
}

// Shared lists the numbers that all generations have in common: what the process holds, how stages slow each other, and
// the times and bytes of a partition where no generation has its own.
func Shared(p *profile.Profile) []Number {
	list := []Number{{"baseline", p.Baseline.Value.Short(), p.Baseline.Source}}
	for _, law := range p.Interference.Slowdowns {
		for _, point := range law.Points {
			list = append(list, Number{
				fmt.Sprintf("slowdown of %s, %d %s running", law.Stage, point.N, law.By),
				fmt.Sprintf("%.3f", point.Factor.Value), point.Factor.Source,
			})
		}
	}
	k := p.Kind(Partition)
	for s := model.Parse; s < model.NumStages; s++ {
		w, there := k.Work[s]
		if !there {
			continue
		}
		list = append(list, Number{s.String(), w.Mean.Value.String(), w.Mean.Source})
		if w.CV.Value != 0 {
			spread := Number{"coefficient of variation of " + s.String(), fmt.Sprintf("%.3f", w.CV.Value), w.CV.Source}
			list = append(list, spread)
		}
	}
	f := &k.Footprint
	for _, n := range []struct {
		name string
		q    profile.Quantity[model.Bytes]
	}{{"parse buffer", f.Parse}, {"vectors", f.Vectors}, {"assignment", f.Assignment}, {"proof call", f.Call}} {
		list = append(list, Number{n.name, n.q.Value.Short(), n.q.Source})
	}
	for _, point := range f.During[model.Synth] {
		list = append(list, Number{
			fmt.Sprintf("held at %.0f %% of synth", 100*point.Progress), point.Bytes.Value.Short(), point.Bytes.Source,
		})
	}
	return list
}
