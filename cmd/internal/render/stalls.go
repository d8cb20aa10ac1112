package render

import (
	"fmt"
	"strings"

	"headroom/model"
	"headroom/model/reach"
)

// Stalls is what a search over states found, as JSON.
type Stalls struct {
	Schema   int      `json:"schema"`
	Verdict  string   `json:"verdict"` // none, stall, broken or unfinished
	Reason   string   `json:"reason"`
	Jobs     int      `json:"jobs"`
	Kinds    []Shape  `json:"kinds"`
	Failures bool     `json:"failures"`
	Cancels  bool     `json:"cancels"`
	States   int      `json:"states"`
	Steps    int      `json:"steps"`
	Depth    int      `json:"depth"`
	Holding  int      `json:"partitions_holding_vectors"`
	Bounds   Bounds   `json:"bounds"`
	History  []Event  `json:"history"`
	Findings []string `json:"findings"`
	Warnings []string `json:"warnings"`
}

// Shape is a kind of job as it was searched.
type Shape struct {
	Name       string `json:"name"`
	Partitions int    `json:"partitions"`
}

// Event is a step of a history in words: what happened, and what followed.
type Event struct {
	Input   string   `json:"input"`
	Effects []string `json:"effects"`
}

// NewStalls returns the JSON of a search.
func NewStalls(s *reach.Space, a *reach.Answer, warnings []string) Stalls {
	out := Stalls{
		Schema: Schema, Verdict: string(a.Verdict), Reason: a.Reason, Jobs: s.Jobs, Failures: s.Failures, Cancels: s.Cancels,
		States: a.States, Steps: a.Steps, Depth: a.Depth, Holding: a.Holding,
		Bounds: Bounds{Formula: new(a.Bound.Formula)}, History: []Event{}, Findings: []string{}, Warnings: append([]string{}, warnings...),
	}
	if a.Bound.Partitions > 0 {
		out.Bounds.Partitions = new(a.Bound.Partitions)
	}
	for _, k := range s.Kinds {
		out.Kinds = append(out.Kinds, Shape{k.Name, k.Partitions})
	}
	begun := map[model.Task]model.Effect{}
	for i := range a.History {
		r := &a.History[i]
		e := Event{Input: happened(s, &r.Input, begun)}
		for k := range r.Effects {
			if r.Effects[k].Op == model.Start {
				begun[r.Effects[k].Task] = r.Effects[k]
			}
			e.Effects = append(e.Effects, followed(s, &r.Effects[k]))
		}
		out.History = append(out.History, e)
	}
	for _, f := range a.Findings {
		out.Findings = append(out.Findings, f.String())
	}
	return out
}

// happened says in words what an input is.
func happened(s *reach.Space, in *model.Input, begun map[model.Task]model.Effect) string {
	switch in.Op {
	case model.Arrive:
		return fmt.Sprintf("%d of kind %s arrive", in.Count, s.Kinds[in.Kind].Name)
	case model.Done:
		e := begun[in.Task]
		return stageOf(s, &e) + " ends"
	case model.Failed:
		e := begun[in.Task]
		return stageOf(s, &e) + " fails"
	case model.Cancel:
		return fmt.Sprintf("job %d is cancelled", in.Job)
	case model.Wake:
		return fmt.Sprintf("timer %d rings", in.Task.Slot)
	}
	return "the pipeline is drained"
}

// followed says in words what an effect is.
func followed(s *reach.Space, e *model.Effect) string {
	switch e.Op {
	case model.Start:
		return stageOf(s, e) + " starts"
	case model.JobStart, model.JobDone, model.JobFailed, model.Join, model.Reserve:
		return fmt.Sprintf("%s %d", e.Op, e.Job)
	case model.Loaded:
		return fmt.Sprintf("%s may be used", s.Config.Resident[e.Task.Slot].Name)
	case model.Evict:
		return fmt.Sprintf("%s is evicted", s.Config.Resident[e.Task.Slot].Name)
	case model.WakeAt:
		return fmt.Sprintf("timer %d is set", e.Task.Slot)
	case model.Stall:
		return "stall"
	}
	if e.Task.Block == model.ParseBuffer {
		return fmt.Sprintf("%s %s of %d", e.Op, e.Task.Block, e.Job)
	}
	if e.Op == model.Freed || e.Op == model.Pooled {
		return fmt.Sprintf("%s %s of %d.%d", e.Op, e.Task.Block, e.Job, e.Partition)
	}
	return fmt.Sprintf("%s %d.%d", e.Op, e.Job, e.Partition)
}

// stageOf names a stage with its job and partition, as job.partition, or the data that it loads.
func stageOf(s *reach.Space, e *model.Effect) string {
	switch e.Task.Stage {
	case model.Load:
		return "load of " + s.Config.Resident[e.Task.Slot].Name
	case model.Parse:
		return fmt.Sprintf("parse of %d", e.Job)
	case model.Dealloc:
		return fmt.Sprintf("dealloc of the %s of %d.%d", e.Task.Block, e.Job, e.Partition)
	}
	return fmt.Sprintf("%s of %d.%d", e.Task.Stage, e.Job, e.Partition)
}

// Stalls prints a search over states.
func (t Text) Stalls(s *Stalls) {
	fmt.Fprintf(t.W, "%s: %s\n\n", s.Verdict, s.Reason)
	if len(s.History) > 0 {
		fmt.Fprintln(t.W, "shortest history (partitions as job.partition):")
		for i, e := range s.History {
			fmt.Fprintf(t.W, "%3d  %s: %s\n", i+1, e.Input, strings.Join(e.Effects, ", "))
		}
		fmt.Fprintln(t.W)
	}
	var kinds []string
	for _, k := range s.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s (partitions %d)", k.Name, k.Partitions))
	}
	events := "stages end and jobs arrive in any order"
	if s.Failures {
		events += ", stages fail"
	}
	if s.Cancels {
		events += ", jobs are cancelled, the pipeline is drained"
	}
	t.facts([][2]string{
		{"searched", fmt.Sprintf("up to %s of %s: %s", model.Counted(s.Jobs, "job"), strings.Join(kinds, " or "), events)},
		{"states", fmt.Sprintf("%d explored, %s from them", s.States, model.Counted(s.Steps, "step"))},
		{"holding vectors", model.Counted(s.Holding, "partition") + " at most"},
		{"structural bound", *s.Bounds.Formula},
	})
	for _, f := range s.Findings {
		fmt.Fprintf(t.W, "%s\n", f)
	}
	t.Warnings(s.Warnings)
}
