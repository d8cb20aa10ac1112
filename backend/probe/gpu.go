package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"headroom/model"
)

// GPU is an NVIDIA device as its driver describes it.
type GPU struct {
	UUID string
	Name string
	// Total is the memory that the driver shows: less than what the card is sold with. Unknown for a device that
	// shares the host's.
	Total model.Bytes
	// Usable is Total without what the driver keeps for itself; NoLimit if the total is unknown.
	Usable model.Bytes
	Used   model.Bytes // by all processes, or Unknown
}

// ErrNoGPU says that no GPU can be seen, and is wrapped with the reason.
var ErrNoGPU = errors.New("no NVIDIA GPU can be seen")

// smi is the program that asks the driver, and smiPatience how long it may take: a driver that is stuck never answers.
const (
	smi         = "nvidia-smi"
	smiPatience = 20 * time.Second
)

// GPUs asks nvidia-smi for the devices that a CUDA program sees, numbered as there when they are all of one type:
// CUDA_VISIBLE_DEVICES chooses among them. The error wraps ErrNoGPU if there are none.
func GPUs(ctx context.Context) ([]GPU, error) {
	ctx, cancel := context.WithTimeout(ctx, smiPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, smi, "--query-gpu=uuid,name,memory.total,memory.used,memory.free", "--format=csv,noheader,nounits")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("probe: %w: %s is not in PATH", ErrNoGPU, smi)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("probe: %s gave no answer: %w", smi, context.Cause(ctx))
	case err != nil:
		said, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return nil, fmt.Errorf("probe: %w: %s failed (%w): %s", ErrNoGPU, smi, err, said)
	}
	gpus, err := parseGPUs(string(out))
	if err != nil {
		return nil, fmt.Errorf("probe: %s: %w", smi, err)
	}
	if len(gpus) == 0 {
		return nil, fmt.Errorf("probe: %w: %s lists none", ErrNoGPU, smi)
	}
	list, set := os.LookupEnv(visibleDevices)
	if !set {
		return gpus, nil
	}
	chosen, err := visible(gpus, list)
	if err != nil {
		return nil, fmt.Errorf("probe: %w", err)
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("probe: %w: %s is %q, which is none of the %d that %s lists", ErrNoGPU, visibleDevices, list, len(gpus), smi)
	}
	return chosen, nil
}

// parseGPUs reads lines such as "GPU-5d1c..., NVIDIA L4, 23034, 1, 22562", the sizes in MiB.
func parseGPUs(text string) ([]GPU, error) {
	var gpus []GPU
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line == "No devices were found" {
			continue
		}
		fields := strings.Split(line, ", ")
		if len(fields) != 5 {
			return nil, fmt.Errorf("%q is not uuid, name, memory.total, memory.used, memory.free", line)
		}
		var sizes [3]model.Bytes
		for i := range sizes {
			var err error
			if sizes[i], err = parseMiB(fields[2+i]); err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
		}
		g := GPU{UUID: fields[0], Name: fields[1], Total: sizes[0], Used: sizes[1]}
		switch free := sizes[2]; {
		case g.Total == Unknown:
			g.Usable = NoLimit
		case g.Used == Unknown || free == Unknown:
			g.Usable = g.Total
		default:
			g.Usable = min(g.Total, g.Used+free) // since driver 510 neither counts what the driver keeps
		}
		gpus = append(gpus, g)
	}
	return gpus, nil
}

// parseMiB reads a number of MiB; "[N/A]" and others in brackets, with which a driver declines, are Unknown.
func parseMiB(text string) (model.Bytes, error) {
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		return Unknown, nil
	}
	number, err := strconv.ParseUint(text, 10, 42)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of MiB", text)
	}
	return model.Bytes(number) * model.MiB, nil
}

// visibleDevices is the variable that chooses the devices of a CUDA program.
const visibleDevices = "CUDA_VISIBLE_DEVICES"

// visible returns the devices that a list of numbers and of beginnings of UUIDs chooses, in its order. As in CUDA the
// list ends at the first that is neither.
func visible(gpus []GPU, list string) ([]GPU, error) {
	var chosen []GPU
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		if strings.HasPrefix(entry, "MIG-") {
			return nil, fmt.Errorf("%s has %s: parts of a GPU cannot be measured", visibleDevices, entry)
		}
		found := -1
		if n, err := strconv.Atoi(entry); err == nil && n >= 0 && n < len(gpus) {
			found = n
		}
		for i := range gpus {
			if entry != "" && strings.HasPrefix(gpus[i].UUID, entry) && strings.HasPrefix(entry, "GPU-") {
				found = i
			}
		}
		if found < 0 {
			break
		}
		chosen = append(chosen, gpus[found])
	}
	return chosen, nil
}
