package model

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A linked queue behaves as a slice does, removal from the middle included.
func TestQueueAgreesWithASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		links := make(links, 12)
		q, plain := emptyQueue(), []int32{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			slot := rapid.Int32Range(0, int32(len(links)-1)).Draw(t, "slot")
			at := slices.Index(plain, slot)
			switch {
			case at < 0:
				q.push(links, slot)
				plain = append(plain, slot)
			case rapid.Bool().Draw(t, "remove"):
				q.remove(links, slot)
				plain = slices.Delete(plain, at, at+1)
			default:
				if got := q.pop(links); got != plain[0] {
					t.Fatalf("popped %d: want %d", got, plain[0])
				}
				plain = plain[1:]
			}
			if int(q.n) != len(plain) {
				t.Fatalf("%d in the queue: want %d", q.n, len(plain))
			}
		}
		for _, want := range plain {
			if got := q.pop(links); got != want {
				t.Fatalf("popped %d: want %d", got, want)
			}
		}
		if q != emptyQueue() {
			t.Fatalf("the queue is left as %+v", q)
		}
	})
}

// The lane handed out is the lowest free one.
func TestLanesAreTheLowestFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lanes laneSet
		busy := make([]bool, 200)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			lane := rapid.Int32Range(0, 199).Draw(t, "lane")
			if busy[lane] {
				busy[lane] = false
				lanes.put(lane)
				continue
			}
			want := slices.Index(busy, false)
			if got := lanes.take(); int(got) != want {
				t.Fatalf("took %d: the lowest free lane is %d", got, want)
			}
			busy[want] = true
		}
	})
}

// The run-length list of jobs that wait is the list of jobs that wait.
func TestBacklogAgreesWithASlice(t *testing.T) {
	type waiting struct {
		job  int32
		kind uint16
	}
	rapid.Check(t, func(t *rapid.T) {
		var b backlog
		var plain []waiting
		next := int32(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				r := jobRun{next, rapid.Int32Range(1, 6).Draw(t, "count"), rapid.Uint16Max(2).Draw(t, "kind")}
				b.push(r)
				for i := range r.count {
					plain = append(plain, waiting{r.first + i, r.kind})
				}
				next += r.count
			case 1:
				job := rapid.Int32Range(0, next+1).Draw(t, "job")
				at := slices.IndexFunc(plain, func(w waiting) bool { return w.job == job })
				kind, ok := b.remove(job)
				if ok != (at >= 0) || (ok && kind != plain[at].kind) {
					t.Fatalf("removing job %d: %t, kind %d; it is at %d", job, ok, kind, at)
				}
				if ok {
					plain = slices.Delete(plain, at, at+1)
				}
			case 2:
				if len(plain) > 0 {
					job, kind := b.pop()
					if diff := cmp.Diff(plain[0], waiting{job, kind}, cmp.AllowUnexported(waiting{})); diff != "" {
						t.Fatal(diff)
					}
					plain = plain[1:]
				}
			}
			if b.empty() != (len(plain) == 0) {
				t.Fatalf("empty is %t with %d waiting", b.empty(), len(plain))
			}
		}
	})
}

// The list stays small: jobs of one kind are one run however they arrive, and what has begun is forgotten although the
// list is never empty.
func TestBacklogStaysSmall(t *testing.T) {
	var one, two backlog
	for job := range int32(10_000) {
		one.push(jobRun{job, 1, 0})
		if two.push(jobRun{job, 1, uint16(job % 2)}); job >= 10 {
			two.pop()
		}
	}
	if len(one.runs) != 1 || cap(two.runs) > 100 {
		t.Errorf("%d runs of one kind, and room for %d where ten jobs wait: want 1 and at most 100", len(one.runs), cap(two.runs))
	}
}

// Blocks are freed in the order in which their points came.
func TestDeallocAgreesWithASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d dealloc
		var plain []blockRef
		for i := range rapid.Int32Range(1, 100).Draw(t, "steps") {
			if len(plain) > 0 && rapid.Bool().Draw(t, "pop") {
				if got := d.pop(); got != plain[0] {
					t.Fatalf("popped %+v: want %+v", got, plain[0])
				}
				plain = plain[1:]
				continue
			}
			r := blockRef{i, Vectors + Block(i%2)}
			d.push(r)
			plain = append(plain, r)
		}
		if int(d.tail-d.head) != len(plain) {
			t.Fatalf("%d wait: want %d", d.tail-d.head, len(plain))
		}
	})
}

// Names in files and values belong to each other one to one.
func TestNamesReadBack(t *testing.T) {
	for s := Parse; s < NumStages; s++ {
		if got, ok := StageOf(s.String()); !ok || got != s {
			t.Errorf("stage %s reads back as %s", s, got)
		}
		var got Stage
		if text, err := s.MarshalText(); err != nil || got.UnmarshalText(text) != nil || got != s {
			t.Errorf("stage %s is written as %q and read as %s", s, text, got)
		}
	}
	for b := Vectors; b < NumBlocks; b++ {
		if got, ok := BlockOf(b.String()); !ok || got != b {
			t.Errorf("block %s reads back as %s", b, got)
		}
	}
	var s Stage
	if s.UnmarshalText([]byte("cook")) == nil {
		t.Error("stage cook was read")
	}
	for _, name := range []string{NumStages.String(), NumBlocks.String(), InputOp(99).String(), EffectOp(99).String()} {
		if name != "unknown" {
			t.Errorf("what is not there has the name %q", name)
		}
	}
}

func TestCountsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.OneOf(rapid.Just(Unbounded), rapid.Just(Auto), rapid.Map(rapid.Int32Range(0, 1<<31-2), func(n int32) Count { return Count(n) })).Draw(t, "count")
		var text, json Count
		b, _ := want.MarshalText()
		if err := text.UnmarshalText(b); err != nil || text != want {
			t.Fatalf("%s reads back from text as %s: %v", want, text, err)
		}
		b, _ = want.MarshalJSON()
		if err := json.UnmarshalJSON(b); err != nil || json != want {
			t.Fatalf("%s reads back from JSON as %s: %v", want, json, err)
		}
	})
	for _, bad := range []string{"", "-1", "2147483647", "9999999999", "1.5", "many", "1 "} {
		var c Count
		if err := c.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %s", bad, c)
		}
	}
}
