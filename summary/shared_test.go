package summary

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

// sessions reads the shared transcripts.
func sessions(t *testing.T) map[string][]memkernel.Message {
	t.Helper()
	files, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	files = suite.Some(files, 5)
	if len(files) == 0 {
		t.Skip("no transcripts in ../../shared/data: nothing to run on")
	}
	out := map[string][]memkernel.Message{}
	for _, f := range files {
		out[filepath.Base(f)] = readSession(t, f)
	}
	return out
}

func readSession(t testing.TB, file string) []memkernel.Message {
	t.Helper()
	s, err := transcript.LoadFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.View(transcript.Full)
}

func TestSharedTranscripts(t *testing.T) {
	const limit = 1200
	for name, msgs := range sessions(t) {
		whole := update(State{}, msgs)
		var step State
		for i := 0; i < len(msgs); {
			n := min(1+i%7, len(msgs)-i)
			step = roundTrip(t, update(step, msgs[i:i+n]))
			i += n
		}
		diffStates(t, name, whole, step)
		text := render(whole, Beside{}, limit, thirds, pointer)
		if again := render(step, Beside{}, limit, thirds, pointer); again != text {
			t.Errorf("%s: text differs after an incremental update:\n%s\nwant\n%s", name, again, text)
		}
		checkText(t, text, limit)
		if whole.Goal.Text == "" || len(whole.Artifacts) == 0 || len(whole.Decisions)+len(whole.Reports) == 0 {
			t.Errorf("%s: goal, files or decisions are empty", name)
		}
		full := render(whole, Beside{}, 1<<20, thirds, nil)
		data, _ := json.Marshal(whole)
		t.Logf("%-60s %4d messages, state of %5d bytes: %4d tokens at cap, %5d in full; %d rules, %d decisions, %d open, %d files", name, len(msgs), len(data), tokens(text),
			tokens(full), len(whole.Constraints), len(whole.Decisions)+whole.Evicted.Decisions, len(whole.OpenThreads()), len(whole.Artifacts)+whole.Evicted.Artifacts)
		if os.Getenv("SHOW_SUMMARY") != "" && strings.Contains(name, os.Getenv("SHOW_SUMMARY")) {
			t.Log("\n" + text)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	files, _ := filepath.Glob("../../shared/data/transcripts/claude-code/*.jsonl")
	if len(files) == 0 {
		b.Skip("no transcripts in ../../shared/data: nothing to run on")
	}
	msgs := readSession(b, files[0])
	size := 0
	for _, m := range msgs {
		for _, p := range m.Parts {
			size += len(p.Text)
			if p.Call != nil {
				size += len(p.Call.Input)
			}
			if p.Result != nil {
				size += len(resultText(p.Result))
			}
		}
	}
	b.Run("whole", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			update(State{}, msgs)
		}
	})
	s := update(State{}, msgs[:len(msgs)-1])
	b.Run("one message", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			update(s, msgs[len(msgs)-1:])
		}
	})
	b.Run("render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			render(s, Beside{}, 1200, thirds, nil)
		}
	})
}
