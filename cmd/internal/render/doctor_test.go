package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/backend/probe"
	"headroom/model"
)

// examined is a host on which amounts are unknown, unlimited, and used beyond their limit.
func examined() *probe.Examination {
	return &probe.Examination{
		Host: probe.Host{
			Machine: probe.Machine{CPU: "EPYC", Cores: 2, CoresAllowed: 1, Kernel: "6.18", RAM: 4 * model.GiB},
			GPUs:    []probe.GPU{{Name: "GB10", Total: probe.Unknown, Usable: probe.NoLimit, Used: probe.Unknown}},
			Limits: probe.Limits{
				{Of: probe.HostMemory, Bytes: 4 * model.GiB, Used: probe.Unknown, Name: "RAM", File: "/proc/meminfo"},
				{Of: probe.HostMemory, Bytes: 2 * model.GiB, Used: 3 * model.GiB, Name: "cgroup /a", File: "/a/memory.max"},
				{Of: probe.DeviceMemory, Bytes: probe.NoLimit, Used: probe.Unknown, Name: "GPU 0 (GB10)", File: "nvidia-smi"},
			},
		},
		Maps:       &probe.Maps{Limit: 10, Used: 12, File: "/max_map_count"},
		Overcommit: 2,
		Swap:       model.GiB,
		Findings:   []probe.Finding{{About: "swap", Text: "there is some"}},
	}
}

func TestAHostIsPrintedWithWhatIsNotKnown(t *testing.T) {
	e := examined()
	host := NewHost(e)
	host.Plan = NewHostPlan("a.yaml", e.Shortfalls(&model.Machine{RAM: 3 * model.GiB, GPUs: make([]model.GPUSpec, 2)}, true))
	var text bytes.Buffer
	Text{W: &text}.Host(&host, e.Machine)
	want := `a.yaml: refused, this host grants less than it counts on:
- machine.ram minus machine.reserve is 3.0 GiB: this host grants 2.0 GiB by cgroup /a (/a/memory.max), which is short by 1.0 GiB
- machine.gpus lists 2: this host grants 1 (nvidia-smi)

host memory is bound by cgroup /a: 2.0 GiB (/a/memory.max)

bounds           limit     used  left  set by            file
host memory    4.0 GiB        -     -  RAM               /proc/meminfo
host memory    2.0 GiB  3.0 GiB   0 B  cgroup /a         /a/memory.max
device memory        -        -     -  GPU 0 (GB10)      nvidia-smi
mappings            10       12     0  vm.max_map_count  /max_map_count

machine      EPYC, 1 of 2 cores, 4.0 GiB RAM, Linux 6.18
swap         1.0 GiB, 0 B used
overcommit   2: what exceeds CommitLimit is refused
confinement  none works here

findings:
- swap: there is some
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheJSONOfAHostHasNullForWhatIsNotKnown(t *testing.T) {
	var text bytes.Buffer
	if err := JSON(&text, NewHost(examined())); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	limits := got["limits"].([]any)
	ram, gpu := limits[0].(map[string]any), limits[2].(map[string]any)
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"binding", got["binding"].(map[string]any)["name"], "cgroup /a"},
		{"what is left", got["binding"].(map[string]any)["left_bytes"], 0.0},
		{"unknown use", ram["used_bytes"], nil}, {"device of host memory", ram["device"], nil},
		{"no limit", gpu["limit_bytes"], nil}, {"device", gpu["device"], 0.0},
		{"unknown total", got["gpus"].([]any)[0].(map[string]any)["total_bytes"], nil},
		{"plan", got["plan"], nil}, {"confinement", got["confinement"], nil},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if strings.Contains(text.String(), "-1") {
		t.Errorf("a mark for what is not known is printed as an amount:\n%s", &text)
	}
	empty, err := json.Marshal(NewHost(&probe.Examination{}))
	for _, list := range []string{"limits", "gpus", "findings"} {
		if want := `"` + list + `":[]`; err != nil || !strings.Contains(string(empty), want) {
			t.Errorf("without any, %s is missing: %s, %v", want, empty, err)
		}
	}
}
