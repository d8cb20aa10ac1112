// Headroom predicts whether the pipeline of a GPU prover runs out of memory on a machine, how fast it is, and why,
// before it runs.
//
// # One run
//
// Simulate runs a scenario, which is the name of one that comes with headroom or a YAML file, once in virtual time.
// The verdict comes first: fits, oom (more memory is needed than the limit grants), stall (work is left and nothing
// can proceed) or refuse (the scenario makes no sense, or not on its machine).
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
// profile is not good enough, 5 nothing is feasible. What cannot be simulated, such as too many jobs, is refused input.
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
// half, and else risk, which is no broken limit and exits with 0. A replication that is refused counts as one that runs
// out of memory; if all are, the verdict is refuse. Replication r of risk is simulate --replication r.
//
// # Why
//
// Explain says why the peak of a scenario is what it is: who holds it, in the run that uses the profile's values and in
// the mean of replications 1 to 20 (--replications), how many partitions can hold vectors at once and why, and which
// single knobs lower it at what cost in speed. Runs are not stopped at the limit.
//
//	$ headroom explain example --set machine.ram=400MiB
//	oom: peaks at 487.8 MiB, which is 87.8 MiB over machine.ram minus machine.reserve
//
//	peak of 487.8 MiB at 1.143 s, and the mean of 20 replications:
//	owner     count      bytes    share  mean count  mean bytes
//	baseline      -  200.0 MiB   41.0 %           -   198.9 MiB
//	synth         2  121.8 MiB   25.0 %         2.0   119.8 MiB
//	gpu           1   82.0 MiB   16.8 %         1.0    82.0 MiB
//	dealloc       1   72.0 MiB   14.8 %         1.0    72.0 MiB
//	finish        1   10.0 MiB    2.1 %         1.0    10.0 MiB
//	parse         2    2.0 MiB    0.4 %         1.9     1.9 MiB
//	all           -  487.8 MiB  100.0 %           -   484.6 MiB
//
//	A permit returns when the channel takes the partition, which with 2 permits limits the partitions in synthesis and in send.
//	Up to 1 in the channel and 1 with GPU workers hold vectors without one.
//	At most 2 jobs can be in flight, of up to 4 partitions each.
//	So at most 4 partitions can hold vectors at once: permits 2 + channel 1 + gpu workers 1 = 4.
//
//	limit            400.0 MiB (machine.ram minus machine.reserve)
//	seconds per job  2.095 s in the mean
//	over the limit   20 of 20 replications
//	bottleneck       synth (busy: synth 92.2 %, gpu 87.3 %, waiting for jobs in flight 0.1 %)
//
//	single knobs that lower the mean peak:
//	setting                                     peak      change  per job    change  over the limit  removes
//	config.admission.permits=1             359.3 MiB  -125.3 MiB  1.717 s  -0.377 s         0 of 20  oom
//	config.synthesis.max_parallel=1        359.3 MiB  -125.3 MiB  1.717 s  -0.377 s         0 of 20  oom
//	config.admission.release=after_finish  364.9 MiB  -119.7 MiB  1.775 s  -0.319 s         0 of 20  oom
//	config.admission.release=after_kernel  366.4 MiB  -118.2 MiB  1.799 s  -0.296 s         0 of 20  oom
//	config.channel.capacity=0              438.2 MiB   -46.4 MiB  2.025 s  -0.069 s        20 of 20  -
//
//	warnings:
//	- profile example: 3 numbers are assumed, not measured: baseline, slowdown of synth by 2 synth, small synth
//	exit status 3
//
// The knobs that are tried are those of the configuration: a count n becomes n-1, n-2, n/2, n+1, 2n and unbounded, an
// unbounded one becomes a half, a quarter and so on of the partitions that can be there, a size loses a tenth or half,
// a word becomes each of the others. A knob that makes no sense alone takes the one with it that makes it valid. Those
// that remove an oom come first, the fastest first.
//
// Of two scenarios, or of one with a setting of two values, explain divides the difference in peak and in seconds per
// job, B minus A, among the knobs in which they differ. Every combination of A's and B's values is run with the same
// seed and replications; the share of a knob is the mean of what turning it changes, over all orders in which the knobs
// can be turned (Shapley). Shares add up exactly, and so do the owners. The single knobs are those of the difference,
// turned back, and those around B:
//
//	$ headroom explain phase12-pre-12 phase12-post-12
//	A is phase12-pre-12, B is phase12-post-12: means of 20 replications, with the limit ignored
//
//	                                      A          B   B minus A
//	peak                          809.3 GiB  397.3 GiB  -411.9 GiB
//	seconds per job                  37.9 s     37.8 s    -0.084 s
//	replications over the limit          20          0         -20
//	replications that stall               0          0          +0
//	most partitions by structure        150         26           -
//
//	shares of the knobs in the difference:
//	knob                                    A             B        peak   per job
//	config.jobs_in_flight                  15            20  +183.3 MiB  +0.000 s
//	config.admission.release  after_synthesis    after_send  -467.3 GiB  -0.101 s
//	config.channel.capacity                 1          auto   +55.6 GiB  +0.017 s
//	config.free_vectors          after_finish  after_kernel  -373.8 MiB  +0.000 s
//
//	owners at the peak:
//	owner             A  count          B  count   B minus A
//	send      590.4 GiB   38.0   20.2 GiB    1.3  -570.2 GiB
//	channel    15.6 GiB    1.0  184.4 GiB   11.8  +168.8 GiB
//	synth      74.5 GiB    8.3   61.9 GiB   10.7   -12.7 GiB
//	dealloc    16.4 GiB    1.7   18.2 GiB    1.9    +1.9 GiB
//	parse       1.1 GiB    5.5    2.3 GiB   11.6    +1.2 GiB
//	finish      2.0 GiB    0.1    1.1 GiB    0.1  -949.4 MiB
//	resident   69.8 GiB    2.0   69.8 GiB    2.0         0 B
//	gpu        38.7 GiB    2.0   38.7 GiB    2.0         0 B
//	baseline  837.6 MiB      -  837.6 MiB      -         0 B
//
//	of the difference -12.7 GiB is in synthesis, -401.4 GiB waits in send and in the channel, and +2.1 GiB is all else
//
//	single knobs that lower the peak of B:
//	setting                                     peak      change  per job      change  over the limit  removes
//	config.synthesis.max_parallel=1        103.8 GiB  -293.5 GiB  291.4 s  +253.575 s         0 of 20  -
//	config.synthesis.max_parallel=3        134.1 GiB  -263.3 GiB  103.2 s   +65.326 s         0 of 20  -
//	config.admission.permits=6             187.2 GiB  -210.2 GiB   56.2 s   +18.364 s         0 of 20  -
//	config.synthesis.max_parallel=6        187.2 GiB  -210.2 GiB   56.2 s   +18.364 s         0 of 20  -
//	config.admission.release=after_finish  285.8 GiB  -111.5 GiB   37.8 s    -0.044 s         0 of 20  -
//	config.admission.release=after_kernel  285.8 GiB  -111.5 GiB   37.8 s    -0.041 s         0 of 20  -
//	config.channel.capacity=1              286.6 GiB  -110.8 GiB   37.8 s    -0.033 s         0 of 20  -
//	config.channel.capacity=6              304.5 GiB   -92.9 GiB   37.8 s    -0.020 s         0 of 20  -
//	config.admission.permits=10            330.9 GiB   -66.5 GiB   37.8 s    -0.077 s         0 of 20  -
//	config.admission.permits=11            365.6 GiB   -31.7 GiB   37.8 s    -0.028 s         0 of 20  -
//	config.channel.capacity=10             366.1 GiB   -31.3 GiB   37.8 s    -0.006 s         0 of 20  -
//	config.gpu.workers_per_device=1        377.8 GiB   -19.5 GiB   37.8 s    -0.003 s         0 of 20  -
//	and 5 more that lower it, with --json
//
//	warnings:
//	- config.admission.release is after_synthesis: permits do not limit the synthesized partitions that wait in send
//	- profile porep-32g-7995wx-5070ti: 2 numbers are assumed, not measured: porep-32g finish, porep-32g parse bytes
//
// More than 8 knobs are refused, with their list; --group name=key,key lets some move together, and a key stands for
// all below it. Knobs of which one makes no sense without the other are grouped so by themselves, such as gpu.lock: call
// and gpu.prep, or gpu.split: false and finalizers. What a channel of capacity auto gains with the permits is part of
// the share of the permits. Limits of the machine have no share, since they are ignored. A seed is no knob: both run
// with A's. If a combination stalls, the shares of the seconds are unknown.
//
// # Stalls
//
// A run follows one order of events. Stalls follows all of them, from the empty pipeline on, and so finds the shortest
// history after which work is left and nothing can go on, with who holds what and who waits for what, or proves that
// there is none up to a number of jobs, whatever the durations:
//
//	$ headroom stalls example
//	none: no stall exists up to 2 jobs: explored all 2810 states
//
//	searched          up to 2 jobs of small (partitions 2): stages end and jobs arrive in any order
//	states            2810 explored, 8070 steps from them
//	holding vectors   4 partitions at most
//	structural bound  jobs_in_flight 2 x partitions 2 = 4
//
//	warnings:
//	- jobs of kind small are searched with 2 of their 4 partitions (--partitions)
//	- config.jobs_in_flight is 2 and never binds in a search of 2 jobs: --set a smaller one to search what happens when it does
//
// Every job may arrive at any moment, alone or with others; with --failures every stage may fail, and with --cancels every
// job may be given up. The states grow fast with the jobs (--jobs) and their partitions (--partitions). A search that
// needs more than --max-states proves nothing and exits with 1; what is found exits with 3, and --trace FILE writes it for
// check.
//
// Predictions take --seed too, which stands above the scenario's, and simulate --ignore-limit, to run on where memory
// ends. headroom help COMMAND lists all flags of a command.
//
// # Knobs
//
// What a scenario's config can say, with the value where a file is silent. Counts are numbers, or unbounded where
// nothing else is said; sizes have a unit, such as 14GiB, and so have durations, such as 300ms.
//
//	jobs_in_flight           jobs parsed at once, each until its last partition's finish (1)
//	order                    fifo, priority, oldest_job_first or interleave (fifo)
//	admission.permits        partitions between admission and the release point (unbounded)
//	admission.release        after_synthesis, after_send, after_kernel or after_finish (after_send)
//	admission.budget         a byte ledger, with or without permits (none):
//	  total, margin          the size of the ledger, and what of it stays free (margin 0B)
//	  kinds.NAME             reserve, and release_after_kernel, the part that returns when the kernel is over; an entry
//	                         for each kind of the workload
//	  kinds.NAME.acquire_order  resident_first, or working_first: all partitions of a job before its data
//	  eviction_min_idle      how long evictable data must be unused to be evicted (0s)
//	  retry                  on_release, or timed: once a second (on_release)
//	synthesis.max_parallel   synthesis workers besides permits (unbounded)
//	synthesis.handoff        admitted partitions that may wait for a worker, with what they reserve (0)
//	channel.capacity         a number, 0 for a rendezvous, auto = max(lookahead, permits), or unbounded (auto)
//	channel.lookahead        the least capacity of auto (1)
//	gpu.devices              GPUs used (all of machine.gpus)
//	gpu.workers_per_device   GPU workers of each (2)
//	gpu.lock, gpu.prep       call or kernel (kernel); before_lock or beside_lock (beside_lock), not with lock: call
//	gpu.split, finalizers    whether a finalizer does the finish (true), and how many there are (unbounded)
//	gpu.b_g2                 host or device: where the G2 multiplication runs (host)
//	free_vectors             after_kernel or after_finish (after_kernel)
//	dealloc.workers, pool    threads that free memory (1); none, or retain, which never gives any back (none)
//	resident                 a list that replaces the profile's: name, bytes, load_time, transient (bytes while loading),
//	                         acquire (blocking, or polling, which never evicts), on_demand, evictable, background (jobs
//	                         do not wait for it), pinned, kinds (those that need it; all)
//	batch                    size, wait, kinds: jobs of one kind joined into one (none)
//
// A workload has jobs and a kind, or a mix with the jobs or the weight of each, and an arrival: closed, {poisson: jobs a
// second}, {file: path} with an instant in each line, {backlog: jobs}, or {backlog: jobs, poisson: jobs a second}. In
// --set write a path as workload.arrival.file=PATH.
//
// # JSON
//
// simulate --json has schema, verdict, reason, host_peak_bytes, peak_at_s, limit_bytes, limit_name, limit_file,
// seconds_per_job, makespan_s, jobs_done, bottleneck, at_peak (owner, count, bytes), bounds (partitions, bytes,
// formula), ledger_peak_bytes (the most that was reserved in the ledger at once; null without a budget),
// pinned_peak_bytes and shm_peak_bytes (the most that was pinned, and in shared memory, at once; null if the profile
// knows nothing of it), devices (for each GPU vram_peak_bytes, limit_bytes and at_peak, what partitions held there: kind,
// stage, count, bytes; empty if the profile knows nothing of their memory) and warnings. A table has them in runs, each
// with its settings. What is not known, such as the seconds of a run that ran out of memory, is null.
//
// # Refused input
//
// What makes no sense is refused with its place and what would be right, and so is a named pipe to which nobody
// writes (/dev/stdin and what a shell substitutes are read):
//
//	$ headroom simulate example --set machine.ram=755Gib
//	headroom: scenario: --set machine.ram=755Gib: machine.ram: model: size "755Gib": write a number and a unit of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024), for example 755GiB
//	exit status 2
//	$ headroom simulate example --set config.admission.permit=4
//	headroom: scenario: --set config.admission.permit=4: config.admission.permit is not a key here: did you mean permits? the keys are permits, release, budget
//	exit status 2
//
// So is a plan whose machine has less than what is held before the first job: the baseline and the resident data, what
// of them is pinned (machine.memlock), or what a prover takes on a card when it starts. Nothing runs then:
//
//	$ headroom simulate example --set machine.ram=150MiB
//	refuse: machine.ram minus machine.reserve of 150.0 MiB is over-committed by 50.0 MiB: 200.0 MiB are held before the first job
//
//	peak of 200.0 MiB at 0.000 s:
//	owner     count      bytes    share
//	baseline      -  200.0 MiB  100.0 %
//
//	limit             150.0 MiB (machine.ram minus machine.reserve)
//	seconds per job   -
//	makespan          0.000 s
//	jobs done         0
//	bottleneck        -
//	structural bound  530.0 MiB in 4 partitions: permits 2 + channel 1 + gpu workers 1 = 4
//
//	warnings:
//	- profile example: 3 numbers are assumed, not measured: baseline, slowdown of synth by 2 synth, small synth
//	exit status 2
//
// The other reason is a limit on pinned memory or on /dev/shm (machine.shm) that is too small for one partition, for
// the system never grants more of them. Other memory that is too small for one ends in oom, since it is taken until
// there is none, and a ledger that is ends in stall, since the job waits for it.
//
// # Live runs
//
// headroom record SCENARIO --out TRACE runs a scenario on the live prover, in a child process whose peak is the
// kernel's high-water mark, and verifies every proof. Given a profile it predicts first, with the warnings that
// simulate would give, and refuses with exit code 3 what is predicted to run out of memory, and with 2 what is over a
// limit before the first job; --confine SIZE gives the child that much memory and no more. A cgroup charges the pages of a
// file, such as the program's own, to who read them first, so that a child's peak can be above its limit by these; verdicts
// count them. headroom calibrate TRACE... --out PROFILE makes a profile of such traces, and exits with 4 when that predicts
// each of them from the others too badly. headroom compare PROFILE TRACE holds a prediction against a run, with what in the
// configuration contradicts itself. headroom demo does all of it in a few minutes. Live runs are Linux only.
//
// --device cuda proves on the cards 0 to gpu.devices - 1, with the library that --cuda-library, $HEADROOM_CUDA_LIBRARY or
// the program's folder has (cuda/README.md says how to build it). machine.gpu of its traces names the cards, vram_bytes is
// what is in use of them as their driver shows it, other programs and the driver itself included, devices has what that
// was before the first job, and vram_peak_bytes of the end the most for each card. --cuda-memory SIZE, or
// $HEADROOM_CUDA_MEMORY, bounds what the prover takes of each card: a partition for which there is too little fails, and
// its job with it, and the run goes on.
//
// Every knob is real in a live run but one: the device cpu computes b_g2 in the finish (device is refused). On cards a pool
// pins what a card reads of its vectors, and resident data is pinned that says so; what cannot be pinned fails its job, and
// a host whose memlock is below one partition of a pool is refused. Nothing is pinned elsewhere.
// Resident data named "keys of KIND" is that kind's keys, read from their file and given back when evicted. For data of
// any other name a block of its bytes is held, with the transient ones while it is loaded; load_time is the least that a
// load takes. Data that a profile lists and that is always there is what the prover keeps by itself: nothing is added.
//
// # Traces
//
// simulate --trace FILE writes what happened, in the format of live runs: JSON Lines, a header first. Each step says
// what was told to the pipeline and what it answered, with the bytes that this takes or frees, and how many permits are
// free and how many partitions are in the channel and blocked before it. check holds a trace against what must be true
// of every run.
//
// # Leak or queue
//
// Diagnose says what the memory of a recorded run does: leak (it grows with each job that finishes, and nothing in
// flight explains it), queue_growth (what is in flight grows), plateau (it grew until what is in flight reached its
// bound), retention (it stays when what is in flight falls, and does not pass its high-water mark), or cannot_tell, with
// what to record. Here three workers return their permits when synthesis ends:
//
//	$ headroom diagnose testdata/traces/early.jsonl.zst --limit 4GiB
//	queue_growth: partitions blocked in send grow by 10.98 (10.48 to 11.48) for each job, to 55, because synthesis is faster than the GPU takes them from the channel, synth busy 100 %, gpu busy 100 %; permits do not hold them back, since admission.release is after_synthesis
//
//	evidence                          value                    95 % interval  what it is
//	jobs_finished                        40                                -  jobs that finished
//	samples                             673                                -  samples of memory that are not too near to a step of the pipeline
//	above_baseline                  1.1 GiB                                -  the most anonymous memory above the baseline
//	growth_per_job            110.0 KiB/job  -261.3 KiB/job to 481.3 KiB/job  growth of anonymous memory that nothing in flight explains
//	growth_per_job_late       120.0 KiB/job  -273.1 KiB/job to 513.2 KiB/job  the same over the later half
//	growth_per_hour             129.3 MiB/h      -314.8 MiB/h to 573.5 MiB/h  the same over time
//	in_flight_per_job         -32.2 MiB/job   -32.5 MiB/job to -31.9 MiB/job  growth that what is in flight explains, while jobs finish
//	file_per_job                5.3 KiB/job     -1.3 KiB/job to 11.9 KiB/job  growth of mapped files: page cache, which the system takes back
//	shmem_per_job                   0 B/job               0 B/job to 0 B/job  growth of shared memory, which counts against /dev/shm
//	kept                              0.0 %                  -2.2 % to 2.2 %  part of a partition's memory that stays resident when it is gone
//	most_in_flight                       69                                -  the most partitions at once that held vectors or made them; by structure, jobs_in_flight 40 x partitions 2 = 80
//	partitions_per_job           11.000/job         10.497/job to 11.504/job  growth of the partitions that hold vectors
//	jobs_waiting_per_job          0.000/job           0.000/job to 0.000/job  growth of the jobs that have not begun, 0.0 in the mean
//	send_per_job                 10.981/job         10.479/job to 11.483/job  growth of the partitions blocked in send, 35.9 in the mean
//	channel_per_job               0.000/job           0.000/job to 0.000/job  growth of the partitions in the channel, 1.0 in the mean
//	finish_per_job                0.000/job           0.000/job to 0.000/job  growth of the partitions that wait for a finalizer, 0.0 in the mean
//	dealloc_per_job               0.002/job          -0.017/job to 0.021/job  growth of the blocks that wait to be freed, 0.0 in the mean
//	synthesized_per_hour           7246.4/h                                -  partitions that left synthesis
//	into_channel_per_hour          1187.9/h                                -  partitions that the channel took
//	out_of_channel_per_hour        1187.9/h                                -  partitions that GPU workers took
//	synth_utilization               100.0 %                                -  busy part of synth
//	gpu_utilization                 100.0 %                                -  busy part of gpu
//	time_to_limit                   110.3 s               107.6 s to 113.2 s  from the end of the load until 4.0 GiB are resident
//	time_to_limit_from_start        150.8 s               147.1 s to 154.8 s  the same from the baseline, as after a restart
//
// Anonymous memory is fitted to what was in flight at each sample, and what is left to the jobs that are finished.
// Samples that follow each other are alike, and the intervals allow for that. Mapped files and shared memory are listed
// apart: page cache is no leak. A leak needs ten finished jobs at least; --json has the same numbers for programs, and
// the exit code is 0 whatever is found.
//
// # This machine
//
// Doctor lists every limit that this machine sets to a process, with the file that it was read from and what of it is
// used, names the one that binds, and says what is odd. In a container of 8 GiB on a larger machine it begins
//
//	host memory is bound by cgroup /docker/4f1a: 8.0 GiB (/sys/fs/cgroup/docker/4f1a/memory.max)
//
//	bounds             limit      used       left  set by               file
//	host memory    125.8 GiB  12.1 GiB  113.7 GiB  RAM                  /proc/meminfo
//	host memory      8.0 GiB  54.7 MiB    7.9 GiB  cgroup /docker/4f1a  /sys/fs/cgroup/docker/4f1a/memory.max
//	shared memory   64.0 MiB       0 B   64.0 MiB  /dev/shm             /dev/shm
//	locked memory    8.0 MiB       0 B    8.0 MiB  memlock              /proc/self/limits
//	device memory  139.8 GiB       0 B  139.8 GiB  GPU 0 (NVIDIA H200)  nvidia-smi
//	mappings           65530        30      65500  vm.max_map_count     /proc/sys/vm/max_map_count
//
// Verdicts on machine: here count the limit that binds, and name its file. What is resident may not exceed RAM,
// cgroups, memory.high (above which the kernel throttles), CommitLimit (where vm.overcommit_memory is 2) and the memory
// nodes that a process is bound to; the others bound what their names say.
//
// headroom doctor SCENARIO also compares the scenario's machine with this one. If it has more of anything the exit code
// is 2, as for headroom record, and both amounts are printed: a machine sold with 128 GiB never shows all of it. What
// the scenario pins at the least is compared with memlock.
//
// The JSON has machine, binding, limits (each with bounds, device, name, file, limit_bytes, used_bytes, left_bytes),
// mappings, overcommit, swap_bytes, swap_used_bytes, gpus (name, total_bytes, usable_bytes, used_bytes), confinement (how
// record --confine would hold a prover), findings (about, text) and plan (scenario, granted, shortfalls with key, unit,
// needs, grants, limit_name, limit_file, text). Linux only.
//
// # Scenarios
//
// Headroom scenarios lists those that come with it: phase2 to phase12-post and today are the generations of a published
// prover on one machine (docs/generations.md), g01 to g25 cases from the field with what is to be learned from each
// (docs/field-cases.md). Headroom scenarios show prints one, to be changed and used as a file:
//
//	$ headroom scenarios show example
//	schema: 1
//	title: two workers on a small machine
//	description: >-
//	  Four jobs of a small circuit, to show the shape of a scenario. The numbers of its profile are made up.
//	machine:
//	  ram: 8GiB
//	  cores: 2
//	config:
//	  jobs_in_flight: 2
//	  admission: {permits: 2, release: after_send}
//	  channel: {capacity: 1}
//	  gpu: {workers_per_device: 1}
//	workload: {jobs: 4, kind: small}
//	profile: example
//	seed: 1
//	kinds:
//	  small: {circuit: mimc, log2_constraints: 13, partitions: 4, data: 64MiB, leaf: 4KiB, priority: 0}
package main
