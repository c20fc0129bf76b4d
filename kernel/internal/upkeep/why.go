package upkeep

import (
	"context"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// fact is the evidence for an entry at the time when the entry was added. Key identifies the
// entry's text. The fact holds none of the entry's words.
type fact struct {
	Key   string   `json:"key"`
	Score float64  `json:"score"`
	Why   []string `json:"why"`
}

// Why is [api.Keeper.Why].
func (k *Keeper) Why(ctx context.Context, req api.WhyRequest) (out *api.Grounds, err error) {
	defer wrap("why", &err)
	r, unlock, err := k.begin(ctx, kindSeen, k.at(req.Now), false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	snap, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	g, err := snap.Grounds(req.Entry, r.promise.Day)
	if path, line, ok := consolidation.PlaceOf(req.Entry); err != nil && ok && snap.File(path) != nil {
		f := snap.File(path)
		return nil, noEntry(path, line, len(linesOf(f.Doc.Raw)), f.Entries)
	}
	if err != nil {
		return nil, err
	}
	out = &api.Grounds{Grounds: *g, Why: []string{}}
	rec, failed := r.record()
	line := firstLine(g.Raw)
	switch by := rec.Said(g.Path, consolidation.LineHash(line)); {
	case rec.Wrote(g.Path, g.ID, line):
		out.WrittenBy = api.ByUpkeep
	case by == consolidation.OriginHand:
		out.WrittenBy = api.ByPerson
	case by.Machine() && g.ID == "":
		out.WrittenBy = api.ByAgent
	case rec.Origin(g.Path, g.ID, line) == consolidation.OriginWords:
		out.WrittenBy = api.ByWords
	case strings.HasPrefix(g.ID, "fl-"), strings.HasPrefix(g.ID, "wb-"):
		out.WrittenBy = api.BySession
	case g.ID != "":
		out.WrittenBy = api.ByMark
	}
	key := consolidation.KeyHash(g.Text)
	for _, l := range r.log {
		for _, f := range l.run.Facts {
			if f.Key == key && !l.undone {
				out.Run, out.RunDay, out.Score, out.Why = l.id, l.run.Day, f.Score, f.Why
			}
		}
	}
	out.Text = r.Masker.Text(out.Text)
	for i := range out.From {
		out.From[i].Text = r.Masker.Text(out.From[i].Text)
	}
	if err := failed(); err != nil {
		return nil, err
	}
	out.Use, err = k.Inspector.Use(ctx, out.Text)
	return out, err
}
