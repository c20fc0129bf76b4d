package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
)

// odd is a session with calls of every kind that can't be planned: nothing before the
// first, and an answer behind an answer; and with a call of a kind that nobody knows. Its input is
// larger than the window, and is planned, since the input of the newest pair is trimmed.
func odd(t *testing.T) string {
	t.Helper()
	item := func(s string) string {
		return `{"type":"response_item","timestamp":"2026-11-02T09:00:00Z","payload":` + s + "}\n"
	}
	said := func(role, kind, text string) string {
		return item(`{"type":"message","role":"` + role + `","content":[{"type":"` + kind + `","text":"` + text + `"}]}`)
	}
	bill := func(total string) string {
		return `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":` + total + `},"last_token_usage":{"input_tokens":900,"cached_input_tokens":100,"output_tokens":5}}}}` + "\n"
	}
	text := `{"type":"session_meta","payload":{"id":"s"}}` + "\n" + `{"type":"turn_context","payload":{"model":"gpt-5.5"}}` + "\n" +
		said("assistant", "output_text", "hello") + bill("1") +
		said("user", "input_text", "find parse_header") +
		item(`{"type":"orbit_call","call_id":"c","where":"parse_header","words":"`+strings.Repeat("a word of its own ", 6000)+`"}`) + bill("2") +
		item(`{"type":"orbit_output","call_id":"c","moons":["parse_header"]}`) +
		said("assistant", "output_text", "one moment") + bill("3") + said("assistant", "output_text", "parse_header it is") + bill("4") +
		said("user", "input_text", "more") + said("assistant", "output_text", "long") +
		said("user", "input_text", "thanks") + said("assistant", "output_text", "bye") + bill("5")
	path := filepath.Join(t.TempDir(), "odd.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A call that can't be planned stops neither replay nor economics nor
// predict: it is counted, with its reason, and in no figure of any policy.
func TestUnplannedCallsAreTold(t *testing.T) {
	path := odd(t)
	args := []string{"replay", "-t", path, "--policy", "all", "--room", "20k", "--quiet", "--workspace", t.TempDir()}
	for policies, calls := range map[string]string{"all": " 4 calls, window 20,900, fixed part 900 ", "memkernel,append-late,oracle": "calls 4 4 4 "} {
		args[4] = policies
		code, text, stderr := invoke(t, args...)
		if code != cli.ExitOK || stderr != "" {
			t.Fatalf("exit %d, %s", code, stderr)
		}
		flat := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{calls, "2 calls could not be planned and count for no policy: 1 answered, 1 no_messages; --json names them."} {
			if !strings.Contains(flat, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	args[4] = "all"
	code, text, stderr := invoke(t, append(args, "--json")...)
	if code != cli.ExitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	var doc struct {
		Results []struct {
			Policy    string
			Calls     []struct{ Index int }
			Unplanned []struct {
				Index          int
				Reason, Detail string
			}
			Totals struct {
				Calls     int
				Unplanned map[string]int
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range doc.Results {
		if len(r.Calls) != 4 || r.Calls[0].Index != 1 || r.Calls[1].Index != 2 || len(r.Unplanned) != 2 || r.Unplanned[1].Reason != "answered" || r.Unplanned[1].Index != 3 ||
			r.Totals.Calls != 4 || len(r.Totals.Unplanned) != 2 || r.Totals.Unplanned["answered"] != 1 {
			t.Errorf("%s: %+v", r.Policy, r)
		}
	}
	code, text, stderr = invoke(t, "economics", "-t", path, "--room", "20k", "--regime", "claude-5m", "--no-curve")
	if want := "Calls of odd that are in no figure: 1 `answered`, 1 `no_messages`"; code != cli.ExitOK || !strings.Contains(text, want) {
		t.Errorf("economics: exit %d, %s, no %q in\n%s", code, stderr, want, text)
	}
	code, text, stderr = invoke(t, "predict", "-t", path)
	if code != cli.ExitOK || !strings.Contains(text, "odd.jsonl: 1 calls have no bill") {
		t.Errorf("predict: exit %d, %s\n%s", code, stderr, text)
	}
	code, text, _ = invoke(t, "predict", "-t", path, "--json")
	if want := `"not_compared":{"first":1,"not_billed":1}`; code != cli.ExitOK || !strings.Contains(strings.NewReplacer(" ", "", "\n", "").Replace(text), want) {
		t.Errorf("predict: exit %d, no %s in\n%s", code, want, text)
	}
}
