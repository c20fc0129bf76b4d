package paging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// kernelModel is a model whose tokens are counted exactly and without a server, so that a unit has
// the same size on every machine.
const kernelModel = "gpt-6"

// expand is the tool with which the simulated model follows a pointer.
const expand = "memory_get"

// player plays a workload to a kernel, as both host and model. It looks for the demands of a turn
// in the planned prompt. If the prompt has only a pointer to a page, player follows the pointer.
// If the prompt lacks the page, player runs the page's tool again.
//
//   - The window and the pages have [unitTokens] real tokens for each unit.
//   - Evidence is the result of a tool call. Constraints, plans and preferences are
//     pages that the host writes, pinned as the workload pins them. Bootstrap pages are
//     the workspace's AGENTS.md.
//   - A page that a turn makes dirty is written at the turn's end, as a host does. After
//     the turn's boundary, player looks the page up in the journal.
//
// The kernel gets no demand before it plans, and pins nothing that the workload does not pin.
type player struct {
	k        *kernel.Kernel
	w        *workload
	pages    map[string]*page
	talks    map[string]*talk
	clock    time.Time
	window   int            // the budget, in real tokens
	versions map[string]int // versions of the pages that the host wrote, by id
}

// talk is the host's state of one session.
type talk struct {
	msgs  []memkernel.Message
	calls map[string][]string // ids of the calls whose results hold a page, by page
	n     int                 // calls so far
}

// newPlayer opens a kernel in a folder of its own. Callers must call end.
func newPlayer(ctx context.Context, w *workload, budget int) (pl *player, end func() error, err error) {
	dir, err := os.MkdirTemp("", "memkernel-paging-")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	pl = &player{w: w, pages: map[string]*page{}, talks: map[string]*talk{}, clock: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC),
		window: budget * unitTokens, versions: map[string]int{}}
	var rules strings.Builder
	for i := range w.Pages {
		p := &w.Pages[i]
		pl.pages[p.ID] = p
		if p.Type == pagevm.Bootstrap {
			fmt.Fprintf(&rules, "# %s\n\n", p.ID)
			for _, l := range append(lines(p, "main", p.Tokens.Structured), lines(p, "rest", p.Tokens.Full-p.Tokens.Structured)...) {
				lead := "- "
				if strings.Contains(l, " main ") {
					lead = "- Never forget: "
				}
				rules.WriteString(lead + l + "\n")
			}
		}
	}
	if rules.Len() > 0 {
		if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(rules.String()), 0o600); err != nil {
			return nil, nil, err
		}
	}
	k, err := kernel.Open(ctx, dir, &kernel.Options{
		Memory: kernel.MemoryOptions{NoRemembered: true, NoDailyLogs: true, RecallTokens: -1},
		Life:   kernel.LifeOptions{NoStateFile: true, NoBuffer: true},
		Now:    func() time.Time { return pl.clock },
	})
	if err != nil {
		return nil, nil, err
	}
	pl.k = k
	for i := range w.Pages {
		if err := pl.write(ctx, &w.Pages[i]); err != nil {
			return nil, nil, errors.Join(err, k.Close())
		}
	}
	return pl, func() error { return errors.Join(k.Close(), os.RemoveAll(dir)) }, nil
}

// lines returns the lines of a part of a page, with a size of units. No two lines are equal.
func lines(p *page, part string, units int) []string {
	var out []string
	for i := range max(units, 0) * linesPerUnit {
		out = append(out, fmt.Sprintf("%s %s %03d: %s", p.ID, part, i, filler[i%len(filler)]))
	}
	return out
}

// linesPerUnit lines of the filler take about [unitTokens] tokens.
const linesPerUnit = 2

var filler = []string{
	"the queue keeps its order while the worker retries",
	"a lease that runs out goes back to the table",
	"the index is read before the journal is closed",
	"every shard answers within the budget of its caller",
	"no page leaves while its result is still in flight",
}

// fields returns the page in the form in which the host writes it. main is the content of the
// structured form, and rest is the rest of the page.
func fields(p *page) (main, rest string) {
	switch p.Type {
	case pagevm.Constraint:
		return "text", "reason"
	case pagevm.Plan:
		return "goal", ""
	case pagevm.Preference:
		return "text", ""
	case pagevm.Conversation:
		return "gist", ""
	}
	return "", ""
}

// owner returns the session that writes a page. The first session writes shared pages.
func (pl *player) owner(p *page) string {
	if p.Session == "" {
		return pl.w.Sessions[0]
	}
	return p.Session
}

// write writes a page into the journal. It skips pages that are results of tools or files.
func (pl *player) write(ctx context.Context, p *page) error {
	updates := pl.updates(p)
	if updates == nil {
		return nil
	}
	receipt, err := pl.k.Write(ctx, api.WriteRequest{SessionKey: pl.owner(p), Project: p.Type == pagevm.Preference, Updates: updates, Now: pl.clock})
	if err == nil && len(receipt.Rejected) > 0 {
		err = fmt.Errorf("write page %s: refused with %s", p.ID, receipt.Rejected[0].Code)
	}
	return err
}

