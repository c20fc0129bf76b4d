package kernel

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
	"github.com/memkernel/memkernel/retrieval"
)

// recallPool is how many passages are looked at for a prompt: some of them it shows
// already, and some say the same.
const recallPool = 48

// recallSpans is how many spans of the session are looked at beside them.
const recallSpans = 12

// recallFloor is the least room that recalling is worth.
const recallFloor = 80

// recallBounds are the most tokens and items that a user turn recalls; negative for
// nothing.
func (w *work) recallBounds() (tokens, items int) {
	if w.memory == nil {
		return DefaultRecallTokens, DefaultRecallItems
	}
	return w.memory.opts.RecallTokens, w.memory.opts.RecallItems
}

// recall asks memory on behalf of a user turn, once: what it finds, with what the
// host's own memory found and less what the prompt shows, becomes one block behind
// the newest message, and stays.
func (w *work) recall() (*pagevm.Recall, []pagevm.Block) {
	tokens, items := w.recallBounds()
	if tokens < 0 || items < 0 {
		w.leaveMemories(string(retrieval.Disabled))
		return nil, nil
	}
	turn, text, _ := w.userTurn()
	if turn == "" || w.prev.Proj.Recalled(w.align).Turn == turn {
		w.leaveMemories(ReasonTurnRecalled)
		return nil, nil
	}
	if w.memory == nil && len(w.req.Memories) == 0 {
		return nil, nil
	}
	out := &pagevm.Recall{Turn: turn}
	room := min(tokens, w.hard-w.planned(w.proj)) - w.scale(w.Count.Overheads.PerMessage)
	if w.ratio != 1 {
		room-- // sizes are rounded up apart, and the block's as one
	}
	if room < recallFloor {
		w.leaveMemories(string(retrieval.OverBudget))
		out.Reason, out.Detail = string(retrieval.NoMatch), "no room is left for it"
		return out, nil
	}
	res, records := w.ask(text), w.memories()
	out.Reason, out.Mode, out.Detail = string(res.Reason), string(res.Mode), res.Detail
	packed := w.pack(w.merge(w.dailyLogs(room), res.Hits, records), room, items)
	if len(packed.Items) == 0 {
		if res.Reason == retrieval.OK {
			out.Reason, out.Detail = string(retrieval.NoMatch), "what was found stands in the prompt already"
		}
		return out, nil
	}
	w.keepMemories(packed.Items, records, turn)
	block := w.blockPage(pagevm.ItemRetrieval, ids.Page("rt", w.s.name, w.req.Branch, turn), pagevm.Preference, retrieval.Render(packed.Items), turn, refsOf(packed.Items))
	out.Page = block.Page
	return out, []pagevm.Block{block}
}

// ask searches for what the user wrote and for the step that the work is at.
func (w *work) ask(text string) retrieval.Result {
	if w.memory == nil {
		return retrieval.Result{Reason: retrieval.Disabled, Mode: retrieval.NoSearch, Detail: memoryOff}
	}
	o := &w.memory.opts
	q := retrieval.Query{Text: text, Limit: recallPool, MinScore: o.RecallScore, MinShare: o.RecallShare, Passages: true, MostSpans: recallSpans, NoSnippets: true, Now: w.req.Now}
	if step := represent.PlanStep(w.state().text); step != "" {
		q.Text += "\n" + step
	}
	if !o.NoSpans {
		q.Spans, q.WantSpan = w.archive()
	}
	return w.memory.search(w.ctx, w.memory.scope(w.req.Private, "", w.s.key, ""), q)
}

// memoryOff is why nothing was searched where the workspace's files are left alone.
const memoryOff = "memory is switched off"

// pack fits hits into the room, less what the prompt shows already.
func (w *work) pack(hits []retrieval.Hit, room, items int) retrieval.Packed {
	shows := w.showing(hits)
	packed := retrieval.Pack(hits, &retrieval.PackOptions{Tokens: room, Items: items,
		Count: func(s string) int { return w.scale(w.Count.Text(s)) }, Shown: shows})
	byID := make(map[string]*retrieval.Hit, len(hits))
	for i := range hits {
		byID[hits[i].ID] = &hits[i]
	}
	for _, l := range packed.Left {
		tokens := 0
		if h := byID[l.ID]; h != nil {
			tokens = w.scale(w.Count.Text(h.Text))
		}
		w.left = append(w.left, Excluded{Kind: RegionRetrieval, ID: l.Citation, Tokens: tokens, Reason: string(l.Reason)})
	}
	return packed
}

// refsOf cites what a block holds. A span of the session has no path, nor has a
// record of another system: the span's citation, lines and all, or the record's page
// stands there, which is what Get takes.
func refsOf(items []retrieval.Item) []memkernel.Ref {
	refs := make([]memkernel.Ref, len(items))
	for i, it := range items {
		refs[i] = memkernel.Ref{Path: it.Path, StartLine: it.StartLine, EndLine: it.EndLine, Hash: ids.Hash(it.Text)}
		if it.Kind != retrieval.Memory {
			refs[i] = memkernel.Ref{Path: it.ID, Hash: refs[i].Hash}
		}
	}
	return refs
}

// dailyLogs are the newest lines of today's and yesterday's log, with which a
// session begins. They are part of what may be recalled.
func (w *work) dailyLogs(room int) []retrieval.Hit {
	if w.memory == nil || w.memory.opts.NoDailyLogs || w.req.Branch != "" || len(w.prev.Proj.Seen) > 0 {
		return nil
	}
	store := w.memory.store(w.req.Private)
	today, yesterday := store.DailyLogs(w.req.Now)
	var out []retrieval.Hit
	for _, f := range []struct {
		path, date string
	}{{today.Path, today.Date}, {yesterday.Path, yesterday.Date}} {
		src, ok, err := w.memory.source(w.req.Private, f.path)
		if err != nil {
			w.faults = append(w.faults, Fault{Code: FaultWorkspaceFile, Detail: err.Error()})
		}
		if err != nil || !ok {
			continue
		}
		from, text := w.tail(src.text, room*3/10)
		out = append(out, retrieval.Hit{Kind: retrieval.Memory, ID: f.path, Path: f.path, StartLine: from, EndLine: src.lines, Date: f.date,
			Score: 1, Citation: f.path, Text: text})
	}
	return out
}

// tail is the end of a text, of about so many tokens, and the line it begins on.
func (w *work) tail(text string, tokens int) (from int, end string) {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	i, sum := len(lines), 0
	for i > 0 {
		if sum += w.scale(w.Count.Text(lines[i-1])); sum > tokens && i < len(lines) {
			break
		}
		i--
	}
	return i + 1, strings.Join(lines[i:], "")
}

// recallReport is what the plan says of retrieval.
func (w *work) recallReport() Retrieval {
	r := w.proj.Recall
	out := Retrieval{Reason: r.Reason, Mode: r.Mode, Detail: r.Detail, Citations: []string{}}
	if w.memory == nil || r.Turn == "" {
		out.Reason, out.Mode = string(retrieval.Disabled), string(retrieval.NoSearch)
		if w.memory == nil {
			out.Detail = memoryOff
		}
	}
	if r.Turn == "" {
		return out
	}
	for i := range w.proj.Items {
		if it := &w.proj.Items[i]; it.Page == r.Page && r.Page != "" {
			out.Page, out.Tokens = it.Page, w.scale(it.Tokens)
			for _, ref := range w.page(it.Page).Refs {
				out.Citations = append(out.Citations, citation(ref))
			}
		}
	}
	out.Items, out.Origins = len(out.Citations), w.origins(out.Citations)
	return out
}
