// Package calibrate turns recorded traces into a profile, and holds predictions against what was measured.
//
// Open fit.go (the way from traces to a profile) first. inputs.go takes the traces that belong together, and a trace
// becomes a history (history.go): who was busy when, and who held memory when. From the histories come, in this order,
//
//	interference.go, select.go   how stages slow each other, from work that must not depend on the company it had
//	influence.go, spread.go      the law of each stage's work, from what it would have taken alone
//	interval.go                  how sure a number is that so many jobs or traces decide
//	drift.go                     how much the machine's speed differs from run to run
//	samples.go, ramp.go          what was in flight at each sample of resident memory
//	memory.go, footprint.go, nnls.go
//	                             what a partition holds where, from those
//	quality.go                   how well the profile predicts its own traces, and each when it was left out
//
// and from a profile predictions (predict.go) and comparisons with a trace (compare.go).
package calibrate
