package consolidation

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// shown returns the files that the host shows, in its order.
func (a *auditor) shown() []*file {
	var out []*file
	for _, name := range a.Host.Files {
		f := a.snap.File(name)
		if name == "MEMORY.md" {
			f = a.snap.Memory()
		}
		if f != nil && f.Err == nil {
			out = append(out, f)
		}
	}
	return out
}

// bootstrapSize warns before the host begins to drop anything.
func (a *auditor) bootstrapSize() {
	h := &a.Host
	total := 0
	for _, f := range a.shown() {
		n := h.size(f.Doc.Raw)
		total += n
		if head, tail := h.keep(f.Doc.Raw, math.MaxInt); head != tail {
			continue // the dropped part is reported
		}
		a.large(f.Path, "has", n, h.FileLimit)
		if lines := f.lineCount(); h.LineLimit > 0 && float64(lines) > SizeWarning*float64(h.LineLimit) {
			a.tell(health.Warning, health.Place{Path: f.Path}, fmt.Sprintf("has %d lines; %s shows %d", lines, h.Name, h.LineLimit), sizeHint)
		}
	}
	a.large("", "the files that a session begins with together have", total, h.TotalLimit)
}

const sizeHint = "move what is not needed in every session into a topic file below memory/, where it is found by searching"

func (a *auditor) large(path, who string, n, limit int) {
	if limit <= 0 || float64(n) <= SizeWarning*float64(limit) {
		return
	}
	a.tell(health.Warning, health.Place{Path: path},
		fmt.Sprintf("%s %d %s, over %.0f %% of the %d that %s shows", who, n, a.Host.unit(), 100*SizeWarning, limit, a.Host.Name), sizeHint)
}

// truncation reports the parts that the host drops of each file, by section.
func (a *auditor) truncation() {
	h := &a.Host
	room := cmp.Or(h.TotalLimit, math.MaxInt)
	for _, f := range a.shown() {
		head, tail := h.keep(f.Doc.Raw, room)
		room = max(0, room-h.size(f.Doc.Raw[:head])-h.size(f.Doc.Raw[tail:]))
		if head == tail {
			continue
		}
		dropped := sections(f.Doc, head, tail, h)
		n := h.size(f.Doc.Raw[head:tail])
		from := 1 + strings.Count(f.Doc.Raw[:head], "\n")
		to := from + strings.Count(strings.TrimSuffix(f.Doc.Raw[head:tail], "\n"), "\n")
		a.add(health.Finding{Severity: health.Error, Place: health.Lines(f.Path, from, to), Dropped: dropped, Hint: sizeHint,
			What: fmt.Sprintf("%s drops %d of %d %s: %s", h.Name, n, h.size(f.Doc.Raw), h.unit(), sectionNames(dropped))})
	}
}

// sections returns the parts of a document between two offsets.
func sections(d markdownstore.Document, from, to int, h *Host) (out []health.Section) {
	title, line, start := "", 1, 0
	part := func(end int) {
		if a, b := max(start, from), min(end, to); a < b && strings.TrimSpace(d.Raw[a:b]) != "" {
			first := line + strings.Count(d.Raw[start:a], "\n")
			out = append(out, health.Section{Heading: title, StartLine: first, EndLine: first + strings.Count(strings.TrimRight(d.Raw[a:b], "\n"), "\n"),
				Chars: h.size(d.Raw[a:b]), Whole: a == start && b == end})
		}
	}
	for _, u := range markdownstore.Units(d) {
		if u.Kind == markdownstore.UnitHeading {
			part(u.Start)
			title, line, start = u.Label, u.StartLine, u.Start
		}
	}
	part(len(d.Raw))
	return out
}

// namedSections is how many sections a message names.
const namedSections = 8

func sectionNames(dropped []health.Section) string {
	var names []string
	for i, s := range dropped {
		if i == namedSections {
			names = append(names, fmt.Sprintf("%d more", len(dropped)-i))
			break
		}
		name := "what stands before the first heading"
		if s.Heading != "" {
			name = fmt.Sprintf("%q", clip(s.Heading, 60))
		}
		if !s.Whole {
			name = "part of " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// clip cuts a text to n runes.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimSpace(string(r[:n-1])) + "…"
}
