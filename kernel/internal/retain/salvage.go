package retain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Salvage reports the sound and the lost parts of a session whose files are damaged. With Apply
// the journal continues with its sound part, and all damaged files are put aside. Prompts are
// then built again, which costs a cache miss, and messages that the host hands in again are
// ingested again. For a missing session Salvage returns an error that wraps [api.ErrNoSession].
func (k *Keeper) Salvage(ctx context.Context, req api.SalvageRequest) (*api.Salvaged, error) {
	key, name := req.SessionKey, ""
	if req.Project {
		key, name = folder.Project, folder.Project
	} else {
		// check and status name a session that they can't read by its folder.
		found, err := folder.Find(k.State, key)
		if err == nil && found == "" {
			err = k.NoSession(key)
		}
		if err != nil {
			return nil, fmt.Errorf("salvage: %w", err)
		}
		name = found
	}
	var out *api.Salvaged
	err := k.Sessions.Unread(ctx, key, name, req.Apply, func(s *session.Session) (err error) {
		out, err = salvageSession(ctx, s, req.Apply)
		return err
	})
	if err != nil {
		return out, fmt.Errorf("salvage session %s: %w", key, err)
	}
	return out, nil
}

func salvageSession(ctx context.Context, s *session.Session, apply bool) (*api.Salvaged, error) {
	out := &api.Salvaged{Session: s.Key, Lost: []store.Lost{}, Unfit: []string{}, Files: []api.DamagedFile{}, Aside: []string{}}
	j, err := journal.Recover(ctx, s.Files, folder.JournalFile)
	if err != nil {
		return out, err
	}
	out.Records, out.Lost, out.Unfit = len(j.Records), append(out.Lost, j.Lost...), append(out.Unfit, j.Unfit...)
	blobs, err := countSalvaged(ctx, s, j, out)
	if store.OutOfReach(err) {
		return out, err
	}
	if err != nil {
		out.Unfit = append(out.Unfit, err.Error())
	}
	points := checkpoint.NewStore(s.Files)
	states, err := points.Verify()
	if err != nil {
		return out, err
	}
	damaged := func(path, reason string) { out.Files = append(out.Files, api.DamagedFile{Path: path, Reason: reason}) }
	for _, d := range states {
		damaged(d.File, d.Err.Error())
	}
	var noHead error // why it is not known how much of the journal was synced
	if j, err := journal.OpenJournalIn(s.Files, folder.JournalFile, &journal.Options{ReadOnly: true}); err == nil {
		noHead = j.Fault()
	}
	if noHead != nil {
		damaged(s.Files.Where(folder.HeadFile), noHead.Error())
	}
	others := folder.Damaged(s.Files, s.Local, s.Name)
	for _, d := range others {
		if store.OutOfReach(d.Err) {
			return out, d.Err
		}
		damaged(d.In.Where(d.Name), d.Err.Error())
	}
	for _, d := range blobs {
		damaged(d.File, "its content is not what its name says")
	}
	if out.Sound = j.Sound() && len(out.Files) == 0; out.Sound || !apply {
		return out, nil
	}
	out.Applied = true
	if errors.Is(noHead, store.ErrHalfHead) {
		mended, err := journal.OpenJournalIn(s.Files, folder.JournalFile, nil)
		if err == nil {
			err = mended.Mend()
		}
		if err != nil {
			return out, err
		}
		noHead = nil
	}
	if !j.Sound() || noHead != nil {
		aside, err := j.Apply()
		if out.Aside = append(out.Aside, aside...); err != nil {
			return out, err
		}
		// The projections may show contents that are lost.
		others = append(others, folder.DamagedFile{In: s.Files, Name: folder.RecordsFile})
	}
	aside, err := points.PutAside(states)
	if out.Aside = append(out.Aside, aside...); err != nil {
		return out, err
	}
	for _, d := range blobs {
		at, err := s.Blobs.PutAside(d.Hash)
		if err != nil {
			return out, err
		}
		if at != "" {
			out.Aside = append(out.Aside, at)
		}
	}
	for _, d := range others {
		name, err := store.PutAside(d.In, d.Name)
		if err != nil {
			return out, err
		}
		if name != "" {
			out.Aside = append(out.Aside, d.In.Where(name))
		}
	}
	return out, nil
}

// countSalvaged reads the sound part like the session itself, and returns the damaged blobs of
// its pages.
func countSalvaged(ctx context.Context, s *session.Session, j *journal.Salvage, out *api.Salvaged) (blobs []*store.DamageError, err error) {
	defer s.Invalidate()
	err = s.ReadSalvaged(j)
	out.Pages, out.Turns = len(s.Pages), s.Account.Committed
	var held []string
	for _, p := range s.Pages {
		held = append(held, session.BlobsOf(p)...)
	}
	slices.Sort(held)
	for _, h := range longwork.Over(ctx, "blob", slices.Compact(held)) {
		_, bad := s.Blobs.Get(h)
		if store.OutOfReach(bad) {
			return nil, bad
		}
		if d := (*store.DamageError)(nil); errors.As(bad, &d) {
			blobs = append(blobs, d)
		}
	}
	return blobs, err
}
