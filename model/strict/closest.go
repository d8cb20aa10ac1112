package strict

// Closest returns the word with the fewest edits from text, or "" if none is within a third of its letters, rounded.
func Closest(text string, words []string) string {
	best, fewest := "", len(text)
	for _, w := range words {
		if n := edits(text, w); n < fewest && n <= (len(w)+1)/3 {
			best, fewest = w, n
		}
	}
	return best
}

// edits returns the Levenshtein distance of two words: insertions, deletions and changes of one byte.
func edits(a, b string) int {
	const most = 64 // no word that is suggested is longer; a longer text is far from all of them
	if len(a) > most {
		return len(a)
	}
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
