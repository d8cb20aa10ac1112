// Headroom predicts whether the pipeline of a GPU prover runs out of memory on a machine, how fast it is, and why,
// before it runs.
//
// # One run
//
// Simulate runs a scenario, which is the name of one that comes with headroom or a YAML file, once in virtual time.
// The verdict comes first: fits, oom (more memory is needed than the limit grants), stall (work is left and nothing
// can proceed) or, of a scenario that makes no sense, refuse.
//
//	$ headroom simulate example
//	fits: peaks at 487.8 MiB, 7.5 GiB below machine.ram minus machine.reserve
//
//	peak of 487.8 MiB at 1.143 s:
//	owner     count      bytes   share
//	baseline      -  200.0 MiB  41.0 %
//	synth         2  121.8 MiB  25.0 %
//	gpu           1   82.0 MiB  16.8 %
//	dealloc       1   72.0 MiB  14.8 %
//	finish        1   10.0 MiB   2.1 %
//	parse         2    2.0 MiB   0.4 %
//
//	limit             8.0 GiB (machine.ram minus machine.reserve)
//	seconds per job   2.115 s
//	makespan          8.461 s
//	jobs done         4
//	bottleneck        synth (busy: synth 92.2 %, gpu 87.3 %, waiting for jobs in flight 0.1 %)
//	structural bound  530.0 MiB in 4 partitions: permits 2 + channel 1 + gpu workers 1 = 4
//
//	warnings:
//	- profile example: 3 numbers are assumed, not measured: baseline, slowdown of synth by 2 synth, small synth
//
// The owners at the peak are synth (partitions being synthesized), send (synthesized, and blocked because the
// channel is full), channel, gpu, finish, dealloc (being returned to the system), resident (data for all jobs), parse
// (buffers of the jobs in flight), pool and baseline (the process itself). The structural bound is the most that
// partitions can hold whatever the durations; what only waits to be returned to the system comes on top. A run stops
// where it passes the limit, and its seconds per job are then unknown:
//
//	$ headroom simulate example --set machine.ram=400MiB
//	oom: passes machine.ram minus machine.reserve of 400.0 MiB after 1 s, with 0 jobs done
//
//	peak of 400.0 MiB at 0.852 s:
//	owner     count      bytes   share
//	baseline      -  200.0 MiB  50.0 %
//	gpu           1   82.0 MiB  20.5 %
//	channel       1   74.0 MiB  18.5 %
//	synth         2   42.0 MiB  10.5 %
//	parse         2    2.0 MiB   0.5 %
//
//	limit             400.0 MiB (machine.ram minus machine.reserve)
//	seconds per job   -
//	makespan          0.852 s
//	jobs done         0
//	bottleneck        synth (busy: synth 99.5 %, gpu 25.3 %, waiting for jobs in flight 0.5 %)
//	structural bound  530.0 MiB in 4 partitions: permits 2 + channel 1 + gpu workers 1 = 4
//
//	warnings:
//	- profile example: 3 numbers are assumed, not measured: baseline, slowdown of synth by 2 synth, small synth
//	exit status 3
//
// The exit code says so too: 0 ok, 1 error, 2 usage or refused input, 3 a limit is broken (oom, stall), 4 the
// profile is not good enough, 5 nothing is feasible.
//
// # Many runs
//
// Every key of a scenario can be set. A range or a list gives a table, which exits with 0 whatever the verdicts:
//
//	$ headroom simulate example --set config.admission.permits=1..4
//	config.admission.permits  verdict       peak       at  headroom  per job  makespan  jobs  bottleneck  most held by
//	                       1  fits     359.6 MiB  1.595 s   7.6 GiB  1.737 s   6.949 s     4  synth       baseline, 55.6 %
//	                       2  fits     487.8 MiB  1.143 s   7.5 GiB  2.115 s   8.461 s     4  synth       baseline, 41.0 %
//	                       3  fits     562.8 MiB  6.132 s   7.5 GiB  2.526 s    10.1 s     4  gpu         baseline, 35.5 %
//	                       4  fits     627.7 MiB  6.635 s   7.4 GiB  2.762 s    11.0 s     4  gpu         synth, 41.7 %
//
//	warnings:
//	- profile example: 3 numbers are assumed, not measured: baseline, slowdown of synth by 2 synth, small synth
//
// Permits count partitions from admission to the release point; more of them keep more partitions waiting. --csv and
// --json print the same for programs.
//
// # Risk
//
// Durations and footprints have a spread, and what a profile says of them is uncertain. Risk runs replications that
// draw both, and gives the probability of running out of memory with its exact 95 % interval:
//
//	$ headroom risk example --set machine.ram=490MiB
//	risk: 148 of 400 replications run out of memory: P(OOM) is between 0.323 and 0.419
//
//	quantile       peak
//	    0.01  463.2 MiB
//	    0.05  469.3 MiB
//	     0.5  486.7 MiB
//	    0.95  502.4 MiB
//	    0.99  509.6 MiB
//	    mean  486.4 MiB
//
//	P(OOM)            0.3700, from 0.3226 to 0.4194 with 95 % confidence (400 replications)
//	time to OOM       2.263 s in the mean
//	limit             490.0 MiB (machine.ram minus machine.reserve)
//	seconds per job   2.120 s in the mean of the 252 that did not run out of memory
//	jobs done         2.7 in the mean
//	bottleneck        synth in the median run
//	structural bound  524.4 MiB in 4 partitions: permits 2 + channel 1 + gpu workers 1 = 4
//
//	peak of the median run, 486.7 MiB at 5.181 s:
//	owner     count      bytes   share
//	baseline      -  194.4 MiB  39.9 %
//	synth         2  126.3 MiB  26.0 %
//	gpu           1   82.0 MiB  16.8 %
//	dealloc       1   72.0 MiB  14.8 %
//	finish        1   10.0 MiB   2.1 %
//	parse         2    2.0 MiB   0.4 %
//
//	warnings:
//	- profile example: 3 numbers are assumed, not measured: baseline, slowdown of synth by 2 synth, small synth
//
// The verdict is fits if the upper end of the interval is at most 1 % (--bound), oom if the lower end is at least one
// half, and else risk, which is no broken limit and exits with 0. Replication r of risk is simulate --replication r.
//
// # Refused input
//
// What makes no sense is refused with its place and what would be right:
//
//	$ headroom simulate example --set machine.ram=755Gib
//	headroom: scenario: --set machine.ram=755Gib: machine.ram: model: size "755Gib": write a number and a unit of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024), for example 755GiB
//	exit status 2
//	$ headroom simulate example --set config.admission.permit=4
//	headroom: scenario: --set config.admission.permit=4: config.admission.permit is not a key here: did you mean permits? the keys are permits, release, budget
//	exit status 2
//
// # Traces
//
// simulate --trace FILE writes what happened, in the format of live runs: JSON Lines, a header first. Each step says
// what was told to the pipeline and what it answered, with the bytes that this takes or frees, and how many permits are
// free and how many partitions are in the channel and blocked before it. check holds a trace against what must be true
// of every run.
//
// # Scenarios
//
//	$ headroom scenarios
//	name              title
//	example           two workers on a small machine
//	phase11-10        phase 11, ten synthesis workers and two GPU workers
//	phase11-10-gw3    phase 11, ten synthesis workers and three GPU workers
//	phase11-10-gw4    phase 11, ten synthesis workers and four GPU workers
//	phase12-light-1   phase 12 after the fix, light load, one synthesis worker
//	phase12-light-10  phase 12 after the fix, light load, ten synthesis workers
//	phase12-light-2   phase 12 after the fix, light load, two synthesis workers
//	phase12-light-5   phase 12 after the fix, light load, five synthesis workers
//	phase12-post-10   phase 12 after the fix, ten synthesis workers
//	phase12-post-12   phase 12 after the fix, twelve synthesis workers
//	phase12-pre-10    phase 12 before the fix, ten synthesis workers
//	phase12-pre-12    phase 12 before the fix, twelve synthesis workers
//	phase12-pre-15    phase 12 before the fix, fifteen synthesis workers
//	phase12-pre-20    phase 12 before the fix, twenty synthesis workers
//
// headroom scenarios show NAME prints one, to be changed and used as a file.
package main
