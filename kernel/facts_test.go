package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

const logPath, factPath = "memory/2026-03-09.md", "memory/.facts/2026-03-09.md"

func hitsOf(t *testing.T, k *kernel.Kernel, q string, private bool) *retrieval.Result {
	t.Helper()
	res, err := k.Search(context.Background(), api.SearchRequest{Query: q, Private: private, MaxResults: 5, Lines: true})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestFactsOfLines: lines are found by a fact, and shown in its place. A fact whose lines changed finds nothing and is counted, one whose
// lines moved finds them where they are, and a log that is gone takes its facts out.
func TestFactsOfLines(t *testing.T) {
	dir := t.TempDir()
	text := "# 2026-03-09\n\n- Ana: I throw pots on a wheel.\n- Ben: In Oslo nobody does.\n"
	f, ok := markdownstore.NewFact("Ana throws pots on a wheel. (hobby, pottery)", []markdownstore.LineRange{{From: 3, To: 3}}, text)
	if !ok {
		t.Fatal("no fact")
	}
	putAll(t, dir, map[string]string{"MEMORY.md": "# Memory\n", logPath: text})
	k := nightKernel(t, dir)
	defer k.Close()
	if r := hitsOf(t, k, "pottery", true); len(r.Hits) != 0 {
		t.Errorf("found %+v", r.Hits)
	}
	putAll(t, dir, map[string]string{factPath: markdownstore.FactsFile(logPath, []markdownstore.Fact{f}, "", 0)})
	if _, err := k.Reindex(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	for _, private := range []bool{true, false} {
		r := hitsOf(t, k, "pottery", private)
		if len(r.Hits) != 1 || r.Hits[0].Citation != logPath+"#L1-L3" || r.Hits[0].ByFact != factPath+"#L6" || strings.Contains(r.Hits[0].Snippet, "pottery") {
			t.Errorf("private %v: %+v", private, r.Hits)
		}
	}
	at := nightAt
	put := func(text string) {
		t.Helper()
		at = at.Add(time.Second)
		putAt(t, filepath.Join(dir, logPath), text, at)
		r, err := k.Reindex(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		noted := 0
		for _, n := range r.Notes {
			if n.Path == logPath && strings.Contains(n.Reason, "1 of its facts") {
				noted++
			}
		}
		if want := strings.Count(text, "throw jars"); noted != want {
			t.Errorf("%d notes, want %d: %+v", noted, want, r.Notes)
		}
	}
	put("A line that somebody put before.\n\n" + text)
	if r := hitsOf(t, k, "pottery", true); len(r.Hits) != 1 || r.Hits[0].Citation != logPath+"#L3-L5" {
		t.Errorf("moved: %+v", r.Hits)
	}
	put(strings.Replace(text, "throw pots", "throw jars", 1))
	if r := hitsOf(t, k, "pottery", true); len(r.Hits) != 0 {
		t.Errorf("changed: %+v", r.Hits)
	}
	put(text)
	if r := hitsOf(t, k, "pottery", true); len(r.Hits) != 1 {
		t.Errorf("as it was: %+v", r.Hits)
	}
	if err := os.Remove(filepath.Join(dir, factPath)); err != nil {
		t.Fatal(err)
	}
	put(text)
	if r := hitsOf(t, k, "pottery", true); len(r.Hits) != 0 {
		t.Errorf("deleted: %+v", r.Hits)
	}
}

// TestFactsAreForgotten: what is forgotten leaves the facts, be it that a row quotes it or
// that the lines do that it is made from, and no backup has it.
func TestFactsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := newConversation(5)
	c.add(memkernel.RoleUser, words("The lighthouse keeper of "+secretWord+" grows black tulips behind the oil store."))
	c.add(memkernel.RoleAssistant, words("I will remember that."))
	live(t, k, c)
	log := "# 2026-03-09\n\n- The lighthouse keeper of " + secretWord + " grows black tulips behind the oil store.\n- The pier is painted blue.\n"
	var facts []markdownstore.Fact
	for i, text := range []string{"Flowers at " + secretWord + " (gardening)", "The pier is painted blue (colour)"} {
		f, ok := markdownstore.NewFact(text, []markdownstore.LineRange{{From: 3 + i, To: 3 + i}}, log)
		if !ok {
			t.Fatal(text)
		}
		facts = append(facts, f)
	}
	gone, _ := markdownstore.NewFact("The lighthouse keeper of "+secretWord+" grows black tulips (old)", []markdownstore.LineRange{{From: 1, To: 1}}, "a line that is gone\n")
	rows := markdownstore.FactsFile(logPath, append(facts, gone), log, 4)
	putAll(t, dir, map[string]string{logPath: log, factPath: rows})
	forget(t, k, false)
	if raw, _ := os.ReadFile(filepath.Join(dir, factPath)); string(raw) != rows {
		t.Errorf("a preview changed the facts")
	}
	forget(t, k, true)
	raw, err := os.ReadFile(filepath.Join(dir, factPath))
	if err != nil || strings.Contains(string(raw), secretWord) || !strings.Contains(string(raw), "painted blue") || !strings.Contains(string(raw), "<!-- read L1-L4") {
		t.Errorf("%v\n%s", err, raw)
	}
	if left := holding(t, dir, secretWord); len(left) > 0 {
		t.Errorf("it still stands in %s", strings.Join(left, "\n"))
	}
}
