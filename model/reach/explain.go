package reach

import (
	"fmt"
	"strings"

	"headroom/model"
)

// places are what is said of partitions at a place.
var places = [model.NumPlaces]string{
	model.InSynth:   "in synthesis",
	model.InSend:    "blocked in send",
	model.InChannel: "in the channel",
	model.OnGPU:     "on workers",
	model.InFinish:  "in finish",
}

// stuck says of a stalled state who holds what and who waits for what.
func (n *node) stuck(s *Space) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if n.core.Waiting() {
		add("jobs wait to begin and %d of %s are in flight", n.core.InFlight(), s.Config.JobsInFlight)
	}
	if n.core.Admitting() {
		add("partitions wait to be admitted and %s of %s permits are free", n.core.FreePermits(), s.Config.Admission.Permits)
	}
	for k := range s.Kinds {
		for place, what := range places {
			if count := n.core.Count(k, model.Place(place)); count > 0 && what != "" {
				add("%d partitions of kind %s are %s", count, s.Kinds[k].Name, what)
			}
		}
	}
	add("%d of %d workers have a partition, %d of %s devices are locked", n.core.BusyWorkers(), s.Config.Workers(), n.core.LocksHeld(), s.Config.GPU.Devices)
	return "nothing runs and nothing can start: " + strings.Join(parts, "; ")
}

// left says what is not zero although the pipeline is empty, or nothing.
func (n *node) left(s *Space) string {
	if findings := n.judge.Clone().Finish(); len(findings) > 0 {
		return findings[0].Message
	}
	if free := n.core.FreePermits(); free != s.Config.Admission.Permits {
		return fmt.Sprintf("%s of %s permits are free", free, s.Config.Admission.Permits)
	}
	if locks, busy := n.core.LocksHeld(), n.core.BusyWorkers(); locks+busy > 0 {
		return fmt.Sprintf("%d devices are locked and %d workers are busy", locks, busy)
	}
	for i, count := range n.core.Census(nil) {
		if count != 0 {
			return fmt.Sprintf("%d of kind %s are counted at place %d", count, s.Kinds[i/int(model.NumPlaces)].Name, i%int(model.NumPlaces))
		}
	}
	return ""
}
