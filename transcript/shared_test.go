package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
)

// sharedFiles are real transcripts beside the repository on some
// machines. They are never copied into it.
func sharedFiles(tb testing.TB) []string {
	tb.Helper()
	files, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	files = suite.Some(files, 5)
	if len(files) == 0 {
		tb.Skip("no shared transcripts at ../../shared/data/transcripts")
	}
	return files
}

func dialectOfDir(path string) Dialect { return Dialect(filepath.Base(filepath.Dir(path))) }

func TestSharedRoundTrip(t *testing.T) {
	for _, path := range sharedFiles(t) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := rewrite(t, data, nil); !bytes.Equal(got, data) {
			t.Errorf("%s: written back differently", filepath.Base(path))
		}
		if d, err := Detect(data[:4096]); err != nil || d != dialectOfDir(path) {
			t.Errorf("%s: Detect = %q, %v", filepath.Base(path), d, err)
		}
	}
}

// TestSharedViews plans nothing, but every real session must come out valid
// after Repair, in both views, for each provider, and nothing may be repaired
// that was sound.
func TestSharedViews(t *testing.T) {
	for _, path := range sharedFiles(t) {
		s, err := LoadFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		if len(s.Skipped) > 0 {
			t.Errorf("%s: skipped %d records", name, len(s.Skipped))
		}
		for _, n := range s.Notes {
			t.Errorf("%s: note %s: %s", name, n.Rule, n.Text)
		}
		for _, v := range []View{Host, Full} {
			msgs, notes := Repair(s.View(v), false)
			for _, n := range notes {
				t.Logf("%s %v: %s: %s", name, v, n.Rule, n.Text)
			}
			again, notes := Repair(msgs, false)
			if len(notes) > 0 || len(again) != len(msgs) {
				t.Errorf("%s %v: Repair is not idempotent: %v", name, v, notes)
			}
			checkAtoms(t, msgs)
			for _, c := range Calls(msgs) {
				if c.Index == 0 || msgs[c.Index-1].Role == memkernel.RoleAssistant {
					t.Errorf("%s %v: nothing before message %d asks for it", name, v, c.Index)
				}
			}
			req := &Request{Model: s.Model, Messages: trimTail(msgs), Source: s.Dialect, System: s.System}
			for _, p := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses, FormatGemini} {
				// A host's summary may be followed by what it kept, which begins
				// with the model; a real plan never sends that to Gemini.
				for _, viol := range Validate(p, req) {
					t.Errorf("%s %v %s: %v", name, v, p, viol)
				}
			}
			for _, f := range []Format{FormatAnthropic, FormatOpenAI, FormatResponses} {
				body, notes, err := Render(f, req)
				if err != nil || !json.Valid(body) {
					t.Errorf("%s %v %s: invalid body: %v", name, v, f, err)
				}
				t.Logf("%s %v %s: %d bytes, %d notes", name, v, f, len(body), len(notes))
			}
		}
	}
}

// trimTail cuts to the last request that was really made.
func trimTail(msgs []memkernel.Message) []memkernel.Message {
	n := len(msgs)
	for n > 0 && msgs[n-1].Role == memkernel.RoleAssistant {
		n--
	}
	return msgs[:n]
}

// TestSharedVerbatim looks for the recorded bytes of every block of the Claude
// Code files in the request body.
func TestSharedVerbatim(t *testing.T) {
	for _, path := range sharedFiles(t) {
		if dialectOfDir(path) != ClaudeCode {
			continue
		}
		s, err := LoadFile(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		msgs, _ := Repair(s.View(Full), false)
		body, _, err := Render(FormatAnthropic, &Request{Model: s.Model, Messages: msgs, Source: s.Dialect})
		if err != nil {
			t.Fatal(err)
		}
		rest := string(body)
		for _, m := range msgs {
			for _, p := range m.Parts {
				if p.Raw == "" || isThinking(&p) && p.Signature == "" || strings.Contains(p.Raw, "cache_control") || m.Role != memkernel.RoleAssistant {
					continue
				}
				i := strings.Index(rest, p.Raw)
				if i < 0 {
					t.Fatalf("%s: block of %s is not in the body with its own bytes", filepath.Base(path), m.Key)
				}
				rest = rest[i+len(p.Raw):]
			}
		}
	}
}
