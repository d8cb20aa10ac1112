package work

import (
	"math"
	"sort"

	"headroom/model"
	"headroom/model/profile"
)

// Memory is the sum of all resident bytes, exactly: between two events every footprint is linear in the work of
// its stage, so the sum is kept as a constant plus, for each stage, a line over that stage's clock. There is no
// time step.
//
// Slopes are integers in 2^-20 bytes per nanosecond of work. The sum is therefore exact at the corners of the
// footprints and off by at most 2^-21 bytes per nanosecond of a piece between them: 16 KiB for each runner of a
// stage of half a minute. The ramps of one stage may hold up to 8 TiB together.
type Memory struct {
	clocks   *Clocks
	constant int64
	ramps    [model.NumStages]ramps
	ramped   []model.Stage // stages with a footprint of their own

	last   model.Instant // instant of the last evaluation
	level  int64         // bytes then
	peak   int64
	peakAt model.Instant
	atPeak [model.NumStages]int64 // part of the peak that was the runners' of each stage
	rose   bool                   // there was a new peak since the last question

	limit   int64
	crossed bool // the peak is where the limit was passed, and nothing is evaluated any more
}

const slopeBits = 20

// ramps are the footprints of the runners of one stage.
type ramps struct {
	shapes   []shape // by kind
	offset   uint64  // sum of the running pieces at work 0, in 2^-20 bytes, modulo 2^64
	slope    uint64  // sum of their slopes
	lanes    []piece
	breaks   tree // the work at which each lane's piece ends before its stage does
	hasLanes bool
}

// shape is a footprint as corners over the progress of a stage.
type shape []corner

type corner struct {
	progress float64
	bytes    int64
}

// piece is a runner's place on its shape.
type piece struct {
	shape         shape
	next          int // index of the corner at which the piece ends
	start, work   int64
	offset, slope uint64
}

// NewMemory returns the memory of a run on the clocks: base bytes are resident from the start, and a run is said
// to have crossed the limit when more than limit bytes are resident (0: there is no limit).
func NewMemory(clocks *Clocks, kinds []profile.Kind, base, limit model.Bytes) *Memory {
	m := &Memory{clocks: clocks, constant: int64(base), level: int64(base), peak: int64(base), limit: int64(limit)}
	if limit == 0 {
		m.limit = math.MaxInt64
	}
	m.crossed = m.level > m.limit
	for s := model.Parse; s < model.NumStages; s++ {
		r := &m.ramps[s]
		r.shapes = make([]shape, len(kinds))
		for k := range kinds {
			if points := kinds[k].Footprint.During[s]; len(points) > 0 {
				r.shapes[k] = newShape(points)
				r.hasLanes = true
			}
		}
		if r.hasLanes {
			m.ramped = append(m.ramped, s)
		}
	}
	return m
}

// newShape closes a footprint at both ends, so that every progress lies between two corners.
func newShape(points []profile.Point) shape {
	var s shape
	if points[0].Progress > 0 {
		s = append(s, corner{0, int64(points[0].Bytes.Value)})
	}
	for _, p := range points {
		s = append(s, corner{p.Progress, int64(p.Bytes.Value)})
	}
	if last := s[len(s)-1]; last.progress < 1 {
		s = append(s, corner{1, last.bytes})
	}
	return s
}

// Add changes the bytes that do not depend on a stage's progress.
func (m *Memory) Add(bytes model.Bytes) { m.constant += int64(bytes) }

// Begin adds the footprint of a stage that was just started on the clocks with that amount of work.
func (m *Memory) Begin(s model.Stage, lane int32, kind uint16, work model.Span) {
	r := &m.ramps[s]
	if !r.hasLanes || r.shapes[kind] == nil || work == 0 {
		return
	}
	for int(lane) >= len(r.lanes) {
		r.lanes = append(r.lanes, piece{})
	}
	r.lanes[lane] = piece{shape: r.shapes[kind], start: m.clocks.clocks[s].work, work: int64(work)}
	r.enter(lane, 1)
}

// End takes away the footprint of a stage that is over.
func (m *Memory) End(s model.Stage, lane int32) {
	r := &m.ramps[s]
	if !r.hasLanes || int(lane) >= len(r.lanes) || r.lanes[lane].shape == nil {
		return
	}
	p := &r.lanes[lane]
	r.offset -= p.offset
	r.slope -= p.slope
	r.breaks.set(lane, never)
	*p = piece{}
}

// at returns the work on the stage's clock at which the runner reaches a corner.
func (p *piece) at(c int) int64 {
	return p.start + model.Nearest(p.shape[c].progress*float64(p.work))
}

