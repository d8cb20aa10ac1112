// Package modeltest is for testing policies: a change of the core, or something of one's own that takes its place. It
// draws configurations, workloads and orders of completions, drives what is under test with them, and judges every
// step by the checkers of package check.
//
// A property test of a changed core is
//
//	rapid.Check(t, func(t *rapid.T) {
//		setup := modeltest.Setups().Draw(t, "setup")
//		core, err := model.NewCore(setup.Config, setup.Kinds)
//		if err != nil {
//			t.Fatal(err)
//		}
//		if err := modeltest.Drive(modeltest.By(t), core, setup); err != nil {
//			t.Fatal(err)
//		}
//	})
//
// What rapid finds it makes small: few jobs, the first value of each knob, the longest-running stage first. Open run.go
// first, then config.go. To prove something of a small configuration instead, see package reach.
package modeltest

import (
	"pgregory.net/rapid"

	"headroom/model"
)

// Choose decides: it returns a number from 0 to n-1, for n of 1 or more. The smaller the number, the simpler what is
// chosen. A method IntN of a generator of random numbers is one.
type Choose func(n int) int

// By decides as a property of rapid has it.
func By(t *rapid.T) Choose {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
}

// Listed decides by a list of choices, such as what a fuzzer makes up. After the last one it takes the first option.
func Listed(choices []byte) Choose {
	return func(n int) int {
		if len(choices) == 0 {
			return 0
		}
		choice := choices[0]
		choices = choices[1:]
		return int(choice) % n
	}
}

// Pick returns one of the options.
func Pick[T any](choose Choose, options ...T) T { return options[choose(len(options))] }

// Configs draws what Config chooses.
func Configs() *rapid.Generator[model.Config] {
	return rapid.Custom(func(t *rapid.T) model.Config { return Config(By(t)) })
}

// Setups draws configurations with kinds, jobs and disturbances.
func Setups() *rapid.Generator[Setup] {
	return rapid.Custom(func(t *rapid.T) Setup { return ChooseSetup(By(t)) })
}
