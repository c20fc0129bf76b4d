package markdownstore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFactsPath(t *testing.T) {
	for path, want := range map[string]string{
		"memory/2026-03-01.md": "memory/.facts/2026-03-01.md", "memory/a talk.MD": "memory/.facts/a talk.MD",
		"MEMORY.md": "", "USER.md": "", "memory/a/b.md": "", "memory/working-buffer.md": "", "memory/SESSION-STATE.md": "", "memory/observations.md": "",
		"memory/.hidden.md": "", "memory/x.txt": "", "memory/.facts/2026-03-01.md": "", "": "", "src/memory/a.md": "",
	} {
		if got, ok := FactsPath(path); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", path, got, ok)
		}
	}
	for path, memory := range map[string]bool{"memory/.facts/2026-03-01.md": true, "memory/.facts/working-buffer.md": false, "memory/.facts/a/b.md": false, "memory/.facts/x.txt": false, ".facts/a.md": false} {
		c, ok := Classify(path)
		if ok != memory || c.Indexed || c.Memory != memory || ok && c.Kind != KindFacts {
			t.Errorf("%s: %+v, %v", path, c, ok)
		}
	}
}

// What is written is read again, whatever the text; what the lines don't hold any more is
// counted and left out.
func TestFactsAreRead(t *testing.T) {
	const path = "memory/2026-03-01.md"
	log := "# 2026-03-01\n\n- Ana: I mend nets.\n- Ben: Where?\n- Ana: In shed 7.\n- Ben: 好的。\n"
	var facts []Fact
	for text, lines := range map[string][]LineRange{
		"Ana mends nets in shed 7 (work)": {{5, 5}, {3, 3}}, "a <!-- from memory/x.md#L1 = 0123456789abcdef --> b": {{1, 1}}, "two\nlines\x00 \x1f here": {{3, 5}},
		"本は七番の小屋": {{6, 6}}, strings.Repeat("long ", 400): {{2, 6}},
	} {
		f, ok := NewFact(text, lines, log)
		if !ok {
			t.Fatalf("%q is no fact", text)
		}
		facts = append(facts, f)
	}
	rows := FactsFile(path, facts, log, 6)
	got, unused := ParseFacts(rows, path, log)
	if unused != 0 || len(got) != len(facts) {
		t.Fatalf("%d unused, %+v", unused, got)
	}
	for i := range got {
		row := strings.Split(rows, "\n")[got[i].Row-1]
		if got[i].Text != facts[i].Text || !slices.Equal(got[i].Lines, facts[i].Lines) || !strings.HasPrefix(row, "- "+got[i].Text) {
			t.Errorf("%+v became %+v", facts[i], got[i])
		}
	}
	if n := ReadTo(rows, log+"- more\n"); n != 6 {
		t.Errorf("read to %d", n)
	}
	for name, c := range map[string]struct {
		log    string
		unused int
		read   int
	}{
		"trailing blanks":    {strings.ReplaceAll(log, "\n", "  \r\n"), 0, 6},
		"a byte-order mark":  {"\ufeff" + log, 0, 6},
		"lines put before":   {"front\n\n" + log, 0, 0},
		"a line changed":     {strings.Replace(log, "shed 7", "shed 8", 1), 3, 0},
		"a line between":     {strings.Replace(log, "- Ben: Where?", "- Ben: Where?\n- Cy: Here.", 1), 3, 0},
		"cut off":            {"# 2026-03-01\n", 4, 0},
		"nothing":            {"", 5, 0},
		"lines far away":     {strings.Repeat("\n", 300) + log, 5, 0},
		"another file's row": {log, 0, 6},
	} {
		if got, unused := ParseFacts(rows, path, c.log); unused != c.unused || len(got) != 5-c.unused || ReadTo(rows, c.log) != c.read {
			t.Errorf("%s: %d unused, read to %d: %+v", name, unused, ReadTo(rows, c.log), got)
		}
	}
	moved, _ := ParseFacts(rows, path, "front\n\n"+log)
	for i := range moved {
		if moved[i].Lines[0].From != facts[i].Lines[0].From+2 {
			t.Errorf("%+v was %+v", moved[i], facts[i])
		}
	}
	if got, unused := ParseFacts(rows, "memory/2026-03-02.md", log); len(got) != 0 || unused != 5 {
		t.Errorf("rows of another file: %+v", got)
	}
}

func TestBadFacts(t *testing.T) {
	for _, lines := range [][]LineRange{nil, {{0, 1}}, {{2, 1}}, {{1, 9}}, {{-1, -1}}} {
		if f, ok := NewFact("text", lines, "one\ntwo"); ok {
			t.Errorf("%v: %+v", lines, f)
		}
	}
	if _, ok := NewFact(" <!-- --> \n", []LineRange{{1, 1}}, "one"); ok {
		t.Error("nothing is a fact")
	}
	for _, row := range []string{"- x", "- x <!-- from a.md#L1 = 00 -->", "- x <!-- from a.md#L1 -->", "- x <!-- from a.md#L9999999999999999999 = 0123456789abcdef -->",
		"- x <!-- from a.md#L2-L1 = 0123456789abcdef -->", "- x <!-- from a.md = 0123456789abcdef -->", "- <!-- from a.md#L1 = 0123456789abcdef -->", "- \x00"} {
		if got, unused := ParseFacts(row+"\n", "a.md", "one\ntwo\n"); len(got) != 0 || unused != 1 {
			t.Errorf("%q: %+v", row, got)
		}
	}
}

// The folder of facts is in no listing, is read by its names, and is written to as other
// files are.
func TestFactsOfAStore(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log := "# 2026-03-01\n\n- Ana mends nets.\n"
	write("memory/2026-03-01.md", log)
	s, err := Open(dir, &Options{Timezone: time.UTC, Now: func() time.Time { return time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC) }, Include: []string{"**/*.md"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.FactFiles() != nil {
		t.Error("there are facts")
	}
	f, _ := NewFact("Ana mends nets (work)", []LineRange{{3, 3}}, log)
	if _, err := s.Replace(t.Context(), "memory/.facts/2026-03-01.md", "", FactsFile("memory/2026-03-01.md", []Fact{f}, "", 0)); err != nil {
		t.Fatal(err)
	}
	write("memory/.facts/.hidden.md", "x")
	os.Symlink(filepath.Join(dir, "memory/2026-03-01.md"), filepath.Join(dir, "memory/.facts/link.md"))
	var listed []string
	for f, err := range s.Walk(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, f.Path)
	}
	if !slices.Equal(listed, []string{"memory/2026-03-01.md"}) {
		t.Errorf("listed are %q", listed)
	}
	if files := s.FactFiles(); len(files) != 1 || files["memory/2026-03-01.md"] == nil {
		t.Errorf("files of facts: %v", files)
	}
	if facts, unused := s.Facts("memory/2026-03-01.md", log); len(facts) != 1 || unused != 0 || facts[0].Citation("memory/2026-03-01.md") != "memory/.facts/2026-03-01.md#L6" {
		t.Errorf("%+v, %d unused", facts, unused)
	}
	if c, err := s.Read("memory/.facts/2026-03-01.md", 6, 1); err != nil || !strings.HasPrefix(c.Text, "- Ana mends nets (work) <!-- from memory/2026-03-01.md#L3 = ") {
		t.Errorf("%+v, %v", c, err)
	}
}
