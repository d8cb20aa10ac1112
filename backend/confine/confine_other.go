//go:build !linux

package confine

import (
	"context"
	"errors"
	"os/exec"

	"headroom/model"
)

// Child is a process that Start began.
type Child struct{}

// Start runs a command under a memory limit. Here it is an error: confinement works on Linux only.
func Start(context.Context, *exec.Cmd, model.Bytes, Options) (*Child, error) {
	return nil, errors.New("confine: running under a memory limit works on Linux only")
}

// Wait is never reached here, since no Child is ever made.
func (c *Child) Wait() (Outcome, error) {
	return Outcome{}, errors.New("confine: running under a memory limit works on Linux only")
}

// Mechanism is never reached either.
func (c *Child) Mechanism() Mechanism { return None }
