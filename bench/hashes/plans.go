package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// host is a way to use a kernel.
type host struct {
	name            string
	view            transcript.View
	window, reserve int
	resolver        string
	private         bool
	// Each of these fields is a number of calls after which something happens. 0 means never.
	observe, peek, refuse, compact, boundary, reopen int
}

// hosts lists hosts that together cover the conditions of a plan. These are growth, cuts on a
// warm, a cold and a full prompt, rewrites by the host, refusals, compactions on demand and
// restarts.
var hosts = []host{
	{name: "whole", window: 200_000, resolver: "memory_get", private: true, observe: 1, view: transcript.Full},
	{name: "tight", window: 70_000, reserve: 8_000, view: transcript.Host, reopen: 41},
	{name: "rough", window: 110_000, reserve: 16_000, resolver: "memory_get", private: true, view: transcript.Full,
		observe: 2, peek: 3, refuse: 37, compact: 61, boundary: 47, reopen: 53},
}

// plans plans a session's calls under each host and writes the lines. Each call has a body and a
// decision, or the text of an error if there was no plan. Each run has the journals, the other
// state of the sessions, and the files written to the workspace.
func plans(ctx context.Context, out io.Writer, path, workspace string, limit int) error {
	for _, h := range hosts {
		if err := h.run(ctx, out, path, workspace, limit); err != nil {
			return fmt.Errorf("host %s: %w", h.name, err)
		}
	}
	return nil
}

// run plans a session's calls and writes the lines.
func (h host) run(ctx context.Context, out io.Writer, path, workspace string, limit int) (err error) {
	sess, err := transcript.LoadFile(path, nil)
	if err != nil {
		return err
	}
	msgs, _ := transcript.Repair(sess.View(h.view), false)
	dir, err := os.MkdirTemp("", "hashes-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(filepath.Join(dir, "w"), os.DirFS(workspace)); err != nil {
		return err
	}
	r := &runner{host: h, out: out, name: filepath.Base(path), dir: dir}
	calls := transcript.Calls(msgs)
	if limit > 0 {
		calls = calls[:min(limit, len(calls))]
	}
	if len(calls) > 0 {
		r.now = calls[0].Start
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.k.Close()) }()
	for n, c := range calls {
		if h.reopen > 0 && n%h.reopen == h.reopen-1 {
			if err := errors.Join(r.k.Close(), r.open(ctx)); err != nil {
				return err
			}
		}
		r.now = c.End
		r.call(ctx, n, c, msgs)
	}
	return r.left()
}

// runner is one session under one host.
type runner struct {
	host
	out       io.Writer
	name, dir string
	k         *kernel.Kernel
	now       time.Time // the time of the call
}

func (r *runner) open(ctx context.Context) (err error) {
	r.k, err = kernel.Open(ctx, filepath.Join(r.dir, "w"), &kernel.Options{StateDir: filepath.Join(r.dir, "state"),
		Now: func() time.Time { return r.now }})
	if err != nil {
		return err
	}
	_, err = r.k.Reindex(ctx, nil)
	return err
}

// due reports whether something that happens once in every calls happens at call n.
func due(every, n int) bool { return every > 0 && n%every == every-1 }

