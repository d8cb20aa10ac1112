package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

// A script is what happens and, after each arrow, what the core must answer. Stages go by their partition:
// "done synth 0.1" is the end of the synthesis of job 0's partition 1, and "dealloc-vectors" frees a block.
type script struct {
	name   string
	config func(*model.Config)
	kind   model.Kind
	steps  string
}

func simple(partitions int, stages ...model.Stage) model.Kind {
	return model.Kind{Partitions: partitions, Stages: model.StageSet(0).With(append(stages, model.Synth, model.Kernel)...)}
}

var scripts = []script{
	{"a job goes all the way", func(c *model.Config) {},
		simple(1, model.Parse, model.Prep, model.Tail, model.Finish, model.Dealloc), `
		arrive 1 -> job_start 0, start parse 0
		done parse 0 -> start synth 0.0
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start prep 0.0, start kernel 0.0
		done kernel 0.0 ->
		done prep 0.0 -> start tail 0.0
		done tail 0.0 -> start dealloc-vectors 0.0, start finish 0.0
		done finish 0.0 -> job_done 0, free parse 0
		done dealloc-vectors 0.0 -> free vectors 0.0, start dealloc-assignment 0.0
		done dealloc-assignment 0.0 -> free assignment 0.0 and call`},
	{"a permit of after_synthesis lets partitions pile up in send", func(c *model.Config) {
		c.Admission = model.Admission{Permits: 1, Release: model.AfterSynthesis}
		c.Channel.Capacity = 1
		c.GPU.WorkersPerDevice = 1
	}, simple(4), `
		arrive 1 -> job_start 0, start synth 0.0
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0, start synth 0.1
		done synth 0.1 -> accept 0.1, start synth 0.2
		done synth 0.2 -> start synth 0.3
		done synth 0.3 ->
		done kernel 0.0 -> free vectors 0.0, free assignment 0.0 and call, take 0.1 by 0, start kernel 0.1, accept 0.2`},
	{"a permit of after_send does not", func(c *model.Config) {
		c.Admission = model.Admission{Permits: 1, Release: model.AfterSend}
		c.Channel.Capacity = 1
		c.GPU.WorkersPerDevice = 1
	}, simple(4), `
		arrive 1 -> job_start 0, start synth 0.0
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0, start synth 0.1
		done synth 0.1 -> accept 0.1, start synth 0.2
		done synth 0.2 ->
		done kernel 0.0 -> free vectors 0.0, free assignment 0.0 and call, take 0.1 by 0, start kernel 0.1, accept 0.2, start synth 0.3`},
	{"a permit of after_finish returns with the finish", func(c *model.Config) {
		c.Admission = model.Admission{Permits: 1, Release: model.AfterFinish}
	}, simple(2, model.Finish), `
		arrive 1 -> job_start 0, start synth 0.0
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0
		done kernel 0.0 -> free vectors 0.0, start finish 0.0
		done finish 0.0 -> free assignment 0.0 and call, start synth 0.1`},
	{"capacity 0 hands over to a worker", func(c *model.Config) {
		c.Admission = model.Admission{Permits: 2, Release: model.AfterSend}
		c.Channel.Capacity = 0
		c.GPU.WorkersPerDevice = 1
	}, simple(3), `
		arrive 1 -> job_start 0, start synth 0.0, start synth 0.1
		done synth 0.1 -> accept 0.1, take 0.1 by 0, start kernel 0.1, start synth 0.2
		done synth 0.2 ->
		done synth 0.0 ->
		done kernel 0.1 -> free vectors 0.1, free assignment 0.1 and call, accept 0.2, take 0.2 by 0, start kernel 0.2`},
	{"lock call covers prep and, without a split, the finish", func(c *model.Config) {
		c.GPU.Lock, c.GPU.Prep, c.GPU.Split = model.LockCall, "", false
	}, simple(2, model.Prep, model.Finish), `
		arrive 1 -> job_start 0, start synth 0.0, start synth 0.1
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start prep 0.0
		done synth 0.1 -> accept 0.1, take 0.1 by 1
		done prep 0.0 -> start kernel 0.0
		done kernel 0.0 -> free vectors 0.0, start finish 0.0
		done finish 0.0 -> free assignment 0.0 and call, start prep 0.1`},
	{"prep before the lock ends before the worker asks for it", func(c *model.Config) {
		c.GPU.Prep = model.PrepBeforeLock
	}, simple(2, model.Prep), `
		arrive 1 -> job_start 0, start synth 0.0, start synth 0.1
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start prep 0.0
		done synth 0.1 -> accept 0.1, take 0.1 by 1, start prep 0.1
		done prep 0.1 -> start kernel 0.1
		done prep 0.0 ->
		done kernel 0.1 -> free vectors 0.1, free assignment 0.1 and call, start kernel 0.0`},
	{"a worker leaves although no finalizer is free", func(c *model.Config) {
		c.Finalizers, c.GPU.WorkersPerDevice, c.FreeVectors = 1, 1, model.AfterFinish
	}, simple(3, model.Finish), `
		arrive 1 -> job_start 0, start synth 0.0, start synth 0.1, start synth 0.2
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0
		done synth 0.1 -> accept 0.1
		done kernel 0.0 -> start finish 0.0, take 0.1 by 0, start kernel 0.1
		done kernel 0.1 ->
		done finish 0.0 -> free vectors 0.0, free assignment 0.0 and call, start finish 0.1`},
	{"worker w belongs to device w mod devices and the longest idle takes", func(c *model.Config) {
		c.GPU.Devices = 2
	}, simple(4), `
		arrive 1 -> job_start 0, start synth 0.0, start synth 0.1, start synth 0.2, start synth 0.3
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0
		done kernel 0.0 -> free vectors 0.0, free assignment 0.0 and call
		done synth 0.1 -> accept 0.1, take 0.1 by 2, start kernel 0.1
		done synth 0.2 -> accept 0.2, take 0.2 by 1, start kernel 0.2
		done synth 0.3 -> accept 0.3, take 0.3 by 3`},
	{"a failed job leaves: what waits at once, what runs at its end", func(c *model.Config) {
		c.Admission = model.Admission{Permits: 4, Release: model.AfterKernel}
		c.Channel.Capacity = 1
		c.GPU.WorkersPerDevice = 1
	}, simple(5), `
		arrive 2 -> job_start 0, start synth 0.0, start synth 0.1, start synth 0.2, start synth 0.3
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0
		done synth 0.1 -> accept 0.1
		done synth 0.2 ->
		failed synth 0.3 -> leave 0.1, free vectors 0.1, free assignment 0.1, leave 0.2, free vectors 0.2, free assignment 0.2, leave 0.3
		done kernel 0.0 -> leave 0.0, free vectors 0.0, free assignment 0.0 and call, job_failed 0, free parse 0, job_start 1, start synth 1.0, start synth 1.1, start synth 1.2, start synth 1.3`},
	{"a worker takes from the channel before a blocked partition of an older job enters it", func(c *model.Config) {
		c.Admission = model.Admission{Permits: 8, Release: model.AfterSend}
		c.JobsInFlight, c.Channel.Capacity, c.Order = 4, 2, model.OldestJobFirst
	}, simple(2), `
		arrive 4 -> job_start 0, job_start 1, job_start 2, job_start 3, start synth 0.0, start synth 0.1, start synth 1.0, start synth 1.1, start synth 2.0, start synth 2.1, start synth 3.0, start synth 3.1
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0
		done synth 1.0 -> accept 1.0, take 1.0 by 1
		done synth 1.1 -> accept 1.1
		done synth 3.0 -> accept 3.0
		done synth 2.0 ->
		cancel 1 -> leave 1.0, free vectors 1.0, free assignment 1.0 and call, leave 1.1, free vectors 1.1, free assignment 1.1, job_failed 1, free parse 1, take 3.0 by 1, accept 2.0`},
	{"a drain ends what has begun", func(c *model.Config) {}, simple(1), `
		arrive 3 -> job_start 0, start synth 0.0
		drain -> job_failed 1, job_failed 2
		done synth 0.0 -> accept 0.0, take 0.0 by 0, start kernel 0.0
		done kernel 0.0 -> free vectors 0.0, free assignment 0.0 and call, job_done 0, free parse 0`},
	{"a cancelled job that waits never begins", func(c *model.Config) {}, simple(1), `
		arrive 3 -> job_start 0, start synth 0.0
		cancel 1 -> job_failed 1
		cancel 0 ->
		done synth 0.0 -> leave 0.0, free vectors 0.0, free assignment 0.0, job_failed 0, free parse 0, job_start 2, start synth 2.0`},
}

