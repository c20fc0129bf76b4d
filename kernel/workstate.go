package kernel

import (
	"strings"

	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// Net names a record that a session can go on from.
type Net string

// The records that a session falls back on, in the order in which they are asked.
const (
	NetCheckpoint   = Net(workstate.FromCheckpoint)
	NetSessionState = Net(workstate.FromStateFile)
	NetBuffer       = Net(workstate.FromBuffer)
	// NetJournal is the summary of the observed turns, for who asks for the text to go
	// on from where none of the others can be read.
	NetJournal = Net(workstate.FromJournal)
)

func keyOr(key string) string { return session.KeyOr(key) }

// OnlySessionState reports whether a text of SESSION-STATE.md is what the kernel wrote of a
// session, with nothing of anybody else's in it.
func OnlySessionState(text string) bool {
	f := workstate.ParseStateFile(text)
	return f.Section != nil && !f.Section.Edited && strings.TrimSpace(f.Others()) == ""
}
