package consolidation

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
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
		if lines := f.lineCount(); h.LineLimit > 0 && float64(lines) > sizeWarning*float64(h.LineLimit) {
			a.tell(health.Warning, health.Place{Path: f.Path}, fmt.Sprintf("has %d lines; %s shows %d", lines, h.Name, h.LineLimit), sizeHint)
		}
	}
	a.large("", "the files that a session begins with together have", total, h.TotalLimit)
}

const sizeHint = "move what is not needed in every session into a topic file below memory/, where it is found by searching"

func (a *auditor) large(path, who string, n, limit int) {
	if limit <= 0 || float64(n) <= sizeWarning*float64(limit) {
		return
	}
	a.tell(health.Warning, health.Place{Path: path},
		fmt.Sprintf("%s %d %s, over %.0f %% of the %d that %s shows", who, n, a.Host.unit(), 100*sizeWarning, limit, a.Host.Name), sizeHint)
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

// Host describes how a host shows the files that a session begins with.
type Host struct {
	// Name is the name by which the host is chosen.
	Name string
	// Files are the shown files, in the host's order.
	Files []string
	// FileLimit is the most units of one file that the host shows. TotalLimit is the most units
	// of all files. For either, 0 means no limit.
	FileLimit, TotalLimit int
	// LineLimit is the most lines of one file that the host shows. 0 means no limit.
	LineLimit int
	// Head and Tail are the shares of FileLimit that the host keeps at the head and the tail of a
	// larger file.
	Head, Tail float64
	// Bytes reports whether the limits count bytes. If not, they count UTF-16 units.
	Bytes bool
}

// hosts returns the hosts whose limits are known.
//
// OpenClaw has the limits bootstrapMaxChars and bootstrapTotalMaxChars. Of a longer file it keeps
// 70 % of the limit at the head and 20 % at the tail. Codex keeps the head of AGENTS.md up to
// project_doc_max_bytes. Claude Code keeps the first 200 lines or 25 KB of its memory's
// MEMORY.md, whichever is less.
func hosts() []Host {
	return []Host{
		{Name: "openclaw", Files: []string{"AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md", "MEMORY.md"},
			FileLimit: 20_000, TotalLimit: 150_000, Head: .7, Tail: .2},
		{Name: "codex", Files: []string{"AGENTS.md"}, FileLimit: 32 << 10, TotalLimit: 32 << 10, Head: 1, Bytes: true},
		{Name: "claude-code", Files: []string{"MEMORY.md"}, FileLimit: 25_000, LineLimit: 200, Head: 1, Bytes: true},
	}
}

// HostNames returns the hosts whose limits are known.
func HostNames() (names []string) {
	for _, h := range hosts() {
		names = append(names, h.Name)
	}
	return names
}

// HostByName finds a host.
func HostByName(name string) (Host, bool) {
	name = textutil.MeantHost(name, HostNames())
	for _, h := range hosts() {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

// Ample returns the size of a file up to which an audit does not call it large for the host.
func (h *Host) Ample() int { return int(sizeWarning * float64(h.FileLimit)) }

// unit returns the unit in which the host counts.
func (h *Host) unit() string {
	if h.Bytes {
		return "bytes"
	}
	return "characters"
}

// size returns the length of a text in the host's unit.
func (h *Host) size(s string) int {
	if h.Bytes {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// offset returns the byte at which the first n units of a text end, never inside a
// rune.
func (h *Host) offset(s string, n int) int {
	if h.Bytes {
		for n = min(n, len(s)); n > 0 && n < len(s) && !utf8.RuneStart(s[n]); n-- {
		}
		return n
	}
	units := 0
	for i, r := range s {
		if units += utf16.RuneLen(r); units > n {
			return i
		}
	}
	return len(s)
}

// keep returns the parts of a text that the host shows when only room units are left for all
// files. The host shows the bytes before head and the bytes from tail on.
func (h *Host) keep(s string, room int) (head, tail int) {
	limit := h.FileLimit
	if limit == 0 || room < limit {
		limit = room
	}
	head, tail = len(s), len(s)
	if size := h.size(s); size > limit {
		head = h.offset(s, int(float64(limit)*h.Head))
		tail = h.offset(s, size-int(float64(limit)*h.Tail))
	}
	if n := h.LineLimit; n > 0 {
		at := 0 // where the first n lines end
		for l := range strings.Lines(s) {
			if n--; n < 0 {
				break
			}
			at += len(l)
		}
		if at < head {
			head, tail = at, len(s)
		}
	}
	return head, max(head, tail)
}
