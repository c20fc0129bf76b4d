package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

// afterSession asks a workspace with notes of May and the transcript of a session of June.
func afterSession(question string, notes []string, turns ...string) []Hit {
	var hits []index.Hit
	for i, text := range notes {
		h := hit(fmt.Sprint("note", i), fmt.Sprintf("docs/note%d.md", i), 1, .6, text)
		h.ModTime = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
		hits = append(hits, h)
	}
	text := "# Session s of main, 2026-06-01\n"
	for i, turn := range turns {
		role, _, _ := strings.Cut(turn, ":")
		text += fmt.Sprintf("\n## 09:%02d, line %d, %s\n%s\n", i, i, role, turn)
	}
	h := hit("session", "sessions/main/s/0001-2026-06-01.md", 1, .5, text)
	h.Date = "2026-06-01"
	hits = append(hits, h)
	a := analyzers.Lend()
	ix := &fakeIndex{hits: index.Hits{Chunks: int64(len(hits)), Keyword: ranked(hits...), Terms: a.Query(question, nil)}}
	return ask(ix, Options{Lambda: 1, HalfLife: -1}, Query{Text: question, Passages: true, Lines: true}).Hits
}

// A person's statement to an agent comes before an older note on the same words.
func TestPersonsWordComesFirst(t *testing.T) {
	for _, c := range []struct {
		note, said, question string
		marked               bool
	}{
		{"# Deploying\n\nWe deploy on Fridays by `make ship`.", "we moved that: from now on we deploy on Tuesdays, Kari is on call then", "which day do we deploy?", true},
		{"# tidewatch\n\nThe exporter listens on port 8085.", "the label is wrong. exporter port's 9412 since last week, the readme is behind", "what port does the exporter listen on", true},
		{"# Abläufe\n\nDie Sicherung läuft täglich um 23:30 Uhr.", "die Sicherung haben wir auf 4:15 Uhr verlegt", "Um wie viel Uhr läuft die Sicherung?", true},
		{"# Logs\n\n- ログはプレーンテキスト形式で出力する", "ログは先週から JSON Lines で出すことになりました。", "ログの形式は何ですか？", false},
	} {
		hits := afterSession(c.question, []string{c.note}, "assistant: Done.", "user: "+c.said)
		if len(hits) < 2 || !strings.Contains(hits[0].Text, c.said) {
			t.Errorf("%s: %q", c.question, ids(hits))
			continue
		}
		if at := slices.IndexFunc(hits, func(h Hit) bool { return h.Path == "docs/note0.md" }); at < 0 || (hits[at].SupersededBy != "") != c.marked {
			t.Errorf("%s: the note is %q", c.question, hits[max(at, 0)].SupersededBy)
		}
	}
}

// A note stays first before what a person only asks or orders, and before an agent's words.
func TestOnlyAStatementComesBeforeANote(t *testing.T) {
	const note = "# Deploying\n\nWe deploy on Fridays by `make ship`."
	for _, turn := range []string{"user: which day do we deploy the shop?", "user: deploy it please", "assistant: I deploy on Tuesdays from now on."} {
		hits := afterSession("which day do we deploy?", []string{note}, turn)
		if len(hits) == 0 || hits[0].Path != "docs/note0.md" {
			t.Errorf("%s: %q", turn, ids(hits))
		}
	}
}

// A question that a person asked an agent is no answer to the same question.
func TestEarlierQuestionComesLast(t *testing.T) {
	hits := afterSession("which role may merge tickets?", []string{"# Desk\n\n- Only leads merge tickets."},
		"user: which role may merge two tickets?", "assistant: I can't find it.", "user: thanks. how may tickets be merged by a role?")
	if len(hits) == 0 || hits[0].Path != "docs/note0.md" {
		t.Fatalf("%q", ids(hits))
	}
	for i, h := range hits[1:] {
		if strings.Contains(h.Text, "?") && h.Score > hits[0].Score/3 {
			t.Errorf("%d: %.2f %q", i, h.Score, h.Text)
		}
	}
}
