package main

import (
	"fmt"
	"strings"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/profile"
)

// sizes holds what the profile says of a partition against what was asked for it, and on devices against the highest
// reading.
func (r *results) sizes() string {
	var b strings.Builder
	b.WriteString(head(2, "kind", "what", "size query", "in the profile", "difference", "measured mark", "difference"))
	for i := range r.profile.Kinds {
		k := &r.profile.Kinds[i]
		blocks, known := r.blocks(k.Name)
		if !known {
			continue
		}
		line := func(what string, asked, fitted, mark model.Bytes) {
			if asked < model.MiB {
				return // no more than what a process does besides
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", k.Name, what,
				size(asked), size(fitted), difference(fitted, asked), size(mark), difference(mark, asked))
		}
		f := &k.Footprint
		line("vectors", blocks.Vectors, f.Vectors.Value, 0)
		line("assignment", blocks.Assignment, f.Assignment.Value, 0)
		line("scalars of the call", blocks.Call, f.Call.Value, 0)
		line("all of it on the host", blocks.Vectors+blocks.Assignment+blocks.Call,
			f.Vectors.Value+f.Assignment.Value+f.Call.Value, r.hostMark(k))
		key, partition := r.marks(k)
		if q := k.Keys.Device; q.Value > 0 {
			line("key on the device", q.Value, q.Value, key)
		}
		for _, s := range []model.Stage{model.Prep, model.Kernel, model.Tail} {
			if q, there := f.VRAM[s]; there {
				line("on the device in "+s.String(), blocks.Device, q.Value, partition)
			}
		}
	}
	return b.String()
}

// blocks returns what the headers say of a kind.
func (r *results) blocks(kind string) (model.Blocks, bool) {
	for _, row := range r.rows {
		if blocks, there := row.trace.Header.Blocks[kind]; there {
			return blocks, true
		}
	}
	return model.Blocks{}, false
}

// hostMark returns the peak above the baseline of the run of one partition at a time whose largest partition is of a kind;
// 0 if there is none.
func (r *results) hostMark(k *profile.Kind) model.Bytes {
	for _, row := range r.rows {
		c, largest := &row.trace.Header.Config, ""
		most := model.Bytes(0)
		for _, s := range row.trace.Header.Workload.Shares {
			if b := row.trace.Header.Blocks[s.Kind]; b.Vectors > most {
				most, largest = b.Vectors, s.Kind
			}
		}
		one := c.JobsInFlight == 1 && c.Admission.Permits == 1 && c.Admission.Release == model.AfterFinish
		if m := row.Metric(calibrate.AboveBaseline); m != nil && one && largest == k.Name {
			return model.Bytes(m.Measured)
		}
	}
	return 0
}

// marks returns what was read on a device in runs of one kind alone: what its key takes, and what a partition takes at
// most in the run with the fewest workers; 0 if there is no such run.
func (r *results) marks(k *profile.Kind) (key, partition model.Bytes) {
	fewest := 0
	for _, row := range r.rows {
		t := row.trace
		alone := len(t.Header.Workload.Shares) == 1 && t.Header.Workload.Shares[0].Kind == k.Name
		if !alone || t.Baseline == nil || t.Baseline.VRAMBytes == 0 || t.Header.Config.GPU.Devices > 1 {
			continue
		}
		if workers := t.Header.Config.Workers(); fewest == 0 || workers < fewest {
			fewest = workers
			key = t.Baseline.VRAMBytes - r.profile.DeviceBaseline.Value
			if m := row.Metric(calibrate.DevicePeakBytes); m != nil {
				partition = (model.Bytes(m.Measured) - t.Baseline.VRAMBytes) / model.Bytes(workers)
			}
		}
	}
	return key, partition
}

func size(b model.Bytes) string {
	if b == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f MiB", float64(b)/float64(model.MiB))
}

func difference(b, of model.Bytes) string {
	if b == 0 || of == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", 100*(float64(b)/float64(of)-1))
}

// many says what the runs of many proofs say of memory.
func (r *results) many() string {
	var b strings.Builder
	for _, row := range r.rows {
		if row.flat == nil {
			continue
		}
		fmt.Fprintf(&b, "`%s`: %d proofs in one process, each verified. %s: %s.\n", row.name, row.trace.End.ProofsVerified,
			row.flat.Finding, row.flat.Reason)
	}
	if b.Len() == 0 {
		return fmt.Sprintf("No run of %d proofs is there.\n", manyProofs)
	}
	return b.String()
}