// call does the host's work for one call. The decision that is hashed includes an error.
func (r *runner) call(ctx context.Context, n int, c transcript.Call, msgs []memkernel.Message) {
	answer := &msgs[c.Index]
	before, after := msgs[:c.Index:c.Index], msgs[:c.Index+1:c.Index+1]
	req := api.PlanRequest{SessionKey: "s", Model: answer.Model, ContextWindow: r.window, Reserve: r.reserve, FixedTokens: 9_000,
		Messages: before, Now: c.Start, Resolver: r.resolver, Private: r.private, TTL: api.ChooseTTL}
	if due(r.peek, n) {
		r.planned(n, "peek", &req, r.k.Peek)
	}
	plan := r.planned(n, "plan", &req, r.k.PlanContext)
	if plan != nil && due(r.refuse, n) {
		req.Overflow = &api.Overflow{PlanID: plan.ID, Limit: r.window,
			Text: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", r.window+plan.Budgets.PlannedInputTokens/9, r.window)}
		plan = r.planned(n, "refused", &req, r.k.PlanContext)
	}
	if plan != nil && due(r.observe, n) {
		o, err := r.k.ObserveTurn(ctx, api.Turn{SessionKey: "s", Model: req.Model, Messages: after, PlanID: plan.ID, Usage: answer.Usage, Now: c.End, Private: r.private})
		if o != nil {
			o.Stats = api.Stats{}
		}
		r.line(n, "observed", "decision", decision(o, err))
	}
	at := api.Boundary{SessionKey: "s", Model: req.Model, Messages: after, Now: c.End, Private: r.private}
	if due(r.compact, n) {
		at.Compact = &api.CompactWish{Share: .3, Force: due(2*r.compact, n)}
		r.passed(n, "compacted", at, r.k.Compact)
		at.Compact = nil
	}
	if due(r.boundary, n) {
		cp, err := r.k.Checkpoint(ctx, at)
		r.line(n, "checkpoint", "decision", decision(cp, err))
		r.passed(n, "flushed", at, r.k.Flush)
	}
}

// passed passes a boundary and writes the line of its result.
func (r *runner) passed(n int, what string, at api.Boundary, f func(context.Context, api.Boundary) (*api.Passed, error)) {
	p, err := f(context.Background(), at)
	if p != nil {
		p.Stats = api.Stats{}
	}
	r.line(n, what, "decision", decision(p, err))
}

// planned plans a call and writes the lines of body and decision.
func (r *runner) planned(n int, what string, req *api.PlanRequest, f func(context.Context, api.PlanRequest) (*api.ContextPlan, error)) *api.ContextPlan {
	plan, err := f(context.Background(), *req)
	if err != nil {
		r.line(n, what, "decision", []byte(err.Error()))
		return nil
	}
	body, notes, err := transcript.Render(plan.Format, &transcript.Request{Model: plan.Model, Tools: plan.Tools, System: plan.System,
		Messages: plan.Messages, Markers: plan.Markers, Thinking: req.Thinking})
	r.line(n, what, "body", fmt.Appendf(body, "%v %v", notes, err))
	d := *plan
	d.Messages, d.Stats = nil, api.Stats{}
	r.line(n, what, "decision", decision(d, nil))
	return plan
}

// decision returns the answer to a call, as bytes.
func decision(v any, err error) []byte {
	if err != nil {
		return []byte(err.Error())
	}
	data, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return data
}

func (r *runner) line(call int, what, kind string, data []byte) {
	data = bytes.ReplaceAll(data, []byte(r.dir), []byte("DIR"))
	sum := sha256.Sum256(data)
	fmt.Fprintf(r.out, "%s %s %d %s %s %s\n", r.name, r.host.name, call, what, kind, hex.EncodeToString(sum[:8]))
}

// left hashes the files that the run left. It leaves out locks and the index, which can be
// rebuilt from the workspace.
func (r *runner) left() error {
	return filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(r.dir, path)
		rel = filepath.ToSlash(rel)
		base := filepath.Base(rel)
		kind := "state"
		switch {
		case strings.HasPrefix(rel, "w/"):
			kind = "workspace"
		case base == "journal.jsonl":
			kind = "journal"
		case strings.HasPrefix(base, "index.sqlite"), strings.HasSuffix(base, "lock"), base == "sync.json", base == "journal.head":
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if kind == "journal" {
			if data, err = records(data); err != nil {
				return fmt.Errorf("%s: %w", rel, err)
			}
		}
		r.line(-1, rel, kind, data)
		return nil
	})
}

// records returns a journal's records without their frames.
func records(journal []byte) ([]byte, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(journal) {
		var l struct {
			Rec json.RawMessage `json:"rec"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, err
		}
		out.Write(append(l.Rec, '\n'))
	}
	return out.Bytes(), nil
}
