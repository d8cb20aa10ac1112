package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"headroom/model/check"
	"headroom/model/profile"
	"headroom/model/trace"
)

// The roles of runs in a plan.
const (
	calibrates = "calibrate" // the profile is made from it
	predicted  = "predict"   // the profile predicts it
)

// recording is a run of the plan whose trace is there.
type recording struct {
	name, role string
	trace      *trace.Trace
}

// folder is the recordings in the order of the plan, and the profile that was written when they were made.
type folder struct {
	recordings []recording
	missing    []string // runs of the plan without a trace
	profile    *profile.Profile
}

// readFolder reads the plan, the profile and the traces. Each line of the plan that is no comment begins with the role,
// the name and the budget in seconds of a run.
func readFolder(dir string) (*folder, error) {
	plan, err := os.ReadFile(filepath.Join(dir, "plan.txt"))
	if err != nil {
		return nil, err
	}
	f := &folder{}
	for number, line := range strings.Split(string(plan), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) < 3 || fields[0] != calibrates && fields[0] != predicted {
			return nil, fmt.Errorf("%s/plan.txt:%d: should be %s or %s, a name, seconds, and arguments of record",
				dir, number+1, calibrates, predicted)
		}
		r, err := readRecording(dir, fields[0], fields[1])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.missing = append(f.missing, fields[1])
		case err != nil:
			return nil, err
		default:
			f.recordings = append(f.recordings, r)
		}
	}
	if len(f.recordings) == 0 {
		return nil, fmt.Errorf("%s: no traces are there", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "profile.yaml"))
	if err != nil {
		return nil, err
	}
	f.profile, err = profile.Read(text, "profile.yaml")
	return f, err
}

// readRecording reads the trace of a run. One that is not what a pipeline does says nothing.
func readRecording(dir, role, name string) (recording, error) {
	file := name + ".jsonl.zst"
	data, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return recording{}, err
	}
	t, err := trace.Read(bytes.NewReader(data))
	if err != nil {
		return recording{}, fmt.Errorf("%s: %w", file, err)
	}
	if findings := check.Run(check.Of(t)); len(findings) > 0 {
		return recording{}, fmt.Errorf("%s is not what a pipeline does: %s", file, findings[0])
	}
	return recording{name, role, t}, nil
}
