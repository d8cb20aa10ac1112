// Command fitgenerations writes the embedded profile of the generations of the published prover. Run it in the root of
// the repository after fitpublished, whose profile it begins with, and then update docs/generations.md:
//
//	go run ./cmd/internal/fitgenerations
//	go test ./cmd/internal/fitgenerations -update
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"headroom/calibrate/generations"
	"headroom/model/profile"
	"headroom/scenarios"
)

const (
	name   = "porep-32g-generations"
	shared = "porep-32g-7995wx-5070ti"
)

func main() {
	to := flag.String("o", filepath.Join("scenarios", "profiles", name+".yaml"), "where to write the profile")
	flag.Parse()
	if err := run(*to); err != nil {
		fmt.Fprintln(os.Stderr, "fitgenerations:", err)
		os.Exit(1)
	}
}

func run(to string) error {
	p, err := build()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return err
	}
	return os.WriteFile(to, text.Bytes(), 0o644)
}

// build makes the profile from the one that is fitted to the rows of phases 8 to 12.
func build() (*profile.Profile, error) {
	machine, err := scenarios.LoadProfile(shared)
	if err != nil {
		return nil, err
	}
	return generations.Profile(name, machine)
}
