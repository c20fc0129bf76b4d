package kernel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/summary"
)

// flushRules writes the rules that were told in conversation to the day's log, each
// once. Only the summary knows them, and that begins anew where a session ends:
// pinned rules stand in every prompt, and these would be gone.
func (s *session) flushRules(ctx context.Context, m *memory, st summary.State, now time.Time) []Fault {
	if s.lifeOpt.Flush.Off || s.lifeOpt.Off || m == nil {
		return nil
	}
	var lines, items []string
	for _, e := range st.Constraints {
		text := oneLine(e.Text)
		item := ids.Page("fi", "rule", text)
		if text == "" || s.flushed[item] || asksToRemember.MatchString(text) {
			continue // or remembered by itself
		}
		lines, items = append(lines, "- [rule] "+text), append(items, item)
	}
	if len(items) == 0 {
		return nil
	}
	text := fmt.Sprintf("Session %s, rules told in it:\n%s", oneLine(s.key), strings.Join(lines, "\n"))
	if err := s.flushText(ctx, m, text, items, now); err != nil {
		return []Fault{{Code: FaultFlushSkipped, Cause: "rules", Detail: err.Error()}}
	}
	return nil
}
