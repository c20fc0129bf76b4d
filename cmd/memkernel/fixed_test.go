package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

// plannedJSON is what these tests read of a plan.
type plannedJSON struct {
	FixedTokens int    `json:"fixed_tokens"`
	FixedFrom   string `json:"fixed_from"`
	Budgets     struct {
		Planned int `json:"planned_input_tokens"`
	}
	Layout struct{ Made any }
	billed int // of the last call
}

func planDoc(t *testing.T, args ...string) plannedJSON {
	t.Helper()
	code, out, stderr := invoke(t, append([]string{"plan", "--json", "--no-memory", "--workspace", t.TempDir()}, args...)...)
	var doc plannedJSON
	if err := json.Unmarshal([]byte(out), &doc); code != cli.ExitOK || err != nil {
		t.Fatalf("%v: exit %d, %s, %v", args, code, stderr, err)
	}
	session, err := transcript.LoadFile(args[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range session.View(transcript.Full) {
		if m.Usage != nil && m.Usage.InputTotal() > 0 {
			doc.billed = m.Usage.InputTotal()
		}
	}
	return doc
}

// off is how far a plan of the last call is from its bill.
func (d *plannedJSON) off() float64 { return float64(d.Budgets.Planned-d.billed) / float64(d.billed) }

// TestPlanCountsTheFixedPart: what a transcript lacks of a prompt is in the figures of a
// plan, as replay has it, and the plan says so.
func TestPlanCountsTheFixedPart(t *testing.T) {
	doc := planDoc(t, "-t", sample)
	if off := doc.off(); math.Abs(off) > 0.05 || doc.FixedFrom != "first_call" {
		t.Errorf("the plan is off by %.1f %%, with %d fixed tokens from %q", 100*off, doc.FixedTokens, doc.FixedFrom)
	}
	without := planDoc(t, "-t", sample, "--fixed-tokens", "0")
	if d := doc.Budgets.Planned - without.Budgets.Planned; d != doc.FixedTokens || without.FixedTokens != 0 || without.FixedFrom != "" {
		t.Errorf("0 takes off %d of %d tokens, and leaves %d from %q", d, doc.FixedTokens, without.FixedTokens, without.FixedFrom)
	}
	if given := planDoc(t, "-t", sample, "--fixed-tokens", "25k"); given.FixedTokens != 25_000 || given.FixedFrom != "given" {
		t.Errorf("25k by hand are %d from %q", given.FixedTokens, given.FixedFrom)
	}
	full := planDoc(t, "-t", sample, "--view", "full")
	code, out, _ := invoke(t, "replay", "-t", sample, "--policy", "fullest", "--limit", "1", "--json")
	var replayed struct {
		FixedTokens int `json:"fixed_tokens"`
	}
	if err := json.Unmarshal([]byte(out), &replayed); code != cli.ExitOK || err != nil || replayed.FixedTokens != full.FixedTokens {
		t.Errorf("replay has %d fixed tokens, plan %d, %v", replayed.FixedTokens, full.FixedTokens, err)
	}
	for _, args := range [][]string{{}, {"--explain"}} {
		_, out, _ := invoke(t, append([]string{"plan", "-q", "-t", sample, "--workspace", t.TempDir()}, args...)...)
		if said := strings.Join(strings.Fields(out), " "); !strings.Contains(said, "implied by its first billed call; --fixed-tokens="+strconv.Itoa(doc.FixedTokens)) {
			t.Errorf("%v: the plan does not say where the fixed part is from:\n%s", args, out)
		}
	}
	ws := t.TempDir()
	_, text, stderr := invoke(t, "compact", "-t", sample, "--view", "host", "--session", "c", "--workspace", ws)
	before := "  " + display.Thousands(doc.Budgets.Planned)[:2]
	if !strings.Contains(text, before) || !strings.Contains(stderr, "--fixed-tokens="+strconv.Itoa(doc.FixedTokens)) {
		t.Errorf("compact says %s\n%s; the plan had %d tokens", text, stderr, doc.Budgets.Planned)
	}
}

// TestRequestsHoldTheirFixedPart: of a request nothing is missing, of bare messages with
// usage the rest of the first bill is.
func TestRequestsHoldTheirFixedPart(t *testing.T) {
	const talk = `[{"role":"user","content":"hello"},{"role":"assistant","content":"good day","usage":{"prompt_tokens":5000,"prompt_tokens_details":{"cached_tokens":4000}}},{"role":"user","content":"go on"}]`
	for text, from := range map[string]string{
		`{"model":"claude-opus-4-6","system":"Be brief.","messages":` + talk + `}`: "",
		`{"model":"claude-opus-4-6","messages":` + talk + `}`:                      "first_call",
	} {
		file := filepath.Join(t.TempDir(), "request.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if doc := planDoc(t, "-t", file); doc.FixedFrom != from || (from != "") != (doc.FixedTokens > 4900 && doc.FixedTokens < 5000) {
			t.Errorf("%s: %d fixed tokens from %q", text, doc.FixedTokens, doc.FixedFrom)
		}
	}
}

// TestFixedPartOfRealSessions holds plans of recorded sessions' last calls against their
// bills.
func TestFixedPartOfRealSessions(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/data/transcripts/*/*.jsonl")
	if len(files) == 0 {
		t.Skip("no recorded sessions at ../../../shared/data/transcripts")
	}
	for _, f := range suite.Some(files, 2) {
		if doc := planDoc(t, "-t", f, "--context-window", "2000k"); doc.Layout.Made == nil && math.Abs(doc.off()) > 0.15 {
			t.Errorf("%s: off by %.1f %%", filepath.Base(f), 100*doc.off())
		}
	}
}
