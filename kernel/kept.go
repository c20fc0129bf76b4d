package kernel

import (
	"slices"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/habit"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

// Kept returns the documents and folders that a kernel keeps in its Store. The rest of a state
// directory belongs to one machine, such as the index, the read positions of transcripts, sockets
// and settings.
func Kept() []string {
	return slices.Concat(folder.Ended(), []string{folder.Blobs, upkeep.BackupsFolder, folder.Sessions, "project", habit.Name, session.CalibrationName, notes.CooldownsFile, api.JobsFile})
}

// Files returns a Store that keeps state in the files of a state directory. A kernel whose
// Options have no Store uses the same files.
func Files(stateDir string) Store { return inFiles{store.Files(stateDir)} }

type inFiles struct{ in store.Store }

func (f inFiles) State() store.Store { return f.in }
