package kernel

import (
	"context"
	"errors"
	"fmt"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// SalvageRequest names a session of which something is damaged.
type SalvageRequest struct {
	SessionKey string
	// Project is what all sessions share, in place of a session.
	Project bool
	// Apply puts aside what is damaged, and goes on with what is sound. Without it
	// nothing is written.
	Apply bool
}

// Salvaged says what is sound of a session, and what is lost.
type Salvaged struct {
	Session string `json:"session"`
	Applied bool   `json:"applied"`
	// Sound: nothing is damaged, and nothing was done.
	Sound bool `json:"sound"`
	// Records, Pages and Turns are what is sound of the journal.
	Records int `json:"records"`
	Pages   int `json:"pages"`
	Turns   int `json:"turns"`
	// Lost are the stretches of the journal that can't be read, Unfit what is whole and
	// can't stand without them.
	Lost  []journal.Lost `json:"lost"`
	Unfit []string       `json:"unfit"`
	// Files are the other files that are damaged.
	Files []DamagedFile `json:"files"`
	// Aside are the paths to which damaged files were moved: nothing reads them, and
	// nothing removes them.
	Aside []string `json:"aside"`
}

// DamagedFile is a file that can't be used.
type DamagedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Salvage says what is sound of a session whose files are damaged, and what is lost.
// With Apply the journal goes on with what is sound of it: all damaged files are put
// aside, prompts are made anew at the price of a cache miss, and what the host hands in
// again is ingested again. A session that is not there is an error that wraps
// [ErrNoSession].
func (k *Kernel) Salvage(ctx context.Context, req SalvageRequest) (*Salvaged, error) {
	key, name := keyOr(req.SessionKey), ""
	if req.Project {
		key, name = folder.Project, folder.Project
	} else if found, ok := folder.Find(k.state, key); ok {
		name = found // check and status name sessions by their folders that they can't read
	} else {
		return nil, fmt.Errorf("salvage: %w", noSession(k.state, key))
	}
	s, unlock, err := k.hold(ctx, key, name, req.Apply)
	if err != nil {
		return nil, fmt.Errorf("salvage session %s: %w", key, err)
	}
	defer unlock()
	out, err := s.salvage(req.Apply)
	if err != nil {
		return out, fmt.Errorf("salvage session %s: %w", key, err)
	}
	return out, nil
}

// hold gives a session with its locks and without reading it: what this process knew
// of it is dropped, before and after.
func (k *Kernel) hold(ctx context.Context, key, name string, write bool) (*session, func(), error) {
	s, err := k.sessions.take(name, func() *session { return k.newSession(key, name) })
	if err != nil {
		return nil, nil, err
	}
	if !s.mu.TryLock() {
		return nil, nil, errors.New("the session is in use")
	}
	unlock := func() { s.invalidate(); s.mu.Unlock() }
	s.invalidate()
	if !write {
		return s, unlock, nil
	}
	release, err := s.lock(ctx)
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return s, func() { release(); unlock() }, nil
}

func (s *session) salvage(apply bool) (*Salvaged, error) {
	out := &Salvaged{Session: s.key, Lost: []journal.Lost{}, Unfit: []string{}, Files: []DamagedFile{}, Aside: []string{}}
	j, err := journal.Recover(s.files, folder.JournalFile)
	if err != nil {
		return out, err
	}
	out.Records, out.Lost, out.Unfit = j.Records, append(out.Lost, j.Lost...), append(out.Unfit, j.Unfit...)
	blobs, err := s.count(j, out)
	if err != nil {
		out.Unfit = append(out.Unfit, err.Error())
	}
	points := checkpoint.NewStore(s.files)
	states, err := points.Verify()
	if err != nil {
		return out, err
	}
	derived := folder.DamagedDerived(s.files)
	if err := folder.Damaged(s.files, s.name); err != nil {
		derived = append(derived, folder.DamagedFile{Name: folder.WhoseFile, Err: err})
	}
	for _, d := range states {
		out.Files = append(out.Files, DamagedFile{d.File, d.Err.Error()})
	}
	headless := folder.Headless(s.files)
	if headless != nil {
		out.Files = append(out.Files, DamagedFile{s.files.Where(folder.HeadFile), headless.Error()})
	}
	for _, d := range derived {
		out.Files = append(out.Files, DamagedFile{s.files.Where(d.Name), d.Err.Error()})
	}
	for _, d := range blobs {
		out.Files = append(out.Files, DamagedFile{d.File, "its content is not what its name says"})
	}
	if out.Sound = j.Sound() && len(out.Files) == 0; out.Sound || !apply {
		return out, nil
	}
	out.Applied = true
	aside := func(paths []string, err error) error {
		out.Aside = append(out.Aside, paths...)
		return err
	}
	if errors.Is(headless, journal.ErrHalfHead) {
		if err := folder.MendHead(s.files); err != nil {
			return out, err
		}
		headless = nil
	}
	if !j.Sound() || headless != nil {
		if err := aside(j.Apply()); err != nil {
			return out, err
		}
		// What prompts showed may rest on what is lost.
		derived = append(derived, folder.DamagedFile{Name: folder.RecordsFile})
	}
	if err := aside(points.PutAside(states)); err != nil {
		return out, err
	}
	for _, d := range blobs {
		at, err := s.blobs.PutAside(d.Hash)
		if err != nil {
			return out, err
		}
		if at != "" {
			out.Aside = append(out.Aside, at)
		}
	}
	for _, d := range derived {
		name, err := store.PutAside(s.files, d.Name)
		if err != nil {
			return out, err
		}
		if name != "" {
			out.Aside = append(out.Aside, s.files.Where(name))
		}
	}
	return out, nil
}

// count reads what is sound as the session would be read, and gives the blobs of its
// pages that are damaged.
func (s *session) count(j *journal.Salvage, out *Salvaged) (blobs []*store.DamageError, err error) {
	defer s.invalidate()
	s.journal = j.Journal()
	var errs []error
	for r := range j.All() {
		if err := s.replay(r); err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, s.recallAccount())
	out.Pages, out.Turns = len(s.pages), s.account.committed
	held := map[string]bool{}
	for _, p := range s.pages {
		for _, h := range erasure.BlobsOf(p) {
			held[h] = true
		}
	}
	for _, h := range sortedKeys(held) {
		if d := (*store.DamageError)(nil); errors.As(s.blobs.Verify(h), &d) {
			blobs = append(blobs, d)
		}
	}
	return blobs, errors.Join(errs...)
}