func TestCoreFollowsItsScripts(t *testing.T) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			config := model.DefaultConfig(1)
			s.config(&config)
			if err := config.Validate(nil); err != nil {
				t.Fatal(err)
			}
			core, err := model.NewCore(config, []model.Kind{s.kind})
			if err != nil {
				t.Fatal(err)
			}
			var want, got []string
			running := map[string]model.Task{}
			for line := range strings.Lines(strings.TrimSpace(s.steps)) {
				line = strings.TrimSpace(line)
				want = append(want, line)
				what, _, _ := strings.Cut(line, " ->")
				effects, err := core.Step(inputOf(t, what, running), nil)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				got = append(got, strings.TrimSpace(what+" -> "+strings.Join(describe(effects, running), ", ")))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// inputOf reads the left side of a line.
func inputOf(t *testing.T, what string, running map[string]model.Task) model.Input {
	t.Helper()
	op, rest, _ := strings.Cut(what, " ")
	n := int32(0)
	if op == "arrive" || op == "cancel" {
		fmt.Sscan(rest, &n)
	}
	switch op {
	case "arrive":
		return model.Input{Op: model.Arrive, Count: n}
	case "cancel":
		return model.Input{Op: model.Cancel, Job: n}
	case "drain":
		return model.Input{Op: model.Drain}
	}
	task, ok := running[rest]
	if !ok {
		t.Fatalf("%s: that does not run", what)
	}
	delete(running, rest)
	if op == "failed" {
		return model.Input{Op: model.Failed, Task: task}
	}
	return model.Input{Op: model.Done, Task: task}
}

// describe writes effects as in the right side of a line, and notes what was started.
func describe(effects []model.Effect, running map[string]model.Task) []string {
	var words []string
	for _, e := range effects {
		who := fmt.Sprintf("%d.%d", e.Job, e.Partition)
		switch {
		case e.Op == model.Start:
			name := e.Task.Stage.String()
			if e.Task.Stage == model.Dealloc {
				name += "-" + e.Task.Block.String()
			}
			if e.Task.Stage == model.Parse {
				who = fmt.Sprint(e.Job)
			}
			running[name+" "+who] = e.Task
			words = append(words, "start "+name+" "+who)
		case e.Op == model.Take:
			words = append(words, fmt.Sprintf("take %s by %d", who, e.Task.Lane))
		case e.Op == model.Freed && e.Task.Block == model.ParseBuffer:
			words = append(words, fmt.Sprintf("free parse %d", e.Job))
		case e.Op == model.Freed && e.Call:
			words = append(words, fmt.Sprintf("free %s %s and call", e.Task.Block, who))
		case e.Op == model.Freed:
			words = append(words, fmt.Sprintf("free %s %s", e.Task.Block, who))
		case e.Op == model.JobStart || e.Op == model.JobDone || e.Op == model.JobFailed:
			words = append(words, fmt.Sprintf("%s %d", e.Op, e.Job))
		default:
			words = append(words, fmt.Sprintf("%s %s", e.Op, who))
		}
	}
	return words
}
