package calibrate

import (
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/work"
)

// companies numbers the distinct occupancies of some histories, and says for each segment of each which one it is.
type companies struct {
	distinct []occupancy
	of       [][]int // by history and segment
}

func newCompanies(histories []*history) *companies {
	c := &companies{of: make([][]int, len(histories))}
	numbers := numbering[occupancy]{}
	for h := range histories {
		who := histories[h].timeline.who
		c.of[h] = make([]int, len(who))
		for i, o := range who {
			if c.of[h][i] = numbers.of(o); c.of[h][i] == len(c.distinct) {
				c.distinct = append(c.distinct, o)
			}
		}
	}
	return c
}

// speeds returns the speed of each stage in each company under an interference; 0 for a stage that does not run.
func (c *companies) speeds(in profile.Interference) [][model.NumStages]float64 {
	speeds := make([][model.NumStages]float64, len(c.distinct))
	slowdowns := work.NewSlowdowns(in)
	for i := range c.distinct {
		for s, factor := range slowdowns.Of((*[model.NumStages]int32)(&c.distinct[i])) {
			if factor > 0 {
				speeds[i][s] = 1 / factor
			}
		}
	}
	return speeds
}

// clock is the work that a runner of each stage would have done by the begin of each segment of a history, in
// nanoseconds, had it run all the time.
type clock [][model.NumStages]float64

// clock returns the clock of a history over its segments that begin at the given instants.
func (c *companies) clock(h int, begins []model.Instant, speeds [][model.NumStages]float64) clock {
	k := make(clock, len(begins))
	for i := 1; i < len(begins); i++ {
		dt := float64(begins[i] - begins[i-1])
		speed := &speeds[c.of[h][i-1]]
		for s := range k[i] {
			k[i][s] = k[i-1][s] + dt*speed[s]
		}
	}
	return k
}

// work returns the work of an interval.
func (k clock) work(b *interval) float64 { return k[b.last][b.stage] - k[b.first][b.stage] }
