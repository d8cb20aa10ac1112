package probe

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"headroom/model"
)

// Process is the resident memory of a process.
type Process struct {
	Resident model.Bytes // Anon, File and Shmem together
	Anon     model.Bytes // heap, stacks, private mappings
	File     model.Bytes // pages of mapped files, among them the program itself; they are reclaimable
	Shmem    model.Bytes // shared memory: /dev/shm, memfd, CUDA's pinned buffers

	// HighWater is the highest Resident since the process called exec, or since ResetHighWater (VmHWM).
	HighWater model.Bytes
}

// Process reads the resident memory of a process from its status file, whose counters the kernel keeps: the cost does
// not grow with the process. How exact they are tells Machine.CounterError. The error is ErrEnded for a process without
// memory.
func (r Root) Process(pid int) (Process, error) {
	file := r.path("proc", strconv.Itoa(pid), "status")
	text, err := readText(file)
	if err != nil {
		return Process{}, r.fault(pid, err)
	}
	p, err := parseStatus(text)
	if err != nil {
		return Process{}, fmt.Errorf("probe: %s: %w", file, err)
	}
	if p.HighWater == 0 {
		return Process{}, r.fault(pid, ErrEnded)
	}
	return p, nil
}

// parseStatus reads the amounts of a status file. They stay 0 when it has none, as that of a zombie.
func parseStatus(text string) (Process, error) {
	var p Process
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		var amount *model.Bytes
		switch key {
		case "VmHWM":
			amount = &p.HighWater
		case "VmRSS":
			amount = &p.Resident
		case "RssAnon":
			amount = &p.Anon
		case "RssFile":
			amount = &p.File
		case "RssShmem":
			amount = &p.Shmem
		default:
			continue
		}
		var err error
		if *amount, err = parseKiB(value); err != nil {
			return Process{}, fmt.Errorf("%s is %w", key, err)
		}
	}
	return p, nil
}

// ResetHighWater lowers the HighWater of the calling process to what is resident now, so that the next reading is the
// peak of what follows (the value 5 of clear_refs, see proc_pid_clear_refs(5)). Some containers forbid it: the error
// then wraps fs.ErrPermission, and a peak can only be told since the process began.
func (r Root) ResetHighWater() error {
	file, err := os.OpenFile(r.path("proc/self/clear_refs"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("probe: the high-water mark cannot be reset: %w", err)
	}
	_, err = file.WriteString("5")
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("probe: the high-water mark cannot be reset: %w", err)
	}
	return nil
}
