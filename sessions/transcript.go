package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// readTranscript reads a host's transcript in any dialect. It yields the words of people and
// models, without tools, thinking, and text that the host inserted.
func readTranscript(ctx context.Context, c *Conversation, from Position, turn func(Turn) error) (Position, error) {
	f, err := os.Open(c.Path)
	if err != nil {
		return from, fmt.Errorf("read transcript: %w", err)
	}
	defer f.Close()
	if from.Dialect == "" {
		head := make([]byte, detectBytes)
		n, err := f.ReadAt(head, 0)
		if err == nil || err == io.EOF {
			var d transcript.Dialect
			d, err = transcript.Detect(head[:n])
			from.Dialect = string(d)
		}
		if err != nil {
			return from, fmt.Errorf("read %s: %w", c.Path, err)
		}
	}
	wide, skip := textutil.IsUTF16(f), 0
	if wide {
		skip = from.Line // the text has other offsets than the file
	}
	if wide || transcript.Dialect(from.Dialect).Document() {
		from.Offset, from.Line = 0, 0
	}
	at, held := from, held{turn: turn}
	o := &transcript.Options{Dialect: transcript.Dialect(from.Dialect), SkipBroken: true, Name: c.Path}
	for rec, err := range transcript.Stream(io.NewSectionReader(f, from.Offset, c.Size-from.Offset), o) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if held.Text != "" {
				at = held.at // up to here all turns were passed on
			}
			return at, err
		}
		if rec.Torn() {
			break // its writer is still writing it
		}
		if t, ok := turnOf(&rec); ok && rec.Line > skip {
			t.Line = from.Line + rec.Line
			if err := held.hand(t, at); err != nil {
				return held.at, err
			}
		}
		at.Offset = from.Offset + rec.Offset + int64(len(rec.Lead)+len(rec.Raw)+len(rec.Tail))
		at.Line = from.Line + rec.Line
	}
	if err := held.hand(Turn{}, at); err != nil {
		return held.at, err
	}
	if wide {
		at.Offset = c.Size
	}
	return at, nil
}

// held is the newest turn that was read. Hosts may write an answer several times while it grows, so
// a turn is passed on only when the next record begins another turn.
type held struct {
	Turn
	at   Position // before it
	turn func(Turn) error
}

// hand passes on the held turn, unless next is a longer version of the same turn. at is the
// position at which next begins.
func (h *held) hand(next Turn, at Position) error {
	if h.Text != "" && h.Role == next.Role && h.Role == string(memkernel.RoleAssistant) && strings.HasPrefix(next.Text, h.Text) {
		h.Turn = next
		return nil
	}
	if h.Text != "" {
		if err := h.turn(h.Turn); err != nil {
			return err
		}
	}
	h.Turn, h.at = next, at
	return nil
}

// detectBytes is the number of bytes from which a dialect is detected.
const detectBytes = 64 << 10

// turnOf returns the turn in a record.
func turnOf(rec *transcript.Record) (Turn, bool) {
	m := rec.Message
	if m == nil {
		return Turn{}, false
	}
	t := Turn{Role: string(m.Role), Time: m.Time}
	switch {
	case m.Origin == memkernel.OriginSummary:
		t.Role, t.Text = SummaryRole, textOf(m)
	case m.Origin != memkernel.OriginHost:
	case m.Role == memkernel.RoleUser:
		own, quoted := transcript.Typed(*m)
		t.Text = strings.TrimSpace(own + "\n" + quoted)
	case m.Role == memkernel.RoleAssistant:
		t.Text = textOf(m)
	}
	return t, t.Text != ""
}

// textOf joins the texts of a message.
func textOf(m *memkernel.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if text := strings.TrimSpace(p.Text); p.Kind == memkernel.PartText && text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// hashPrefix returns the sha256 of a conversation's first n bytes in hex. enough is false if the
// conversation has fewer bytes.
func hashPrefix(c *Conversation, n int64) (sum string, enough bool, err error) {
	f, err := c.open()
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	h := sha256.New()
	got, err := io.CopyN(h, io.NewSectionReader(f, 0, n), n)
	if err == io.EOF {
		return "", false, nil
	}
	return hex.EncodeToString(h.Sum(nil)), got == n, err
}
