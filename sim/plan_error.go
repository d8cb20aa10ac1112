package sim

// PlanError says why a plan cannot be simulated: it asks for what its profile does not know, or for more than can be
// added up. What else goes wrong in a run is a fault of the simulator.
type PlanError struct{ err error }

// Error says what is wrong with the plan.
func (e *PlanError) Error() string { return e.err.Error() }

// Unwrap returns the error that it is about.
func (e *PlanError) Unwrap() error { return e.err }
