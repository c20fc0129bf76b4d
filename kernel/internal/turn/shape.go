package turn

import (
	"context"
	"fmt"

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
	text := ""
	err := d.Sessions.Write(ctx, key, func(s *session.Session) error {
		price, _ := d.Prices.Lookup("", d.Now())
		m, err := newMaker(ctx, d, s, price, "", "")
		if err != nil {
			return err
		}
		m.Resolver = resolver
		if text = m.Shape(call, r, shown); text == "" {
			return nil
		}
		if _, err := s.CommitPages(ctx, m.Out, &branch.Cut{}, d.Now()); err != nil {
			s.Invalidate()
			return fmt.Errorf("keep a result of session %s: %w", s.Key, err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return text, nil
}
