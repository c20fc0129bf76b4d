package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm"
)

// stored are the checks of the state folder, in the order in which they run.
var stored = []health.Check[*Inspector]{
	{Code: health.Journals, Title: "journals and pages are whole", Run: checkSessions},
	{Code: health.Blobs, Title: "every blob is what its name says", Run: func(ctx context.Context, in *Inspector, r *health.Report) error {
		return checkContents(ctx, in.Blobs, "blob", r, "", "delete the file: the next ingest of the same content writes it again")
	}},
	{Code: health.Backups, Title: "every backup is what its name says", Run: func(ctx context.Context, in *Inspector, r *health.Report) error {
		return checkContents(ctx, in.Backups, "backup", r, "backup: ", "delete the file: it is no backup any more, and 'undo' can't bring back what it was")
	}},
}

// checked are the checks of everything that is kept.
var checked = append(slices.Clip(stored), health.Check[*Inspector]{Code: health.Index, Title: "the index is whole", Run: checkIndex})

// Check verifies every invariant of the state directory. Every journal must be readable from end
// to end. Every page must restore to the content that its hash names, and every blob and backup
// must have the content that its name says. No projection may show a page that can't be restored,
// show a page twice, or show a page below its floor. An existing index must be whole. It writes
// nothing.
func (in *Inspector) Check(ctx context.Context) ([]health.Finding, error) {
	return found(ctx, in, checked)
}

// found returns the findings of a table of checks.
func found(ctx context.Context, in *Inspector, table []health.Check[*Inspector]) ([]health.Finding, error) {
	r := &health.Report{Findings: []health.Finding{}}
	if err := health.Run(ctx, r, table, in); err != nil {
		return nil, err
	}
	return r.Findings, nil
}

func checkSessions(ctx context.Context, in *Inspector, r *health.Report) error {
	folders, err := folder.All(in.State)
	if err != nil {
		return err
	}
	if project, err := store.Find(folder.In(in.State, folder.Project), ""); err != nil {
		return err
	} else if project {
		folders = append(folders, folder.Project)
	}
	for _, f := range longwork.Over(ctx, "session", folders) {
		s, unlock, err := in.Sessions.Visit(ctx, f)
		if err != nil {
			r.Add(folder.Unreadable(f, err))
			continue
		}
		r.Add(checkSession(s)...)
		unlock()
	}
	r.Add(folder.EndedDamage(in.State)...)
	return nil
}

// checkContents reports the files whose content does not match their names.
func checkContents(ctx context.Context, b *store.Blobs, unit string, r *health.Report, before, hint string) error {
	var all []string
	for info, err := range b.Walk() {
		if err != nil {
			return err
		}
		all = append(all, info.Hash)
	}
	for _, hash := range longwork.Over(ctx, unit, all) {
		if _, err := b.Get(hash); store.OutOfReach(err) {
			f := folder.Unreadable("", err)
			f.What = before + f.What
			r.Add(f)
		} else if err != nil {
			r.Add(health.Wrong("", before+err.Error(), hint))
		}
	}
	return nil
}

// checkIndex verifies the index. A missing index is no problem, nor is an older index that the
// next reindex replaces.
func checkIndex(ctx context.Context, in *Inspector, r *health.Report) error {
	if in.Memory == nil {
		return nil
	}
	ix, err := in.Memory.Index(ctx)
	switch {
	case errors.Is(err, index.ErrMissing), errors.Is(err, index.ErrOlder):
		return nil
	case err != nil:
		r.Add(ofIndex(err))
		return nil
	}
	for err := range ix.Check(ctx) {
		r.Add(ofIndex(err))
	}
	return nil
}

// auditIndex checks the index. It leaves no new file next to the index.
func (in *Inspector) auditIndex(ctx context.Context, r *health.Report) error {
	found, skipped, err := in.Memory.Audit(ctx, in.IndexPath)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, index.ErrMissing):
		r.Skip("there is no index yet")
	case skipped != "":
		r.Skip(skipped)
	case err != nil:
		found = []error{err}
	}
	for _, err := range found {
		r.Add(ofIndex(err))
	}
	return nil
}

