package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// planWarnings returns what a reader of a prediction should know of the plan behind it.
func planWarnings(p *sim.Plan) []string {
	return slices.Concat(configWarnings(p), p.Contradictions(), assumedWarning(p))
}

// configWarnings returns settings that are allowed and do not do what they seem to.
func configWarnings(p *sim.Plan) []string {
	var list []string
	warn := func(is bool, format string, args ...any) {
		if is {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	c, m := &p.Config, &p.Machine
	counted, release := c.Admission.Permits != model.Unbounded, c.Admission.Release
	warn(m.HostLimit().Bytes == 0, "the machine names no limit of memory, so that everything fits")
	warn(len(m.Found) == 0 && m.Shm > 0 && !usesShm(p),
		"machine.shm changes nothing: the profile says of no kind what it holds in shared memory")
	warn(m.MemoryBandwidth > 0 && !shares(p, "memory_bandwidth"),
		"machine.memory_bandwidth changes nothing: the profile has no resource of that name")
	warn(c.Pool == model.PoolRetain && c.Admission.Budget != nil,
		"config.pool is retain: what the pool holds is resident and not in the ledger")
	warn(!counted && release != model.AfterSend,
		"config.admission.release is %s, which means nothing without config.admission.permits", release)
	warn(counted && release == model.AfterSynthesis,
		"config.admission.release is after_synthesis: permits do not limit the synthesized partitions that wait in send")
	most := int64(c.JobsInFlight) * int64(p.MostPartitions())
	warn(counted && c.JobsInFlight != model.Unbounded && int64(c.Admission.Permits) > most,
		"config.admission.permits is %s, and config.jobs_in_flight %s lets no more than %s be there",
		c.Admission.Permits, c.JobsInFlight, model.Counted(most, "partition"))
	warn(counted && c.ChannelCapacity() == model.Unbounded && release == model.AfterSend,
		"config.channel.capacity is unbounded: with release after_send permits do not limit the partitions that wait "+
			"in the channel")
	warn(c.Channel.Capacity != model.Auto && c.Channel.Lookahead != 1,
		"config.channel.lookahead is %s and changes nothing: config.channel.capacity is %s and not auto",
		c.Channel.Lookahead, c.Channel.Capacity)
	warn(c.Synthesis.Handoff > 0 && c.Synthesis.MaxParallel == model.Unbounded,
		"config.synthesis.handoff is %s and changes nothing: config.synthesis.max_parallel is unbounded, so that no "+
			"partition waits for a worker", c.Synthesis.Handoff)
	if b := c.Batch; b != nil {
		warn(b.Size > c.JobsInFlight, "config.batch.size is %s, and config.jobs_in_flight %s: no batch is ever full, and each may wait %s",
			b.Size, c.JobsInFlight, b.Wait)
	}
	warn(c.GPU.Lock == model.LockCall && c.GPU.WorkersPerDevice > 1,
		"config.gpu.lock is call: of the %s workers of a device one works at a time, the others hold a partition "+
			"and wait", c.GPU.WorkersPerDevice)
	warn(int(c.GPU.Devices) < len(m.GPUs), "config.gpu.devices is %s of the machine's %d GPUs: the rest is idle",
		c.GPU.Devices, len(m.GPUs))
	return list
}

// shares reports whether the profile has a resource of a name.
func shares(p *sim.Plan, name string) bool {
	return slices.ContainsFunc(p.Profile.Interference.Resources, func(r profile.Resource) bool { return r.Name == name })
}

// usesShm reports whether jobs of the workload hold shared memory.
func usesShm(p *sim.Plan) bool {
	return slices.ContainsFunc(p.Workload.Shares, func(s model.Share) bool {
		return p.Profile.Kind(s.Kind).Footprint.Shm.Value > 0
	})
}

// assumedWarning returns one warning that names the numbers of the profile which nobody measured, or none.
func assumedWarning(p *sim.Plan) []string {
	var a assumed
	a.note("baseline", p.Profile.Baseline.Source)
	for _, s := range p.Profile.Interference.Slowdowns {
		for _, point := range s.Points {
			a.note(fmt.Sprintf("slowdown of %s by %d %s", s.Stage, point.N, s.By), point.Factor.Source)
		}
	}
	for _, r := range p.Profile.Interference.Resources {
		a.note("capacity of "+r.Name, r.Capacity.Source)
		for s := model.Parse; s < model.NumStages; s++ {
			a.note(fmt.Sprintf("%s of %s", r.Name, s), r.Demand[s].Source)
		}
	}
	for _, share := range p.Workload.Shares {
		a.kind(p.Profile.Kind(share.Kind))
	}
	if len(a.names) == 0 {
		return nil
	}
	const most = 8
	shown, more := a.names, ""
	if len(shown) > most {
		shown, more = shown[:most], fmt.Sprintf(" and %d more", len(a.names)-most)
	}
	are := "are"
	if len(a.names) == 1 {
		are = "is"
	}
	return []string{fmt.Sprintf("profile %s: %s %s assumed, not measured: %s%s",
		p.Profile.Name, model.Counted(len(a.names), "number"), are, strings.Join(shown, ", "), more)}
}

// assumed collects the names of assumed numbers.
type assumed struct{ names []string }

func (a *assumed) note(name string, from profile.Source) {
	if from == profile.Assumed {
		a.names = append(a.names, name)
	}
}

func (a *assumed) kind(k *profile.Kind) {
	for s := model.Parse; s < model.NumStages; s++ {
		w := k.Work[s]
		a.note(fmt.Sprintf("%s %s", k.Name, s), w.Mean.Source)
		a.note(fmt.Sprintf("%s %s cv", k.Name, s), w.CV.Source)
		a.note(fmt.Sprintf("%s %s job_cv", k.Name, s), w.JobCV.Source)
	}
	f := &k.Footprint
	a.note(k.Name+" parse bytes", f.Parse.Source)
	a.note(k.Name+" vectors", f.Vectors.Source)
	a.note(k.Name+" assignment", f.Assignment.Source)
	a.note(k.Name+" call", f.Call.Source)
	for s := model.Parse; s < model.NumStages; s++ {
		for _, point := range f.During[s] {
			a.note(fmt.Sprintf("%s bytes during %s", k.Name, s), point.Bytes.Source)
		}
	}
}

// quick is how many replications a single run is compared with, and quickMost the most partitions that these may
// have together: a few seconds of work.
const (
	quick     = 20
	quickMost = 10_000_000
)

// quickReplications returns a warning if replications do not come to the verdict of the run.
func (a *app) quickReplications(ctx context.Context, p *sim.Plan, result *sim.Result) ([]string, error) {
	if all := int64(p.Workload.Jobs()) * int64(p.MostPartitions()) * quick; all > quickMost {
		return []string{fmt.Sprintf("%d quick replications were left out, since the run is long: "+
			"headroom risk says how sure the verdict is", quick)}, nil
	}
	runs, err := watched(ctx, a, "replicating", quick, func(step func()) ([]*sim.Result, error) {
		return sim.Replicate(*p, 1, quick, step)
	})
	if err != nil {
		return nil, err
	}
	count := map[sim.Verdict]int{}
	for _, r := range runs {
		count[r.Verdict]++
	}
	if count[result.Verdict] == quick {
		return nil, nil
	}
	var parts []string
	for _, v := range []sim.Verdict{sim.Refuse, sim.OOM, sim.Stall, sim.Fits} {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	return []string{fmt.Sprintf("%d quick replications do not agree on the verdict: %s; "+
		"headroom risk gives the probability", quick, strings.Join(parts, ", "))}, nil
}
