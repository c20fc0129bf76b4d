package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/summary"
)

// factual is a model that gives no advice and states the same facts of every log.
type factual struct {
	facts string
	err   error
	asked []string
	tries int
}

func (*factual) Name() string { return "factual at http://localhost" }

func (f *factual) Complete(_ context.Context, p summary.Prompt) (summary.Completion, error) {
	if f.tries++; f.err != nil {
		return summary.Completion{}, f.err
	}
	if p.System != consolidation.FactsSystem {
		return summary.Completion{Text: `{"ops":[]}`}, nil
	}
	f.asked = append(f.asked, p.User)
	return summary.Completion{Text: f.facts, InputTokens: 1000, OutputTokens: 100}, nil
}

const hobby = `{"facts":[{"text":"Ana throws pots on a wheel.","about":"hobby, pottery","lines":[3]},{"text":"Ben lives in Bergen.","lines":[4]},{"text":"Carl likes pots.","lines":[3]}]}`

// talkLog puts a workspace with the log of a talk.
func talkLog(t *testing.T, dir string) string {
	t.Helper()
	overgrown(t, dir)
	text := "# 2026-03-09\n\n- Ana: I throw pots on a wheel, with the key sk-ant-api03-" + strings.Repeat("aB3dE5gH7jK9", 8) + "AA in my pocket.\n- Ben: In Oslo nobody does.\n- Ana: [decision] We decided to keep the nets in the long shed because the short one leaks.\n"
	putAt(t, filepath.Join(dir, logPath), text, nightAt.Add(-time.Hour))
	return text
}

