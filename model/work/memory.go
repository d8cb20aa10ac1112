package work

import (
	"fmt"
	"math"
	"slices"
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
// stage of half a minute. The runners of one stage may hold up to 8 TiB together by their progress, and all together
// 4 EiB: Overflowed.
type Memory struct {
	constant int64 // of everything that does not change with progress
	ramps    [model.NumStages]ramps
	shaped   model.StageSet // those with a footprint of their own
	sloped   []*ramps       // of the stages with a footprint that changes with progress

	last   model.Instant // instant of the last evaluation
	ceil   int64         // the peak or the limit, whichever is lower: a level above it is of interest
	peak   int64
	peakAt model.Instant
	atPeak [model.NumStages]int64 // part of the peak that was the runners' of each stage
	rose   bool                   // there was a new peak since the last question

	overflowed bool // a stage could have held more than mostRamped
	full       bool // more than mostHeld was held

	limit   int64
	crossed bool // the peak is where the limit was passed, and nothing is of interest any more
}

const slopeBits = 20

// mostRamped is the most that the runners of a stage can hold by their progress before their sum wraps around.
const mostRamped = math.MaxInt64 >> slopeBits

// mostHeld is the most that is added up. No single change comes near to it (model.MaxBytes, times model.MaxBatch), so that
// a sum that has passed it has not wrapped around before that was seen.
const mostHeld = math.MaxInt64 / 2

// ramps are the footprints of the runners of one stage.
type ramps struct {
	clock  *clock  // of the stage
	work   int64   // on the clock at the instant to which the memory was brought
	shapes []shape // by kind; nil for a stage without any
	highs  []int64 // the highest corner of each shape
	level  int64   // sum of what does not change with progress; Memory.constant has it too
	offset uint64  // sum of the running pieces at work 0, in 2^-20 bytes, modulo 2^64
	slope  uint64  // sum of their slopes
	most   int64   // sum of the running pieces' highest corners
	lanes  []piece
	breaks agenda // the work at which each lane's piece ends before its stage does
}

// shape is a footprint as corners over the progress of a stage.
type shape []corner

type corner struct {
	progress float64
	bytes    int64
}

// piece is a runner's place on its shape.
type piece struct {
	level         int64 // bytes that do not change with progress: of a shape that is level, and less what is gone
	shape         shape // nil: nothing runs on the lane that changes with progress
	proofs        int64 // how often the shape is held
	next          int   // index of the corner at which the piece ends
	end           int64 // the work on the stage's clock there
	start, work   int64
	offset, slope uint64
	most          int64 // highest corner of the shape
}

// NewMemory returns the memory of a run on the clocks: base bytes are resident from the start, and a run is said
// to have crossed the limit when more than limit bytes are resident (0: there is no limit).
func NewMemory(clocks *Clocks, kinds []profile.Kind, base, limit model.Bytes) *Memory {
	m := &Memory{constant: int64(base), peak: int64(base), limit: int64(limit)}
	if limit == 0 {
		m.limit = math.MaxInt64
	}
	m.full = m.constant > mostHeld
	m.crossed = m.peak > m.limit
	m.rose = m.crossed
	m.setCeiling()
	for s := range m.ramps {
		r := &m.ramps[s]
		r.clock, r.breaks = &clocks.clocks[s], newAgenda()
		for k := range kinds {
			if points := kinds[k].Footprint.During[model.Stage(s)]; len(points) > 0 {
				r.setShape(k, len(kinds), newShape(points))
				m.shaped = m.shaped.With(model.Stage(s))
			}
			if kinds[k].Footprint.Freeing != nil {
				m.shaped = m.shaped.With(model.Dealloc)
			}
		}
		if slices.ContainsFunc(r.shapes, func(s shape) bool { return !s.isLevel() }) {
			m.sloped = append(m.sloped, r)
		}
	}
	return m
}

func (r *ramps) setShape(kind, kinds int, s shape) {
	if r.shapes == nil {
		r.shapes, r.highs = make([]shape, kinds), make([]int64, kinds)
	}
	r.shapes[kind], r.highs[kind] = s, s.most()
}

// setCeiling follows a change of the peak or of crossed.
func (m *Memory) setCeiling() {
	m.ceil = min(m.peak, m.limit)
	if m.crossed {
		m.ceil = math.MaxInt64
	}
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
func (m *Memory) Add(bytes model.Bytes) {
	m.constant += int64(bytes)
	m.full = m.full || m.constant > mostHeld
}

// Begin adds the footprint, once for each of its proofs, of a stage that starts with that amount of work at the instant
// to which the memory was brought.
func (m *Memory) Begin(s model.Stage, lane int32, kind, proofs uint16, work model.Span) {
	r := &m.ramps[s]
	if !m.shaped.Has(s) || r.shapes == nil || r.shapes[kind] == nil || work == 0 {
		return
	}
	for int(lane) >= len(r.lanes) {
		r.lanes = append(r.lanes, piece{})
	}
	p := &r.lanes[lane]
	p.proofs = int64(proofs)
	shape := r.shapes[kind]
	if shape.isLevel() {
		m.hold(r, p, p.proofs*shape[0].bytes)
		m.overflowed = m.overflowed || r.level > mostRamped
		return
	}
	p.shape, p.start, p.work, p.end, p.most = shape, r.work, int64(work), r.work, p.proofs*r.highs[kind]
	r.enter(lane, p, 1)
	r.most += p.most
	m.overflowed = m.overflowed || r.most > mostRamped
}

// Shrink takes away what is gone, on average, of a block whose dealloc starts. The block itself goes at the end.
func (m *Memory) Shrink(lane int32, gone model.Bytes) {
	r := &m.ramps[model.Dealloc]
	for int(lane) >= len(r.lanes) {
		r.lanes = append(r.lanes, piece{})
	}
	m.hold(r, &r.lanes[lane], r.lanes[lane].level-int64(gone))
}

// hold sets what a runner holds whatever its progress.
func (m *Memory) hold(r *ramps, p *piece, bytes int64) {
	change := bytes - p.level
	p.level = bytes
	r.level += change
	m.Add(model.Bytes(change))
}

// most returns what a shape holds at its highest corner.
func (s shape) most() int64 {
	most := int64(0)
	for _, c := range s {
		most = max(most, c.bytes)
	}
	return most
}

// isLevel reports whether a shape is the same from its begin to its end.
func (s shape) isLevel() bool { return len(s) == 2 && s[0].bytes == s[1].bytes }

// Overflowed says what was more than can be added up, so that the peak means nothing; it is empty if nothing was.
func (m *Memory) Overflowed() string {
	switch {
	case m.overflowed:
		return fmt.Sprintf("the runners of one stage may hold more than %s at once", model.Bytes(mostRamped+1))
	case m.full:
		return fmt.Sprintf("more than %s are held at once", tooMuch)
	}
	return ""
}

// tooMuch is mostHeld for people.
const tooMuch = model.Bytes(mostHeld + 1)

// End takes away the footprint of a stage that is over, up to the end of which the memory was brought.
func (m *Memory) End(s model.Stage, lane int32) {
	r := &m.ramps[s]
	if int(lane) >= len(r.lanes) {
		return
	}
	p := &r.lanes[lane]
	m.hold(r, p, 0)
	if p.shape == nil {
		return
	}
	r.leave(p)
	r.most -= p.most
	p.shape = nil
}

// at returns the work on the stage's clock at which the runner reaches a corner.
func (p *piece) at(c int) int64 {
	return p.start + model.Nearest(p.shape[c].progress*float64(p.work))
}

// breaks reports whether the piece ends before the stage does. What comes at the very end is over before it counts.
func (p *piece) breaks() bool { return p.end < p.start+p.work }

func (r *ramps) leave(p *piece) {
	r.offset -= p.offset
	r.slope -= p.slope
}

// enter puts a runner, which is at the corner before c and not at its end, on the piece of its shape that ends at corner
// c, or on the first later one that is not a step.
func (r *ramps) enter(lane int32, p *piece, c int) {
	from, to := p.end, p.at(c)
	for to == from {
		c++
		to = p.at(c)
	}
	p.next, p.end = c, to
	p.lie(p.proofs*p.shape[c-1].bytes, p.proofs*p.shape[c].bytes, from, to)
	r.offset += p.offset
	r.slope += p.slope
	if p.breaks() {
		r.breaks.add(to, lane)
	}
}

// lie sets the line from low to high bytes. It is anchored at its higher end, so that the peak is exact.
func (p *piece) lie(low, high, from, to int64) {
	switch {
	case low == high:
		p.offset, p.slope = uint64(low)<<slopeBits, 0
	case high > low:
		p.slope = slopeOf(high-low, to-from)
		p.offset = uint64(high)<<slopeBits - p.slope*uint64(to)
	default:
		p.slope = slopeOf(high-low, to-from)
		p.offset = uint64(low)<<slopeBits - p.slope*uint64(from)
	}
}

// slopeOf returns bytes per nanosecond of work in 2^-20 bytes, rounded to the nearest.
func slopeOf(bytes, work int64) uint64 {
	return uint64(model.Nearest(float64(bytes) * (1 << slopeBits) / float64(work)))
}

// read returns the bytes at an instant, with the clock of one stage at a given work.
func (m *Memory) read(now model.Instant, exact *ramps, work int64) int64 {
	sum := m.constant
	for _, r := range m.sloped {
		w := work
		if r != exact {
			w = r.clock.read(now)
		}
		sum += r.bytes(w)
	}
	return sum
}

// bytes returns what the runners hold when the clock shows that much work.
func (r *ramps) bytes(work int64) int64 { return int64(r.offset+r.slope*uint64(work)) >> slopeBits }

// Advance brings the memory up to an instant before anything changes there.
func (m *Memory) Advance(now model.Instant) {
	if len(m.sloped) > 0 {
		m.advance(now)
	}
}

func (m *Memory) advance(now model.Instant) {
	corners := false
	for _, r := range m.sloped {
		r.work = r.clock.read(now)
		corners = corners || r.breaks.first <= r.work
	}
	if corners {
		m.passCorners(now)
	}
	m.see(now, m.sum(), nil, 0)
}

// sum returns the bytes at the instant to which the memory was brought.
func (m *Memory) sum() int64 {
	sum := m.constant
	for _, r := range m.sloped {
		sum += r.bytes(r.work)
	}
	return sum
}

// passCorners evaluates the corners up to an instant one by one, in order of time.
func (m *Memory) passCorners(now model.Instant) {
	for {
		r, at := m.nextBreak(now)
		if r == nil {
			return
		}
		work := r.breaks.first
		level, before := m.read(at, r, work), r.bytes(work)
		m.see(at, level, r, work)
		r.pass(r.breaks.pop())
		m.see(at, level-before+r.bytes(work), r, work)
	}
}

// pass takes a runner past the corner at which its piece ends.
func (r *ramps) pass(lane int32) {
	p := &r.lanes[lane]
	r.leave(p)
	r.enter(lane, p, p.next+1)
}

// Observe evaluates the memory after something changed at the instant to which it was brought.
func (m *Memory) Observe(now model.Instant) {
	if level := m.sum(); level > m.ceil {
		m.rise(now, level, nil, 0)
	}
}

// nextBreak returns the stage whose clock reaches a corner first, if one does by now, and the instant.
func (m *Memory) nextBreak(now model.Instant) (*ramps, model.Instant) {
	var stage *ramps
	first := now
	for _, r := range m.sloped {
		if r.breaks.first > r.work {
			continue
		}
		if at := min(r.clock.when(r.breaks.first), now); stage == nil || at < first {
			stage, first = r, at
		}
	}
	return stage, first
}

// see takes note of the level at an instant, at which the clock of one stage shows a given work.
func (m *Memory) see(now model.Instant, level int64, exact *ramps, work int64) {
	if level > m.ceil {
		m.rise(now, level, exact, work)
	}
	m.last = now
}

// rise takes note of a level above the peak or the limit.
func (m *Memory) rise(now model.Instant, level int64, exact *ramps, work int64) {
	if level > m.limit {
		m.crossed = true
		if at := m.crossing(now); at < now {
			now, exact = at, nil
			level = m.read(now, exact, work)
		}
	}
	if level > m.peak {
		m.peak, m.peakAt, m.rose = level, now, true
		for s := range m.ramps {
			m.atPeak[s] = m.ramps[s].level
		}
		for _, r := range m.sloped {
			w := work
			if r != exact {
				w = r.clock.read(now)
			}
			m.atPeak[r.clock.stage] += r.bytes(w)
		}
	}
	m.setCeiling()
}

// crossing returns the first instant after the last evaluation at which the memory is above the limit, or now.
func (m *Memory) crossing(now model.Instant) model.Instant {
	if len(m.sloped) == 0 {
		return now
	}
	return m.last + model.Instant(sort.Search(int(now-m.last), func(i int) bool {
		return m.read(m.last+model.Instant(i), nil, 0) > m.limit
	}))
}

// Rose reports whether the memory has reached a new peak since the last call. The limit is passed at a new peak only.
func (m *Memory) Rose() bool {
	if !m.rose {
		return false
	}
	m.rose = false
	return true
}

// Level returns the bytes at the last evaluation.
func (m *Memory) Level() model.Bytes { return model.Bytes(m.sum()) }

// Peak returns the most bytes that were resident at once, and when that was first so. Once the limit was passed
// it is what was resident at that instant.
func (m *Memory) Peak() (model.Bytes, model.Instant) { return model.Bytes(m.peak), m.peakAt }

// AtPeak returns the part of the peak that the runners of a stage held by their progress.
func (m *Memory) AtPeak(s model.Stage) model.Bytes { return model.Bytes(m.atPeak[s]) }

// Crossed reports whether the limit was passed.
func (m *Memory) Crossed() bool { return m.crossed }
