package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/erasure"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Finding is something wrong on disk.
type Finding struct {
	// Session is the session's key, or its folder where that can't be told, "" for the blob store and the index.
	Session string `json:"session"`
	// What is wrong, and Hint the way out.
	What string `json:"what"`
	Hint string `json:"hint"`
}

// Check verifies every invariant that the state directory should hold: journals
// read from end to end, every page restores to the content that its hash names,
// every blob and backup is what its name says, no projection shows a page that can't be
// restored, stands twice, or is below its floor, and the index, if there is one, is
// whole. It writes nothing.
func (k *Kernel) Check(ctx context.Context) ([]Finding, error) {
	findings, err := k.checkState(ctx)
	if err != nil {
		return nil, err
	}
	return append(findings, checkIndex(ctx, k.memory)...), ctx.Err()
}

// checkState verifies all but the index.
func (k *Kernel) checkState(ctx context.Context) ([]Finding, error) {
	findings := []Finding{}
	folders, err := folder.All(k.state)
	if err != nil {
		return nil, err
	}
	if store.Exists(folder.In(k.state, folder.Project), "") {
		folders = append(folders, folder.Project)
	}
	for _, f := range folders {
		s, unlock, err := k.visit(ctx, f, false)
		if err != nil {
			findings = append(findings, unreadable(f, err))
			continue
		}
		findings = append(findings, s.check()...)
		unlock()
	}
	for info, err := range k.blobs.Walk() {
		if err != nil {
			return nil, err
		}
		if err := k.blobs.Verify(info.Hash); err != nil {
			findings = append(findings, Finding{What: err.Error(), Hint: "delete the file: the next ingest of the same content writes it again"})
		}
	}
	for info, err := range k.backups.Walk() {
		if err != nil {
			return nil, err
		}
		if err := k.backups.Verify(info.Hash); err != nil {
			findings = append(findings, Finding{What: "backup: " + err.Error(), Hint: "delete the file: it is no backup any more, and 'prune --undo' can't bring back what it was"})
		}
	}
	return findings, ctx.Err()
}

// salvageHint is the way out of damage to a session.
func salvageHint(name string) string {
	of := "--session " + name
	if name == folder.Project {
		of = "--project"
	}
	return "'memkernel salvage " + of + "' says what is sound and what is lost; with --apply it puts aside what is damaged"
}

// unreadable is a session that can't be read.
func unreadable(name string, err error) Finding {
	f := Finding{Session: name, What: err.Error(), Hint: salvageHint(name)}
	var d *journal.DamageError
	switch {
	case errors.As(err, &d):
		f.What = fmt.Sprintf("%s, line %d (byte %d): %s", d.File, d.Line, d.Offset, d.Reason)
	case errors.Is(err, fs.ErrPermission):
		f.Hint = "give yourself the right to read it; nothing is known to be damaged"
	case store.Foreign(err):
		f.Hint = "move it away: what it leads to was not touched"
	case errors.Is(err, journal.ErrNewer):
		f.Hint = "use the newer program"
	}
	return f
}

func (s *session) check() []Finding {
	var out []Finding
	add := func(format string, args ...any) {
		out = append(out, Finding{Session: s.key, What: fmt.Sprintf(format, args...), Hint: salvageHint(s.name) + "; prompts are then made anew, at the price of one cache miss"})
	}
	if s.journal != nil {
		switch err := s.journal.HeadErr(); {
		case errors.Is(err, journal.ErrHalfHead):
			out = append(out, Finding{Session: s.key, What: err.Error(), Hint: "nothing is lost by it, and the next write to the session makes it good"})
		case err != nil:
			out = append(out, Finding{Session: s.key, What: fmt.Sprintf("how far the journal was synced is not known: %v", err), Hint: salvageHint(s.name)})
		}
	}
	states, err := checkpoint.NewStore(s.files).Verify()
	for _, d := range states {
		out = append(out, Finding{Session: s.key, What: fmt.Sprintf("%s: %v", d.File, d.Err), Hint: salvageHint(s.name)})
	}
	if err != nil {
		out = append(out, unreadable(s.name, err))
	}
	for _, d := range folder.DamagedDerived(s.files) {
		add("%v", d.Err)
	}
	r := s.reader()
	for _, id := range sortedKeys(s.pages) {
		if err := checkPage(r, &s.graves, s.pages[id]); err != nil {
			out = append(out, Finding{Session: s.key, What: err.Error(), Hint: salvageHint(s.name) + "; then observe the session's transcript again"})
		}
	}
	for key, l := range s.lines {
		s.checkLine(key, l, add)
	}
	return out
}

func checkPage(r *archive.Reader, graves *erasure.Ledger, p *pagevm.Page) error {
	for _, m := range p.Media {
		if _, gone := graves.GoneBlob(m.Blob); m.Blob != "" && !gone && !r.Blobs.Has(m.Blob) {
			return fmt.Errorf("page %s: its %s, blob %s, is gone", p.ID, m.Type, m.Blob)
		}
	}
	text, err := r.Content(p)
	if errors.Is(err, archive.ErrRetired) {
		return nil
	}
	if err != nil {
		return err
	}
	if ids.Hash(text) != p.Hash {
		return fmt.Errorf("page %s does not restore to the content that was stored", p.ID)
	}
	return nil
}

func (s *session) checkLine(key lineKey, l *branch.State, add func(string, ...any)) {
	seen := map[string]bool{}
	for i := range l.Proj.Items {
		it := &l.Proj.Items[i]
		if seen[it.Page] {
			add("projection of %s shows page %s twice", key.model, it.Page)
		}
		seen[it.Page] = true
		if !plan.Shortened(it) {
			continue
		}
		if s.texts[it.Hash] == "" {
			add("projection of %s shows page %s by a text that is gone", key.model, it.Page)
		}
		if p := s.pages[it.Page]; p == nil {
			add("projection of %s shows page %s, which is not in the journal", key.model, it.Page)
		}
	}
}
