// Command fitpublished fits the embedded profile of the published prover anew, writes it, and prints how well it does.
// Run it in the root of the repository after a change of the core, the simulator or the published table:
//
//	go run ./cmd/internal/fitpublished
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"headroom/calibrate/published"
	"headroom/scenarios"
)

const name = "porep-32g-7995wx-5070ti"

func main() {
	to := flag.String("o", filepath.Join("scenarios", "profiles", name+".yaml"), "where to write the profile")
	flag.Parse()
	if err := run(os.Stdout, *to); err != nil {
		fmt.Fprintln(os.Stderr, "fitpublished:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, to string) error {
	table, err := scenarios.Published()
	if err != nil {
		return err
	}
	fit, err := published.New(name, rows(table))
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := fit.Profile.Write(&text); err != nil {
		return err
	}
	if err := os.WriteFile(to, text.Bytes(), 0o644); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	printNumbers(w, fit)
	printRows(w, fit)
	if err := printRisks(w, fit); err != nil {
		return err
	}
	return w.Flush()
}
