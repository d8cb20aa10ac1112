package sim

import (
	"fmt"
	"strings"

	"headroom/model"
	"headroom/model/work"
)

// DevicePeak is the most that a device held at once, and how much it can; Limit is 0 when the machine does not say.
type DevicePeak struct {
	Peak, Limit model.Bytes
	AtPeak      DeviceHoldings // what is missing of the peak the device holds by itself
}

// DeviceHoldings is what partitions held on a device, the largest first.
type DeviceHoldings []DeviceHolding

// DeviceHolding is what the partitions of a kind that were in one stage held on a device.
type DeviceHolding struct {
	Kind  string
	Stage model.Stage // Prep, Kernel or Tail
	Count int         // partitions; those of a batch count once for each of its proofs
	Bytes model.Bytes
}

// String says it in words after a colon; it is empty if no partition held anything.
func (list DeviceHoldings) String() string {
	var parts []string
	for _, h := range list {
		text := fmt.Sprintf("%s of %s holds %s", h.Stage, h.Kind, h.Bytes.Short())
		if h.Count > 1 {
			text += fmt.Sprintf(" in %d partitions", h.Count)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// deviceHoldings returns what partitions held when a device's book was at its peak.
func (l *loop) deviceHoldings(b *work.Book) (list DeviceHoldings) {
	for _, u := range b.AtPeak() {
		list = append(list, DeviceHolding{Kind: l.kinds[u.Kind].Name, Stage: u.Stage, Count: u.Count, Bytes: u.Bytes})
	}
	return list
}
