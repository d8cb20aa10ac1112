package reach

import (
	"fmt"
	"strings"

	"headroom/model"
)

// stuck says of a stalled state who holds what and who waits for what.
func (n *node) stuck() string {
	return "nothing runs and nothing can start: " + strings.Join(n.core.Stuck(), "; ")
}

// left says what is not zero although the pipeline is empty, or nothing. A pool never shrinks.
func (n *node) left(s *Space) string {
	if findings := n.judge.Clone().Finish(); len(findings) > 0 {
		return findings[0].Message
	}
	if free := n.core.FreePermits(); free != s.Config.Admission.Permits {
		return fmt.Sprintf("%s of %s permits are free", free, s.Config.Admission.Permits)
	}
	if locks, busy := n.core.LocksHeld(), n.core.BusyWorkers(); locks+busy > 0 {
		return fmt.Sprintf("%s locked, %s busy", model.Counted(locks, "device"), model.Counted(busy, "worker"))
	}
	for i, count := range n.core.Census(nil) {
		if place := i % int(model.NumPlaces); count != 0 && place != int(model.HeldPool) {
			return fmt.Sprintf("%d of kind %s are counted at place %d", count, s.Kinds[i/int(model.NumPlaces)].Name, place)
		}
	}
	return ""
}
