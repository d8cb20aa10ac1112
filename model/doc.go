// Package model is the pipeline of a GPU prover: queue, synthesis, channel, GPU workers, finalizer. It has no clock,
// no goroutine and no I/O.
//
// Open core.go first: Core is the transition code that the simulator, the live driver and replay all drive. Then
// way.go, the way of one partition through it; event.go, what goes in and comes out; config.go, what an operator can
// choose. Of the packages below model the drivers share work (clocks of work and memory), stream (draws), profile, trace
// and check. strict and input read files; reach goes through all states, and modeltest draws runs for tests.
package model