// wholeIndex is the remedy for an index that is damaged inside. A reindex that is not full
// rebuilds the index only if the file or its texts are not whole.
const wholeIndex = "run 'memkernel reindex --full', which makes it anew; nothing is lost"

// ofIndex returns the finding for an error of the index.
func ofIndex(err error) health.Finding {
	f := health.Wrong("", err.Error(), wholeIndex)
	var e *index.Error
	if errors.As(err, &e) && e.Kind != index.ErrDamaged && e.Hint != "" {
		f.Hint = e.Hint
	}
	return f
}

func checkSession(s *session.Session) []health.Finding {
	var out []health.Finding
	add := func(format string, args ...any) {
		out = append(out, health.Wrong(s.Key, fmt.Sprintf(format, args...), folder.SalvageHint(s.Name)+"; prompts are then made anew, at the price of one cache miss"))
	}
	if s.Journal != nil {
		switch err := s.Journal.Fault(); {
		case errors.Is(err, store.ErrHalfHead):
			out = append(out, health.Wrong(s.Key, err.Error(), "nothing is lost by it, and the next write to the session makes it good"))
		case err != nil:
			out = append(out, health.Wrong(s.Key, fmt.Sprintf("how far the journal was synced is not known: %v", err), folder.SalvageHint(s.Name)))
		}
	}
	kept := checkpoint.NewStore(s.Files)
	states, err := kept.Verify()
	// Forgetting removes the reading position and the other captured files together.
	others, unlisted := s.Files.List("state")
	if there, oops := kept.Captured(); oops == nil && !there && s.Account.Captured && (!s.Graves.Any() || unlisted == nil && len(others) > 0) {
		out = append(out, health.Wrong(s.Key, fmt.Sprintf("%s: what was captured of %d observed turns is gone", kept.Folder(), s.Account.Committed), "observe the session's transcript again"))
	}
	for _, d := range states {
		out = append(out, health.Wrong(s.Key, fmt.Sprintf("%s: %v", d.File, d.Err), folder.SalvageHint(s.Name)))
	}
	if err != nil {
		out = append(out, folder.Unreadable(s.Name, err))
	}
	for _, d := range folder.Damaged(s.Files, s.Local, s.Name) {
		if store.OutOfReach(d.Err) {
			out = append(out, folder.Unreadable(s.Name, d.Err))
			continue
		}
		add("%v", d.Err)
	}
	r := s.Reader()
	for _, id := range sorted(s.Pages) {
		if err := checkPage(r, s.Graves.Blobs, s.Pages[id]); store.OutOfReach(err) {
			out = append(out, folder.Unreadable(s.Name, err))
		} else if err != nil {
			out = append(out, health.Wrong(s.Key, err.Error(), folder.SalvageHint(s.Name)+"; then observe the session's transcript again"))
		}
	}
	for key, l := range s.Branches.All {
		checkBranch(s, key, l, add)
	}
	return out
}

func checkPage(r *archive.Reader, removed map[string]bool, p *pagevm.Page) error {
	for _, m := range p.Media {
		if _, gone := removed[m.Blob]; m.Blob == "" || gone {
			continue
		}
		if _, err := r.Blobs.Stat(m.Blob); store.OutOfReach(err) {
			return err
		} else if err != nil {
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
	if ingest.Hash(text) != p.Hash {
		return fmt.Errorf("page %s does not restore to the content that was stored", p.ID)
	}
	return nil
}

func checkBranch(s *session.Session, key branch.Key, l *branch.State, add func(string, ...any)) {
	seen := map[string]bool{}
	for i := range l.Proj.Items {
		it := &l.Proj.Items[i]
		if seen[it.Page] {
			add("projection of %s shows page %s twice", key.Model, it.Page)
		}
		seen[it.Page] = true
		if !it.Shortened() {
			continue
		}
		if s.Texts[it.Hash] == "" {
			add("projection of %s shows page %s by a text that is gone", key.Model, it.Page)
		}
		if p := s.Pages[it.Page]; p == nil {
			add("projection of %s shows page %s, which is not in the journal", key.Model, it.Page)
		}
	}
}
