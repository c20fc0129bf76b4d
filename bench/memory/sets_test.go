package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(0) }

func TestPairs(t *testing.T) {
	texts, bad, near := map[string]bool{}, map[bool]int{}, map[bool]int{}
	for _, sealed := range []bool{false, true} {
		ps, err := pairs(sealed)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := pairs(sealed)
		kinds := map[string]int{}
		for i, p := range ps {
			if p != again[i] {
				t.Fatalf("made twice: %+v, %+v", p, again[i])
			}
			key := p.lang + p.first + p.second
			if texts[key] || p.first == p.second || strings.ContainsAny(p.first+p.second, "{}") {
				t.Errorf("sealed %v: %+v", sealed, p)
			}
			texts[key] = true
			kinds[p.lang+p.kind]++
			if p.contradictory {
				bad[sealed]++
			} else {
				near[sealed]++
			}
		}
		if len(kinds) != 4*28 {
			t.Errorf("sealed %v: %d kinds in four languages", sealed, len(kinds))
		}
	}
	if bad[false]+bad[true] < 200 || near[false]+near[true] < 200 || bad[false] != bad[true] || near[false] != near[true] {
		t.Errorf("%v contradict, %v do not", bad, near)
	}
}

func TestPlanted(t *testing.T) {
	ps, err := pairs(false)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for lang := range languages {
		files, at := plant(ps, lang)
		for _, p := range at {
			n++
			for i, want := range []string{p.first, p.second} {
				lines := bytes.Split(files[p.at[i].Path].Data, []byte("\n"))
				got := string(bytes.Join(lines[p.at[i].StartLine-1:p.at[i].EndLine], []byte("\n")))
				if strings.TrimPrefix(got, "- ") != want {
					t.Errorf("%s holds %q, want %q", p.at[i], got, want)
				}
			}
		}
	}
	if n != len(ps) {
		t.Errorf("%d of %d pairs are planted", n, len(ps))
	}
}

func TestWorkspacesAreMade(t *testing.T) {
	for _, name := range workspaceNames {
		dir := t.TempDir()
		if err := layOut(name, dir, firstDay); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "MEMORY.md"))
		if err != nil || len(b) < 500 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
		logs, worth := 0, 0
		for n := range 60 {
			log, w, err := dayOf(name, n)
			if err != nil {
				t.Fatal(err)
			}
			again, _, _ := dayOf(name, n)
			if log != again {
				t.Errorf("%s, day %d: made twice, differently", name, n)
			}
			if worth += len(w); log != "" {
				logs++
			}
		}
		if logs < 45 || worth < 16 {
			t.Errorf("%s: %d logs with %d notes that are worth keeping", name, logs, worth)
		}
	}
}

func TestQuestions(t *testing.T) {
	seen, sessions := map[string]bool{}, map[string]bool{}
	for _, sealed := range []bool{false, true} {
		qs, err := questions(sealed)
		if err != nil || len(qs) != 50 {
			t.Fatalf("sealed %v: %d, %v", sealed, len(qs), err)
		}
		for _, q := range qs {
			if q.Session == "" || len(q.Gold) == 0 || seen[q.Question] {
				t.Errorf("%+v", q)
			}
			seen[q.Question], sessions[q.Session] = true, true
			for _, g := range q.Gold {
				if len(g) > 48 || g == "" {
					t.Errorf("%q is no gold string", g)
				}
			}
		}
	}
	if len(sessions) < 15 {
		t.Errorf("questions on %d sessions", len(sessions))
	}
	q := question{Gold: []string{"Port", "5433"}}
	if !q.answeredBy([]string{"nothing", "The port is 5433."}) || q.answeredBy([]string{"The port is in Lisbon.", "5433"}) {
		t.Error("the gold has to be in one entry")
	}
}
