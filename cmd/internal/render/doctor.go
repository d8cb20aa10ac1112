package render

import (
	"fmt"
	"strings"

	"headroom/backend/probe"
	"headroom/model"
)

// Host is what a host grants, as JSON.
type Host struct {
	Schema        int           `json:"schema"`
	Machine       HostMachine   `json:"machine"`
	Binding       *HostLimit    `json:"binding"` // of host memory: the limit of every verdict; null: none could be read
	Limits        []HostLimit   `json:"limits"`
	Mappings      *Mappings     `json:"mappings"` // null: unreadable
	Overcommit    int           `json:"overcommit"`
	SwapBytes     int64         `json:"swap_bytes"`
	SwapUsedBytes int64         `json:"swap_used_bytes"`
	GPUs          []HostGPU     `json:"gpus"`
	Confinement   *string       `json:"confinement"` // how record --confine would hold a prover; null: not at all
	Findings      []HostFinding `json:"findings"`
	Plan          *HostPlan     `json:"plan"` // null: no scenario was named
}

// HostMachine describes a machine, as JSON.
type HostMachine struct {
	CPU          string `json:"cpu"`
	Cores        int    `json:"cores"`
	CoresAllowed int    `json:"cores_allowed"`
	Kernel       string `json:"kernel"`
	RAMBytes     int64  `json:"ram_bytes"`
}

// HostLimit is one limit, as JSON.
type HostLimit struct {
	Bounds string `json:"bounds"` // host_memory, shared_memory, locked_memory or device_memory
	Device *int   `json:"device"` // of device memory alone
	Name   string `json:"name"`
	File   string `json:"file"`
	Bytes  *int64 `json:"limit_bytes"` // null: not limited
	Used   *int64 `json:"used_bytes"`  // null: not known
	Left   *int64 `json:"left_bytes"`  // null: not known, or not limited
}

// Mappings is how many mappings a process may have and has, as JSON.
type Mappings struct {
	Limit int64  `json:"limit"`
	Used  int64  `json:"used"`
	File  string `json:"file"`
}

// HostGPU is one GPU, as JSON.
type HostGPU struct {
	Name   string `json:"name"`
	Total  *int64 `json:"total_bytes"` // null: not known, as the others
	Usable *int64 `json:"usable_bytes"`
	Used   *int64 `json:"used_bytes"`
}

// HostFinding is something wrong or easily overlooked, as JSON.
type HostFinding struct {
	About string `json:"about"`
	Text  string `json:"text"`
}

// HostPlan is whether the host grants what a scenario counts on, as JSON.
type HostPlan struct {
	Scenario   string      `json:"scenario"`
	Granted    bool        `json:"granted"`
	Shortfalls []Shortfall `json:"shortfalls"`
}

// Shortfall is something of which the host grants too little, as JSON.
type Shortfall struct {
	Key    string `json:"key"`
	Unit   string `json:"unit"` // bytes or devices
	Needs  int64  `json:"needs"`
	Grants int64  `json:"grants"`
	Name   string `json:"limit_name"`
	File   string `json:"limit_file"`
	Text   string `json:"text"`
}

// NewHost returns an examination as JSON.
func NewHost(e *probe.Examination) Host {
	m := e.Machine
	d := Host{
		Schema:  Schema,
		Machine: HostMachine{CPU: m.CPU, Cores: m.Cores, CoresAllowed: m.CoresAllowed, Kernel: m.Kernel, RAMBytes: int64(m.RAM)},
		Limits:  []HostLimit{}, Overcommit: e.Overcommit, SwapBytes: int64(e.Swap), SwapUsedBytes: int64(e.SwapUsed),
		GPUs: []HostGPU{}, Findings: []HostFinding{},
	}
	if l, limited := e.Limits.Binding(probe.HostMemory); limited {
		d.Binding = new(newHostLimit(&l))
	}
	for i := range e.Limits {
		d.Limits = append(d.Limits, newHostLimit(&e.Limits[i]))
	}
	if e.Maps != nil {
		d.Mappings = new(Mappings(*e.Maps))
	}
	for _, g := range e.GPUs {
		d.GPUs = append(d.GPUs, HostGPU{Name: g.Name, Total: known(g.Total), Usable: known(g.Usable), Used: known(g.Used)})
	}
	for _, f := range e.Findings {
		d.Findings = append(d.Findings, HostFinding(f))
	}
	return d
}

