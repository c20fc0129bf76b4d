package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/hook"
)

// The conversation of a transcript: prompts in order, calls in a line with their results, and a
// result whole where it was asked for alone.
func TestTalk(t *testing.T) {
	o := openWindow(t, Options{Transcripts: files(sample), Window: 128_000, Resolver: "memory_get"})
	o.enter(t)
	id := o.planned(t)
	all, calls := get[talkJSON](t, o, "/api/talk?limit=60&session="+id), 0
	if len(all.Prompts) != 17 || !strings.HasPrefix(all.Prompts[0].Text, "Two sailings were oversold") || all.Items[0].Kind != "prompt" || !all.Simulated || all.Hooked {
		t.Fatalf("%d prompts, first %+v, simulated %v", len(all.Prompts), all.Items[0], all.Simulated)
	}
	third := get[talkJSON](t, o, fmt.Sprintf("/api/talk?from=%d&limit=400&session=%s", all.Prompts[2].Item, id))
	if it := third.Items[0]; it.Prompt != 3 || !strings.HasPrefix(it.Text, "Let's build offers") || len(third.Prompts) != 0 {
		t.Errorf("the third prompt: %+v", it)
	}
	kinds, shortened := map[string]bool{}, 0
	for from := 1; from <= all.Total; from += 400 {
		for _, it := range get[talkJSON](t, o, fmt.Sprintf("/api/talk?from=%d&limit=400&session=%s", from, id)).Items {
			kinds[it.Kind] = true
			if it.Kind == "call" {
				calls++
				verb, _, _ := strings.Cut(it.Text, " ")
				if !strings.Contains(" Ran Read Edited Searched Used ", " "+verb+" ") || strings.ContainsAny(it.Text, "{}\n") && verb != "Ran" && verb != "Searched" && verb != "Used" || it.Result == "" && it.Bytes > 0 || it.Call == 0 {
					t.Errorf("item %d: %q, %d bytes, call %d", it.Item, it.Text, it.Bytes, it.Call)
				}
				if it.Level != "" && it.Level != "full" && it.Bytes > saidText && shortened < 3 {
					shortened++
					whole := get[talkJSON](t, o, fmt.Sprintf("/api/talk?from=%d&limit=1&session=%s", it.Item, id)).Items[0]
					if len(whole.Result) != it.Bytes || len(it.Result) > saidText || !strings.HasPrefix(whole.Result, it.Result) || it.Page == "" || it.Since == 0 {
						t.Errorf("item %d: %d of %d bytes, %s since %d", it.Item, len(whole.Result), it.Bytes, it.Page, it.Since)
					}
				}
			}
		}
	}
	if calls < 150 || !kinds["prompt"] || !kinds["answer"] || !kinds["thinking"] || shortened == 0 {
		t.Errorf("%d calls, kinds %v, %d shortened", calls, kinds, shortened)
	}
	row := get[sessionsJSON](t, o, "/api/sessions").Sessions[0]
	if row.Host != "claude-code" || row.Prompts != 17 || !strings.HasPrefix(row.Prompt, "Two sailings") || row.Planned || row.BilledUSD != nil {
		t.Errorf("%+v", row)
	}
}

