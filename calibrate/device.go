package calibrate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
)

// onDevice are the stages in which a partition holds memory on its worker's device.
var onDevice = []model.Stage{model.Prep, model.Kernel, model.Tail}

// deviceBaseline is what each device held before the first job besides the keys, whose sizes the headers tell; nothing
// if the traces have no readings of devices.
func (in *inputs) deviceBaseline() profile.Quantity[model.Bytes] {
	var readings []model.Bytes
	for _, h := range in.histories {
		devices := model.Bytes(max(1, h.trace.Header.Config.GPU.Devices))
		if each := h.trace.Baseline.VRAMBytes / devices; each > 0 {
			_, keys := h.keys()
			readings = append(readings, max(0, each-keys))
		}
	}
	return oneReading(readings)
}

// deviceReading is a sample of the memory of all devices, above what they held before the first job.
type deviceReading struct {
	counts []float64 // of partitions on a device, by column: each kind has one for each stage of onDevice
	bytes  float64
}

// deviceReadings turns the samples of a history into equations. Those near a change are left out, and all after a
// stage on a device has failed, since it is not known how long its partition held something. A run whose resident data
// comes and goes has none, since it is not known what of that is on the devices.
func (h *history) deviceReadings(kinds int) []deviceReading {
	managed := func(r model.Resident) bool { return r.Managed() }
	if h.trace.Baseline.VRAMBytes == 0 || slices.ContainsFunc(h.trace.Header.Config.Resident, managed) {
		return nil
	}
	changes, unsure := h.deviceChanges()
	counts := make([]float64, kinds*len(onDevice))
	var list []deviceReading
	h.walk(counts, changes, unsure, func(s *trace.Sample) {
		list = append(list, deviceReading{slices.Clone(counts), float64(s.VRAMBytes - h.trace.Baseline.VRAMBytes)})
	})
	return list
}

// deviceChanges lists when partitions come to a device, go from stage to stage there, and leave. A partition is in the
// stage that began last. Like changes it tells the times that are too near to one.
func (h *history) deviceChanges() ([]change, []zone) {
	type partition struct{ job, number int32 }
	runs := map[partition][]*interval{}
	var order []partition
	for i := range h.busy {
		b := &h.busy[i]
		if p := (partition{b.job, b.partition}); slices.Contains(onDevice, b.stage) {
			if runs[p] == nil {
				order = append(order, p)
			}
			runs[p] = append(runs[p], b)
		}
	}
	var list []change
	var unsure []zone
	for _, p := range order {
		slices.SortStableFunc(runs[p], func(a, b *interval) int { return int(a.stage) - int(b.stage) })
		for i, b := range runs[p] {
			end := b.end
			if i+1 < len(runs[p]) {
				end = max(b.begin, runs[p][i+1].begin)
			}
			column := b.kind*len(onDevice) + slices.Index(onDevice, b.stage)
			list = append(list, change{b.begin, column, 1}, change{end, column, -1})
			unsure = append(unsure, around(b.begin, b.begin), around(end, end))
			if !b.ended {
				unsure = append(unsure, around(b.begin, h.end))
			}
		}
	}
	return list, unsure
}

// deviceFootprints returns what a partition of each kind holds on its device, by stage; nil for a kind that was not
// seen to hold anything there. It is what the headers tell or else the least-squares fit of the readings, of which those
// that are far off count less: one may be of a peak that is over. Where a header tells, a fit would know less: a driver
// takes and gives back somewhere within a stage.
func (in *inputs) deviceFootprints() []map[model.Stage]profile.Quantity[model.Bytes] {
	footprints := make([]map[model.Stage]profile.Quantity[model.Bytes], len(in.kinds))
	var readings []deviceReading
	for _, h := range in.histories {
		readings = append(readings, h.deviceReadings(len(in.kinds))...)
	}
	for k := range in.kinds {
		if in.blocks[k].Device > 0 {
			footprints[k] = in.toldOnDevice(k, readings)
		}
	}
	unknowns, n := joinRare(readings, len(in.kinds))
	if n == 0 {
		return footprints
	}
	x, deviations := solveDevices(readings, unknowns, n)
	for column, j := range unknowns {
		k, s := column/len(onDevice), onDevice[column%len(onDevice)]
		if j < 0 || x[j] == 0 || !in.kinds[k].Stages.Has(s) {
			continue
		}
		if footprints[k] == nil {
			footprints[k] = map[model.Stage]profile.Quantity[model.Bytes]{}
		}
		footprints[k][s] = fittedBytes(x[j], deviations[j])
	}
	return footprints
}

