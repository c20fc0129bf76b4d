package plan

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

// showing returns a function that reports whether the prompt shows a hit already. A hit is shown
// if a block of the kernel cites the same lines. It is also shown if most of its lines but headings are
// in the host's messages, as after the model read the file itself.
func showing(c *call, proj *pagevm.Projection, texts map[string]string, hits []retrieval.Hit) func(retrieval.Hit) bool {
	refs := shownRefs(c, proj)
	standing := standingLines(c, proj, texts, hits)
	return func(h retrieval.Hit) bool {
		for _, r := range refs {
			if h.Kind == retrieval.Memory && r.Path == h.Path && overlaps(r, h.StartLine, h.EndLine) {
				return true
			}
		}
		all, there := 0, 0
		for l := range strings.SplitSeq(h.Text, "\n") {
			if l = bareLine(l); l != "" && !strings.HasPrefix(l, "#") {
				all += len(l)
				if standing[l] {
					there += len(l)
				}
			}
		}
		return all > 0 && 5*there >= 4*all
	}
}

// overlaps reports whether a citation covers most of some lines.
func overlaps(r memkernel.Ref, from, to int) bool {
	common := min(r.EndLine, to) - max(r.StartLine, from) + 1
	return 2*common > to-from+1
}

// shownRefs returns the places that the kernel's blocks show in full.
func shownRefs(c *call, proj *pagevm.Projection) []memkernel.Ref {
	var refs []memkernel.Ref
	for it := range proj.Blocks() {
		if page := c.Page(it.Page); page != nil && it.Level == pagevm.Full {
			refs = append(refs, page.Refs...)
		}
	}
	return refs
}

// minLine is the length in bytes from which a line rarely occurs twice by coincidence.
const minLine = 12

// bareLine returns a line in the form for comparison, without a prefix that tools added (a number
// and a mark). It returns "" for a line that is too short to compare.
func bareLine(l string) string {
	l = strings.TrimSpace(l)
	digits := 0
	for digits < len(l) && l[digits] >= '0' && l[digits] <= '9' {
		digits++
	}
	if digits > 0 {
		for _, mark := range [...]string{"→", "\t", "|", ":"} {
			if rest, ok := strings.CutPrefix(strings.TrimLeft(l[digits:], " "), mark); ok {
				l = strings.TrimSpace(rest)
				break
			}
		}
	}
	if len(l) < minLine {
		return ""
	}
	return l
}

// tagged matches what a day's log has in front of a person's statement. The message that says it may
// have it within a line.
var tagged = textutil.LazyRegexp(`^[-*+] (?:\[[a-z]+\] )+`)

// standingLines returns those lines of the hits that occur in the host's messages.
func standingLines(c *call, proj *pagevm.Projection, texts map[string]string, hits []retrieval.Hit) map[string]bool {
	wanted := map[string]bool{}
	for i := range hits {
		for l := range strings.SplitSeq(hits[i].Text, "\n") {
			if l = bareLine(l); l != "" {
				wanted[l] = false
			}
		}
	}
	if len(wanted) == 0 {
		return wanted
	}
	said := map[string]string{} // the statements of lines with tags
	for l := range wanted {
		if text := l[len(tagged.FindString(l)):]; len(text) < len(l) && len(text) >= minLine {
			said[l] = text
		}
	}
	look := func(text string) {
		for l, words := range said {
			wanted[l] = wanted[l] || strings.Contains(text, words)
		}
		for l := range strings.SplitSeq(text, "\n") {
			if len(l) < minLine {
				continue
			}
			if l = bareLine(l); l != "" {
				if there, ok := wanted[l]; ok && !there {
					wanted[l] = true
				}
			}
		}
	}
	for i := range c.Request.System {
		look(c.Request.System[i].Text)
	}
	eachShown(c, proj, texts, look)
	return wanted
}

// eachShown calls look with each text of the host's messages, as the prompt shows it.
func eachShown(c *call, proj *pagevm.Projection, texts map[string]string, look func(string)) {
	for it, s := range proj.Spots(c.Hosts) {
		switch {
		case !it.Hosted():
			continue
		case it.Level != pagevm.Full:
			look(c.text(texts, it.Hash))
			continue
		}
		for j := it.Part; j < it.Part+it.Parts; j++ {
			part := &c.Msgs[s.Message].Parts[j]
			if part.Kind == memkernel.PartText {
				look(part.Text)
			}
			if part.Result != nil {
				for k := range part.Result.Content {
					look(part.Result.Content[k].Text)
				}
			}
		}
	}
}

// citation returns the text form of a place.
func citation(r memkernel.Ref) string {
	switch {
	case r.StartLine == 0:
		return r.Path
	case r.StartLine == r.EndLine:
		return fmt.Sprintf("%s#L%d", r.Path, r.StartLine)
	}
	return fmt.Sprintf("%s#L%d-L%d", r.Path, r.StartLine, r.EndLine)
}
