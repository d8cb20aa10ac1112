package calibrate

import (
	"cmp"
	"slices"

	"headroom/model"
	"headroom/model/trace"
)

// grid is into how many pieces the progress of a synthesis is cut before corners that say nothing are taken out.
const grid = 16

// columns numbers the unknowns of the footprints: one that is always there, for each kind its classes and what each
// stage but synth holds while it runs, and the corners of the ramps of synth.
type columns struct {
	kinds int
	// pooled: there are runs with a pool. What a synthesis holds there besides its vectors is another ramp for each kind.
	pooled bool
}

const (
	perKind   = int(numClasses) + int(model.NumStages)
	offset    = 0 // column of what is there whatever runs
	firstKind = 1
)

func (c columns) count() int                        { return c.ramp(c.ramps(), 0) }
func (c columns) class(kind int, k class) int       { return firstKind + kind*perKind + int(k) }
func (c columns) stage(kind int, s model.Stage) int { return c.class(kind, numClasses) + int(s) }
func (c columns) ramp(ramp int, corner int) int     { return c.class(c.kinds, 0) + ramp*(grid+1) + corner }

// ramps is how many ramps there are: those of the kinds without a pool come first.
func (c columns) ramps() int {
	if c.pooled {
		return 2 * c.kinds
	}
	return c.kinds
}

// rampOf returns the ramp of a kind's synthesis in a history.
func (c columns) rampOf(kind int, h *history) int {
	if h.pooled {
		return c.kinds + kind
	}
	return kind
}

// reading is a sample of resident memory as an equation: the bytes above the baseline are the sum of the unknowns
// times their counts.
type reading struct {
	counts  []float64 // by column
	bytes   float64
	stretch int // readings of one stretch may err together
}

// change is a change of the count of a column.
type change struct {
	at     model.Instant
	column int
	by     float64
}

// readings turns the samples of a history into equations. Samples near a change, or while a stage runs that fails,
// data is loaded or vectors that are new to a pool are filled, say little and are left out; dropped counts them.
func (h *history) readings(c columns, k clock) (list []reading, dropped int) {
	changes, unsure := h.changes(c)
	coming := h.syntheses()
	var running []*interval
	counts := make([]float64, c.count())
	counts[offset] = 1
	dropped = h.walk(counts, changes, unsure, func(s *trace.Sample) {
		row := slices.Clone(counts)
		for ; len(coming) > 0 && coming[0].begin <= s.At; coming = coming[1:] {
			running = append(running, coming[0])
		}
		running = slices.DeleteFunc(running, func(b *interval) bool { return b.end <= s.At })
		for _, b := range running {
			h.addRamp(row, c, k, b, s.At)
		}
		list = append(list, reading{row, float64(h.above(s)), h.stretch(s.At)})
	})
	return list, dropped
}

// walk visits the samples of a history with the counts as they then are; dropped counts those that it left out since they
// are not to be trusted.
func (h *history) walk(counts []float64, changes []change, unsure []zone, visit func(*trace.Sample)) (dropped int) {
	sortChanges(changes, unsure)
	unsure = merge(unsure)
	next, zone := 0, 0
	for i := range h.trace.Samples {
		s := &h.trace.Samples[i]
		for ; next < len(changes) && changes[next].at <= s.At; next++ {
			counts[changes[next].column] += changes[next].by
		}
		for zone < len(unsure) && unsure[zone].end < s.At {
			zone++
		}
		if s.At > h.end || zone < len(unsure) && unsure[zone].begin <= s.At {
			dropped++
			continue
		}
		visit(s)
	}
	return dropped
}

// stretches is into how many stretches the readings of a history are cut: each is as long as it took to do a job, so
// that what one partition is off by is mostly in one of them.
func (h *history) stretches() int { return max(1, h.jobsDone) }

// stretch returns the number of the stretch that an instant lies in.
func (h *history) stretch(at model.Instant) int {
	n := h.stretches()
	return min(n-1, int(float64(n)*float64(at)/float64(max(1, h.end))))
}

// addRamp spreads a running synthesis over the two corners beside its progress.
func (h *history) addRamp(row []float64, c columns, k clock, b *interval, at model.Instant) {
	t := &h.timeline
	i := t.segment(at)
	done := k[i][b.stage] - k[b.first][b.stage]
	if i+1 < len(t.at) {
		done += (k[i+1][b.stage] - k[i][b.stage]) * float64(at-t.at[i]) / float64(t.at[i+1]-t.at[i])
	}
	place := grid * max(0, min(1, done/k.work(b)))
	corner := min(int(place), grid-1)
	ramp, weight := c.rampOf(b.kind, h), float64(b.proofs)
	row[c.ramp(ramp, corner)] += weight * (1 - (place - float64(corner)))
	row[c.ramp(ramp, corner+1)] += weight * (place - float64(corner))
}

// zone is a time in which samples are not to be trusted.
type zone struct{ begin, end model.Instant }

// changes lists when the counts of classes and of stages change, and the times that are too near to one, both in any order.
func (h *history) changes(c columns) ([]change, []zone) {
	var list []change
	unsure := h.data.unsure()
	add := func(begin, end model.Instant, column, proofs int) {
		list = append(list, change{begin, column, float64(proofs)}, change{end, column, -float64(proofs)})
		unsure = append(unsure, around(begin, begin), around(end, end))
	}
	for i := range h.held {
		held := &h.held[i]
		add(held.begin, held.end, c.class(held.kind, held.class), held.proofs)
	}
	for i := range h.busy {
		b := &h.busy[i]
		switch {
		case slices.Contains(transientStages, b.stage):
			add(b.begin, b.end, c.stage(b.kind, b.stage), b.proofs)
			if !b.ended {
				unsure = append(unsure, around(b.begin, b.end))
			}
		case b.stage == model.Synth && (!b.ended || b.fresh): // new vectors are filled meanwhile
			unsure = append(unsure, around(b.begin, b.end))
		}
	}
	return list, unsure
}

func around(begin, end model.Instant) zone {
	return zone{begin - model.Instant(trace.Guard), end + model.Instant(trace.Guard)}
}

// merge joins zones that touch. They are sorted by their begins.
func merge(zones []zone) []zone {
	var out []zone
	for _, z := range zones {
		if last := len(out) - 1; last >= 0 && z.begin <= out[last].end {
			out[last].end = max(out[last].end, z.end)
			continue
		}
		out = append(out, z)
	}
	return out
}

// syntheses lists the syntheses of a history by their begins.
func (h *history) syntheses() []*interval {
	var list []*interval
	for i := range h.busy {
		if h.busy[i].stage == model.Synth && h.busy[i].end > h.busy[i].begin {
			list = append(list, &h.busy[i])
		}
	}
	slices.SortStableFunc(list, func(a, b *interval) int { return cmp.Compare(a.begin, b.begin) })
	return list
}

// sortChanges sorts changes by time and zones by their begins.
func sortChanges(changes []change, zones []zone) {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	slices.SortFunc(zones, func(a, b zone) int { return cmp.Compare(a.begin, b.begin) })
}
