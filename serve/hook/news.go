package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// seam is a place in a transcript: the beginning of the last turn that is known to
// be committed. The zero seam is the transcript's beginning.
type seam struct {
	Path   string `json:"path,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	// Line is the number of lines before Offset.
	Line int `json:"line,omitempty"`
	// Before is the hash of the bytes right before Offset.
	Before string `json:"before,omitempty"`
	// Compactions is the number of the host's compactions before Offset.
	Compactions int `json:"compactions,omitempty"`
	// Message is the key of the first message of the turn, for hosts that rewrite the whole file.
	Message string `json:"message,omitempty"`
}

// news is the end of a transcript: its new messages, and the turn before them.
type news struct {
	msgs []memkernel.Message
	// model is the model of the last answer, "" if no message names a model.
	model string
	// size is the size of the transcript in bytes.
	size int64
	// next is the seam for the next reading. end is the seam after the whole transcript.
	next, end seam
	// all are the messages from the beginning, if the whole file was read.
	all []memkernel.Message
	// compactions is the number of the host's compactions in the whole transcript.
	compactions int
	// lost has the errors of all lines that could not be read and were left out.
	lost []error
}

// errNoTranscript means that the host named no transcript, or a transcript that isn't written
// yet.
var errNoTranscript = errors.New("there is no transcript yet")

// readNews reads a transcript's new messages since the seam.
func readNews(h Host, path string, from seam) (*news, error) {
	if path == "" {
		return nil, errNoTranscript
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoTranscript
	}
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w; it is read with the next event once that is mended", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("read transcript %s: it is no file; the host is to name the session's own", path)
	}
	if st.Size() == 0 {
		return nil, errNoTranscript
	}
	if from.Path != path {
		from = seam{}
	}
	read := linesNews
	if h.row().whole {
		read = wholeNews
	}
	n, err := read(h, f, path, st.Size(), from)
	if errors.Is(err, transcript.ErrEmpty) {
		return nil, errNoTranscript
	}
	return n, err
}

// maxWhole is the largest transcript that is read whole, in bytes.
const maxWhole = 128 << 20 // 128 MiB

// wholeNews reads a whole transcript and returns the messages from the seam's message to the end.
func wholeNews(h Host, f io.ReaderAt, path string, size int64, from seam) (*news, error) {
	if size > maxWhole {
		return nil, fmt.Errorf("%s: it has %d bytes; at most %d are read", path, size, maxWhole)
	}
	session, err := transcript.Load(io.NewSectionReader(f, 0, size), path, &transcript.Options{Dialect: h.row().dialect, SkipBroken: true})
	if err != nil {
		return nil, fmt.Errorf("%w; nothing of it was read, and the next event tries again", err)
	}
	n := &news{size: size, next: seam{Path: path, Message: from.Message}, model: session.Model, compactions: len(session.Compactions())}
	for _, err := range session.Skipped {
		n.lost = append(n.lost, err)
	}
	n.msgs = session.View(transcript.Full)
	n.all = n.msgs
	if i := slices.IndexFunc(n.msgs, func(m memkernel.Message) bool { return m.Key == from.Message && opensTurn(&m) }); i > 0 {
		n.msgs = n.msgs[i:]
	}
	if n.ended() {
		for _, m := range n.msgs {
			if opensTurn(&m) {
				n.next.Message = m.Key
			}
		}
	}
	return n, nil
}

// linesNews reads a transcript of one record per line, which only grows, from the seam to the
// end.
func linesNews(h Host, f io.ReaderAt, path string, size int64, from seam) (*news, error) {
	wide := textutil.IsUTF16(f)
	if wide || from.Offset > size || from.Offset > 0 && hashBefore(f, from.Offset) != from.Before {
		from = seam{}
	}
	opt := &transcript.Options{Dialect: h.row().dialect, SkipBroken: true, Name: path}
	part := func() io.Reader { return io.NewSectionReader(f, from.Offset, size-from.Offset) }
	session, err := transcript.Load(part(), path, opt)
	if err == nil && from.Offset > 0 && reuses(f, from.Offset, session.Messages) {
		from = seam{}
		session, err = transcript.Load(part(), path, opt)
	}
	if err != nil {
		return nil, err
	}
	n := &news{msgs: session.View(transcript.Full), model: session.Model, size: size, next: from}
	for _, err := range session.Skipped {
		err.Line, err.From, err.To = err.Line+from.Line, err.From+from.Offset, err.To+from.Offset
		n.lost = append(n.lost, err)
	}
	n.next.Path = path
	compacted := session.Compactions()
	n.compactions = from.Compactions + len(compacted)
	n.end = seam{Path: path, Offset: size, Before: hashBefore(f, size), Compactions: n.compactions}
	nameMessages(n.msgs)
	if wide || !n.ended() {
		return n, nil // a transcript in UTF-16 is read whole each time
	}
	at, line, ok, err := lastTurn(part(), opt)
	if err == nil && ok {
		n.next.Offset, n.next.Line = from.Offset+at, from.Line+line
		n.next.Before = hashBefore(f, n.next.Offset)
		for i := range n.msgs {
			if opensTurn(&n.msgs[i]) {
				before, _ := slices.BinarySearch(compacted, i+1)
				n.next.Compactions = from.Compactions + before
			}
		}
	}
	return n, err
}

// randomID is the length in bytes from which the id of a call counts as random, so that no server
// uses it twice.
const randomID = 24

// reuses reports whether the end of a transcript has a call with an id that also occurs earlier
// in the file. Some servers number the calls of each answer from the start, and only the whole
// conversation shows which call is meant.
func reuses(f io.ReaderAt, before int64, msgs []memkernel.Message) bool {
	var ids [][]byte
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			if p.Call != nil && len(p.Call.ID) < randomID {
				ids = append(ids, strconv.AppendQuote(nil, p.Call.ID))
			}
		}
	}
	if len(ids) == 0 {
		return false
	}
	past, err := io.ReadAll(io.NewSectionReader(f, 0, before))
	return err == nil && slices.ContainsFunc(ids, func(id []byte) bool { return bytes.Contains(past, id) })
}

// ended reports whether the last turn has ended.
func (n *news) ended() bool {
	ends := transcript.TurnEnds(n.msgs, true)
	return len(ends) > 0 && ends[len(ends)-1] == len(n.msgs)
}

// lastTurn returns the offset of the last message that opens a turn of the main line, and the
// number of lines before that message.
func lastTurn(r io.Reader, opt *transcript.Options) (at int64, line int, ok bool, err error) {
	for rec, err := range transcript.Stream(r, opt) {
		if err != nil {
			return 0, 0, false, err
		}
		if m := rec.Message; m != nil && m.Branch == "" && opensTurn(m) {
			at, line, ok = rec.Offset, rec.Line-1, true
		}
	}
	return at, line, ok, nil
}

// opensTurn reports whether a message of the main line opens a turn.
func opensTurn(m *memkernel.Message) bool {
	return m.Origin == memkernel.OriginHost && transcript.PlainUser(*m)
}

// seamBytes is the number of bytes before a seam that are hashed.
const seamBytes = 4 << 10 // 4 KiB

// hashBefore returns the hash of the bytes right before an offset, "" if they can't be read.
func hashBefore(f io.ReaderAt, offset int64) string {
	b := make([]byte, min(offset, seamBytes))
	if _, err := f.ReadAt(b, offset-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return store.Sum(b)[:24]
}

// nameMessages gives keys to messages without a key, by their time and content. The kernel's own
// keys would depend on all earlier messages, which were not read.
func nameMessages(msgs []memkernel.Message) {
	seen := map[string]int{}
	for i := range msgs {
		m := &msgs[i]
		if m.Key != "" {
			continue
		}
		h := sha256.New()
		fmt.Fprintf(h, "%s\x00%d\x00%s\x00", m.Role, m.Time.UnixNano(), m.Raw)
		if m.Raw == "" {
			writeParts(h, m.Parts)
		}
		sum := hex.EncodeToString(h.Sum(nil)[:12])
		if seen[sum]++; seen[sum] > 1 {
			sum = fmt.Sprintf("%s.%d", sum, seen[sum])
		}
		m.Key = "at-" + sum
	}
}

// writeParts writes the fields by which parts differ.
func writeParts(w io.Writer, parts []memkernel.Part) {
	for _, p := range parts {
		fmt.Fprintf(w, "%s\x00%s\x00%s\x00", p.Kind, p.Text, p.Raw)
		if p.Call != nil {
			fmt.Fprintf(w, "%s\x00%s\x00%s\x00", p.Call.ID, p.Call.Name, p.Call.Input)
		}
		if p.Result != nil {
			fmt.Fprintf(w, "%s\x00", p.Result.CallID)
			writeParts(w, p.Result.Content)
		}
	}
}

// used returns the tokens of the last call with a bill, 0 if no call has a bill.
func (n *news) used() int {
	for _, m := range slices.Backward(n.msgs) {
		if u := m.Usage; u != nil {
			return u.InputTotal() + u.OutputTokens
		}
	}
	return 0
}

// since estimates the tokens that were added after the last call with a bill, at three bytes
// each.
func (n *news) since() int {
	size := 0
	for i := len(n.msgs) - 1; i >= 0 && n.msgs[i].Usage == nil; i-- {
		size += len(strings.TrimSpace(transcript.Text(n.msgs[i])))
	}
	return size / 3
}
