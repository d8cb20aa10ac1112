package cli

import (
	"fmt"
	"os"

	"headroom/backend/probe"
	"headroom/model"
)

// here describes the machine that the program runs on, for scenarios that say machine: here. Linux only.
func here() (model.Machine, error) {
	found, err := probe.Live.Machine()
	if err != nil {
		return model.Machine{}, err
	}
	m := model.Machine{RAM: found.RAM, Cores: found.CoresAllowed}
	limit, err := probe.Live.MemoryLimit(os.Getpid())
	if err != nil {
		return m, fmt.Errorf("its memory limit: %w", err)
	}
	if limit.Bytes < m.RAM {
		m.CgroupLimit = limit.Bytes
	}
	return m, nil
}
