package explain

// NewBarePair is NewPair without the neighbours, which have no part in the shares and take most of the runs.
var NewBarePair = newPair