func newHostLimit(l *probe.Limit) HostLimit {
	d := HostLimit{Bounds: string(l.Of), Name: l.Name, File: l.File, Bytes: known(l.Bytes), Used: known(l.Used)}
	if l.Of == probe.DeviceMemory {
		d.Device = new(l.Device)
	}
	if left, is := l.Left(); is {
		d.Left = new(int64(left))
	}
	return d
}

// known returns the amount, or nil for what is not known or not limited.
func known(b model.Bytes) *int64 {
	if b == probe.NoLimit || b == probe.Unknown {
		return nil
	}
	return new(int64(b))
}

// NewHostPlan returns what a scenario counts on and a host does not grant, as JSON.
func NewHostPlan(scenario string, list []probe.Shortfall) *HostPlan {
	p := &HostPlan{Scenario: scenario, Granted: len(list) == 0, Shortfalls: []Shortfall{}}
	for _, s := range list {
		unit := "bytes"
		if s.Devices() {
			unit = "devices"
		}
		p.Shortfalls = append(p.Shortfalls, Shortfall{
			Key: s.Key, Unit: unit, Needs: s.Needs, Grants: s.Grants, Name: s.Limit.Name, File: s.Limit.File, Text: s.String(),
		})
	}
	return p
}

// Host prints what a host grants.
func (t Text) Host(d *Host, machine probe.Machine) {
	if p := d.Plan; p != nil {
		t.hostPlan(p)
	}
	if b := d.Binding; b != nil {
		fmt.Fprintf(t.W, "host memory is bound by %s: %s (%s)\n\n", b.Name, bytesShort(*b.Bytes), b.File)
	}
	t.hostLimits(d)
	t.facts([][2]string{
		{"machine", machine.String()},
		{"swap", fmt.Sprintf("%s, %s used", bytesShort(d.SwapBytes), bytesShort(d.SwapUsedBytes))},
		{"overcommit", overcommit(d.Overcommit)},
		{"confinement", confinement(d.Confinement)},
	})
	if len(d.Findings) == 0 {
		return
	}
	fmt.Fprintf(t.W, "\nfindings:\n")
	for _, f := range d.Findings {
		fmt.Fprintf(t.W, "- %s: %s\n", f.About, f.Text)
	}
}

// hostPlan prints whether a scenario gets what it counts on.
func (t Text) hostPlan(p *HostPlan) {
	if p.Granted {
		fmt.Fprintf(t.W, "%s: this host grants what it counts on\n\n", p.Scenario)
		return
	}
	fmt.Fprintf(t.W, "%s: refused, this host grants less than it counts on:\n", p.Scenario)
	for _, s := range p.Shortfalls {
		fmt.Fprintf(t.W, "- %s\n", s.Text)
	}
	fmt.Fprintln(t.W)
}

// hostLimits prints a table of all limits.
func (t Text) hostLimits(d *Host) {
	table := newTable([]string{"bounds", "set by", "file"}, "bounds", "limit", "used", "left", "set by", "file")
	amount := func(b *int64) string {
		if b == nil {
			return none
		}
		return bytesShort(*b)
	}
	for _, l := range d.Limits {
		table.AppendRow([]any{strings.ReplaceAll(l.Bounds, "_", " "), amount(l.Bytes), amount(l.Used), amount(l.Left), l.Name, l.File})
	}
	if m := d.Mappings; m != nil {
		table.AppendRow([]any{"mappings", m.Limit, m.Used, max(0, m.Limit-m.Used), "vm.max_map_count", m.File})
	}
	fmt.Fprintf(t.W, "%s\n\n", table.Render())
}

func overcommit(mode int) string {
	return fmt.Sprintf("%d: %s", mode, [...]string{"what is obviously too much is refused", "nothing is refused", "what exceeds CommitLimit is refused"}[mode])
}

func confinement(mechanism *string) string {
	if mechanism == nil {
		return "none works here"
	}
	return "by " + *mechanism
}
