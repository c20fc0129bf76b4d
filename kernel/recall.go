package kernel

import (
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

// recallPool is how many hits are looked at for a prompt: some of them it shows
// already, and some say the same.
const recallPool = 12

// recallFloor is the least room that recalling is worth.
const recallFloor = 80

// recall asks memory on behalf of a user turn, once: what it finds, less what the
// prompt shows, becomes one block behind the newest message, and stays.
func (w *work) recall() (*pagevm.Recall, []pagevm.Block) {
	if w.memory == nil || w.memory.opts.RecallTokens < 0 || w.memory.opts.RecallItems < 0 {
		return nil, nil
	}
	turn, text, _ := w.userTurn()
	if turn == "" || w.prev.proj.Recalled(w.align).Turn == turn {
		return nil, nil
	}
	out := &pagevm.Recall{Turn: turn}
	room := min(w.memory.opts.RecallTokens, w.hard-w.planned(w.proj)-w.scale(w.count.over.PerMessage))
	if room < recallFloor {
		out.Reason, out.Detail = string(retrieval.NoMatch), "no room is left for it"
		return out, nil
	}
	res := w.ask(text)
	out.Reason, out.Mode, out.Detail = string(res.Reason), string(res.Mode), res.Detail
	packed := w.pack(append(w.dailyLogs(room), res.Hits...), room)
	if len(packed.Items) == 0 {
		if res.Reason == retrieval.OK {
			out.Reason, out.Detail = string(retrieval.NoMatch), "what was found stands in the prompt already"
		}
		return out, nil
	}
	block := w.blockPage(pagevm.ItemRetrieval, pageID("rt", w.s.name, w.req.Branch, turn), pagevm.Preference, retrieval.Render(packed.Items), turn, refsOf(packed.Items))
	out.Page = block.Page
	return out, []pagevm.Block{block}
}

// ask searches for what the user wrote and for the step that the work is at.
func (w *work) ask(text string) retrieval.Result {
	o := &w.memory.opts
	q := retrieval.Query{Text: text, Limit: recallPool, MinScore: o.RecallScore, MinShare: o.RecallShare, NoSnippets: true, Now: w.req.Now}
	if step := pagevm.PlanStep(w.state().text); step != "" {
		q.Text += "\n" + step
	}
	if !o.NoSpans {
		q.Spans, q.WantSpan = w.archive()
	}
	return w.memory.search(w.ctx, w.req.Private, q)
}

// pack fits hits into the room, less what the prompt shows already.
func (w *work) pack(hits []retrieval.Hit, room int) retrieval.Packed {
	shows := w.showing(hits)
	packed := retrieval.Pack(hits, &retrieval.PackOptions{Tokens: room, Items: w.memory.opts.RecallItems,
		Count: func(s string) int { return w.scale(w.count.text(s)) }, Shown: shows})
	byID := make(map[string]*retrieval.Hit, len(hits))
	for i := range hits {
		byID[hits[i].ID] = &hits[i]
	}
	for _, l := range packed.Left {
		tokens := 0
		if h := byID[l.ID]; h != nil {
			tokens = w.scale(w.count.text(h.Text))
		}
		w.left = append(w.left, Excluded{Kind: RegionRetrieval, ID: l.Citation, Tokens: tokens, Reason: string(l.Reason)})
	}
	return packed
}

// refsOf cites what a block holds. A span of the session has no path: its citation,
// lines and all, stands there, which is what Get takes.
func refsOf(items []retrieval.Item) []memkernel.Ref {
	refs := make([]memkernel.Ref, len(items))
	for i, it := range items {
		refs[i] = memkernel.Ref{Path: it.Path, StartLine: it.StartLine, EndLine: it.EndLine, Hash: hashText(it.Text)}
		if it.Kind == retrieval.Session {
			refs[i] = memkernel.Ref{Path: it.ID, Hash: refs[i].Hash}
		}
	}
	return refs
}

// dailyLogs are the newest lines of today's and yesterday's log, with which a
// session begins. They are part of what may be recalled.
func (w *work) dailyLogs(room int) []retrieval.Hit {
	if w.memory.opts.NoDailyLogs || w.req.Branch != "" || len(w.prev.proj.Seen) > 0 {
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
		if sum += w.scale(w.count.text(lines[i-1])); sum > tokens && i < len(lines) {
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
			out.Detail = "memory is switched off"
		}
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
	out.Items = len(out.Citations)
	return out
}