func ask(t *testing.T, k *kernel.Kernel, m summary.Model, apply bool, now time.Time) *api.Curated {
	t.Helper()
	c, err := k.Maintenance().Curate(context.Background(), api.CurateRequest{Now: now, Model: m, Apply: apply, Price: func(in, out int) (float64, bool) { return float64(in+out) / 1e6, true }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// workspaceOf is the content of all files but the state folder's.
func workspaceOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range tree(t, dir) {
		if strings.Contains(f, ".memkernel") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimPrefix(filepath.ToSlash(f), filepath.ToSlash(dir)+"/")] = string(b)
	}
	return out
}

// TestFactsOfADay: a preview says what would be sent and sends nothing; then the model is
// asked once, masked, and what stands in the log is written beside it. Lines are found by
// it, and shown; nothing is asked again until the log has more.
func TestFactsOfADay(t *testing.T) {
	dir := t.TempDir()
	talkLog(t, dir)
	k := nightKernel(t, dir)
	defer k.Close()
	m, before := &factual{facts: hobby}, photograph(t, dir)
	c := ask(t, k, m, false, nightAt)
	if len(m.asked) != 0 || !maps.Equal(before, photograph(t, dir)) || len(c.Facts) != 1 {
		t.Fatalf("the preview asked %q, or wrote: %+v", m.asked, c.Facts)
	}
	if f := c.Facts[0]; f.Reason != "" || f.Path != logPath || f.FromLine != 1 || f.ToLine != 5 || f.InputTokens < 100 || f.OutputTokens == 0 || f.USD == nil || *f.USD <= 0 {
		t.Errorf("the preview is %+v", f)
	}
	if r := hitsOf(t, k, "pottery", true); len(r.Hits) != 0 {
		t.Errorf("found %+v", r.Hits)
	}
	c = ask(t, k, m, true, nightAt)
	if len(m.asked) != 1 || strings.Contains(m.asked[0], "sk-ant") || !strings.Contains(m.asked[0], "3: - Ana: I throw pots") {
		t.Fatalf("asked is %q", m.asked)
	}
	if f := c.Facts[0]; f.Reason != summary.ReasonOK || f.Taken != 1 || f.Dropped != 2 || len(f.Why) != 2 || f.InputTokens != 1000 || *f.USD != .0011 || f.File != factPath {
		t.Errorf("facts are %+v", f)
	}
	raw, err := os.ReadFile(filepath.Join(dir, factPath))
	if err != nil || strings.Contains(string(raw), "sk-ant") || !strings.Contains(string(raw), "\n- Ana throws pots on a wheel. (hobby, pottery) <!-- from "+logPath+"#L3 = ") || strings.Contains(string(raw), "Carl") {
		t.Fatalf("%v\n%s", err, raw)
	}
	for _, private := range []bool{true, false} {
		r := hitsOf(t, k, "pottery", private)
		if len(r.Hits) != 1 || r.Hits[0].Citation != logPath+"#L1-L3" || r.Hits[0].ByFact != factPath+"#L6" || strings.Contains(r.Hits[0].Snippet, "pottery") {
			t.Errorf("private %v: %+v", private, r.Hits)
		}
	}
	if _, err := k.Reindex(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	again := workspaceOf(t, dir)
	if c := ask(t, k, m, true, nightAt.Add(time.Minute)); len(m.asked) != 1 || c.Facts != nil || !maps.Equal(again, workspaceOf(t, dir)) {
		t.Errorf("asked again: %+v", c.Facts)
	}
	log, _ := os.ReadFile(filepath.Join(dir, logPath))
	putAt(t, filepath.Join(dir, logPath), string(log)+"- Ben: The mole is dark.\n- Ana: Light it, the boats come.\n", nightAt)
	m.facts = `{"facts":[{"text":"The mole is dark, says Ben.","about":"harbour","lines":[6]}]}`
	if c := ask(t, k, m, true, nightAt.Add(time.Hour/4)); len(m.asked) != 2 || c.Facts[0].FromLine != 6 || c.Facts[0].ToLine != 7 || strings.Contains(m.asked[1], "pots") || !strings.Contains(m.asked[1], "1: # 2026-03-09\n6: - Ben") {
		t.Errorf("asked is %q, %+v", m.asked, c.Facts)
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, factPath)); strings.Count(string(raw), "\n- ") != 2 || strings.Count(string(raw), "<!-- read ") != 1 {
		t.Errorf("beside it stands\n%s", raw)
	}
}

// TestFactsWithoutTheModel: a model that is away, or answers anything else, leaves the
// workspace byte for byte as it is without one, and is left alone for a while.
func TestFactsWithoutTheModel(t *testing.T) {
	night := func(m summary.Model) (map[string]string, *api.Curated) {
		dir := t.TempDir()
		talkLog(t, dir)
		putAt(t, filepath.Join(dir, "memory/2026-03-08.md"), "# 2026-03-08\n\n- Ana: The boats are out.\n- Ben: All of them are.\n", nightAt.Add(-time.Hour))
		k := nightKernel(t, dir)
		defer k.Close()
		c := ask(t, k, m, true, nightAt)
		return workspaceOf(t, dir), c
	}
	want, without := night(nil)
	if without.Facts != nil || without.Text() == "" {
		t.Fatalf("without a model: %+v", without)
	}
	away := &factual{err: errors.New("no connection")}
	got, c := night(away)
	if !maps.Equal(got, want) || c.Text() != without.Text() || away.tries != 1 || len(c.Facts) != 2 || c.Facts[1].Reason != summary.ReasonCooling || c.Facts[1].InputTokens != 0 || c.Facts[1].USD != nil {
		t.Errorf("with the model away, tried %d times: %+v", away.tries, c.Facts)
	}
	for _, answer := range []string{"I would rather not.", `{"facts":[{"text":"Carl likes pots.","lines":[3]}]} `} {
		got, c := night(&factual{facts: answer})
		for rel := range want {
			if got[rel] != want[rel] {
				t.Errorf("%q: %s is\n%s", answer, rel, got[rel])
			}
		}
		for rel, text := range got {
			if _, ok := want[rel]; !ok && (!strings.HasPrefix(rel, "memory/.facts/") || strings.Contains(text, "\n- ")) {
				t.Errorf("%q: %s is\n%s", answer, rel, text)
			}
		}
		if c.Text() != without.Text() {
			t.Errorf("%q: %s", answer, c.Text())
		}
	}
}

// A log is sent in pieces that fit, and nothing is lost between them.
func TestLongLogsAreReadInPieces(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("# 2026-03-09\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "- boat %d came in with %s\n", i, strings.Repeat("fish ", 40))
	}
	putAll(t, dir, map[string]string{logPath: b.String()})
	k := nightKernel(t, dir)
	defer k.Close()
	m := &factual{facts: `{"facts":[]}`}
	for i := range 9 {
		if _, err := k.Maintenance().Curate(context.Background(), api.CurateRequest{Now: nightAt.Add(time.Duration(i) * time.Minute), Model: m, FactTokens: 700, Apply: true}); err != nil {
			t.Fatal(err)
		}
	}
	all := strings.Join(m.asked, "")
	for i := range 40 {
		if strings.Count(all, fmt.Sprintf("boat %d came", i)) != 1 {
			t.Errorf("boat %d was sent %d times", i, strings.Count(all, fmt.Sprintf("boat %d came", i)))
		}
	}
	if n := len(m.asked); n < 4 || n > 6 {
		t.Errorf("asked %d times", n)
	}
}

// TestFlushStatesFacts: what a flush wrote to the day's log has facts beside it before the
// kernel is closed, from a model that is asked in the background; without it
// the log is the same, without facts.
func TestFlushStatesFacts(t *testing.T) {
	reply := ""
	for i, boat := range words10 {
		reply += fmt.Sprintf("- [decision] The %s boat lies at pier %d of the harbour from now on.\n", boat, i+11)
	}
	flush := func(o api.SummaryOptions, text string) map[string]string {
		t.Helper()
		dir := t.TempDir()
		k, err := kernel.Open(context.Background(), dir, &kernel.Options{Summary: o, Now: func() time.Time { return nightAt }})
		if err != nil {
			t.Fatal(err)
		}
		f, err := k.ObserveFlush(context.Background(), api.FlushReply{SessionKey: "s", Text: text, Now: nightAt})
		if err != nil || f.Items == 0 {
			t.Fatalf("%+v, %v", f, err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		return workspaceOf(t, dir)
	}
	m := &factual{facts: `{"facts":[{"text":"The amber boat lies at pier 11.","about":"berth, mooring","lines":[4]},{"text":"The amber boat lies at pier 99.","lines":[4]}]}`}
	o := api.SummaryOptions{Model: m, CloseWait: time.Minute}
	got, want := flush(o, reply), flush(api.SummaryOptions{}, reply)
	beside := got[factPath]
	if delete(got, factPath); !strings.Contains(beside, "- The amber boat lies at pier 11. (berth, mooring) <!-- from "+logPath+"#L4 = ") || strings.Contains(beside, "99") || !maps.Equal(got, want) || len(m.asked) != 1 {
		t.Errorf("asked %d times; the log is\n%s\nand beside it\n%s", len(m.asked), got[logPath], beside)
	}
	if got := flush(o, "- [decision] One line is not worth a request."); got[factPath] != "" || len(m.asked) != 1 {
		t.Errorf("one line was asked about")
	}
	o.Model = &factual{err: errors.New("no connection")}
	if got := flush(o, reply); !maps.Equal(got, want) {
		t.Errorf("with the model away:\n%v", got)
	}
}
