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
// to a machine: the index, the read positions of transcripts, sockets, settings.
var kept = append([]string{folder.Blobs, upkeep.BackupsFolder, folder.Sessions, "project", habit.Name, session.CalibrationName, notes.CooldownsFile, api.JobsFile}, folder.Ended()...)

// Files returns the state in files of a state directory, as in a kernel whose Options have no
// Store.
func Files(stateDir string) Store { return inFiles{store.Files(stateDir)} }

type inFiles struct{ in store.Store }

func (f inFiles) State() store.Store { return f.in }

// MoveOptions set how state is moved.
type MoveOptions struct {
	// Also are documents and folders of the store that move too and belong to no kernel, such as
	// those of a server.
	Also []string
	// RemoveSource removes the state from the source, once all of it is in the target.
	RemoveSource bool
	// Wait is how long to wait for programs that use either store. Default: 20 s. By then a
	// database has ended the lock of a program that was killed.
	Wait time.Duration
	// Progress, if not nil, is called with the progress.
	Progress func(what string, done, all int)
}

// MoveState copies a kernel's state to a store that has none: journals, blobs, checkpoints,
// pruned files. All of it is compared by hash at the end. It locks both stores meanwhile, and
// returns an error if a program still uses one of them after Wait. A move that is cut short
// leaves the source as it was, and a target that no kernel opens. The next move continues there.
func MoveState(ctx context.Context, from, to Store, o MoveOptions) (*api.MoveReport, error) {
	r, err := moving.Move(ctx, from.State(), to.State(), moving.Options{Names: slices.Concat(kept, o.Also), RemoveSource: o.RemoveSource,
		Wait: cmp.Or(o.Wait, 20*time.Second), Progress: o.Progress, Now: time.Now()})
	if err != nil {
		return nil, fmt.Errorf("move the state: %w", err)
	}
	return r, nil
}
