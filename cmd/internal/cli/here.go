package cli

import (
	"context"
	"os"

	"headroom/backend/probe"
	"headroom/model"
)

// here describes the machine that the program runs on, for scenarios that say machine: here. Linux only.
func here() (model.Machine, error) {
	host, err := probe.Live.Host(context.Background(), os.Getpid())
	if err != nil {
		return model.Machine{}, err
	}
	return host.Describe()
}
