package workstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/markdownstore"
)

// bufferHead is the heading of an entry.
type bufferHead struct {
	At       time.Time
	What     string // "turn 12", or BufferDump
	session  string
	full     float64
	captured int
}

// BufferDump marks an entry that holds all of the state.
const BufferDump = "dump"

func (h *bufferHead) String() string {
	return fmt.Sprintf("## %s, %s of session %s, %.0f %% full, message %d", h.At.UTC().Format(time.RFC3339), h.What, h.session, 100*h.full, h.captured)
}

var bufferHeading = textutil.LazyRegexp(`^## (\S+Z), (turn \d+|dump) of session (\S+), (\d+) % full, message (\d+)$`)

func parseHead(l string) (h bufferHead, ok bool) {
	m := bufferHeading.FindStringSubmatch(strings.TrimSpace(l))
	if m == nil {
		return h, false
	}
	at, err := time.Parse(time.RFC3339, m[1])
	h = bufferHead{At: at, What: m[2], session: m[3]}
	h.captured, _ = strconv.Atoi(m[5]) // a number with too many digits is never used
	return h, err == nil
}

// bufferOf joins the buffer's entries of a session into a checkpoint.
func bufferOf(private *markdownstore.Store, s session) (*checkpoint.Checkpoint, error) {
	text, err := ReadBuffer(private)
	if store.OutOfReach(err) {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	var lines checkpoint.Record
	captured, at := 0, time.Time{}
	for _, e := range Buffered(text) {
		if e.session == s.Name() {
			lines = lines.Then(e.lines)
			captured, at = max(captured, e.captured), e.At
		}
	}
	if at.IsZero() {
		return nil, nil
	}
	return lines.Checkpoint(s.Key(), captured, at), nil
}

// ReadBuffer returns the buffer's text, or "" if the buffer does not exist.
func ReadBuffer(private *markdownstore.Store) (string, error) {
	l, err := private.ReadFile(BufferPath)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return l.Text, err
}

// bufferEntry is an entry of the buffer, with its place in the file.
type bufferEntry struct {
	bufferHead
	lines    checkpoint.Record
	from, to int // bytes, with the entry's marker
	// foreign reports that somebody else wrote into the entry. ends reports that the entry has its
	// marker.
	foreign, ends bool
}

// Buffered returns the entries that have the kernel's form. It ignores other text.
func Buffered(text string) []bufferEntry {
	var out []bufferEntry
	at, open := 0, false
	for l := range strings.SplitAfterSeq(text, "\n") {
		from := at
		at += len(l)
		if h, ok := parseHead(l); ok {
			out, open = append(out, bufferEntry{bufferHead: h, from: from, to: at}), true
			continue
		}
		if !open {
			continue
		}
		e := &out[len(out)-1]
		e.to, e.ends = at, strings.HasPrefix(l, "<!-- mk:")
		open = !e.ends
		if line, ok := checkpoint.ParseLine(l); ok {
			e.lines = append(e.lines, line)
		} else {
			e.foreign = e.foreign || !e.ends && strings.TrimSpace(l) != ""
		}
	}
	return out
}

var (
	// bufferTitle matches the first line of a cycle at the end of a text.
	bufferTitle = textutil.LazyRegexp(`(?m)^# Working buffer of session .+, \d{4}-\d{2}-\d{2}\s*\z`)
	blankLines  = textutil.LazyRegexp(`^(?:[ \t\r]*\n)*`)
)

// ForeignBuffer returns a text of the buffer without the kernel's entries. It removes the entries
// that hold only lines of the kernel's form, up to their markers, with the titles of their cycles.
// An entry that somebody else wrote into stays whole.
func ForeignBuffer(text string) string {
	kept, at := "", 0
	keep := func(part string) {
		if kept != "" && !strings.HasSuffix(kept, "\n\n") && !strings.HasSuffix(kept, "\n\r\n") {
			kept += "\n"
		}
		kept += part
	}
	for _, e := range Buffered(text) {
		if e.ends && !e.foreign {
			if part := bufferTitle.ReplaceAllString(text[at:e.from], ""); part != "" {
				keep(part)
			}
			at = e.to + len(blankLines.FindString(text[e.to:]))
		}
	}
	if at < len(text) || strings.HasSuffix(text, "\n") {
		keep(text[at:])
	}
	if strings.TrimSpace(kept) == "" {
		return ""
	}
	return kept
}

// forgetEntries removes a session's entries from the buffer.
func forgetEntries(ctx context.Context, private *markdownstore.Store, session string) error {
	l, err := private.ReadFile(BufferPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text := l.Text
	entries := Buffered(text)
	for i := len(entries) - 1; i >= 0; i-- {
		if e := &entries[i]; e.session == session {
			text = text[:e.from] + text[e.to:]
		}
	}
	if text == l.Text {
		return nil
	}
	_, err = private.Redact(ctx, BufferPath, l.Hash, text)
	return err
}

// ClearBuffer removes the kernel's entries from the beginning of the buffer. bytes is the length
// of that part, and hash is its hash. Text that somebody else wrote there, and all later text,
// stays. If the bytes have another hash, it returns a [markdownstore.ConflictError] and removes
// nothing.
func ClearBuffer(ctx context.Context, private *markdownstore.Store, bytes int, hash string) error {
	l, err := private.ReadFile(BufferPath)
	if err != nil {
		return err
	}
	if bytes < 0 || bytes > len(l.Text) || ingest.Hash(l.Text[:bytes]) != hash {
		return &markdownstore.ConflictError{Path: BufferPath, Want: hash, Have: l.Hash}
	}
	kept, rest := ForeignBuffer(l.Text[:bytes]), l.Text[bytes:]
	if kept == "" {
		rest = strings.TrimLeft(rest, "\r\n")
	}
	_, err = private.Replace(ctx, BufferPath, l.Hash, kept+rest)
	return err
}
