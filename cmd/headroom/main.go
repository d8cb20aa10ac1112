package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"headroom/cmd/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(cli.Run(ctx, os.Stdout, os.Stderr, os.Args[1:]))
}
