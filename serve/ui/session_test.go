package ui

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

const sample = "../../testdata/session.jsonl"

// get decodes a document.
func get[T any](t *testing.T, o *opened, path string) (out T) {
	t.Helper()
	res, text := o.do(t, http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(text), &out); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v %.300s", path, res.Status, err, text)
	}
	return out
}

// planned waits until the only session is planned, and gives its id.
func (o *opened) planned(t *testing.T) string {
	t.Helper()
	id := get[sessionsJSON](t, o, "/api/sessions").Sessions[0].ID
	for range 3000 {
		doc := get[sessionJSON](t, o, "/api/session?session="+id)
		h := doc.Head
		if h.Error != "" {
			t.Fatal(h.Error)
		}
		if h.Done && (h.LateUSD != nil || doc.Planned) {
			return id
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the session is never planned")
	return ""
}

// files are transcripts as an option.
func files(paths ...string) func() []string { return func() []string { return paths } }

// One window on the sample, for all that looks at it.
func TestSample(t *testing.T) {
	o := openWindow(t, Options{Transcripts: files(sample), Window: 128_000, Resolver: "memory_get"})
	o.enter(t)
	id := o.planned(t)
	t.Run("figures", func(t *testing.T) { testFiguresAreThoseOfReplay(t, o, id) })
	t.Run("calls", func(t *testing.T) { testCallsOpenInAnyOrder(t, o, id) })
	t.Run("pages", func(t *testing.T) { testPages(t, o, id) })
}

// What the window shows of a session is what replay reports of it, call by call, and a point
// of a timeline the same added up.
func testFiguresAreThoseOfReplay(t *testing.T, o *opened, id string) {
	s, err := transcript.LoadFile(sample, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := replay.Run(t.Context(), s, replay.Memkernel, replay.Options{ContextWindow: 128_000, Resolver: "memory_get", FixedAuto: true, View: transcript.Full, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	calls := get[timelineJSON](t, o, "/api/timeline?points=500&session="+id)
	if len(calls.First) != len(want.Calls) {
		t.Fatalf("%d calls, replay has %d", len(calls.First), len(want.Calls))
	}
	cuts, cold, faults := map[int]string{}, map[int]bool{}, map[int]bool{}
	for _, m := range calls.Marks {
		switch m.Kind {
		case "cut":
			cuts[m.Call] = m.Detail
		case "cold":
			cold[m.Call] = true
		case "fault":
			faults[m.Call] = true
		}
	}
	total := 0.0
	for i := range calls.First {
		w := want.Calls[i]
		total += *w.CostUSD + *w.OutputCostUSD
		read, write, plain := calls.Cache[0].Tokens[i], calls.Cache[1].Tokens[i], calls.Cache[2].Tokens[i]
		if read+write+plain != w.Input || read != w.Read || write != w.Write || plain != w.Uncached || cuts[i+1] != w.Cut || cold[i+1] != (w.Cold && w.Cut == "" && i > 0) || faults[i+1] != (w.Faults > 0) || math.Abs(*calls.Running[i]-total) > 1e-9 {
			t.Fatalf("call %d: %d read, %d written, %d uncached, cut %q; replay has %+v", i+1, read, write, plain, cuts[i+1], w)
		}
	}
	head := get[sessionJSON](t, o, "/api/session?session="+id).Head
	if math.Abs(*head.SimulatedUSD-total) > 1e-9 || head.HostUSD == nil || head.Cuts != want.Totals.Cuts {
		t.Errorf("%+v, replay has %+v", head, want.Totals)
	}
	for _, points := range []int{1, 7, 184, 500} {
		tl := get[timelineJSON](t, o, fmt.Sprintf("/api/timeline?session=%s&points=%d", id, points))
		sum, n := 0.0, 0
		for i := range tl.First {
			sum, n = sum+*tl.Cost[i], n+tl.Count[i]
		}
		if len(tl.First) > points || n != len(calls.First) || math.Abs(sum-total) > 1e-9 || math.Abs(*tl.Running[len(tl.Running)-1]-total) > 1e-9 {
			t.Errorf("%d points: %d of %d calls, $%f of $%f", points, n, len(calls.First), sum, total)
		}
	}
	part := get[timelineJSON](t, o, "/api/timeline?from=100&to=120&session="+id)
	if part.From != 100 || part.To != 120 || len(part.First) != 21 || math.Abs(*part.Running[0]-*calls.Running[99]) > 1e-9 {
		t.Errorf("a stretch: %d to %d, %d points, %f", part.From, part.To, len(part.First), *part.Running[0])
	}
}

// A call that is opened is planned as it was, wherever it stands and in whatever order calls
// are opened; its blocks add up to its regions.
func testCallsOpenInAnyOrder(t *testing.T, o *opened, id string) {
	rows := get[timelineJSON](t, o, "/api/timeline?points=500&session="+id)
	cut := map[int]bool{}
	for _, m := range rows.Marks {
		cut[m.Call] = cut[m.Call] || m.Kind == "cut"
	}
	for _, n := range []int{120, 121, 36, 103, 1, 184} {
		c := get[callJSON](t, o, fmt.Sprintf("/api/call?session=%s&call=%d", id, n))
		input := 0
		for _, s := range rows.Cache {
			input += s.Tokens[n-1]
		}
		if c.Budgets.PlannedInputTokens != input || c.Layout.Bill.ReadTokens != rows.Cache[0].Tokens[n-1] || (c.Layout.Made != nil) != cut[n] {
			t.Errorf("call %d: %d tokens, %d read; the session has %d, %d", n, c.Budgets.PlannedInputTokens, c.Layout.Bill.ReadTokens, input, rows.Cache[0].Tokens[n-1])
		}
		blocks, regions, marks, named := map[string]int{}, map[string]int{}, 0, 0
		for _, b := range c.Blocks {
			blocks[b.Region] += b.Tokens
			if b.Breakpoint != nil {
				marks++
			}
			if b.Page != "" {
				named++
			}
		}
		for _, r := range c.Regions {
			regions[r.Name] = r.Tokens
		}
		if blocks[cachelayout.RegionCarry] != regions[cachelayout.RegionCarry] || blocks[cachelayout.RegionNewest] != regions[cachelayout.RegionNewest] || blocks[cachelayout.RegionRetrieval] != regions[cachelayout.RegionRetrieval] {
			t.Errorf("call %d: blocks add up to %v, regions are %v", n, blocks, regions)
		}
		if marks != len(c.Layout.Breakpoints) || named < len(c.Blocks)-3 {
			t.Errorf("call %d: %d of %d markers, %d of %d blocks are pages", n, marks, len(c.Layout.Breakpoints), named, len(c.Blocks))
		}
	}
	if res, text := o.do(t, http.MethodGet, "/api/call?session="+id+"&call=185", ""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("a call that is not there: %s %s", res.Status, text)
	}
}

// A page that is shown shortened has the shown text among its levels, and the whole text first.
func testPages(t *testing.T, o *opened, id string) {
	c := get[callJSON](t, o, "/api/call?call=140&session="+id)
	shortened := 0
	for _, b := range c.Blocks {
		if b.Type != "evidence" || b.Level == pagevm.Full || shortened == 5 {
			continue
		}
		shortened++
		p := get[pageJSON](t, o, fmt.Sprintf("/api/page?session=%s&page=%s", id, b.Page))
		shown := ""
		for _, l := range p.Levels {
			if l.Level == b.Level {
				shown = l.Text
			}
		}
		if p.Levels[0].Level != pagevm.Full || !strings.HasPrefix(shown, b.Text[:min(len(b.Text), 60)]) {
			t.Errorf("%s: shown %.80q, in the prompt %.80q", b.Page, shown, b.Text)
		}
	}
	if shortened == 0 {
		t.Error("nothing is shortened in call 140")
	}
}

// token is made up as it is needed, so that no scanner takes it for a leak.
var token = "ghp" + "_a1B2c3D4e5F6g7H8" + "i9J0k1L2m3N4o5P6q7R8"

// hostile writes a transcript that means ill.
func hostile(t *testing.T, big int) string {
	t.Helper()
	var b strings.Builder
	line := func(kind, id, parent, content string, usage string) {
		raw, _ := json.Marshal(content)
		fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%q,"sessionId":"</script><script>alert(1)</script>","timestamp":"2026-03-09T09:00:05Z","message":{"role":%q,"model":"claude-opus-4-5","content":%s%s}}`+"\n", kind, id, parent, kind, raw, usage)
	}
	line("user", "u1", "", `<script>alert(1)</script> <img src=x onerror=alert(2)> \x1b[31mred `+"\x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \u202egnp.exe", "")
	line("assistant", "a1", "u1", `<a href="javascript:alert(3)">click</a> `+token, `,"usage":{"input_tokens":10,"output_tokens":2}`)
	line("user", "u2", "a1", strings.Repeat("0123456789abcdef <b>bold</b>\n", big/29), "")
	line("assistant", "a2", "u2", "done", `,"usage":{"input_tokens":10,"output_tokens":2}`)
	path := filepath.Join(t.TempDir(), "<img src=x onerror=alert(4)>.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Text of sessions goes out as data, masked, and no more of it than a page can show.
func TestHostileTranscript(t *testing.T) {
	o := openWindow(t, Options{Transcripts: files(hostile(t, suite.Pick(1<<19, 2<<20)), filepath.Join(t.TempDir(), "none.jsonl"))})
	o.enter(t)
	id := o.planned(t)
	for _, path := range []string{"/api/sessions", "/api/talk?session=" + id, "/api/session?session=" + id, "/api/call?call=1&session=" + id, "/api/call?call=2&session=" + id} {
		res, text := o.do(t, http.MethodGet, path, "")
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %s %.200s", path, res.Status, text)
		}
		if strings.ContainsAny(text, "<>\x1b\u202e") || strings.Contains(text, `\u202e`) || strings.Contains(text, `\u001b`) || len(text) > 200_000 {
			t.Errorf("%s: %d bytes, with markup or escapes as they came", path, len(text))
		}
		if strings.Contains(text, token[4:20]) {
			t.Errorf("%s shows a secret", path)
		}
	}
}

// A session that goes on while it is looked at is planned on; a file that becomes another
// session is begun anew.
func TestSessionGoesOn(t *testing.T) {
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	path := filepath.Join(t.TempDir(), "live.jsonl")
	write := func(n int) {
		if err := os.WriteFile(path, []byte(strings.Join(lines[:n], "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(40)
	o := openWindow(t, Options{Transcripts: files(path)})
	o.enter(t)
	id := o.planned(t)
	before := get[timelineJSON](t, o, "/api/timeline?points=500&session="+id)
	write(90)
	wait := func(what string, ok func(*timelineJSON) bool) *timelineJSON {
		for range 1000 {
			c := get[timelineJSON](t, o, "/api/timeline?points=500&session="+id)
			if ok(&c) {
				return &c
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal(what)
		return nil
	}
	after := wait("the session does not go on", func(c *timelineJSON) bool { return c.Planned > before.Planned+5 })
	for i := range before.First {
		for k := range before.Cache {
			if before.Cache[k].Tokens[i] != after.Cache[k].Tokens[i] {
				t.Fatalf("call %d had %d tokens %s and has %d", i+1, before.Cache[k].Tokens[i], before.Cache[k].Name, after.Cache[k].Tokens[i])
			}
		}
	}
	write(30)
	wait("the session is not begun anew", func(c *timelineJSON) bool { return c.Planned > 0 && c.Planned < before.Planned })
	if s := get[sessionsJSON](t, o, "/api/sessions"); !s.Sessions[0].Live {
		t.Error("a session that changes is not live")
	}
}

// Fifty thousand calls are as many points as a screen has, and a list in pieces.
func TestLongTimeline(t *testing.T) {
	rows := make([]row, 50_000)
	cost := 0.02
	for i := range rows {
		rows[i] = row{index: i, read: 1000, write: i, cost: &cost, cut: map[bool]string{true: "cold"}[i%20 == 0], cold: i%7 == 0}
		rows[i].regions[3] = 1000 + i
	}
	tl := timeline(rows, len(rows), 0, 0, 600)
	data, err := json.Marshal(tl)
	if err != nil {
		t.Fatal(err)
	}
	if len(tl.First) > 600 || len(tl.Marks) > mostMarks || len(tl.Marks) == 0 || tl.Marks[len(tl.Marks)-1].Call < 49_000 || len(data) > 200_000 {
		t.Errorf("%d points, %d marks, %d bytes", len(tl.First), len(tl.Marks), len(data))
	}
	if got := *tl.Running[len(tl.Running)-1]; math.Abs(got-1000) > 1e-6 {
		t.Errorf("it costs %f", got)
	}
	for _, c := range []struct{ from, to, points int }{{0, 0, 0}, {-5, 7, 3}, {60_000, 70_000, 10}, {9, 3, 10}, {1, 1, 1}, {49_999, 50_000, 5000}} {
		timeline(rows, len(rows), c.from, c.to, c.points)
	}
	timeline(nil, 0, 0, 0, 10)
}

// Every figure of a session that went through a door is that of its record, and the same wherever it
// is: nothing simulated is among them.
func TestFiguresOfTheRecord(t *testing.T) {
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	var lines strings.Builder
	for i := range 3 {
		fmt.Fprintf(&lines, `{"type":"user","uuid":"u%d","sessionId":"quay-7","timestamp":%q,"message":{"role":"user","content":"What came in, list %d?"}}`+"\n", i, at.Add(time.Duration(2*i)*time.Minute).Format(time.RFC3339), i)
		fmt.Fprintf(&lines, `{"type":"assistant","uuid":"a%d","parentUuid":"u%d","sessionId":"quay-7","timestamp":%q,"message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"Nine barges."}],"usage":{"input_tokens":%d,"output_tokens":9}}}`+"\n", i, i, at.Add(time.Duration(2*i+1)*time.Minute).Format(time.RFC3339), i, 2000+i)
	}
	path := filepath.Join(t.TempDir(), "quay-7.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o := openWindow(t, Options{Transcripts: files(path)})
	k, cuts, cost := o.o.Kernel, 0, 0.0
	msgs := []memkernel.Message{}
	say := func(role memkernel.Role, text string) {
		msgs = append(msgs, memkernel.Message{Role: role, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text}}})
	}
	for i := range 12 {
		at = at.Add(time.Minute)
		say(memkernel.RoleUser, fmt.Sprintf("List %d. ", i)+strings.Repeat(fmt.Sprintf("Barge %d brought timber. ", i), 500))
		p, err := k.PlanContext(t.Context(), api.PlanRequest{SessionKey: "claude:quay-7", Model: "claude-sonnet-4-6", ContextWindow: 32_000, Messages: msgs, Now: at, Private: true})
		if err != nil {
			t.Fatal(err)
		}
		if p.Layout.Made != nil {
			cuts++
		}
		say(memkernel.RoleAssistant, "Noted.")
		ob, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: "claude:quay-7", Model: "claude-sonnet-4-6", PlanID: p.ID, Messages: msgs, Now: at, Private: true, Usage: &memkernel.Usage{InputTokens: p.Budgets.PlannedInputTokens, OutputTokens: 5}})
		if err != nil || len(ob.Bills) != 1 {
			t.Fatal(ob, err)
		}
		cost += *ob.Bills[0].BilledUSD
	}
	o.enter(t)
	id := o.planned(t)
	doc, line := get[sessionJSON](t, o, "/api/session?session="+id), get[timelineJSON](t, o, "/api/timeline?session="+id)
	saved := get[sessionsJSON](t, o, "/api/sessions").Saved
	if cuts == 0 || doc.Head.SimulatedUSD != nil || doc.Head.HostUSD != nil || doc.Head.Cuts != cuts || doc.Head.Model == "" {
		t.Errorf("%d cuts, the head has %+v", cuts, doc.Head)
	}
	for name, usd := range map[string]*float64{"the session": doc.BilledUSD, "the running bill": line.Running[len(line.Running)-1], "all sessions": saved.BilledUSD, "the day": saved.Days[0].BilledUSD} {
		if math.Abs(*usd-cost) > 1e-9 {
			t.Errorf("%s: $%.4f were billed, not $%.4f", name, cost, *usd)
		}
	}
	if saved.Sessions != 1 || saved.Calls != 12 || saved.Day != "2026-11-03" || *saved.WithoutUSD != *doc.WithoutUSD || *line.Without[len(line.Without)-1]-*doc.WithoutUSD > 1e-9 {
		t.Errorf("saved %+v, the session without %.4f", saved, *doc.WithoutUSD)
	}
}
