package cli

// closest returns the word with the fewest edits from text, or "" if none is within a third of its letters.
func closest(text string, words []string) string {
	best, fewest := "", len(text)
	for _, w := range words {
		if n := edits(text, w); n < fewest && 3*n <= max(3, len(w)) {
			best, fewest = w, n
		}
	}
	return best
}

// edits returns the Levenshtein distance of two words: insertions, deletions and changes of one byte.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
