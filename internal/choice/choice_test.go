package choice

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// A decision is the agent's question and the person's reply, both as they were written; what
// answers nothing is none.
func TestAnswered(t *testing.T) {
	const stores = "Two stores would do.\n\n**A. Heron** - one file, many readers\n**B. Otter** - a server of its own\n\nHeron is easier to move.\n\n"
	const table = "| Way | Cost |\n|---|---|\n| **1. Poll** | slow |\n| **2. Push** | a socket |\n\nWhich way shall it be?"
	const long = "The importer reads each manifest twice, once for the header and once for its rows, and drops the lines whose port is unknown. Since the tide tables are large this takes a minute on every start. Shall I cache the headers in `ports.idx`?"
	for _, c := range []struct{ agent, reply, want string }{
		{"The log grows.\n\nShall I rotate the harbour log every night?", "yes", "Shall I rotate the harbour log every night? → yes"},
		{"Shall I rotate the harbour log every night?", "no, weekly is enough", "Shall I rotate the harbour log every night? → no, weekly is enough"},
		{stores + "Which store do you want?", "B", "Which store do you want? A. Heron; B. Otter → B"},
		{stores + "Which store do you want?", "b", "Which store do you want? A. Heron; B. Otter → b"},
		{stores + "Which store do you want?", "the second, but with backups", "Which store do you want? A. Heron; B. Otter → the second, but with backups"},
		{stores + "Which store do you want? I'd take A, it is easier to move.", "let's go with your idea", "Which store do you want? I'd take A, it is easier to move. A. Heron; B. Otter → let's go with your idea"},
		{table, "2", "Which way shall it be? 1. Poll; 2. Push → 2"},
		{"Would you like me to go on? What is left:\n1. Rename the bridge\n2. Test the crane", "only 2", "Would you like me to go on? What is left: 1. Rename the bridge; 2. Test the crane → only 2"},
		{long, "ok, but keep it under a megabyte", "Since the tide tables are large this takes a minute on every start. Shall I cache the headers in `ports.idx`? → ok, but keep it under a megabyte"},
		{"I would drop `trail.v1` from the new interface.", "ok drop trail.v1 then, nobody sails by it: the interface is new", "I would drop `trail.v1` from the new interface. → ok drop trail.v1 then, nobody sails by it: the interface is new"},
		{"If you like, I can paint the bridge in the morning.", "yes, paint the bridge, but the railing first", "If you like, I can paint the bridge in the morning. → yes, paint the bridge, but the railing first"},
		{"1. Poll\n2. Push\n\nShall I write tests for both?", "yes", "Shall I write tests for both? → yes"},
		{"Say which one you want.\n1. Poll\n2. Push", "2", "Say which one you want. 1. Poll; 2. Push → 2"},
		{"Do you want the crane tests in #91 or in a branch of their own?", "everything about cranes belongs into 91", "Do you want the crane tests in #91 or in a branch of their own? → everything about cranes belongs into 91"},
		{"Soll ich die Fahrpläne nach Postgres verschieben?", "ja, aber erst nachts", "Soll ich die Fahrpläne nach Postgres verschieben? → ja, aber erst nachts"},
		{"Quelle base préférez-vous ?\n1. SQLite\n2. Postgres", "la deuxième", "Quelle base préférez-vous ? 1. SQLite; 2. Postgres → la deuxième"},
		{"要把潮汐表缓存起来吗？", "好的", "要把潮汐表缓存起来吗？ → 好的"},
		{"どの方法にしますか？", "二番目", "どの方法にしますか？ → 二番目"},
		{"Какой вариант выбрать?\n1. Файл\n2. Сервер", "второй", "Какой вариант выбрать? 1. Файл; 2. Сервер → второй"},

		{strings.Repeat("the tide and the wind and ", 12) + "shall I sail?", "yes", "…wind and " + strings.Repeat("the tide and the wind and ", 6) + "shall I sail? → yes"},
		{"Redis or plain files?", "files", "Redis or plain files? → files"},
		{"The crane moves. Shall I paint the bridge?", "the other side of it needs no paint", "The crane moves. Shall I paint the bridge? → the other side of it needs no paint"},
		{"Chcesz pociąg czy samolot?", "wolę to pierwsze", "Chcesz pociąg czy samolot? → wolę to pierwsze"},
		{"Is it A or B?", "B", "Is it A or B? → B"},
		{"The crane moves. Shall I paint the bridge?", "a painted bridge needs care, and the ferry's people would have to look after it in the winter when nobody else is here, so leave it grey", "The crane moves. Shall I paint the bridge? → a painted bridge needs care, and the ferry's people would have to look after it in the winter when nobody else is here, so leave it grey"},

		// Answers to nothing.
		{"Done: the crane moves.", "yes", ""},
		{"Done: the crane moves.", "now paint the bridge", ""},
		{"Done: the crane moves.", "yes, paint it", ""},
		{"1. Poll\n2. Push\n\nBoth are done.", "fix 2 more", ""},
		{"The crane moves. Shall I paint the bridge?", "how long does that take?", ""},
		{"The crane moves. Shall I paint the bridge?", "hang on, I look for the colour", ""},
		{"The crane moves. Shall I paint the bridge?", "maybe", ""},
		{"The crane moves. Shall I paint the bridge?", "but not sure I see the point of it", ""},
		{"The crane moves. Shall I paint the bridge?", "the crane is slow today. do you see why?", ""},
		{"The crane moves. Shall I paint the bridge?", "how do I move the crane from here", ""},
		{"The crane moves. Shall I paint the bridge?", "panic: nil pointer\n\tcrane.go:12\n\tcrane.go:90\n\tmain.go:7\nexit 2", ""},
		{"The crane moves. Shall I paint the bridge?", "yes " + strings.Repeat("and then the other side of it ", 12), ""},
		{"The crane moves. Shall I paint the bridge?", "please find out why the ferry leaves an hour late when the tide is low, and mend it so that the passengers see the new time on both quays", ""},
		{"1. Poll\n2. Push\n\nBoth are done.", "now the ferry", ""},
		{"", "yes", ""},
		{"```\nShall I?\n```", "yes", ""},
		{"> Shall I paint the bridge?", "yes", ""},
	} {
		if got, ok := Ask(c.agent).Answered(c.reply); got != c.want || ok != (c.want != "") {
			t.Errorf("%q after %.60q…\n got %q\nwant %q", c.reply, c.agent, got, c.want)
		}
	}
}

