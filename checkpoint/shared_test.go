package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

var noon = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

// tokens counts with a real tokenizer.
func tokens(t testing.TB) func(string) int {
	t.Helper()
	c, err := budget.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) int { return c.Count(s).Bound }
}

// load reads a transcript's main line; messages without an id get one.
func load(t testing.TB, file string) []memkernel.Message {
	t.Helper()
	s, err := transcript.LoadFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs := s.View(transcript.Full)
	for i := range msgs {
		if msgs[i].Key == "" {
			msgs[i].Key = fmt.Sprintf("m%d", i)
		}
	}
	return msgs
}

func sharedFiles(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob("../../shared/data/transcripts/*/*.jsonl")
	files = suite.Some(files, 5)
	if len(files) == 0 {
		t.Skip("no ../shared/data/transcripts beside the repository")
	}
	return files
}

func input(trigger checkpoint.Trigger, tokens int) checkpoint.Input {
	return checkpoint.Input{SessionKey: "telegram:user123", AgentID: "default",
		Now: noon, Trigger: trigger, Reading: checkpoint.Reading{Tokens: tokens, Window: 200_000}}
}

// TestSharedTranscripts captures whole sessions with a checkpoint every hundred
// messages, and looks at each restore text.
func TestSharedTranscripts(t *testing.T) {
	count := tokens(t)
	for _, file := range sharedFiles(t) {
		msgs := load(t, file)
		var s checkpoint.State
		var latest *checkpoint.Checkpoint
		most := 0
		for from := 0; from < len(msgs); from += 100 {
			s = captured(checkpoint.Begin(s, latest), msgs[from:min(from+100, len(msgs))])
			latest = checkpoint.Build(s, latest, input(checkpoint.TriggerCompaction, 162_431))
			checkCaps(t, latest)
			roundTrip(t, latest)
			for _, at := range []checkpoint.Occasion{checkpoint.AfterCompaction, checkpoint.NewSession} {
				text := checkpoint.Restore(latest, &checkpoint.RestoreOptions{Occasion: at, Count: count})
				n := count(text)
				if most = max(most, n); n > checkpoint.RestoreCap || n < 50 {
					t.Errorf("%s at %d: %d tokens:\n%s", filepath.Base(file), from, n, text)
				}
			}
		}
		data, err := checkpoint.Marshal(latest)
		if err != nil {
			t.Fatal(err)
		}
		if latest.Working.Topic == "" || len(latest.Decisions)+len(latest.Resources.Commits) == 0 || len(latest.Resources.ToolsUsed) == 0 || len(latest.Resources.FilesModified) == 0 || len(latest.Thread.KeyExchanges) < 4 {
			t.Errorf("%s: a section is empty:\n%s", filepath.Base(file), data)
		}
		t.Logf("%-58s %4d messages: %2d decisions, %2d open, %2d learnings, %3d files, %2d tools; %5d bytes, at most %d tokens", filepath.Base(file), len(msgs), len(latest.Decisions),
			len(latest.OpenItems), len(latest.Learnings), len(latest.Resources.FilesRead)+len(latest.Resources.FilesModified), len(latest.Resources.ToolsUsed), len(data), most)
		if show := os.Getenv("SHOW_CHECKPOINT"); show != "" && strings.Contains(file, show) {
			t.Logf("\n%s\n%s", data, checkpoint.Restore(latest, &checkpoint.RestoreOptions{Count: count}))
		}
	}
}

func checkCaps(t testing.TB, c *checkpoint.Checkpoint) {
	t.Helper()
	for name, over := range map[string]int{
		"decisions": len(c.Decisions) - checkpoint.MaxDecisions, "exchanges": len(c.Thread.KeyExchanges) - checkpoint.MaxExchanges,
		"tools": len(c.Resources.ToolsUsed) - checkpoint.MaxTools, "files read": len(c.Resources.FilesRead) - checkpoint.MaxFiles,
		"files modified": len(c.Resources.FilesModified) - checkpoint.MaxFiles, "open items": len(c.OpenItems) - checkpoint.MaxOpenItems,
		"learnings": len(c.Learnings) - checkpoint.MaxLearnings,
	} {
		if over > 0 {
			t.Errorf("%d %s above the cap", over, name)
		}
	}
}
