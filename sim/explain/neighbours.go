package explain

import (
	"fmt"
	"reflect"
	"slices"

	"headroom/model"
	"headroom/sim"
)

// neighbour is a plan whose configuration is one knob away.
type neighbour struct {
	knob Knob
	plan sim.Plan
}

// tried is a knob and what the plan comes to in which it is turned.
type tried struct {
	knob Knob
	is   *Case
}

// try replicates neighbours. It returns what they come to, and notes on those that cannot be simulated.
func try(list []neighbour, replications int, progress func()) (cases []tried, notes []string) {
	for i := range list {
		n := &list[i]
		c, err := replicate(n.plan, replications, progress)
		if err != nil {
			to := n.knob.Settings[0].To
			notes = append(notes, fmt.Sprintf("%s=%s is left out: %s", n.knob.Name, to, firstLine(err)))
			continue
		}
		cases = append(cases, tried{n.knob, c})
	}
	return cases, notes
}

// words are the values of the knobs that are words. Which of them a knob accepts is for Validate. A pool that retains
// is not tried, since it never lowers a peak.
var words = valuesByType(
	model.FIFO, model.ByPriority, model.OldestJobFirst, model.Interleave,
	model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish,
	model.RetryOnRelease, model.RetryTimed, model.LockCall, model.LockKernel,
	model.PrepBeforeLock, model.PrepBesideLock, model.OnHost, model.OnDevice, model.PoolNone,
)

func valuesByType(values ...any) map[reflect.Type][]any {
	list := map[reflect.Type][]any{}
	for _, v := range values {
		list[reflect.TypeOf(v)] = append(list[reflect.TypeOf(v)], v)
	}
	return list
}

// neighbours returns the valid plans whose configurations are one knob away, in the order of the configuration. A
// count n becomes n-1, n-2, n/2, n+1, 2n and unbounded; one that is unbounded becomes half of the partitions that can
// be there, a quarter of them and so on; auto is the number that it stands for. A size loses a tenth or half. A word
// becomes each of the others. What is a list, a map, a span or not set is left alone. If a knob cannot be turned
// alone, the first other that makes the plan valid by its default or by being empty is turned with it.
func neighbours(p *sim.Plan) []neighbour {
	var list []neighbour
	each(&p.Config, func(path string, knob reflect.Value) {
		for _, value := range candidates(p, knob) {
			n := neighbour{knob: Knob{Name: path}, plan: *p}
			n.turn(path, value)
			if valid(&n.plan) == nil || n.complete() {
				list = append(list, n)
			}
		}
	})
	return list
}

// each visits the knobs of a configuration.
func each(c *model.Config, visit func(path string, knob reflect.Value)) {
	replace("config", reflect.ValueOf(*c), func(path string, knob reflect.Value) reflect.Value {
		visit(path, knob)
		return knob
	})
}

// turn sets one more knob.
func (n *neighbour) turn(path string, value reflect.Value) {
	turned := replace("config", reflect.ValueOf(n.plan.Config), func(at string, knob reflect.Value) reflect.Value {
		if at != path {
			return knob
		}
		n.knob.Settings = append(n.knob.Settings, Setting{path, written(knob), written(value)})
		return value
	})
	n.plan.Config = turned.Interface().(model.Config)
}

// complete turns another knob so that the plan becomes valid, and reports whether there is one.
func (n *neighbour) complete() bool {
	normal := map[string]reflect.Value{}
	defaults := model.DefaultConfig(n.plan.Machine.Devices())
	each(&defaults, func(path string, knob reflect.Value) { normal[path] = knob })
	alone, found := *n, false
	each(&alone.plan.Config, func(path string, knob reflect.Value) {
		for _, value := range []reflect.Value{normal[path], reflect.Zero(knob.Type())} {
			if found || path == alone.knob.Name || !value.IsValid() || reflect.DeepEqual(value.Interface(), knob.Interface()) {
				continue
			}
			with := alone
			with.knob.Settings = slices.Clone(alone.knob.Settings)
			with.turn(path, value)
			if valid(&with.plan) == nil {
				*n, found = with, true
			}
		}
	})
	return found
}

// candidates returns other values of a knob.
func candidates(p *sim.Plan, knob reflect.Value) []reflect.Value {
	var list []reflect.Value
	add := func(value any) {
		v := reflect.ValueOf(value).Convert(knob.Type())
		if !v.Equal(knob) && !slices.ContainsFunc(list, v.Equal) {
			list = append(list, v)
		}
	}
	switch x := knob.Interface().(type) {
	case bool:
		add(!x)
	case model.Count:
		for _, n := range counts(p, x) {
			add(n)
		}
	case model.Bytes:
		add(x - x/10)
		add(x / 2)
	default:
		for _, word := range words[knob.Type()] {
			add(word)
		}
	}
	return list
}

func counts(p *sim.Plan, n model.Count) []model.Count {
	if n == model.Auto {
		n = p.Config.ChannelCapacity()
	}
	if n != model.Unbounded {
		list := []model.Count{n - 1, n - 2, n / 2, n + 1, model.Unbounded}
		if n < model.Unbounded/2 {
			list = append(list, 2*n)
		}
		return list
	}
	var list []model.Count
	most := min(p.Workload.Jobs()*p.MostPartitions(), int(model.Unbounded))
	if p.Config.JobsInFlight != model.Unbounded {
		most = min(most, int(p.Config.JobsInFlight)*p.MostPartitions())
	}
	for n := most / 2; n >= 1; n /= 2 {
		list = append(list, model.Count(n))
	}
	return list
}
