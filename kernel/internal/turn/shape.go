package turn

import (
	"context"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// Shape stores a result that its host's model has not seen yet, and returns the text that the
// model must see instead. It returns "" if the model must see the result as it is. Pages that the
// text names are on disk when Shape returns. resolver is the command by which the model reads
// these pages. If shown is not 0, the host shows at most shown bytes of the result, and the
// returned text has at most shown bytes.
func Shape(ctx context.Context, d *Desk, key, resolver string, call *memkernel.ToolCall, r *memkernel.ToolResult, shown int) (string, error) {
	return session.In(ctx, d.Sessions, key, func(s *session.Session) (string, error) {
		price, _ := d.Prices.Lookup("", d.Now())
		m, err := newMaker(ctx, d, s, price, "", "")
		if err != nil {
			return "", err
		}
		m.Resolver = resolver
		text := m.Shape(call, r, shown)
		if text == "" {
			return "", nil
		}
		if err := s.CommitPages(ctx, m.Out, &branch.Cut{}, d.Now()); err != nil {
			return "", s.Failed("keep a result of", err)
		}
		return text, nil
	})
}