// toldOnDevice returns what the headers tell that a partition of a kind holds on its device, and takes it out of the
// readings.
func (in *inputs) toldOnDevice(kind int, readings []deviceReading) map[model.Stage]profile.Quantity[model.Bytes] {
	size := in.blocks[kind].Device
	for i := range readings {
		own := readings[i].counts[kind*len(onDevice) : (kind+1)*len(onDevice)]
		for j := range own {
			readings[i].bytes -= own[j] * float64(size)
			own[j] = 0
		}
	}
	footprint := map[model.Stage]profile.Quantity[model.Bytes]{}
	for _, s := range onDevice {
		if in.kinds[kind].Stages.Has(s) {
			footprint[s] = told(size)
		}
	}
	return footprint
}

// joinRare returns the number of each column's unknown, and how many there are. The stages of a kind are one unknown if
// one of them is seen too rarely, and none, -1, if all are.
func joinRare(readings []deviceReading, kinds int) (unknowns []int, n int) {
	seen := make([]int, kinds*len(onDevice))
	for i := range readings {
		for column, count := range readings[i].counts {
			if count > 0 {
				seen[column]++
			}
		}
	}
	for k := range kinds {
		own := seen[k*len(onDevice) : (k+1)*len(onDevice)]
		switch {
		case slices.Max(own) < fewestSeen:
			unknowns = append(unknowns, -1, -1, -1)
		case slices.Min(own) < fewestSeen:
			unknowns = append(unknowns, n, n, n)
			n++
		default:
			unknowns = append(unknowns, n, n+1, n+2)
			n += len(onDevice)
		}
	}
	return unknowns, n
}

// solveDevices returns the bytes of each of n unknowns, and their standard errors.
func solveDevices(readings []deviceReading, unknowns []int, n int) (x, deviations []float64) {
	rows := mat.NewDense(max(n, len(readings)), n, nil)
	weights, residuals := make([]float64, len(readings)), make([]float64, len(readings))
	for i := range readings {
		weights[i] = 1
		for column, count := range readings[i].counts {
			if j := unknowns[column]; j >= 0 {
				rows.Set(i, j, rows.At(i, j)+count)
			}
		}
	}
	const rounds = 4
	sigma := 0.0
	var weighted mat.Dense
	for round := range rounds {
		if round > 0 {
			sigma = reweigh(weights, residuals)
		}
		weighted.CloneFrom(rows)
		b := make([]float64, rows.RawMatrix().Rows)
		for i := range readings {
			root := math.Sqrt(weights[i])
			b[i] = root * readings[i].bytes
			for j := range n {
				weighted.Set(i, j, root*rows.At(i, j))
			}
		}
		x = nnls(&weighted, b, nil)
		var predicted mat.VecDense
		predicted.MulVec(rows, mat.NewVecDense(n, x))
		for i := range readings {
			residuals[i] = readings[i].bytes - predicted.AtVec(i)
		}
	}
	return x, standardErrors(&weighted, sigma)
}

// standardErrors returns those of the unknowns of a least-squares problem whose readings scatter by sigma.
func standardErrors(rows *mat.Dense, sigma float64) []float64 {
	_, n := rows.Dims()
	normal := mat.NewSymDense(n, nil)
	normal.SymOuterK(1, rows.T())
	for j := range n {
		normal.SetSym(j, j, normal.At(j, j)+1e-6) // stages that are always seen together must not make it singular
	}
	var factor mat.Cholesky
	factor.Factorize(normal)
	deviations := make([]float64, n)
	for j := range n {
		column := mat.NewVecDense(n, nil)
		column.SetVec(j, 1)
		if factor.SolveVecTo(column, column) == nil {
			deviations[j] = sigma * math.Sqrt(column.AtVec(j))
		}
	}
	return deviations
}
