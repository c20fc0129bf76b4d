package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/consolidation/history"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
)

// History is [api.Keeper.History]. It finds the versions by the records of runs and the marks in
// files.
func (k *Keeper) History(ctx context.Context, req api.HistoryRequest) (_ *api.History, err error) {
	defer wrap("history", &err)
	req.Path = path.Clean(req.Path)
	r, unlock, err := k.begin(ctx, kindSeen, k.Now(), false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	p := &past{run: r, ctx: ctx, known: map[string][]history.State{}, out: &api.History{Path: req.Path, Line: req.Line, Versions: []history.Version{}}}
	states, err := p.states(req.Path)
	if err != nil {
		return nil, err
	}
	now := &states[len(states)-1]
	switch {
	case len(states) == 1 && now.Absent:
		return nil, fmt.Errorf("%s: %w", req.Path, api.ErrNoHistory)
	case markdownstore.Parse(req.Path, now.Text).Binary:
		return nil, fmt.Errorf("%s: %w", req.Path, api.ErrNoText)
	}
	if err := p.trace(now); err != nil {
		return nil, err
	}
	out := p.out
	for i := range states {
		if states[i].Unkept {
			out.Unkept++
		}
	}
	if out.Total = len(out.Versions); req.Limit > 0 && out.Total > req.Limit {
		out.Versions = out.Versions[:req.Limit]
	}
	out.Text = k.Masker.Text(out.Text)
	for i := range out.Versions {
		v := &out.Versions[i]
		v.Text = k.Masker.Text(v.Text)
		if req.Diff && v.Before != v.After {
			v.Diff = diffOf(k.Masker.Text(v.Before), k.Masker.Text(v.After))
		}
	}
	return out, ctx.Err()
}

// past is the knowledge of files for one call of History.
type past struct {
	*run
	ctx   context.Context
	known map[string][]history.State
	snap  *consolidation.Snapshot
	out   *api.History
}

// trace finds the versions.
func (p *past) trace(now *history.State) (err error) {
	rec, unread := p.record()
	src := history.Source{States: p.states, Origin: rec.Origin, Successor: func(path string, e *consolidation.Entry) string {
		if p.snap == nil {
			p.snap, _ = p.snapshot(p.ctx) // nil if it can't be read
		}
		if p.snap == nil {
			return ""
		}
		return p.snap.SuccessorOf(path, e)
	}}
	if p.out.Line == 0 {
		p.out.Versions, err = history.OfFile(src, p.out.Path)
	} else {
		versions, e, failed := history.OfEntry(src, p.out.Path, p.out.Line)
		if failed != nil {
			return failed
		}
		if e == nil {
			return noEntry(p.out.Path, p.out.Line, len(linesOf(now.Text)), consolidation.Entries(p.out.Path, now.Text))
		}
		p.out.Versions, p.out.Line, p.out.EndLine, p.out.Text = versions, e.StartLine, e.EndLine, e.Text
	}
	if err == nil {
		err = unread()
	}
	return err
}

// diffOf returns the difference of two texts, as a unified diff without its head.
func diffOf(before, after string) string {
	whole := func(s string) []byte {
		if s = strings.ReplaceAll(s, "\r\n", "\n"); s != "" && !strings.HasSuffix(s, "\n") {
			s += "\n"
		}
		return []byte(s)
	}
	d := string(diff.Diff("before", whole(before), "after", whole(after)))
	for range 3 {
		_, d, _ = strings.Cut(d, "\n")
	}
	return d
}

// states returns the contents of a file, oldest first. The last content is the present one.
func (p *past) states(file string) ([]history.State, error) {
	if s, ok := p.known[file]; ok {
		return s, p.ctx.Err()
	}
	now := history.State{Kind: history.Now, Absent: true, Time: p.promise.Time}
	l, err := p.Files.ReadFile(file)
	switch {
	case err == nil:
		now = history.State{Kind: history.Now, Text: l.Text, Hash: l.Hash, Time: l.ModTime.UTC()}
	case errors.Is(err, fs.ErrNotExist):
	case file != p.out.Path && errors.Is(err, markdownstore.ErrDenied):
		p.known[file] = nil
		return nil, nil
	default:
		return nil, err
	}
	var all []history.State
	for _, l := range p.log {
		s, err := p.ofRun(l, file)
		if err != nil {
			return nil, err
		}
		all = append(all, s...)
	}
	p.known[file] = history.Merge(append(all, now))
	return p.known[file], p.ctx.Err()
}

// ofRun returns the contents of a file before and after a run.
func (p *past) ofRun(l *logged, path string) (out []history.State, err error) {
	var also []string
	for _, st := range l.run.Steps {
		also = append(also, st.Path)
	}
	add := func(s history.State, text func() (string, error)) {
		if err != nil {
			return
		}
		var failed error
		if s.Text, failed = text(); errors.Is(failed, fs.ErrNotExist) {
			s.Unkept = true
		} else {
			err = failed
		}
		if s.Hash == "" && !s.Unkept {
			s.Hash = store.Sum([]byte(s.Text))
		}
		out = append(out, s)
	}
	if l.run.Kind == kindSeen {
		for _, m := range l.run.Reads {
			if m.Path == path {
				add(history.State{Time: l.run.Time, Kind: history.Seen, Hash: m.Hash}, func() (string, error) { return p.backup(m.Hash) })
			}
		}
		return out, err
	}
	for _, st := range l.run.Steps {
		if st.Path != path {
			continue
		}
		if st.Before == "" {
			out = append(out, history.State{Time: l.run.Time.Add(-1), Kind: history.Seen, Absent: true})
		} else {
			add(history.State{Time: st.Since, Kind: history.Seen, Hash: st.Before}, func() (string, error) { return p.backup(st.Before) })
		}
		if l.done == nil || slices.ContainsFunc(l.done.Kept, func(s string) bool { return strings.HasPrefix(s, path+": ") }) {
			continue
		}
		made := history.State{Time: l.run.Time, Kind: history.Kind(l.run.Kind), ID: l.id, How: l.run.How, Person: l.run.Person, Undoes: l.run.Undoes, Also: also}
		if made.Absent = st.Gone; st.Gone {
			out = append(out, made)
			continue
		}
		made.Hash = l.done.Files[path]
		add(made, func() (string, error) { return p.after(st) })
	}
	return out, err
}

// after returns the content that a step gave its file.
func (r *run) after(st *step) (string, error) {
	if st.After != "" {
		return r.backup(st.After)
	}
	before, err := r.backup(st.Before)
	if err != nil || st.Clear {
		return workstate.ForeignBuffer(before), err
	}
	added, err := r.backup(st.Add)
	if err != nil {
		return "", err
	}
	if before = strings.TrimRight(before, "\n"); before != "" {
		before += "\n\n"
	}
	return before + strings.Trim(added, "\n") + "\n<!-- mk:" + st.ID + " -->\n", nil
}

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
