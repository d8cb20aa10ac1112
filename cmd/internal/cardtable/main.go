// Command cardtable makes the tables of predicted and measured runs from a folder of stored traces, and writes them
// into a document. The folder's profile, which was made from the traces that its plan names for that, predicts every
// other run from the header of its trace. It needs no card. Run it in the root of the repository after new traces were
// recorded:
//
//	go run ./cmd/internal/cardtable testdata/h200 docs/h200.md
//
// Open folder.go (what is read) first, then rows.go (what is compared), then tables.go (what is written).
package main

import (
	"fmt"
	"os"
	"regexp"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: cardtable FOLDER DOCUMENT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "cardtable:", err)
		os.Exit(1)
	}
}

func run(folder, document string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	written, _, err := rewrite(folder, text)
	if err != nil {
		return err
	}
	return os.WriteFile(document, written, 0o644)
}

// rewrite returns the document with its tables made anew from the folder's traces, and what is in them.
func rewrite(folder string, document []byte) ([]byte, *results, error) {
	f, err := readFolder(folder)
	if err != nil {
		return nil, nil, err
	}
	r, err := f.results()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range r.tables() {
		place := regexp.MustCompile(`(?s)<!-- ` + t.name + ` -->\n.*?<!-- end -->`)
		if !place.Match(document) {
			return nil, nil, fmt.Errorf("the document has no place for the table %s: <!-- %s -->, <!-- end -->", t.name, t.name)
		}
		table := fmt.Appendf(nil, "<!-- %s -->\n%s<!-- end -->", t.name, t.text)
		document = place.ReplaceAllLiteral(document, table)
	}
	return document, r, nil
}
