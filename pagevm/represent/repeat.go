package represent

import (
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

const (
	// leastRepeat is the size from which lines that stand already are worth a line that says
	// so, in bytes.
	leastRepeat = 400
	// refers begins every line that stands for others.
	refers = "[… as above: "
)

// Repeat is a text in which lines that an earlier one has in the same order are replaced by
// a line that names the first and the last of them; above says where the earlier text is.
// It is "" where nothing of some size repeats. What it shows can only be read where the
// earlier text stands whole.
func Repeat(earlier, text, above string) string {
	if earlier == text {
		return refers + above + ", " + lex.Plural(strings.Count(text, "\n")+1, "line") + ", has not changed]"
	}
	old, now := strings.Split(earlier, "\n"), strings.Split(text, "\n")
	at := map[string][]int{}
	for i, l := range old {
		if strings.TrimSpace(l) != "" && len(at[l]) < mostPlaces {
			at[l] = append(at[l], i)
		}
	}
	var out []string
	saved := false
	for i := 0; i < len(now); {
		n := longestRun(old, now[i:], at[now[i]])
		size := 0
		for _, l := range now[i : i+n] {
			size += len(l) + 1
		}
		if size < leastRepeat || n < 3 {
			out = append(out, now[i])
			i++
			continue
		}
		saved = true
		out = append(out, now[i], refers+above+", "+lex.Plural(n-2, "line")+" up to the next]", now[i+n-1])
		i += n
	}
	if !saved {
		return ""
	}
	return strings.Join(out, "\n")
}

// mostPlaces is how many places of one line are tried.
const mostPlaces = 8

// longestRun is how many lines from the first on stand in an old text, at the best of some
// places.
func longestRun(old, now []string, places []int) (best int) {
	for _, p := range places {
		n := 0
		for n < len(now) && p+n < len(old) && old[p+n] == now[n] {
			n++
		}
		best = max(best, n)
	}
	return best
}

// Refers reports whether a text shows lines by naming where they stand.
func Refers(text string) bool {
	return strings.HasPrefix(text, refers) || strings.Contains(text, "\n"+refers)
}
