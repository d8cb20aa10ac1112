// Package backend drives the core of package model in real time: one goroutine, the owner, holds the core; devices
// carry out its effects on their own goroutines and send back what is over through a mailbox. The owner has no
// channel capacity, semaphore or lock of its own: those are in the core, and "start the kernel" means that the
// partition holds the device's lock.
//
// Open pipeline.go first (the owner's loop), then device.go (what a device is), then the devices in device/.
package backend
