package hook

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
)

// beginning says which text a session gets at its start. With Memory it gets a summary of memory. It
// also gets the restore text of the session From, unless From is "".
type beginning struct {
	Memory bool   `json:"memory,omitempty"`
	From   string `json:"from,omitempty"`
	// Occasion decides how the restore text begins.
	Occasion checkpoint.Occasion `json:"occasion,omitempty"`
	// Beside means that the conversation is new. Its text then has a line that names the other
	// session that was at work in the workspace.
	Beside bool `json:"beside,omitempty"`
}

// and returns the beginning with the texts of both. Either may be nil.
func (b *beginning) and(o *beginning) *beginning {
	if b == nil {
		return o
	}
	if o == nil {
		return b
	}
	out := &beginning{Memory: b.Memory || o.Memory, From: b.From, Occasion: b.Occasion, Beside: b.Beside || o.Beside}
	if b.From == "" {
		out.From, out.Occasion = o.From, o.Occasion
	}
	return out
}

// brought is a beginning that was sent with a prompt's answer. The host took the answer if its
// transcript has the text's first line after the message After. After is "" for the transcript's
// beginning.
type brought struct {
	beginning
	After string `json:"after,omitempty"`
	Line  string `json:"line"`
}

// goneOn is the time after the last turn within which a resumed session counts as continued, with
// a complete context. It is the lifetime of the longest-lived prompt cache.
const goneOn = time.Hour

// start returns the restore text of a session and a summary of memory. A conversation under a new
// id is a new conversation, even after a clear. The text only names the previous session. Gemini
// CLI puts the text before the words of the first prompt, and forgets such a prompt when it
// resumes the session. So Gemini CLI gets the text with its next prompt.
func (h *handler) start(ctx context.Context, r *record) answer {
	cost := h.e.resumed.message()
	if h.carried {
		return answer{message: cost}
	}
	b := &beginning{Memory: h.e.Source != "resume" && h.e.Source != "fork", From: h.key}
	switch h.e.Source {
	case "startup", "clear":
		b.From, b.Beside = "", true
	case "resume", "fork":
		b.Occasion = checkpoint.OnResume
		if !r.Worked.IsZero() && h.Now().Sub(r.Worked) < goneOn {
			b.From = "" // the host's context has the conversation
		}
	}
	if h.Host.row().late {
		if !b.Memory {
			b = b.and(r.Begin) // the beginning of an earlier start, after which no prompt came
		}
		r.Begin = b
		return answer{}
	}
	if b.Occasion == checkpoint.OnResume {
		// Messages of a resumed session may be in the transcript that no hook reported, for example
		// because the process died during a call.
		n, err := h.observe(ctx, r)
		if err == nil && n != nil {
			_, err = h.setup.Kernel.Checkpoint(ctx, h.boundary(r, n, "resume"))
		}
		h.fail(err)
	}
	text := h.begin(ctx, r, b)
	if b.Occasion == checkpoint.OnResume && b.From == "" {
		// The host's context can't have the result of a call that was interrupted.
		text = join(text, checkpoint.Unfinished(h.restore(ctx, &beginning{From: h.key, Occasion: b.Occasion}, text)))
	}
	return answer{context: text, message: cost}
}

// begin returns the text of a beginning.
func (h *handler) begin(ctx context.Context, r *record, b *beginning) (text string) {
	if b.Memory {
		r.cut() // the model has seen nothing yet, or only a summary
		text = h.memory(ctx, r, b.From)
	}
	if b.From != "" {
		text = join(text, h.restore(ctx, b, text))
	}
	if b.Beside && h.setup.Private {
		text = join(text, h.setup.Kernel.Hooks().Beside(h.key, h.Now()))
	}
	return text
}

// late returns the text of a beginning that the model has not got yet. The beginning belongs to a
// start, to a compaction that the transcript shows, or to an answer that the host did not use.
func (h *handler) late(ctx context.Context, r *record, n *news) string {
	if !h.Host.row().late || r.borrowed {
		return ""
	}
	if b := r.Brought; b != nil && n != nil && !n.shows(b) {
		r.Begin = r.Begin.and(&b.beginning)
	}
	r.Brought = nil
	if n != nil && n.compactions > r.Compactions {
		r.Compactions = n.compactions
		_, err := h.compaction(ctx, r)
		h.fail(err)
		r.Begin = r.Begin.and(&beginning{Memory: true, From: h.key})
	}
	b := r.Begin
	if b == nil {
		return ""
	}
	text := h.begin(ctx, r, b)
	r.Begin = nil
	if line, _, _ := strings.Cut(text, "\n"); line != "" {
		r.Brought = &brought{beginning: *b, Line: line}
		if n != nil && len(n.all) > 0 {
			r.Brought.After = n.all[len(n.all)-1].Key
		}
	}
	return text
}

// shows reports whether the transcript has the text that was sent with an answer.
func (n *news) shows(b *brought) bool {
	from := 1 + slices.IndexFunc(n.all, func(m memkernel.Message) bool { return m.Key == b.After })
	escaped := strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(b.Line) // as Gemini CLI does
	return slices.ContainsFunc(n.all[from:], func(m memkernel.Message) bool {
		return m.Role == memkernel.RoleUser && slices.ContainsFunc(m.Parts, func(p memkernel.Part) bool {
			return strings.Contains(p.Text, escaped) || strings.Contains(p.Text, b.Line)
		})
	})
}
