package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/habit"
	"github.com/memkernel/memkernel/kernel/internal/moving"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

// kept are the documents and folders of a kernel's state. The rest of a state directory belongs
// to one machine, such as the index, the read positions of transcripts, sockets and settings.
var kept = append([]string{folder.Blobs, upkeep.BackupsFolder, folder.Sessions, "project", habit.Name, session.CalibrationName, notes.CooldownsFile, api.JobsFile}, folder.Ended()...)

// Files returns a Store that keeps state in the files of a state directory. A kernel whose
// Options have no Store uses the same files.
func Files(stateDir string) Store { return inFiles{store.Files(stateDir)} }

type inFiles struct{ in store.Store }

func (f inFiles) State() store.Store { return f.in }

// MoveOptions set how state is moved.
type MoveOptions struct {
	// Also are further documents and folders of the store to move that belong to no kernel, such
	// as the documents of a server.
	Also []string
	// RemoveSource removes the state from the source as soon as the whole state is in the target.
	RemoveSource bool
	// Wait is how long to wait for programs that use either store. Default: 20 s. By then a
	// database has ended the lock of a program that was killed.
	Wait time.Duration
	// Progress, if not nil, is called with the progress.
	Progress func(what string, done, all int)
}

// MoveState copies a kernel's state to a store without state. The state consists of journals,
// blobs, checkpoints and pruned files. At the end MoveState compares all copies by hash. It locks
// both stores meanwhile, and returns an error if a program still uses one of the stores after
// Wait. An interrupted move leaves the source unchanged, and no kernel opens its target. The next
// move continues the copy.
func MoveState(ctx context.Context, from, to Store, o MoveOptions) (*api.MoveReport, error) {
	r, err := moving.Move(ctx, from.State(), to.State(), moving.Options{Names: slices.Concat(kept, o.Also), RemoveSource: o.RemoveSource,
		Wait: cmp.Or(o.Wait, 20*time.Second), Progress: o.Progress, Now: time.Now()})
	if err != nil {
		return nil, fmt.Errorf("move the state: %w", err)
	}
	return r, nil
}
