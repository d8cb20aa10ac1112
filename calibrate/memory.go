package calibrate

import (
	"fmt"
	"math"

	"headroom/model"
)

// fitMemory fits the footprints to the samples.
func (f *fitted) fitMemory() error {
	readings, dropped := f.readings(f.chosen.x)
	b := newBasis(f.inputs.columns(), f.inputs.kinds)
	if least := 4 * b.size(); len(readings) < least {
		return fmt.Errorf("calibrate: too few samples of resident memory are far enough from every change: %d (%d are not): "+
			"at least %d are needed; record for longer or sample more often", len(readings), dropped, least)
	}
	f.dropped = dropped
	b.told = f.inputs.told(b.columns)
	var err error
	if f.memory, err = estimateFootprints(b, readings); err != nil {
		return err
	}
	f.varyMemory()
	for k := range f.inputs.kinds {
		f.freeing = append(f.freeing, f.memory.heldWhileFreed(k, readings))
	}
	return nil
}

// told returns what the headers tell of the blocks, by column.
func (in *inputs) told(c columns) map[int]model.Bytes {
	told := map[int]model.Bytes{}
	for k, b := range in.blocks {
		for class, size := range map[class]model.Bytes{vectors: b.Vectors, assignment: b.Assignment, call: b.Call} {
			if size > 0 {
				told[c.class(k, class)] = size
			}
		}
	}
	return told
}

// varyMemory widens the errors of the footprints by those of the interference, from which follows how far a synthesis
// is at a sample: each job shifts the footprints by what it shifts the numbers of the interference by, together.
func (f *fitted) varyMemory() {
	shifts := make([][]float64, len(f.memory.x)) // by unknown and cluster
	for j := range shifts {
		shifts[j] = make([]float64, f.evidence.clusters)
	}
	for k, e := range f.errors {
		if e == 0 {
			continue
		}
		readings, _ := f.readings(shifted(f.chosen.x, k, -e))
		for j, moved := range f.memory.moved(readings) {
			for c, shift := range f.shifts[k] {
				shifts[j][c] -= moved / e * shift
			}
		}
	}
	for j := range shifts {
		f.memory.deviations[j] = math.Hypot(f.memory.deviations[j], deviation(shifts[j], 1+len(f.errors)))
	}
}

// readings turns the samples of all histories into equations for what the headers do not tell, under some numbers of
// the interference.
func (f *fitted) readings(x []float64) (list []reading, dropped int) {
	c := f.inputs.columns()
	told := f.inputs.told(c)
	speeds := f.evidence.companies.speeds(f.chosen.family.interference(x, nil))
	stretches := 0
	for i, h := range f.inputs.histories {
		part, left := h.readings(c, f.evidence.companies.clock(i, h.timeline.at, speeds))
		for j := range part {
			part[j].stretch += stretches
			for column, size := range told { // whole numbers: the order does not matter
				part[j].bytes -= part[j].counts[column] * float64(size)
			}
		}
		list = append(list, part...)
		dropped += left
		stretches += h.stretches()
	}
	return list, dropped
}
