package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
)

// History is [api.Keeper.History]. It finds the versions from the records of runs and the marks in
// files.
func (k *Keeper) History(ctx context.Context, req api.HistoryRequest) (_ *api.History, err error) {
	defer wrap("history", &err)
	req.Path = path.Clean(req.Path)
	r, unlock, err := k.begin(ctx, api.RunSeen, k.Now(), false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	rec, unread := r.record()
	t := tracer{read: func(file string) ([]state, error) { return r.states(ctx, file, file == req.Path) }, origin: rec.Origin, successor: r.successors(ctx)}
	states := t.states(req.Path)
	switch {
	case t.err != nil:
		return nil, t.err
	case len(states) == 1 && states[0].absent:
		return nil, fmt.Errorf("%s: %w", req.Path, api.ErrNoHistory)
	case markdownstore.Parse(req.Path, states[len(states)-1].text).Binary:
		return nil, fmt.Errorf("%s: %w", req.Path, api.ErrNoText)
	}
	out := &api.History{Path: req.Path, Line: req.Line}
	if req.Line == 0 {
		out.Versions = t.file(req.Path)
	} else if versions, e := t.entry(req.Path, req.Line); e != nil {
		out.Versions, out.Line, out.EndLine, out.Text = versions, e.StartLine, e.EndLine, k.Masker.Text(e.Text)
	} else {
		now := states[len(states)-1].text
		return nil, noEntry(req.Path, req.Line, len(linesOf(now)), consolidation.Entries(req.Path, now))
	}
	if err := cmp.Or(t.err, unread()); err != nil {
		return nil, err
	}
	for i := range states {
		if states[i].unkept {
			out.Unkept++
		}
	}
	if out.Total = len(out.Versions); req.Limit > 0 && out.Total > req.Limit {
		out.Versions = out.Versions[:req.Limit]
	}
	for i := range out.Versions {
		v := &out.Versions[i]
		v.Text = k.Masker.Text(v.Text)
		if req.Diff && v.Before != v.After {
			v.Diff = diffOf(linesOf(k.Masker.Text(v.Before)), linesOf(k.Masker.Text(v.After)))
		}
	}
	return out, ctx.Err()
}

// successors returns a function that returns the place of the entry that replaced a file's entry, ""
// if none did, or if memory can't be read.
func (r *run) successors(ctx context.Context) func(path string, e *consolidation.Entry) string {
	snap := sync.OnceValue(func() *consolidation.Snapshot {
		s, _ := r.snapshot(ctx)
		return s
	})
	return func(path string, e *consolidation.Entry) string {
		if snap() == nil {
			return ""
		}
		return snap().SuccessorOf(path, e)
	}
}

// diffOf returns the difference of the lines of two texts, as a unified diff without its head.
func diffOf(before, after []string) string {
	whole := func(lines []string) []byte {
		if len(lines) == 0 {
			return nil
		}
		return []byte(strings.Join(lines, "\n") + "\n")
	}
	d := string(diff.Diff("before", whole(before), "after", whole(after)))
	for range 3 {
		_, d, _ = strings.Cut(d, "\n")
	}
	return d
}

// states returns the contents of a file, oldest first. The last content is the present one. A file
// that may not be read has no states. If asked is true, such a file is an error.
func (r *run) states(ctx context.Context, file string, asked bool) ([]state, error) {
	now := state{now: true, absent: true, time: r.promise.Time}
	l, err := r.Files.ReadFile(file)
	switch {
	case err == nil:
		now = state{now: true, text: l.Text, hash: l.Hash, time: l.ModTime.UTC()}
	case errors.Is(err, fs.ErrNotExist):
	case !asked && errors.Is(err, markdownstore.ErrDenied):
		return nil, nil
	default:
		return nil, err
	}
	var all []state
	for _, l := range r.log {
		s, err := r.statesOf(l, file)
		if err != nil {
			return nil, err
		}
		all = append(all, s...)
	}
	return merged(append(all, now)), ctx.Err()
}

// statesOf returns the contents of a file before and after a run.
func (r *run) statesOf(l *logged, path string) (out []state, err error) {
	add := func(s state, text func() (string, error)) {
		if err != nil {
			return
		}
		var failed error
		if s.text, failed = text(); errors.Is(failed, fs.ErrNotExist) {
			s.unkept = true
		} else {
			err = failed
		}
		if s.hash == "" && !s.unkept {
			s.hash = store.Sum([]byte(s.text))
		}
		out = append(out, s)
	}
	if l.run.Kind == api.RunSeen {
		for _, m := range l.run.Reads {
			if m.Path == path {
				add(state{time: l.run.Time, hash: m.Hash}, func() (string, error) { return r.backup(m.Hash) })
			}
		}
		return out, err
	}
	for _, st := range l.run.Steps {
		if st.Path != path {
			continue
		}
		if st.Before == "" {
			out = append(out, state{time: l.run.Time.Add(-1), absent: true})
		} else {
			add(state{time: st.Since, hash: st.Before}, func() (string, error) { return r.backup(st.Before) })
		}
		switch made := (state{time: l.run.Time, by: l}); {
		case l.done == nil || slices.ContainsFunc(l.done.Kept, func(s string) bool { return strings.HasPrefix(s, path+": ") }):
		case st.Gone:
			made.absent = true
			out = append(out, made)
		default:
			made.hash = l.done.Files[path]
			add(made, func() (string, error) { return r.after(st) })
		}
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

// fact is the evidence for an entry when the entry was added. Key identifies the entry's text, of
// which the fact holds no words.
type fact struct {
	Key   string   `json:"key"`
	Score float64  `json:"score"`
	Why   []string `json:"why"`
}

// Why is [api.Keeper.Why].
func (k *Keeper) Why(ctx context.Context, req api.WhyRequest) (out *api.Grounds, err error) {
	defer wrap("why", &err)
	r, unlock, err := k.begin(ctx, api.RunSeen, k.at(req.Now), false)
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
