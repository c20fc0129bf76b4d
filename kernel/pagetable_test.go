package kernel_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// tabled plans with the table, and holds its rows against the prompt.
func tabled(t *testing.T, k *kernel.Kernel, req api.PlanRequest) (*api.ContextPlan, map[string]paging.PageRow) {
	t.Helper()
	req.Table = true
	p := mustPlan(t, k, req)
	return p, checkTable(t, p, &req)
}

// checkTable holds the rows of a plan against what it sends, and against what it says
// elsewhere of the same pages.
func checkTable(t *testing.T, p *api.ContextPlan, req *api.PlanRequest) map[string]paging.PageRow {
	t.Helper()
	rows := map[string]paging.PageRow{}
	for _, r := range p.Table.Pages {
		if _, twice := rows[r.ID]; twice {
			t.Errorf("%s has two rows", r.ID)
		}
		rows[r.ID] = r
		switch {
		case r.Type == "" || r.Scope == "" || r.Pin == "" || r.Tokens.Full == 0 && r.Tokens.At(r.Floor) == 0:
			t.Errorf("the row says too little: %+v", r)
		case (r.Level == pagevm.Gone) != (r.Place == paging.InSpan || r.Place == paging.Nowhere):
			t.Errorf("%s is shown as %s and stands in %s", r.ID, r.Level, r.Place)
		case r.Level > pagevm.Gone && r.Level < r.Floor:
			t.Errorf("%s is shown as %s, below %s", r.ID, r.Level, r.Floor)
		case r.Level > pagevm.Gone && !r.Bare && r.Tokens.At(r.Level) != r.ShownTokens:
			t.Errorf("%s takes %d tokens as %s, of %+v", r.ID, r.ShownTokens, r.Level, r.Tokens)
		case r.Place != paging.Nowhere && (r.Last.Call < 1 || r.Last.How == ""):
			t.Errorf("%s was never used: %+v", r.ID, r.Last)
		case r.Dirty != (p.ID == "") && r.Place == paging.InConversation:
			t.Errorf("%s of plan %q: dirty is %t", r.ID, p.ID, r.Dirty)
		}
	}
	for _, in := range p.Debug.Included {
		switch r, ok := rows[in.ID]; {
		case in.Kind == cachelayout.RegionTools || in.Kind == cachelayout.RegionSystem || in.Kind == "anchor":
		case !ok:
			t.Errorf("%s stands and has no row", in.ID)
		case r.ShownTokens != in.Tokens || r.Level != in.Level && r.Level != pagevm.Gone:
			t.Errorf("%s: %s with %d tokens, row %+v", in.ID, in.Level, in.Tokens, r)
		}
	}
	for _, r := range p.Reduced {
		if row := rows[r.Page]; row.Level != r.Level || row.Key != r.Key || row.CallID != r.CallID || r.Level == pagevm.Gone && row.Span != "" && row.Span != r.Handle {
			t.Errorf("reduced %+v, row %+v", r, row)
		}
	}
	sent := map[string]string{}
	var prompt strings.Builder
	for i := range p.Messages {
		said := saidBy(&p.Messages[i])
		sent[p.Messages[i].Key] += said
		prompt.WriteString(said)
	}
	calls := map[string]string{}
	for i := range req.Messages {
		m := &req.Messages[i]
		for j := range m.Parts {
			if r := m.Parts[j].Result; r != nil {
				calls[r.CallID] = saidBy(&memkernel.Message{Parts: m.Parts[j : j+1]})
			}
		}
	}
	for id, r := range rows {
		text, ok := calls[r.CallID]
		if !ok || r.CallID == "" || len(text) < 200 {
			continue
		}
		if stands := strings.Contains(sent[r.Key], text); stands != (r.Level == pagevm.Full) {
			t.Errorf("the result of %s is shown as %s: %t that it stands in full", id, r.Level, stands)
		}
		if r.Level > pagevm.Gone && r.Level < pagevm.Full && !strings.Contains(prompt.String(), id) {
			t.Errorf("%s is shown as %s, and the prompt does not name it", id, r.Level)
		}
	}
	return rows
}

func saidBy(m *memkernel.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		b.WriteString(m.Parts[i].Text)
		if r := m.Parts[i].Result; r != nil {
			for j := range r.Content {
				b.WriteString(r.Content[j].Text)
			}
		}
	}
	return b.String()
}

