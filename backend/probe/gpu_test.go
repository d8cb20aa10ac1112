package probe

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

// smiText is what nvidia-smi prints for two cards and one that declines to tell.
const smiText = `GPU-aa11, NVIDIA GeForce RTX 5070 Ti, 16303, 12, 15889
GPU-ab22, NVIDIA L4, 23034, 1, 22562
GPU-cc33, NVIDIA GB10, [N/A], [N/A], [N/A]
`

func TestGPUsAreReadFromTheDriversTable(t *testing.T) {
	got, err := parseGPUs(smiText)
	if err != nil {
		t.Fatal(err)
	}
	const mib = model.MiB
	want := []GPU{
		{"GPU-aa11", "NVIDIA GeForce RTX 5070 Ti", 16303 * mib, 15901 * mib, 12 * mib},
		{"GPU-ab22", "NVIDIA L4", 23034 * mib, 22563 * mib, 1 * mib},
		{"GPU-cc33", "NVIDIA GB10", Unknown, NoLimit, Unknown},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GPUs (-want +got):\n%s", diff)
	}
	for _, text := range []string{"16303, 12, 15889", "GPU-1, L4, 5 GiB, 1, 1", "GPU-1, L4, -5, 1, 1", "a, b, c, d, e, f"} {
		if got, err := parseGPUs(text); err == nil {
			t.Errorf("%q gives %+v", text, got)
		}
	}
}

func TestTheVisibleDevicesAreCUDAs(t *testing.T) {
	gpus, err := parseGPUs(smiText)
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		"0,1,2": "aa11 ab22 cc33", "2, 0": "cc33 aa11", "1,7,0": "ab22", "": "", "-1": "", "NoDevFiles": "",
		"GPU-cc": "cc33", "GPU-aa11,1": "aa11 ab22",
	} {
		got, err := visible(gpus, list)
		if err != nil {
			t.Errorf("%q: %v", list, err)
		}
		var names []string
		for _, g := range got {
			names = append(names, strings.TrimPrefix(g.UUID, "GPU-"))
		}
		if text := strings.Join(names, " "); text != want {
			t.Errorf("%q chooses %q, want %q", list, text, want)
		}
	}
	if _, err := visible(gpus, "MIG-1"); err == nil || !strings.Contains(err.Error(), "MIG-1") {
		t.Errorf("part of a GPU: %v", err)
	}
}

func TestWithoutADriverThereIsNoGPU(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := GPUs(context.Background())
	if !errors.Is(err, ErrNoGPU) || !strings.Contains(err.Error(), "not in PATH") {
		t.Errorf("error is %v, want ErrNoGPU because it is not in PATH", err)
	}
}

func FuzzGPUs(f *testing.F) {
	f.Add(smiText, "0")
	f.Add("No devices were found\n", "")
	f.Add("GPU-1, L4, 18446744073709551615, 1, 1", "GPU-1")
	f.Add(", , [], [N/A], 0", ",-1")
	f.Fuzz(func(t *testing.T, text, list string) {
		gpus, err := parseGPUs(text)
		if err != nil {
			return
		}
		for _, g := range gpus {
			if g.Usable < 0 || g.Used < Unknown || g.Total < Unknown {
				t.Errorf("%q gives %+v", text, g)
			}
		}
		if chosen, err := visible(gpus, list); err != nil && chosen != nil {
			t.Errorf("%q chooses %+v, %v", list, chosen, err)
		}
	})
}
