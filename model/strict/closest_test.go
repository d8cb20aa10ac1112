package strict

import "testing"

func TestTheClosestWordIsSuggestedIfItIsClose(t *testing.T) {
	words := []string{"simulate", "risk", "phase12-pre-10", "phase12-pre-12"}
	for typed, want := range map[string]string{
		"simulat": "simulate", "simluate": "simulate", "rsk": "risk", "phase12-pre-11": "phase12-pre-10", "phase12pre12": "phase12-pre-12",
		"serve": "", "": "", "x": "",
	} {
		if got := Closest(typed, words); got != want {
			t.Errorf("closest to %q is %q, want %q", typed, got, want)
		}
	}
}