// No text breaks the reader, cut and joined anywhere, and its results are bounded and of one
// line.
func TestHostileTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"1. a\n2. b\n", "Option B: ", "(a) x ", "| **A. y** | z |\n", "- c\n", "which? ", "选择哪个？", "l'option ", "\xff\xfe", "\x00", "```\n", "> ", "#", "we decided ", "Shall I?", "\n\n", "İ", "É ", "1안 ", "٣", strings.Repeat("选", 6000), strings.Repeat("1. a\n2. b\n", 2000), strings.Repeat("x", 20000)}
	text := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()[rng.IntN(b.Len()):]
	}
	for range 300 {
		agent, reply := text(), text()
		a := Ask(agent)
		if d, ok := a.Answered(reply); ok && (strings.Contains(d, "\n") || utf8.RuneCountInString(d) > 600) {
			t.Errorf("%q to %.80q: %q", reply, agent, d)
		}
	}
}

// Words that only answer are not searched for.
func TestAgrees(t *testing.T) {
	for words, want := range map[string]bool{
		"yes, do this": true, "ok go": true, "b) please": true, "nein, lieber nicht": true, "sí, adelante": true,
		"yes?": false, "yes --dry-run": false, "yes plan the quay": false, "yes, and the port of staging": false, "staging port": false, "": false,
	} {
		if got := Agrees(words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}
