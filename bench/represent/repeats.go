package represent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// Repeats is what could be left out of results at their first appearance without losing
// anything, in bytes. Each byte is counted once, in this order.
type Repeats struct {
	All int
	// Whole results equal an earlier one of the session; Lines stood in an earlier read of
	// the same file.
	Whole, Lines int
	// Unseen is what a terminal doesn't show: escape sequences, and what a carriage return
	// overwrites. Runs are lines behind the second of five or more that differ in digits
	// alone.
	Unseen, Runs int
}

var (
	escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
	digits  = regexp.MustCompile(`\d+`)
)

// leastRepeat is the size from which a repetition is worth a reference, in bytes;
// leastRun how many like lines are worth a line that says so.
const (
	leastRepeat = 400
	leastRun    = 5
)

// Repeat counts the results of a session, by content kind with All among the kinds.
func Repeat(results []represent.EvidenceInput, out map[string]*Repeats) {
	seen := map[string]bool{}
	read := map[string]map[string]bool{}
	for _, in := range results {
		r := repeats(&in, seen, read)
		for _, kind := range []string{All, represent.ContentKind(in.Text)} {
			if out[kind] == nil {
				out[kind] = &Repeats{}
			}
			k := out[kind]
			*k = Repeats{k.All + r.All, k.Whole + r.Whole, k.Lines + r.Lines, k.Unseen + r.Unseen, k.Runs + r.Runs}
		}
	}
}

func repeats(in *represent.EvidenceInput, seen map[string]bool, read map[string]map[string]bool) Repeats {
	r := Repeats{All: len(in.Text)}
	if seen[in.Text] && len(in.Text) >= leastRepeat {
		r.Whole = len(in.Text)
		return r
	}
	seen[in.Text] = true
	shown := lastWritten(in.Text)
	r.Unseen = len(in.Text) - len(shown)
	lines := strings.Split(shown, "\n")
	if kind, paths := toolcall.Classify(in.Tool, in.Input); kind == toolcall.CallRead && len(paths) == 1 {
		old := read[paths[0]]
		if old == nil {
			old = map[string]bool{}
			read[paths[0]] = old
		}
		for _, l := range lines {
			if old[l] {
				r.Lines += len(l) + 1
			}
			old[l] = true
		}
		if r.Lines < leastRepeat {
			r.Lines = 0
		}
	}
	if r.Lines == 0 {
		r.Runs = likeRuns(lines)
	}
	return r
}

// lastWritten is a text as a terminal shows it in the end.
func lastWritten(text string) string {
	if !strings.ContainsAny(text, "\r\x1b") {
		return text
	}
	var b strings.Builder
	for l := range strings.Lines(escapes.ReplaceAllString(text, "")) {
		l = strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")
		b.WriteString(l[strings.LastIndexByte(l, '\r')+1:] + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// likeRuns are the bytes of lines that a run of like ones could do without.
func likeRuns(lines []string) (n int) {
	shape := func(l string) string { return digits.ReplaceAllString(l, "#") }
	for i := 0; i < len(lines); {
		j := i + 1
		for j < len(lines) && shape(lines[j]) == shape(lines[i]) {
			j++
		}
		if j-i >= leastRun {
			for _, l := range lines[i+2 : j] {
				n += len(l) + 1
			}
		}
		i = j
	}
	return n
}

// RepeatsTable shows them by kind, the largest first.
func RepeatsTable(by map[string]*Repeats) string {
	var kinds []string
	for k := range by {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return by[b].All - by[a].All })
	var b strings.Builder
	b.WriteString("| kind | bytes | equal to an earlier result | lines of an earlier read of the file | not shown by a terminal | runs of like lines |\n|---|---|---|---|---|---|\n")
	for _, k := range kinds {
		r := by[k]
		share := func(n int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(r.All, 1))) }
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s |\n", k, r.All, share(r.Whole), share(r.Lines), share(r.Unseen), share(r.Runs))
	}
	return b.String()
}
