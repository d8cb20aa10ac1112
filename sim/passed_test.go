package sim

import (
	"testing"

	"headroom/model"
)

// The limit that most runs passed is named, of equally many the first, and the host's if none passed any.
func TestTheLimitThatMostPassedIsNamed(t *testing.T) {
	host, card, pinned := model.Limit{Bytes: 9, Name: "host"}, model.Limit{Bytes: 5, Name: "card"}, model.Limit{Bytes: 3, Name: "pinned"}
	oom := func(limits ...model.Limit) (runs []*Result) {
		for _, l := range limits {
			runs = append(runs, &Result{Verdict: OOM, Limit: l}, &Result{Verdict: Fits, Limit: host})
		}
		return runs
	}
	for _, c := range []struct {
		runs []*Result
		want model.Limit
	}{
		{nil, host},
		{[]*Result{{Verdict: Fits, Limit: card}}, host},
		{oom(card), card},
		{oom(card, pinned, pinned), pinned},
		{oom(card, pinned), card},
		{oom(pinned, card, card, pinned), card}, // the first that came to two
		{[]*Result{{Verdict: Refuse, Limit: pinned}}, pinned},
	} {
		if got := passed(c.runs, host); got != c.want {
			t.Errorf("of %d runs %s is named, want %s", len(c.runs), got.Name, c.want.Name)
		}
	}
}
