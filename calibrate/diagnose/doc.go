// Package diagnose says what resident memory does over a recorded run: whether it leaks, grows with a queue, has
// reached its bound, or is kept by the allocator after it was freed; or that the trace cannot tell, and why.
//
// Open diagnose.go (the findings and the order in which they are judged) first. walk.go gives the recorded inputs to
// a fresh core, so that at every sample it is known what was in flight. Samples that follow each other are
// joined into bins (bins.go), and then come two steps, so that a drift never shapes the footprints:
//
//	footprint.go   what a partition holds, from how memory moves within the bins as partitions come and go
//	line.go        how what is left of the bins' means grows with the jobs that are finished, where errors that follow
//	               each other are alike
//
// growth.go and kept.go ask these two the questions of a diagnosis, judge.go weighs the answers, and evidence.go puts
// them into words.
package diagnose