// A session in the state folder is a conversation as well: each answer once, what was recalled
// after its prompt with its lines, and its bill.
func TestTalkOfKeptSession(t *testing.T) {
	o := openWindow(t, Options{})
	k, msgs := o.o.Kernel, []memkernel.Message{}
	note := filepath.Join(o.o.Workspace, "memory", "deploys.md")
	if err := os.MkdirAll(filepath.Dir(note), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte("# Deploys\n\n- The deploy key is kept by Jo in the harbour safe.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	for i, q := range []string{"Where is the deploy key kept?", "And the other thing?"} {
		msgs = append(msgs, memkernel.User(q))
		p, err := k.PlanContext(t.Context(), api.PlanRequest{SessionKey: "proxy:1", Model: "claude-sonnet-4-6", Messages: msgs, Now: at, Private: true})
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, memkernel.Assistant(fmt.Sprintf("On **Tuesdays**, %d.", i)))
		if _, err := k.ObserveTurn(t.Context(), api.Turn{SessionKey: "proxy:1", Model: "claude-sonnet-4-6", PlanID: p.ID, Messages: msgs, Now: at, Private: true, Usage: &memkernel.Usage{InputTokens: 900, OutputTokens: 9}}); err != nil {
			t.Fatal(err)
		}
	}
	o.enter(t)
	row := get[sessionsJSON](t, o, "/api/sessions").Sessions[0]
	talk := get[talkJSON](t, o, "/api/talk?session="+row.ID)
	var seen []string
	var recalled []hook.Lines
	for _, it := range talk.Items {
		seen = append(seen, it.Kind+" "+it.Text[:min(len(it.Text), 20)])
		if !it.Time.Equal(at) { // the messages have no times of their own
			t.Errorf("%s is of %v", it.Kind, it.Time)
		}
		if it.Kind == "recalled" {
			recalled = append(recalled, it.Lines...)
			if !strings.Contains(it.Text, "deploy") {
				t.Errorf("recalled %+v", it)
			}
		}
	}
	if got := strings.Join(seen, "|"); !strings.HasPrefix(got, "prompt Where is the deploy |recalled ") || strings.Count(got, "answer On **Tuesdays**, 0") != 1 || strings.Count(got, "prompt ") != 2 {
		t.Errorf("%s", got)
	}
	if len(recalled) != 2 || recalled[0].Path != "MEMORY.md" || recalled[1] != (hook.Lines{Path: "memory/deploys.md", From: 1, To: 3}) {
		t.Errorf("recalled %+v", recalled)
	}
	if talk.Simulated || !row.Planned || row.BilledUSD == nil {
		t.Errorf("simulated %v, %+v", talk.Simulated, row)
	}
}

// A session through hooks shows at each prompt what they added, or that they added nothing.
func TestTalkOfHookedSession(t *testing.T) {
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	var lines strings.Builder
	for i, q := range []string{"When do we deploy?", "Thanks, and lunch?"} {
		fmt.Fprintf(&lines, `{"type":"user","uuid":"u%d","sessionId":"quay-8","timestamp":%q,"message":{"role":"user","content":%q}}`+"\n", i, at.Add(time.Duration(i)*10*time.Minute).Format(time.RFC3339), q)
	}
	path := filepath.Join(t.TempDir(), "quay-8.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	o := openWindow(t, Options{Transcripts: files(path)})
	if _, err := o.o.Kernel.ObserveTurn(t.Context(), api.Turn{SessionKey: "claude:quay-8", Private: true, Now: at, Messages: []memkernel.Message{memkernel.User("When do we deploy?")}}); err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"format":1,"key":"claude:quay-8","given":[{"at":%q,"prompt":true,"bytes":300,"lines":[{"path":"MEMORY.md","from":3,"to":3}]},{"at":%q,"prompt":true}]}`, at.Format(time.RFC3339), at.Add(10*time.Minute).Format(time.RFC3339))
	writeRecord(t, o.o.Kernel.StateDir(), "claude:quay-8", record)
	o.enter(t)
	list := get[sessionsJSON](t, o, "/api/sessions").Sessions
	if len(list) != 1 {
		t.Fatalf("the session is listed %d times", len(list))
	}
	talk := get[talkJSON](t, o, "/api/talk?session="+list[0].ID)
	first, second := talk.Items[0].Added, talk.Items[len(talk.Items)-1].Added
	if !talk.Hooked || first == nil || first.Tokens != 100 || len(first.Lines) != 1 || first.Lines[0].From != 3 || second == nil || second.Tokens != 0 {
		t.Errorf("%+v %+v %+v", talk, first, second)
	}
	if res, _ := o.do(t, http.MethodGet, "/api/talk?from=x&session="+list[0].ID, ""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("from=x: %s", res.Status)
	}
}

// writeRecord writes the hooks' record of a session where hooks keep it.
func writeRecord(t *testing.T, stateDir, key, record string) {
	t.Helper()
	dir := filepath.Join(stateDir, "hook")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(key))
	name := strings.NewReplacer(":", "_").Replace(key) + "-" + hex.EncodeToString(sum[:6]) + ".json"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
}
