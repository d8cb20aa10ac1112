package scenarios

import (
	"headroom/model"
	"headroom/model/strict"
)

// machine is the machine of a file: a description, or the word here.
type machine struct {
	model.Machine
	here bool
}

// UnmarshalNode reads a map, or here. A limit of zero is refused where it is written: to have no limit a file
// leaves the key out.
func (m *machine) UnmarshalNode(n *strict.Node) error {
	if n.Kind == strict.Scalar {
		if n.Text != "here" {
			return n.Errorf("is %s: a map such as {ram: 755GiB}, or the word here", n)
		}
		m.here = true
		return nil
	}
	if err := n.Decode(&m.Machine); err != nil {
		return err
	}
	var faults model.Faults
	zero := func(is bool, key string) {
		if v := n.Field(key); is && v != nil {
			faults.Add("machine."+key, "is %s: more than 0; for no limit leave the key out", v.Text)
		}
	}
	zero(m.RAM == 0, "ram")
	zero(m.Cores == 0, "cores")
	zero(m.MemoryBandwidth == 0, "memory_bandwidth")
	zero(m.CgroupLimit == 0, "cgroup_limit")
	zero(m.Shm == 0, "shm")
	zero(m.Memlock == 0, "memlock")
	if gpus := n.Field("gpus"); gpus != nil {
		for i, g := range gpus.Items {
			if v := g.Field("vram"); v != nil && m.GPUs[i].VRAM == 0 {
				faults.Add(v.Path, "is %s: more than 0; for no limit leave the key out", v.Text)
			}
		}
	}
	return n.Locate(faults.Err())
}

// raw is the configuration of a file, which is read when the defaults for the machine are known.
type raw struct{ node *strict.Node }

// UnmarshalNode keeps the node.
func (r *raw) UnmarshalNode(n *strict.Node) error {
	r.node = n
	return nil
}

// config returns the configuration on top of the defaults for the machine.
func (r *raw) config(m *model.Machine) (model.Config, error) {
	c := model.DefaultConfig(m.Devices())
	if r.node == nil {
		return c, nil
	}
	err := r.node.Decode(&c)
	if c.GPU.Lock == model.LockCall && r.node.At("gpu", "prep") == nil {
		c.GPU.Prep = ""
	}
	return c, err
}

// arrival is the arrival of a file: the word closed, or a map of one pattern to its parameter. A backlog may come
// with a rate.
type arrival model.Arrival

// UnmarshalNode reads closed, {poisson: rate}, {file: path}, {backlog: n} or {backlog: n, poisson: rate}.
func (a *arrival) UnmarshalNode(n *strict.Node) error {
	const right = "one of closed, {poisson: jobs a second}, {file: path}, {backlog: jobs}, {backlog: jobs, poisson: jobs a second}"
	*a = arrival{}
	if n.Kind == strict.Scalar && n.Text == string(model.Closed) {
		a.Pattern = model.Closed
		return nil
	}
	var written struct {
		Poisson float64 `yaml:"poisson"`
		File    string  `yaml:"file"`
		Backlog int     `yaml:"backlog"`
	}
	if n.Kind != strict.Map {
		return n.Errorf("is %s: %s", n, right)
	}
	if err := n.Decode(&written); err != nil {
		return err
	}
	*a = arrival{Rate: written.Poisson, File: written.File, Backlog: written.Backlog}
	backlog, poisson := n.Field("backlog") != nil, n.Field("poisson") != nil
	switch {
	case len(n.Fields) == 1:
		a.Pattern = model.ArrivalPattern(n.Fields[0].Key)
	case len(n.Fields) == 2 && backlog && poisson:
		a.Pattern = model.Backlog
	default:
		return n.Errorf("has %d patterns: %s", len(n.Fields), right)
	}
	return nil
}
