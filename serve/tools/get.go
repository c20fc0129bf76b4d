package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// maxText bounds the text of one answer, in bytes.
const maxText = 32 << 10

// lines is the answer of memory_get.
type lines struct {
	said
	Text string `json:"text"`
	// Path or ID is the requested path or id.
	Path string `json:"path,omitempty"`
	ID   string `json:"id,omitempty"`
	// From is the first line of Text. Lines is the number of its lines. NextFrom is the line from
	// which to continue, 0 at the end.
	From     int `json:"from,omitempty"`
	Lines    int `json:"lines,omitempty"`
	NextFrom int `json:"nextFrom,omitempty"`
	// Version is the version of the whole file, for memory_update and memory_delete.
	Version string `json:"version,omitempty"`
	// Truncated reports whether a line was longer than an answer may be, so that the end of the
	// line is missing.
	Truncated bool `json:"truncated,omitempty"`
}

// get returns count lines of a path or an id, all if count is 0.
func (s *Set) get(ctx context.Context, name string, from, count int) (*lines, error) {
	from = max(from, 1)
	if !markdownstore.PathLike(name) {
		return s.page(ctx, &lines{ID: name}, from, count)
	}
	out := &lines{Path: name}
	if off := s.disabled(); off != "" {
		out.say(disabledBy(off))
		return out, nil
	}
	c, err := s.k.Read(ctx, api.ReadRequest{Path: out.Path, From: from, Lines: count, Private: s.opts.Private, Agent: s.opts.Agent, SessionKey: s.opts.SessionKey})
	if errors.Is(err, markdownstore.ErrDenied) {
		out.Reason, out.Detail = reasonDenied, err.Error()
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Path, out.Reason, out.Detail = c.Path, string(c.Reason), c.Detail
	if c.Reason == markdownstore.ReasonOK {
		out.fill(c.Text, c.StartLine, c.Truncated)
		out.Version = c.Hash
	}
	return out, nil
}

// failed reports whether err must not be reported to the model.
func failed(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, api.ErrClosed))
}

// fill takes as many whole lines as an answer may have. more says whether the text was already
// cut before the call.
func (l *lines) fill(text string, from int, more bool) {
	l.From = from
	if len(text) > maxText {
		cut := strings.LastIndexByte(text[:maxText], '\n') + 1
		if cut == 0 {
			l.Truncated = true
			for cut = maxText; !utf8.RuneStart(text[cut]); {
				cut--
			}
			l.Detail = fmt.Sprintf("line %d is longer than an answer may be: its end is missing", from)
		}
		// After a line that was cut there may be another line.
		more = more || !l.Truncated || strings.ContainsRune(strings.TrimSuffix(text[cut:], "\n"), '\n')
		text = text[:cut]
	}
	l.Text = strings.ToValidUTF8(text, "�")
	l.Lines = strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if more {
		l.NextFrom = from + l.Lines
	}
}

// page reads the content that an id in the conversation points to.
func (s *Set) page(ctx context.Context, out *lines, from, count int) (*lines, error) {
	c, err := s.k.Get(ctx, s.opts.SessionKey, out.ID)
	if err != nil {
		return out, err
	}
	out.Reason, out.Detail = c.Reason, c.Detail
	if c.Reason != api.GetOK {
		return out, nil
	}
	all := strings.SplitAfter(c.Text, "\n")
	if n := len(all); n > 1 && all[n-1] == "" {
		all = all[:n-1]
	}
	if from > len(all) {
		out.Reason, out.Detail = reasonNoMatch, fmt.Sprintf("line %d is behind the end, the page has %d lines", from, len(all))
		return out, nil
	}
	to := len(all)
	if count > 0 {
		to = min(from-1+count, to)
	}
	out.fill(strings.Join(all[from-1:to], ""), from, to < len(all))
	return out, nil
}
