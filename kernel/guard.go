package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// ErrLoss is what a [LossError] is.
var ErrLoss = errors.New("too much of memory would be lost")

// LossError refuses a change of MEMORY.md that loses too much of it.
type LossError struct{ *consolidation.Loss }

func (e *LossError) Error() string {
	return fmt.Sprintf("%s would lose %d of its %d lines, %.0f %%, and %.0f %% is the most: the first is line %d, %q", e.Path, len(e.Lost), e.Lines,
		100*e.Share, 100*e.Limit, e.Lost[0].Line, head(e.Lost[0].Text, 80))
}

// Is makes every LossError an ErrLoss.
func (e *LossError) Is(target error) bool { return target == ErrLoss }

// refuseLoss is asked by the store before MEMORY.md is replaced, by whomever: what is
// backed up can't be lost.
func (k *Kernel) refuseLoss(path, before, after string) error {
	limit := k.memory.opts.lossShare()
	if limit <= 0 || k.backups.Has(ids.Hash(before)) {
		return nil
	}
	snap, err := k.snapshot(context.Background())
	if err != nil {
		return err
	}
	if loss := consolidation.FindLoss(path, before, after, limit, snap.Says(path)); loss.Refused {
		return &LossError{loss}
	}
	return nil
}

// GuardRequest asks whether MEMORY.md lost what it should not have.
type GuardRequest struct {
	// Before is what it was, such as what version control has of it; nil takes what
	// the last run over memory's files left.
	Before *string
	// After is what it is to become; nil takes the file.
	After *string
	// Limit is the share of its lines that may be lost; 0 takes the kernel's.
	Limit float64
}

// Guard says what MEMORY.md lost that stands neither in an owning file, a topic or the
// archive, nor was taken out by a pruning, which has it in a backup. It changes
// nothing.
func (k *Kernel) Guard(ctx context.Context, req GuardRequest) (*consolidation.Loss, error) {
	u, unlock, err := k.readUpkeep(ctx, runSeen, k.now())
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	defer unlock()
	loss, err := u.guard(ctx, &req)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return loss, ctx.Err()
}

func (u *upkeep) guard(ctx context.Context, req *GuardRequest) (*consolidation.Loss, error) {
	snap, err := u.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	path, after := "MEMORY.md", ""
	if f := snap.Memory(); f != nil {
		if path, after = f.Path, f.Doc.Raw; f.Err != nil {
			return nil, f.Err
		}
	}
	if req.After != nil {
		after = *req.After
	}
	before, err := u.lastSeen(path)
	if req.Before != nil {
		before = *req.Before
	} else if err != nil {
		return nil, err
	}
	if req.Limit == 0 {
		req.Limit = u.memory.opts.lossShare()
	}
	pruned, err := u.takenOut(path)
	if err != nil {
		return nil, err
	}
	elsewhere := snap.Says(path)
	return consolidation.FindLoss(path, before, after, req.Limit, func(key string) bool { return pruned[key] || elsewhere(key) }), nil
}

// lastSeen is what a file was when a run last kept it.
func (u *upkeep) lastSeen(path string) (string, error) {
	for i := len(u.log) - 1; i >= 0; i-- {
		for _, m := range u.log[i].run.Reads {
			if u.log[i].run.Kind == runSeen && m.Path == path {
				text, err := u.backup(m.Hash)
				if errors.Is(err, fs.ErrNotExist) {
					err = nil // it is no longer kept, or holds a secret
				}
				return text, err
			}
		}
	}
	return "", nil
}

// takenOut are the lines that prunings took out of a file, by their keys.
func (u *upkeep) takenOut(path string) (map[string]bool, error) {
	out := map[string]bool{}
	for i := range u.log {
		for _, st := range u.log[i].run.Steps {
			if st.Path != path || st.Before == "" || st.After == "" || u.log[i].undone {
				continue
			}
			before, err := u.backup(st.Before)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it is no longer kept
			}
			if err != nil {
				return nil, err
			}
			after, err := u.backup(st.After)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, l := range consolidation.FindLoss(path, before, after, 0, nil).Lost {
				out[consolidation.LineKey(l.Text)] = true
			}
		}
	}
	return out, nil
}

// seen keeps what MEMORY.md is, so that what is lost from here on can be told.
func (k *Kernel) seen(ctx context.Context, now time.Time) error {
	u, unlock, err := k.beginUpkeep(ctx, runSeen, now)
	if err != nil {
		return err
	}
	defer unlock()
	l, err := k.memory.private.ReadFile("MEMORY.md")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := len(u.log) - 1; i >= 0; i-- {
		if r := &u.log[i].run; r.Kind == runSeen {
			if r.Reads[0].Hash == l.Hash {
				return nil
			}
			break
		}
	}
	u.run.Reads = []readMark{{l.Path, len(l.Text), u.keep(l.Text)}}
	_, err = u.commit(ctx)
	return err
}

// auditLoss tells what MEMORY.md lost since a nightly run last saw it.
func (k *Kernel) auditLoss(ctx context.Context, r *consolidation.Report, _ time.Time) error {
	loss, err := k.Guard(ctx, GuardRequest{})
	if err != nil {
		return err
	}
	if !loss.Refused {
		return nil
	}
	var lines []string
	for _, l := range loss.Lost[:min(len(loss.Lost), 3)] {
		lines = append(lines, fmt.Sprintf("%q", head(k.masker.Text(l.Text), 60)))
	}
	r.Add(consolidation.CheckMemoryLoss, consolidation.Finding{Severity: consolidation.Error, Place: consolidation.Place{Path: loss.Path},
		What: fmt.Sprintf("lost %d of %d lines since the last nightly run, such as %s", len(loss.Lost), loss.Lines, strings.Join(lines, ", ")),
		Hint: "'memkernel guard' lists them; bring back what was not meant to go"})
	return nil
}