// updates returns the next version of a page, or nil if the host does not write the page.
func (pl *player) updates(p *page) []journal.Update {
	main, rest := fields(p)
	if main == "" {
		return nil
	}
	was := pl.versions[p.ID]
	pl.versions[p.ID]++
	scope := memkernel.ScopeSession
	if p.Type == pagevm.Preference {
		scope = memkernel.ScopeProject
	}
	set := func(field, text string, version int) journal.Update {
		value, _ := json.Marshal(text) // a text has a JSON form
		return journal.Update{ID: p.ID + " " + field, Key: p.ID, Type: p.Type, Field: field, Op: journal.OpSetWithVersion, Value: value, Version: version,
			Scope: scope, EvidenceRef: "session:" + pl.owner(p)}
	}
	head := fmt.Sprintf("%s version %d\n", p.ID, was+1)
	out := []journal.Update{set(main, head+strings.Join(lines(p, "main", max(p.Tokens.Structured, 1)), "\n"), was)}
	if rest != "" && was == 0 {
		out = append(out, set(rest, strings.Join(lines(p, "rest", p.Tokens.Full-p.Tokens.Structured), "\n"), 0))
	}
	if was == 0 && p.Pin != paging.PinNone && p.Type != pagevm.Constraint {
		out = append(out, set(journal.PinField, string(p.Pin), 0))
	}
	return out
}

// turn plays one turn. It plans the prompt, finds the level of each page in the prompt, answers
// as the model would, and passes the turn's boundaries.
func (pl *player) turn(ctx context.Context, t *turn) (*prompt, error) {
	pl.clock = pl.clock.Add(time.Minute)
	s := pl.talk(t.Session)
	s.add(memkernel.RoleUser, pl.clock, memkernel.Part{Kind: memkernel.PartText, Text: fmt.Sprintf("Go on with step %d.", t.Turn), Typed: true})
	plan, err := pl.k.PlanContext(ctx, api.PlanRequest{SessionKey: t.Session, Model: kernelModel, ContextWindow: pl.window, Reserve: 1,
		Messages: s.msgs, Now: pl.clock, Resolver: expand, Private: true})
	shown := &prompt{levels: map[string]pagevm.Level{}}
	var full *budget.TooSmallError
	switch {
	case errors.As(err, &full):
		plan = nil // no prompt has room for the pages that must be shown
	case err != nil:
		return nil, err
	default:
		shown.levels, shown.tokens = pl.levels(s, plan), (plan.Budgets.PlannedInputTokens+unitTokens-1)/unitTokens
	}
	pl.answer(s, t, shown.levels)
	if shown.rejected, err = pl.observe(ctx, s, t, plan); err != nil {
		return nil, err
	}
	shown.lost, err = pl.events(ctx, s, t)
	return shown, err
}

func (pl *player) talk(session string) *talk {
	s := pl.talks[session]
	if s == nil {
		s = &talk{calls: map[string][]string{}}
		pl.talks[session] = s
	}
	return s
}

func (s *talk) add(role memkernel.Role, at time.Time, parts ...memkernel.Part) {
	s.msgs = append(s.msgs, memkernel.Message{Key: fmt.Sprintf("m%d-%d", at.Unix(), len(s.msgs)), Role: role, Parts: parts, Time: at})
}

// levels returns the level at which the prompt shows each page. It finds the level from the
// page's words, or from the page's handle if the prompt has only the handle.
func (pl *player) levels(s *talk, plan *api.ContextPlan) map[string]pagevm.Level {
	text := promptText(plan)
	reduced := map[string]api.Reduced{}
	for _, r := range plan.Reduced {
		if r.CallID != "" {
			reduced[r.CallID] = r
		}
	}
	out := map[string]pagevm.Level{}
	for id, p := range pl.pages {
		level := written(p, text)
		for _, call := range s.calls[id] {
			r, less := reduced[call]
			switch {
			case !less:
				level = pagevm.Full
			case r.Level == pagevm.Gone && strings.Contains(text, r.Handle):
				level = max(level, pagevm.Pointer)
			default:
				level = max(level, r.Level)
			}
		}
		out[id] = level
	}
	return out
}

// written returns the level at which a text shows the words of a page.
func written(p *page, text string) pagevm.Level {
	has := func(part string, units int) bool {
		for _, l := range lines(p, part, units) {
			if !strings.Contains(text, l) {
				return false
			}
		}
		return true
	}
	switch main, _ := fields(p); {
	case main == "" && p.Type != pagevm.Bootstrap, !has("main", max(p.Tokens.Structured, 1)):
		return pagevm.Gone
	case p.Type == pagevm.Preference || p.Type == pagevm.Plan || has("rest", p.Tokens.Full-p.Tokens.Structured):
		return pagevm.Full
	}
	return pagevm.Structured
}

