package kernel

import (
	"strings"

	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

func keyOr(key string) string { return session.KeyOr(key) }

// OnlySessionState reports whether the kernel wrote the whole text of a SESSION-STATE.md about a
// session. It returns false if the text also holds words of anybody else.
func OnlySessionState(text string) bool {
	f := workstate.ParseStateFile(text)
	return f.Section != nil && !f.Section.Edited && strings.TrimSpace(f.Others()) == ""
}
