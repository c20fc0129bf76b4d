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
	var lines []checkpoint.Line
	meta := checkpoint.Meta{SessionKey: checkpoint.Name(s.Key())}
	for _, e := range Buffered(text) {
		if e.session == s.Name() {
			lines = checkpoint.After(lines, e.lines)
			meta.Captured, meta.CreatedAt = max(meta.Captured, e.captured), checkpoint.Time{Time: e.At.UTC()}
		}
	}
	if meta.CreatedAt.IsZero() {
		return nil, nil
	}
	out := checkpoint.FromLines(lines)
	out.Meta = meta
	return out, nil
}

// ReadBuffer returns the buffer's text, or "" if the buffer does not exist.
func ReadBuffer(private *markdownstore.Store) (string, error) {
	l, err := private.ReadFile(BufferPath)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return l.Text, err
}

// bufferEntry is an entry with its place in the file.
type bufferEntry struct {
	bufferHead
	lines    []checkpoint.Line
	from, to int // bytes, with the entry's marker
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
		if line, ok := checkpoint.ParseLine(l); ok {
			e.lines = append(e.lines, line)
		}
		e.to = at
		open = !strings.HasPrefix(l, "<!-- mk:")
	}
	return out
}

// bufferTitle is the first line of a cycle.
var bufferTitle = textutil.LazyRegexp(`^# Working buffer of session .+, \d{4}-\d{2}-\d{2}\s*$`)

// ForeignBuffer returns a text of the buffer without the kernel's entries. It removes the entries
// that hold only lines of the kernel's form, up to their markers. An entry that somebody else
// wrote into stays whole.
func ForeignBuffer(text string) string {
	var b strings.Builder
	gone := false
	for lines := strings.SplitAfter(text, "\n"); len(lines) > 0; {
		if n := ownEntry(lines); n > 0 {
			lines, gone = lines[n:], true
			continue
		}
		if kept := b.String(); gone && kept != "" && !strings.HasSuffix(kept, "\n\n") && !strings.HasSuffix(kept, "\n\r\n") {
			b.WriteString("\n")
		}
		b.WriteString(lines[0])
		lines, gone = lines[1:], false
	}
	if strings.TrimSpace(b.String()) == "" {
		return ""
	}
	return b.String()
}

// ownEntry counts the lines of the kernel's entry at the beginning of a text, with the title of
// its cycle and following blank lines. It returns 0 if the text does not begin with such an
// entry.
func ownEntry(lines []string) int {
	n := 0
	blanks := func() {
		for n < len(lines) && lines[n] != "" && strings.TrimSpace(lines[n]) == "" {
			n++
		}
	}
	if bufferTitle.MatchString(lines[0]) {
		n++
		blanks()
	}
	if n == len(lines) {
		return 0
	}
	if _, ok := parseHead(lines[n]); !ok {
		return 0
	}
	for n++; n < len(lines); n++ {
		if strings.HasPrefix(lines[n], "<!-- mk:") {
			n++
			blanks()
			return n
		}
		if _, ok := checkpoint.ParseLine(lines[n]); !ok && strings.TrimSpace(lines[n]) != "" {
			return 0
		}
	}
	return 0
}

// forgetEntries takes a session's entries out of the buffer.
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
