package consolidation

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

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
