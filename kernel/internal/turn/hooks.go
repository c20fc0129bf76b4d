package turn

import (
	"context"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/retrieval"
)

// Hooks serve a host that adds texts to its prompts, but does not plan them.
type Hooks struct{ Desk *Desk }

// Neighbour returns the session that SESSION-STATE.md shows, except the session of key. It
// returns nil if the file shows no other session, or if the workspace's file can't be read.
func (h Hooks) Neighbour(key string, now time.Time) *plan.Neighbour {
	if h.Desk.Memory == nil {
		return nil
	}
	return neighbour(h.Desk.State, h.Desk.Memory.Private, session.KeyOr(key), now)
}

// Beside returns a line for a new conversation, which names the other session that was at work in
// the workspace. It returns "" if no other session was at work.
func (h Hooks) Beside(key string, now time.Time) string {
	n := h.Neighbour(key, now)
	if n == nil {
		return ""
	}
	return checkpoint.Beside(n.Key, n.At)
}

// PlannedAt returns the time at which the newest plan of a session was recorded, zero if the
// session has no plan.
func (h Hooks) PlannedAt(key string) time.Time {
	fi, err := folder.In(h.Desk.State, folder.Of(session.KeyOr(key))).Stat(folder.RecordsFile)
	if err != nil {
		return time.Time{}
	}
	return fi.Time
}

// Withheld lists the files that only private sessions may see.
func (h Hooks) Withheld(private bool) []retrieval.Withheld {
	if h.Desk.Memory == nil {
		return nil
	}
	return h.Desk.Memory.Withheld(private, "")
}

// Shape stores a large result that the model has not seen yet, and returns the text to show the
// model instead. The text names the page that holds the whole result. Shape returns "" if the host
// must show the result as it is. The page is durable when Shape returns. If a turn is observed
// later with the text in place of the result, the kernel learns from the whole result.
func (h Hooks) Shape(ctx context.Context, r api.Result) (string, error) {
	d := h.Desk
	return session.In(ctx, d.Sessions, "", r.SessionKey, func(s *session.Session) (string, error) {
		price, _ := d.Prices.Lookup("", d.Now())
		m, err := newMaker(d, s, price, "", "")
		if err != nil {
			return "", err
		}
		m.Resolver = r.Resolver
		text := m.Shape(&r.Call, &memkernel.ToolResult{CallID: r.Call.ID, Name: r.Call.Name, Text: true, Content: memkernel.Text(r.Text)}, r.Shown)
		if text == "" {
			return "", nil
		}
		if err := s.CommitPages(ctx, m.Out, &branch.Cut{}, d.Now()); err != nil {
			return "", s.Failed("keep a result of", err)
		}
		return text, nil
	})
}
