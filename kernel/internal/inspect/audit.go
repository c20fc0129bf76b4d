package inspect

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// orphanAge is the age from which a blob that no page holds is reported. A younger blob may
// belong to a line that is just being written.
const orphanAge = time.Hour

// Kept returns an audit's checks of the state next to memory.
func (in *Inspector) Kept(now time.Time) map[health.Code]consolidation.Kept {
	blobs := func(ctx context.Context, r *health.Report) error { return in.auditBlobs(ctx, r, now) }
	return map[health.Code]consolidation.Kept{health.Blobs: blobs, health.Journals: in.auditJournals, health.Index: in.auditIndex}
}

// Resolves returns a function that reports whether a page that memory names can be read in a
// session. The function opens each session once, when it is first called. If memory names no page,
// it opens no session.
func (in *Inspector) Resolves(ctx context.Context) func(id string) bool {
	readable := sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		snap, err := in.Upkeep.ReadAll(ctx)
		if err != nil {
			return out
		}
		named := snap.Mentioned()
		folders, err := folder.All(in.State)
		if err != nil {
			return out
		}
		for _, f := range longwork.Over(ctx, "session", folders) {
			if len(out) == len(named) {
				break
			}
			s, unlock, err := in.Sessions.Visit(ctx, f)
			if err != nil {
				continue
			}
			for id := range named {
				if c, err := contentOf(s, id); err == nil && c.Reason == api.GetOK {
					out[id] = true
				}
			}
			unlock()
		}
		return out
	})
	return func(id string) bool { return readable()[id] }
}

// auditJournals checks the invariants of journals, pages, projections and blobs.
func (in *Inspector) auditJournals(ctx context.Context, r *health.Report) error {
	found, err := found(ctx, in, stored)
	for _, f := range found {
		if f.Code = health.Journals; f.Session != "" {
			f.What = "session " + f.Session + ": " + f.What
		}
		r.Add(f)
	}
	return err
}

// auditBlobs reports all blobs without a page together, because their names are only hashes.
func (in *Inspector) auditBlobs(ctx context.Context, r *health.Report, now time.Time) error {
	n, bytes, example := 0, int64(0), ""
	var held map[string][]session.Holder
	for info, err := range in.Blobs.Walk() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if held == nil {
			if held, err = session.Holders(ctx, in.State); err != nil {
				r.Skip(err.Error())
				return nil
			}
		}
		at, err := in.Blobs.Stat(info.Hash)
		if len(held[info.Hash]) > 0 || err != nil || now.Sub(at.Time) < orphanAge {
			continue
		}
		if n++; n == 1 {
			example = info.Hash
		}
		bytes += info.Bytes
	}
	if n > 0 {
		r.Add(health.Finding{Severity: health.Note,
			What: fmt.Sprintf("%d blobs of %d bytes belong to no page, such as %s", n, bytes, example), Hint: "'memkernel retain --apply' removes them"})
	}
	return nil
}
