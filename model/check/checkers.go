package check

import "slices"

// Checker is one thing that every run must satisfy.
type Checker struct {
	Number    int
	Name      string
	Statement string // what must hold
	Reason    string // why it matters

	judge func(*Stream) judge
}

// Checkers returns all checkers in order of their numbers, which start at 1 and are never given to another.
func Checkers() []Checker { return slices.Clone(checkers) }

var checkers = []Checker{
	{1, "way", "Every job begins and ends once, and every partition goes through the stages of its kind once and in the order that the configuration sets.",
		"A stage that is left out, repeated or early makes every duration and every byte of the run meaningless.",
		func(*Stream) judge { return way{} }},
	{2, "permits", "No more partitions hold permits than there are, each returns its permit at the release point or when it leaves, and the recorded number of free ones agrees.",
		"Permits are what bounds memory; one that is lost slows the pipeline for ever, one too many breaks the bound.",
		func(*Stream) judge { return permits{} }},
	{3, "channel", "The channel never holds more than its capacity, partitions enter it in the order in which their syntheses ended, and the recorded numbers agree.",
		"Finished partitions pile up before the channel: who waits there, and how long, is what peaks are made of.",
		func(*Stream) judge { return channel{} }},
	{4, "blocks", "No stage reads a block that is freed or about to be, blocks go at the configured point and not before, and each is freed once.",
		"A block freed early is a crash or a wrong proof, one freed twice corrupts memory, one never freed is a leak.",
		func(*Stream) judge { return blocks{} }},
	{5, "bytes", "No job and no partition gives back more bytes than it took.",
		"A negative amount hides another's memory and makes the predicted peak too low.",
		func(s *Stream) judge { return newBytes(s) }},
	{6, "holders", "A device's lock has one holder, a worker one partition, a lane one stage; jobs in flight, synthesis workers and those who wait for one, finalizers and dealloc workers stay within their numbers; the longest-idle worker takes next.",
		"Two kernels on one device share its memory and its time, which no profile accounts for.",
		func(s *Stream) judge { return newHolders(s) }},
	{7, "time", "Time never runs back, and a stage ends after it began and begins after it was started.",
		"Durations are calibrated from these instants.",
		func(*Stream) judge { return &clock{} }},
	{8, "conserving", "After each step nothing is left waiting that could start, partitions of a job that was given up have left, and a stall is reported when there is one and only then.",
		"A pipeline that idles while work waits is slower than its configuration allows, and no simulation would show why.",
		func(*Stream) judge { return conserving{} }},
	{9, "zero", "At the end of the run every count is zero.",
		"What is left over is a leak of memory, permits or workers that the next job pays for.",
		func(*Stream) judge { return zero{} }},
	{10, "replay", "A fresh core that is given the recorded inputs answers exactly the recorded effects.",
		"Live runs and simulations are comparable only if the same policy drove both.",
		func(s *Stream) judge { return newReplay(s) }},
	{11, "rounds", "Inputs of one instant come in rounds: downstream stages first and by lane, then timers, arrivals and cancellations; what was started at this instant belongs to the next round.",
		"The order of simultaneous events decides who waits; without a rule the same run would never come out twice.",
		func(*Stream) judge { return &rounds{} }},
	{12, "turn", "Partitions are admitted, get synthesis workers and leave the channel in the order that the configuration sets.",
		"An order that is not kept lets an urgent proof wait behind others that may.",
		func(*Stream) judge { return turn{} }},
	{13, "ledger", "Nothing is reserved that is not free, what is recorded as reserved is the sum of what has been and was not released, and all working bytes are released in the end.",
		"The ledger is what admission goes by: one that drifts admits too much, or in the end nothing.",
		func(*Stream) judge { return ledger{} }},
	{14, "resident", "Data is loaded once before it is needed, no job begins without what it needs, and nothing is evicted that a job needs.",
		"A proof without its key fails, and a key that is loaded twice is memory nobody planned.",
		func(*Stream) judge { return resident{} }},
	{15, "batches", "Only jobs of one kind that wait for it are joined, never more than the configuration says, and a full batch is closed.",
		"A batch holds the memory of all its proofs, and jobs that nobody joins wait for ever.",
		func(*Stream) judge { return batches{} }},
}
