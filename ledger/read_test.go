package ledger_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/ledger"
)

// TestStatementsAmongTaskTalk reads messages that state one thing that lasts, and traps that state
// nothing: quotations, conditions, drafts, examples, others' words, orders for the moment. Both were
// written by somebody who did not know the words that the package looks for.
func TestStatementsAmongTaskTalk(t *testing.T) {
	data, err := os.ReadFile("testdata/statements.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all, kept := map[string]int{}, map[string]int{}
	for line := range strings.Lines(string(data)) {
		var m struct {
			Lang, Message, Statement string
			Trap                     bool
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, st := range ledger.Read(m.Message) {
			if m.Trap && st.Lasting {
				t.Errorf("%q is taken to last: %q", m.Message, st.Text)
			}
			found = found || st.Lasting && !m.Trap && (strings.Contains(st.Text, m.Statement) || strings.Contains(m.Statement, st.Text))
			if !strings.Contains(strings.Join(strings.Fields(m.Message), " "), st.Text) {
				t.Errorf("%q is not the person's words: %q", st.Text, m.Message)
			}
		}
		if !m.Trap {
			all[m.Lang]++
		}
		if found {
			kept[m.Lang]++
		}
	}
	for lang, n := range all {
		if least := n / 2; kept[lang] < least { // measured: 76 of 96 in English, 3 to 20 of 6 to 22 in the others
			t.Errorf("%s: %d of %d are kept, want %d", lang, kept[lang], n, least)
		}
	}
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, said string
		want       []ledger.Statement
	}{
		{"a name among other talk", "can you look at the test? by the way our production database is called orca-main. thanks",
			[]ledger.Statement{{ledger.Fact, "by the way our production database is called orca-main.", true}}},
		{"a correction", "no, use pnpm, not npm", []ledger.Statement{{ledger.Correction, "no, use pnpm, not npm", true}}},
		{"a decision with its reason", "We decided to go with Postgres because the team knows it. Please add the migration.",
			[]ledger.Statement{{ledger.Decision, "We decided to go with Postgres because the team knows it.", true}}},
		{"two rules", "from now on write commit messages in the imperative. And never touch the vendor folder.",
			[]ledger.Statement{{ledger.Rule, "from now on write commit messages in the imperative.", true}, {ledger.Rule, "And never touch the vendor folder.", true}}},
		{"the subject is in the question before", "Is the metrics endpoint up? It listens on 9464 for our Prometheus.",
			[]ledger.Statement{{ledger.Fact, "Is the metrics endpoint up? It listens on 9464 for our Prometheus.", true}}},
		{"a wish for the moment", "don't run the slow tests today", []ledger.Statement{{ledger.Rule, "don't run the slow tests today", false}}},
		{"a person and a role", "Maria Lopez is our release manager", []ledger.Statement{{ledger.Fact, "Maria Lopez is our release manager", true}}},
		{"an order to somebody", "Du musst immer erst den Hafen fragen.", []ledger.Statement{{ledger.Rule, "Du musst immer erst den Hafen fragen.", true}}},
		{"what must never be", "the footer must never move", []ledger.Statement{{ledger.Rule, "the footer must never move", true}}},
		{"a defect to look at", "Der Beitragslauf rechnet Familien doppelt ab, schau bitte mal", []ledger.Statement{{ledger.Fact, "Der Beitragslauf rechnet Familien doppelt ab, schau bitte mal", false}}},
		{"an order with a limit", "Use only the time and not the date unless the voyage takes more than a day",
			[]ledger.Statement{{ledger.Rule, "Use only the time and not the date unless the voyage takes more than a day", true}}},
		{"a report with a not", "Seems the harbour server is not correct, our query gives no data", []ledger.Statement{{ledger.Request, "Seems the harbour server is not correct, our query gives no data", false}}},
		{"a want without its subject", "yes need to be fully clean", []ledger.Statement{{ledger.Rule, "yes need to be fully clean", false}}},
		{"a choice by its label", "yes, let's go with B", []ledger.Statement{{ledger.Decision, "yes, let's go with B", false}}},
		{"an option by its label", "ok let's go with option 2", []ledger.Statement{{ledger.Decision, "ok let's go with option 2", false}}},
		{"a folder by its path", "/data must never be emptied", []ledger.Statement{{ledger.Rule, "/data must never be emptied", true}}},
		{"a command of the host", "/review src. Never touch the vendor folder.", []ledger.Statement{{ledger.Rule, "Never touch the vendor folder.", false}}},
		{"an order to look", "Propose where each of these files should go.", nil},
		{"a step of the work", "let's check the other PRs first", []ledger.Statement{{ledger.Request, "let's check the other PRs first", false}}},
		{"a step and a rule", "let's start with the importer, and don't touch the schema", []ledger.Statement{{ledger.Rule, "let's start with the importer, and don't touch the schema", false}}},
		{"what the person sees", "In this url: http://localhost:3000/summary?debug=true - i don't see the button.", []ledger.Statement{{ledger.Request, "In this url: http://localhost:3000/summary?debug=true - i don't see the button.", false}}},
		{"a task and how", "Write tests, and follow the guidelines exactly.", []ledger.Statement{{ledger.Rule, "Write tests, and follow the guidelines exactly.", false}}},
		{"what the person sees now", "ok its giving me a fresh vault, and there's no email displayed", nil},
		{"a guess", "ahh ok looks like i dont need the token to set the endpoint", []ledger.Statement{{ledger.Request, "ahh ok looks like i dont need the token to set the endpoint", false}}},
		{"a wish that names nothing", "I'd prefer that", []ledger.Statement{{ledger.Request, "I'd prefer that", false}}},
		{"a command after a colon", "For future reference this is the command that you have to run:\n\npnpm --filter heron dev -- review\n\nThanks", []ledger.Statement{{ledger.Rule, "For future reference this is the command that you have to run: pnpm --filter heron dev -- review", true}}},
		{"a command in the next line", "For future reference, in this house it is the command that you have to run:\nmake serve\nThanks", []ledger.Statement{{ledger.Rule, "For future reference, in this house it is the command that you have to run: make serve", true}}},
		{"a command in a fence", "Always start it with this command:\n```sh\nmake serve PORT=7001\n```", []ledger.Statement{{ledger.Rule, "Always start it with this command: make serve PORT=7001", true}}},
		{"a bold lead", "- **Performance** - Only flag if obviously problematic.", []ledger.Statement{{ledger.Rule, "**Performance** - Only flag if obviously problematic.", true}}},
		{"a copied terminal", "why does it not work?\n\nada@laptop heron % heron clean --dry\nError: unknown flag\nUse \"heron clean --help\" for the flags only.", nil},
		{"a share of a whole", "CPU usage % must never pass 80 on heron", []ledger.Statement{{ledger.Rule, "CPU usage % must never pass 80 on heron", true}}},
		{"a program's help", "why does it not work?\n\nUsage:\n  heron clean\n\nUse \"heron clean --help\" for the flags only.", nil},
		{"a semicolon in parentheses", "The valid key must give 200 (slice 1 only; owners come in slice 3)", []ledger.Statement{{ledger.Rule, "The valid key must give 200 (slice 1 only; owners come in slice 3)", true}}},
		{"a question", "is our database called orca-main?", nil},
		{"a condition", "if the port were 5433 we would need a new rule", nil},
		{"others' words", "the vendor claims our port is 5433", nil},
		{"a draft", "here is a draft for the readme:\nOur server is at app.example.org.", nil},
		{"code", "```\nour port = 5433\n```", nil},
		{"output", "the error is E0308 in main.rs:12", nil},
		{"a wrapped rule", "Work in the main checkout, which is the one that everybody looks at, and\nthen end. Never push it.", []ledger.Statement{{ledger.Rule, "Never push it.", true}}},
	} {
		got := ledger.Read(tt.said)
		if len(got) != len(tt.want) {
			t.Errorf("%s: got %+v", tt.name, got)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%s: got %+v, want %+v", tt.name, got[i], tt.want[i])
			}
		}
	}
}

