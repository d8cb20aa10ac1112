package model

import "fmt"

// runner returns the partition of which a task, of that stage alone, runs, freeing apart, or nil.
func (c *Core) runner(t *Task, stage StageSet) *partition {
	if uint(t.Slot) >= uint(len(c.partitions.slots)) {
		return nil
	}
	p := c.partitions.at(t.Slot)
	if p.gen != t.Gen || p.lane != t.Lane || t.Stage >= NumStages || p.running&stage == 0 || t.Block != NoBlock {
		return nil
	}
	return p
}

// fits reports why the completion of a task without a runner does not fit the state, or nil.
func (c *Core) fits(t *Task, failed bool) error {
	if t.Stage != Dealloc && t.Block != NoBlock {
		return t.refuse("block %s belongs to no stage but dealloc", t.Block)
	}
	switch t.Stage {
	case Load:
		return c.loadFits(t)
	case Parse:
		return c.parseFits(t)
	}
	if t.Slot < 0 || int(t.Slot) >= len(c.partitions.slots) {
		return t.refuse("there is no such slot")
	}
	p := c.partitions.at(t.Slot)
	if p.gen != t.Gen {
		return t.refuse("the slot is in generation %d: the completion is late or came twice", p.gen)
	}
	if t.Stage == Dealloc {
		return c.deallocFits(t, failed)
	}
	if t.Stage >= NumStages || !p.running.Has(t.Stage) {
		return t.refuse("the stage is not running")
	}
	return t.refuse("the stage runs on lane %d", p.lane)
}

func (c *Core) loadFits(t *Task) error {
	if t.Slot < 0 || int(t.Slot) >= len(c.data.items) {
		return t.refuse("there is no such data")
	}
	switch d := &c.data.items[t.Slot]; {
	case d.gen != t.Gen:
		return t.refuse("the data is in generation %d: the completion is late or came twice", d.gen)
	case d.state != loadRunning:
		return t.refuse("the data is not being loaded")
	case d.lane != t.Lane:
		return t.refuse("the stage runs on lane %d", d.lane)
	}
	return nil
}

func (c *Core) parseFits(t *Task) error {
	if t.Slot < 0 || int(t.Slot) >= len(c.jobs.slots) {
		return t.refuse("there is no such slot")
	}
	switch j := c.jobs.at(t.Slot); {
	case j.gen != t.Gen:
		return t.refuse("the slot is in generation %d: the completion is late or came twice", j.gen)
	case !j.live || j.phase != parsing:
		return t.refuse("the job is not being parsed")
	case j.lane != t.Lane:
		return t.refuse("the stage runs on lane %d", j.lane)
	}
	return nil
}

func (c *Core) deallocFits(t *Task, failed bool) error {
	if t.Block != Vectors && t.Block != Assignment {
		return t.refuse("block %s is not freed by a stage", t.Block)
	}
	p := c.partitions.at(t.Slot)
	switch i := t.Block - Vectors; {
	case failed:
		return t.refuse("freeing cannot fail")
	case p.freeing[i] != freeRunning:
		return t.refuse("the block is not being freed")
	case p.freeLane[i] != t.Lane:
		return t.refuse("the stage runs on lane %d", p.freeLane[i])
	}
	return nil
}

func (t *Task) refuse(format string, args ...any) error {
	return &TaskError{Task: *t, Why: fmt.Sprintf(format, args...)}
}