// enter puts a runner on the piece of its shape that ends at corner c, or on the first later one that is not a
// step.
func (r *ramps) enter(lane int32, c int) {
	p := &r.lanes[lane]
	r.offset -= p.offset
	r.slope -= p.slope
	from, to := p.at(c-1), p.at(c)
	for to == from && c < len(p.shape)-1 {
		c++
		to = p.at(c)
	}
	low, high := p.shape[c-1].bytes, p.shape[c].bytes
	p.next = c
	if to == from { // a step at the very end: the stage is over before it counts
		p.offset, p.slope = uint64(low)<<slopeBits, 0
	} else {
		p.slope = slopeOf(high-low, to-from)
		// A piece is anchored at its higher end, so that the peak is exact.
		if high >= low {
			p.offset = uint64(high)<<slopeBits - p.slope*uint64(to)
		} else {
			p.offset = uint64(low)<<slopeBits - p.slope*uint64(from)
		}
	}
	r.offset += p.offset
	r.slope += p.slope
	if c < len(p.shape)-1 {
		r.breaks.set(lane, to)
	} else {
		r.breaks.set(lane, never)
	}
}

// slopeOf returns bytes per nanosecond of work in 2^-20 bytes, rounded to the nearest.
func slopeOf(bytes, work int64) uint64 {
	return uint64(model.Nearest(float64(bytes) * (1 << slopeBits) / float64(work)))
}

// read returns the bytes at an instant, with the clock of one stage at a given work.
func (m *Memory) read(now model.Instant, exact model.Stage, work int64) int64 {
	sum := m.constant
	for _, s := range m.ramped {
		sum += m.part(s, now, exact, work)
	}
	return sum
}

// part returns what the runners of a stage hold by their progress, likewise.
func (m *Memory) part(s model.Stage, now model.Instant, exact model.Stage, work int64) int64 {
	r := &m.ramps[s]
	if s != exact && r.slope != 0 {
		work = m.clocks.clocks[s].read(now)
	}
	return int64(r.offset+r.slope*uint64(work)) >> slopeBits
}

// Advance brings the memory up to an instant before anything changes there: the corners on the way are
// evaluated one by one, in order of time.
func (m *Memory) Advance(now model.Instant) {
	for {
		stage, at := m.nextBreak(now)
		if stage == model.NoStage {
			break
		}
		r := &m.ramps[stage]
		work := r.breaks.min()
		m.observe(at, stage, work)
		lane := r.breaks.first()
		r.enter(lane, r.lanes[lane].next+1)
		m.observe(at, stage, work)
	}
	m.Observe(now)
}

// Observe evaluates the memory at an instant, after something changed there.
func (m *Memory) Observe(now model.Instant) { m.observe(now, model.NoStage, 0) }

// nextBreak returns the stage whose clock reaches a corner first, if one does by now, and the instant.
func (m *Memory) nextBreak(now model.Instant) (model.Stage, model.Instant) {
	stage, first := model.NoStage, now
	for _, s := range m.ramped {
		c := &m.clocks.clocks[s]
		work := m.ramps[s].breaks.min()
		if work == never || work > c.read(now) {
			continue
		}
		if at := min(c.when(work), now); stage == model.NoStage || at < first {
			stage, first = s, at
		}
	}
	return stage, first
}

func (m *Memory) observe(now model.Instant, exact model.Stage, work int64) {
	if m.crossed {
		return
	}
	level := m.read(now, exact, work)
	if level > m.limit {
		m.crossed = true
		if at := m.crossing(now); at < now {
			now, exact = at, model.NoStage
			level = m.read(now, exact, work)
		}
	}
	if level > m.peak {
		m.peak, m.peakAt, m.rose = level, now, true
		for _, s := range m.ramped {
			m.atPeak[s] = m.part(s, now, exact, work)
		}
	}
	m.last, m.level = now, level
}

// crossing returns the first instant after the last evaluation at which the memory is above the limit, or now.
func (m *Memory) crossing(now model.Instant) model.Instant {
	return m.last + model.Instant(sort.Search(int(now-m.last), func(i int) bool {
		return m.read(m.last+model.Instant(i), model.NoStage, 0) > m.limit
	}))
}

// Rose reports whether the memory has reached a new peak since the last call.
func (m *Memory) Rose() bool {
	rose := m.rose
	m.rose = false
	return rose
}

// Level returns the bytes at the last evaluation.
func (m *Memory) Level() model.Bytes { return model.Bytes(m.level) }

// Peak returns the most bytes that were resident at once, and when that was first so. Once the limit was passed
// it is what was resident at that instant.
func (m *Memory) Peak() (model.Bytes, model.Instant) { return model.Bytes(m.peak), m.peakAt }

// AtPeak returns the part of the peak that the runners of a stage held by their progress.
func (m *Memory) AtPeak(s model.Stage) model.Bytes { return model.Bytes(m.atPeak[s]) }

// Crossed reports whether the limit was passed.
func (m *Memory) Crossed() bool { return m.crossed }

// Ramped returns the stages that have a footprint of their own.
func (m *Memory) Ramped() []model.Stage { return m.ramped }
