package published

import (
	"headroom/model"
	"headroom/model/profile"
)

// What the fit does not touch. Sizes follow from the counts of the circuit, and the authors measured the times of these
// stages one by one. Two figures are assumed: what a parsed input takes, and what is left of the G2 multiplication when
// the lock of the device is back. That begins when prep ends, so that most of its 1.7 s runs beside the kernel.
const (
	constraints = 130_278_869
	assignments = 130_169_893
	element     = 32 // bytes of a scalar

	vectorBytes     = model.Bytes(3 * constraints * element)                 // a, b and c: 11.65 GiB
	assignmentBytes = model.Bytes(assignments*element + 2*(assignments/8+1)) // with two density bit vectors: 3.91 GiB
	witnessBytes    = model.Bytes(assignments * element)                     // 3.88 GiB, held twice while a, b, c fill

	srsBytes = model.Bytes(47_370_000_000) // 44.12 GiB of points
	pceBytes = model.Bytes(27_600_000_000) // 25.71 GiB of pre-compiled circuit

	parseSeconds  = 0.3  // for an input of 51 MB
	prepSeconds   = 1.7  // 1.3 to 1.9
	tailSeconds   = 0.73 // batch additions 0.65 and tail multiplications 0.08
	finishSeconds = 0.1  // assumed
	parseBytes    = 200 * model.MiB
)

// The numbers that are known only roughly, in the order of a vector of them. The fit moves those whose source is
// profile.Fitted. The others stay at their figures: the rows would move them too, but to make up for what they have
// nothing to do with, and rows that the fit has not seen are then predicted worse.
const (
	synthTime = iota
	synthOf2
	synthOf5
	synthOf10
	synthOf20
	synthOf30
	synthSpread
	kernelTime
	kernelBeside10
	deallocTime
	fillBegin
	callSize
	loadSize
	baseline
	numNumbers
)

// number is something that the profile is made from, and what is known of it without the rows.
type number struct {
	name string
	// figure is what the notes say, and spread the standard deviation of what they leave open. The fit begins at
	// the figure and pays for leaving it.
	figure, spread float64
	source         profile.Source
	lowest         float64
	unit           string // s, GiB or none
	why            string // where the figure is from
}

// numbers are in seconds, GiB, or have no unit. One partition's synthesis takes 25 to 27 s for the witness, which is
// single-threaded, and 4 s alone to 10 s with ten at once for the matrix products.
var numbers = [numNumbers]number{
	synthTime: {"synthesis alone", 29, 1, profile.Fitted, 1, "s", "witness 25 s and products 4 s"},
	synthOf2:  {"slowdown of synthesis, 2 running", 1.02, 0.03, profile.Fitted, 1, "", "products 4.7 s"},
	synthOf5:  {"slowdown of synthesis, 5 running", 1.09, 0.03, profile.Fitted, 1, "", "products 6.7 s"},
	synthOf10: {"slowdown of synthesis, 10 running", 1.2, 0.03, profile.Fitted, 1, "", "products 10 s"},
	synthOf20: {"slowdown of synthesis, 20 running", 1.45, 0.06, profile.Fitted, 1, "", "as up to 10, continued"},
	synthOf30: {"slowdown of synthesis, 30 running", 3.5, 1, profile.Fitted, 1, "", "collapses at thirty"},
	synthSpread: {
		"coefficient of variation of a synthesis", 0.04, 0.02, profile.Derived, 0.002, "", "29 to 36 s were seen",
	},
	kernelTime: {
		"kernel", 2.5, 0.1, profile.Fitted, 1, "s",
		"a call took 3.3 to 3.4 s with one worker, of which tail and finish 0.8 s",
	},
	kernelBeside10: {
		"slowdown of the kernel, 10 syntheses running", 1.2, 0.06, profile.Fitted, 0.5, "",
		"a partition every 3.7 to 3.85 s when saturated",
	},
	deallocTime: {"freeing a partition", 1, 0.25, profile.Derived, 0.05, "s", "17 GB/s"},
	fillBegin: {
		"part of a synthesis before a, b and c fill", 0.8, 0.05, profile.Fitted, 0.1, "",
		"25 of 29 s alone, 25 of 35 s with ten",
	},
	callSize: {
		"memory of a proof call", 3.5, 0.75, profile.Derived, 0, "GiB", "2 to 5 GiB by the code and an inventory",
	},
	loadSize: {
		"file of the keys in memory while it is read", 31, 7.5, profile.Fitted, 0, "GiB",
		"44 GiB of pages at most, beside none to all of the circuit's 26 GiB",
	},
	baseline: {
		"process without jobs and keys", 0.9, 0.3, profile.Derived, 0, "GiB", "idle 45.0 GiB with keys of 44.1 GiB",
	},
}

// vector holds a value of each number.
type vector [numNumbers]float64

// at returns the numbers that lie so many spreads from their figures.
func at(offsets []float64) vector {
	var v vector
	for i, n := range numbers {
		v[i] = max(n.lowest, n.figure+n.spread*offsets[i])
	}
	return v
}