// A plan that a person pastes is for the task at hand, whatever it says.
func TestPastedDocument(t *testing.T) {
	plan := "# Plan\n\n" + strings.Repeat("- Never write to the archive bucket of the north region, which the auditors read every week.\n- Our importer is called heron-import and runs on port 7001 of the second machine.\n", 5)
	for _, st := range ledger.Read(plan) {
		if st.Lasting {
			t.Errorf("%q is taken to last", st.Text)
		}
	}
	if got := ledger.Read(strings.Split(plan, "\n")[2]); len(got) != 1 || !got[0].Lasting {
		t.Errorf("the same sentence by itself: %+v", got)
	}
}

func TestReadSummary(t *testing.T) {
	got := ledger.ReadSummary("Analysis:\n- I think about the conversation as a whole.\n\nSummary:\n1. Primary Request and Intent:\n   - The user wants the importer to skip empty rows.\n\n2. Files and Code Sections:\n   - import.go: the whole importer is there\n\n" +
		"3. Errors and fixes:\n   - **Dates**: the parser took day for month; fixed by ISO dates only\n   ```\n   - no point of the summary at all\n   ```\n   - short\n")
	want := []string{"The user wants the importer to skip empty rows.", "Dates: the parser took day for month; fixed by ISO dates only"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}
}

// FuzzRead gives back a person's words as they were typed, whatever they are.
func FuzzRead(f *testing.F) {
	for _, s := range []string{"no — use pnpm, not npm", "\u212a\u212a\u212a\u212a\u212a\u212a\u212a\u212a\u212a\u212a gate port = a b", "Nope, İstanbul → ẞ is our region", "不，我们用 pnpm，不用 npm", "1. a) - our \"server: \xff is\" x. y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, own string) {
		unfenced := regexp.MustCompile("(?m)^\\s*```.*$").ReplaceAllString(own, "")
		flat, flatUnfenced := strings.Join(strings.Fields(own), " "), strings.Join(strings.Fields(unfenced), " ")
		for _, st := range ledger.Read(own) {
			if text := strings.Join(strings.Fields(st.Text), " "); text == "" || !strings.Contains(flat, text) && !strings.Contains(flatUnfenced, text) {
				t.Errorf("%q is not in %q", st.Text, own)
			}
		}
		ledger.ReadSummary(own)
	})
}
