package profile

import "headroom/model"

// Most returns the most that a partition holds while it holds vectors. Prep may run beside the first part of
// the kernel.
func (f *Footprint) Most(freed model.Release) model.Bytes {
	blocks := f.Vectors.Value + f.Assignment.Value + f.Call.Value
	extra := f.Highest(model.Prep) + max(f.Highest(model.Kernel), f.Highest(model.Tail))
	if freed == model.AfterFinish {
		extra = max(extra, f.Highest(model.Finish))
	}
	return max(f.Highest(model.Synth), blocks+extra)
}

// Highest returns the most that a stage holds by its progress.
func (f *Footprint) Highest(s model.Stage) model.Bytes {
	most := model.Bytes(0)
	for _, p := range f.During[s] {
		most = max(most, p.Bytes.Value)
	}
	return most
}
