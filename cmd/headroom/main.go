package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"headroom/cmd/internal/cli"
)

// patience is how long after a signal another one is still taken for the same.
const patience = time.Second

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as it is under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	// A second signal ends the program at once. Those who signal a process and its group send the first one twice.
	context.AfterFunc(ctx, func() { time.AfterFunc(patience, stop) })
	os.Exit(cli.Run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}
