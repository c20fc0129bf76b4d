package kernel

import (
	"strings"

	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

func keyOr(key string) string { return session.KeyOr(key) }

// OnlySessionState reports whether a text of SESSION-STATE.md was written by the kernel about a
// session, and holds nothing of anybody else's.
func OnlySessionState(text string) bool {
	f := workstate.ParseStateFile(text)
	return f.Section != nil && !f.Section.Edited && strings.TrimSpace(f.Others()) == ""
}