// promptText returns all text of the prompt.
func promptText(plan *api.ContextPlan) string {
	var b strings.Builder
	parts := func(ps []memkernel.Part) {
		for i := range ps {
			b.WriteString(ps[i].Text + "\n")
			if r := ps[i].Result; r != nil {
				for j := range r.Content {
					b.WriteString(r.Content[j].Text + "\n")
				}
			}
		}
	}
	parts(plan.System)
	for i := range plan.Messages {
		parts(plan.Messages[i].Parts)
	}
	return b.String()
}

// answer plays the model's turn. It makes the calls of the workload, and calls the resolver for
// each page that the prompt only points to. For each page that the prompt lacks, it runs the
// page's tool again.
func (pl *player) answer(s *talk, t *turn, levels map[string]pagevm.Level) {
	var calls, results []memkernel.Part
	use := func(name, id string, input map[string]string) {
		s.n++
		call := fmt.Sprintf("call-%s-%d", t.Session, s.n)
		args, _ := json.Marshal(input) // texts have a JSON form
		p := pl.pages[id]
		text := strings.Join(append(lines(p, "main", p.Tokens.Structured), lines(p, "rest", p.Tokens.Full-p.Tokens.Structured)...), "\n")
		calls = append(calls, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: call, Name: name, Input: string(args)}})
		results = append(results, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: call, Text: true,
			Content: memkernel.Text(text)}})
		s.calls[id] = append(s.calls[id], call)
	}
	made := map[string]bool{}
	for _, c := range t.Calls {
		use("look", c.Page, map[string]string{"at": c.Signature})
		made[c.Page] = true
	}
	for _, id := range t.Demand {
		switch level := levels[id]; {
		case made[id] || level > pagevm.Pointer:
		case level == pagevm.Pointer:
			use(expand, id, map[string]string{"page": id})
		default:
			use("look", id, map[string]string{"at": "again(" + id + ")"})
		}
		made[id] = true
	}
	if len(calls) > 0 {
		s.add(memkernel.RoleAssistant, pl.clock, calls...)
		s.add(memkernel.RoleUser, pl.clock, results...)
	}
	s.add(memkernel.RoleAssistant, pl.clock, memkernel.Part{Kind: memkernel.PartText, Text: fmt.Sprintf("Step %d is done.", t.Turn)})
}

// observe commits the turn with the pages that it made dirty, and returns the pages whose changes
// were refused.
func (pl *player) observe(ctx context.Context, s *talk, t *turn, plan *api.ContextPlan) (rejected []string, err error) {
	turn := api.Turn{SessionKey: t.Session, Model: kernelModel, Messages: s.msgs, Now: pl.clock, Private: true}
	if plan != nil {
		turn.PlanID = plan.ID
	}
	var shared []*page // a turn writes only private pages
	for _, id := range t.Dirty {
		if p := pl.pages[id]; p.Type == pagevm.Preference {
			shared = append(shared, p)
		} else {
			turn.Updates = append(turn.Updates, pl.updates(p)...)
		}
	}
	seen, err := pl.k.ObserveTurn(ctx, turn)
	if err != nil {
		return nil, err
	}
	for _, r := range seen.Rejected {
		rejected = append(rejected, r.ID[:strings.LastIndexByte(r.ID, ' ')])
	}
	for _, p := range shared {
		if err := pl.write(ctx, p); err != nil {
			return nil, err
		}
	}
	return rejected, nil
}

// events passes the turn's boundaries, and returns the dirty pages whose newest version the
// journal lacks afterwards.
func (pl *player) events(ctx context.Context, s *talk, t *turn) (lost []string, err error) {
	for _, ev := range t.Events {
		b := api.Boundary{SessionKey: t.Session, Model: kernelModel, Messages: s.msgs, Now: pl.clock, Private: true}
		switch ev {
		case eventCompaction:
			_, err = pl.k.Compact(ctx, b)
		case eventReset:
			_, err = pl.k.Reset(ctx, b)
			*s = talk{calls: map[string][]string{}, n: s.n}
		case eventSessionEnd:
			_, err = pl.k.EndSession(ctx, b)
		default:
			_, err = pl.k.Flush(ctx, b)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ev, err)
		}
	}
	if len(t.Events) == 0 {
		return nil, nil
	}
	for _, id := range t.Dirty {
		p := pl.pages[id]
		if main, _ := fields(p); main == "" {
			continue
		}
		pages, err := pl.k.Pages(ctx, pl.owner(p))
		if err != nil {
			return nil, err
		}
		if !stored(pages, p, pl.versions[id]) {
			lost = append(lost, id)
		}
	}
	return lost, nil
}

// stored reports whether a version of a page is in the journal.
func stored(pages []journal.StoredPage, p *page, version int) bool {
	main, _ := fields(p)
	for i := range pages {
		if pages[i].Key != p.ID {
			continue
		}
		f, ok := pages[i].Field(main)
		return ok && len(f.Entries) > 0 && f.Entries[0].Current().Version >= version
	}
	return false
}
