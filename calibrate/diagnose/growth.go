package diagnose

import "slices"

// growth is how what is resident grows over a part of a run.
type growth struct {
	bins []bin
	jobs float64 // that finished between the first and the last bin
	// Bytes of anonymous memory that nothing in flight explains, for each job that finishes: over all the bins, over
	// the later half of them, and for each hour.
	perJob, late, perHour *Interval
	least                 float64 // lower end of the 99 % interval of perJob
	// entangled says that perJob is uncertain mostly because what is in flight grows with the jobs.
	entangled    bool
	inFlight     *Interval // bytes that what is in flight explains, for each job
	file, shmem  *Interval // bytes, for each job
	vram, pinned *Interval // the same of the devices; nil where no sample tells
}

func done(b *bin) float64      { return b.done }
func wallHours(b *bin) float64 { return b.hours }

// startUp is the part of the bins, at the begin, in which a process still grows for many reasons.
const startUp = 0.2

func withoutStart(bins []bin) []bin { return bins[int(startUp*float64(len(bins))):] }

// grow measures the growth over bins, but for those of the start-up. What cannot be measured is nil.
func grow(bins []bin, f *footprints) *growth {
	bins = withoutStart(bins)
	g := &growth{bins: bins}
	if len(bins) < fewestBins {
		return g
	}
	late := bins[len(bins)/2:]
	g.jobs = bins[len(bins)-1].done - bins[0].done
	if l, more, ok := unexplained(bins, f, done); ok {
		g.perJob, g.least, g.entangled = interval(l, more), l.interval(0.99, more).Low, more > l.deviation
	}
	if l, more, ok := unexplained(late, f, done); ok {
		g.late = interval(l, more)
	}
	if l, more, ok := unexplained(bins, f, wallHours); ok {
		g.perHour = interval(l, more)
	}
	g.inFlight = plain(bins, done, f.held)
	g.file = plain(bins, done, func(b *bin) float64 { return b.file })
	g.shmem = plain(bins, done, func(b *bin) float64 { return b.shmem })
	g.vram = told(bins, func(b *bin) float64 { return b.vram })
	g.pinned = told(bins, func(b *bin) float64 { return b.pinned })
	return g
}

// plain returns the slope of something over x.
func plain(bins []bin, x, y func(*bin) float64) *Interval {
	l, ok := fitLine(series(bins, x), series(bins, y))
	if !ok {
		return nil
	}
	return interval(l, 0)
}

// told is plain over the jobs for what samples may not tell: it is nil if none does.
func told(bins []bin, y func(*bin) float64) *Interval {
	if slices.Max(series(bins, y)) == 0 {
		return nil
	}
	return plain(bins, done, y)
}

func interval(l line, more float64) *Interval {
	i := l.interval(0.95, more)
	return &i
}

// unexplained fits a line over x to the anonymous memory that nothing in flight explains. What the footprints do not
// tell, because it never moves within a bin, is fitted beside the line, and so is what an allocator keeps of the most
// that was ever in flight. more is the standard error that the footprints bring into the slope.
func unexplained(bins []bin, f *footprints, x func(*bin) float64) (l line, more float64, ok bool) {
	at := series(bins, x)
	rest := series(bins, func(b *bin) float64 { return b.anon - f.held(b) })
	var beside [][]float64
	for _, j := range f.still {
		column := series(bins, func(b *bin) float64 { return b.inFlight[j] })
		if varies(column, 1e-9) {
			beside = append(beside, column)
		}
	}
	if most := series(bins, func(b *bin) float64 { return b.most }); varies(most, 0.02) {
		// An allocator may keep what was in flight; it does not hold less because there was more.
		if l, ok := fitLine(most, rest, append([][]float64{at}, beside...)...); ok && l.slope > 0 {
			beside = append(beside, most)
		}
	}
	if l, ok = fitLine(at, rest, beside...); !ok {
		return line{}, 0, false
	}
	more = f.deviation(func(j int) float64 { return l.of(series(bins, func(b *bin) float64 { return b.inFlight[j] })) })
	return l, more, true
}

// varies reports whether values differ by more than a part of the largest.
func varies(values []float64, part float64) bool {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return high-low > part*high
}