// The rows agree with the prompt before and after a cut, with pins, memory and notes.
func TestPageTable(t *testing.T) {
	k, dir := workspaceKernel(t, nil)
	c := newConversation(18)
	c.user()
	if p := mustPlan(t, k, private(c)); p.Table != nil {
		t.Fatalf("nobody asked for %+v", p.Table)
	}
	rule := pin("no-prod", "Never touch production.")
	if _, err := k.Write(context.Background(), api.WriteRequest{SessionKey: "s", Updates: []journal.Update{rule}, Now: c.now}); err != nil {
		t.Fatal(err)
	}
	c.ask("Read", `{"file_path":"pkg/queue/ledger.go"}`, c.code(5000))
	c.ask("Bash", `{"command":"git push origin main"}`, c.code(900))
	peek := private(c)
	peek.Table = true
	seen, err := k.Peek(context.Background(), peek)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Table == nil || len(seen.Table.Pages) == 0 {
		t.Fatal("no table")
	}
	for _, r := range seen.Table.Pages {
		if r.CallID != "" && !r.Dirty {
			t.Errorf("nothing was written of %+v", r)
		}
	}
	_, rows := tabled(t, k, private(c))
	read, push, pinned := paging.PageRow{}, paging.PageRow{}, paging.PageRow{}
	for _, r := range rows {
		switch {
		case r.Path == "pkg/queue/ledger.go":
			read = r
		case r.Tool == "Bash":
			push = r
		case r.Pin == paging.PinHard:
			pinned = r
		}
	}
	if read.Type != pagevm.Evidence || read.RecomputeCost == nil || *read.RecomputeCost != 1 || read.Tokens.Structured == 0 || read.Last.How != paging.UseShown {
		t.Errorf("the read is %+v", read)
	}
	if push.ID == "" || push.RecomputeCost != nil {
		t.Errorf("a push can't be made again: %+v", push)
	}
	if pinned.Type != pagevm.Constraint || pinned.Place != paging.InNote || pinned.Level != pagevm.Full {
		t.Errorf("the pin is %+v", pinned)
	}
	c.ask("Edit", `{"file_path":"pkg/queue/ledger.go","old_string":"a","new_string":"b"}`, "done")
	was := read.Last
	p, rows := tabled(t, k, private(c))
	if now := rows[read.ID].Last; now.How != paging.UseNamed || now.Call <= was.Call || p.Table.Hits != 1 || p.Table.Thrash != 0 {
		t.Errorf("an edit names the path: %+v, report %+v", now, p.Table.Report)
	}
	put(t, dir, "AGENTS.md", "# Rules\n\n- Never push at night.\n")
	places, levels := map[paging.Place]int{}, map[pagevm.Level]int{}
	for p.Layout.Made == nil || places[paging.InSpan] == 0 {
		c.loop(2, 6000)
		c.say()
		c.user()
		p, rows = tabled(t, k, private(c))
		clear(places)
		for _, r := range rows {
			places[r.Place]++
			levels[r.Level]++
		}
	}
	for _, r := range rows {
		if r.Pin == paging.PinHard {
			pinned = r
		}
		if r.Type == pagevm.Bootstrap && (r.Place != paging.InCarry || len(r.Refs) == 0 || r.RecomputeCost == nil || *r.RecomputeCost != 0) {
			t.Errorf("rules: %+v", r)
		}
		if r.Place == paging.InSpan && rows[r.Span].ID == "" {
			t.Errorf("no row for the span of %+v", r)
		}
	}
	if pinned.Place != paging.InCarry || places[paging.InSpan] == 0 || places[paging.InConversation] == 0 || levels[pagevm.Full] == 0 {
		t.Errorf("after the cut: %v, %v, pin %+v", places, levels, pinned)
	}
	for rows[read.ID].Level == pagevm.Full {
		c.loop(2, 6000)
		c.say()
		c.user()
		_, rows = tabled(t, k, private(c))
	}
	c.ask("memory_get", `{"id":"`+read.ID+`"}`, c.code(500))
	p, rows = tabled(t, k, private(c))
	if got := p.Table.Report; got.Faults[paging.Refetch] != 1 || got.ExplicitFaults != 1 || got.Thrash != float64(1+got.Alerts)/float64(got.Hits+1) || rows[read.ID].Last.How != paging.UseFetched {
		t.Errorf("after a fetch: %+v, %+v", got, rows[read.ID].Last)
	}
	counted := p.Table.Report
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = openKernel(t, dir)
	defer k.Close()
	p, _ = tabled(t, k, private(c))
	if got := p.Table.Report; got.Hits != counted.Hits || got.Faults[paging.Refetch] != 1 || got.Alerts != counted.Alerts {
		t.Errorf("another process counts %+v, not %+v", got, counted)
	}
	side := private(c)
	side.Branch = "side"
	mustPlan(t, k, side)
	if st, _, err := k.SessionStatus(context.Background(), "s"); err != nil || !reflect.DeepEqual(st.Paging, p.Table.Report) {
		t.Errorf("%v: status says %+v, the plan %+v", err, st.Paging, p.Table.Report)
	}
}

// So they do on the sample, in a window that is too small for it.
func TestPageTableSample(t *testing.T) {
	sample, err := transcript.LoadFile("../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, _, ok := lastCall(sample.View(transcript.Full))
	if !ok {
		t.Fatal("the sample has no call")
	}
	k := memoryKernel(t)
	defer k.Close()
	req := api.PlanRequest{SessionKey: "s", Model: model, ContextWindow: 32_000, Messages: msgs, Resolver: "memory_get"}
	p, rows := tabled(t, k, req)
	full := 0
	for _, r := range rows {
		if r.Level == pagevm.Full {
			full++
		}
	}
	if full == 0 || full == len(rows) || p.Layout.Made == nil {
		t.Errorf("%d of %d pages in full, cut %v", full, len(rows), p.Layout.Made)
	}
}
