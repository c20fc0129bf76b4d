package inspect

import (
	"io"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// Stored reads what kernels store, without a kernel.
type Stored struct{}

// Names returns the documents and folders that a kernel keeps in its store. The rest of a state
// directory belongs to one machine, such as the index, the read positions of transcripts, sockets
// and settings.
func (Stored) Names() []string {
	return slices.Concat(folder.Ended(), []string{folder.Blobs, upkeep.BackupsFolder, folder.Sessions, "project", turn.HabitsFile, session.CalibrationName, notes.CooldownsFile, api.JobsFile})
}

// SessionKeys returns the keys of a store's sessions, in the order of their folders. It opens no
// session. A session that does not record its key is listed by the name of its folder.
func (Stored) SessionKeys(state store.Store) ([]string, error) { return folder.Keys(state) }

// OnlySessionState reports whether the kernel wrote the whole text of a SESSION-STATE.md about a
// session. It returns false if the text also holds words of anybody else.
func (Stored) OnlySessionState(text string) bool {
	f := workstate.ParseStateFile(text)
	return f.Section != nil && !f.Section.Edited && strings.TrimSpace(f.Others()) == ""
}

// ReplayTrace repeats all decisions in the decision trace r, and compares the results. Errors
// name the file as name. An error that wraps [store.ErrNoTrace] means that r holds no trace.
func (Stored) ReplayTrace(name string, r io.Reader) (*api.TraceReport, error) {
	return trace.Replay(name, r)
}
