package ledger

import "testing"

// A decision is worth keeping if its question and its answer can be read by themselves.
func TestSettled(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// Question and answer stay as they are.
		{"Which retry policy do you want? A. Fixed pause; B. Backoff with jitter (Recommended) → B", "="},
		{"Which broker should we use for the night jobs? → Kafka", "="},
		{"Which broker should we use? → Kafka, but only at night because the rest is idle", "="},
		{"Welche Datenbank möchtest du für die Fahrpläne der Fähren? 1. Postgres; 2. SQLite → 1", "="},
		{"Where should `openLedger()` live? Option 1: `ledger/` package; Option 2: `paths/` → option 1", "="},
		{"Should we keep the audit rows in Postgres? → yes", "="},
		{"Do you want me to rename `index.jsonl` to `manifest.jsonl`? → go ahead", "="},
		{"Shall I use a backoff table? → yes", "="},
		{"Shall I use a ring buffer? → yes, of 64 slots", "="},
		{"Sollen wir die Protokolle nach Postgres verschieben? → ja, gerne", "="},
		{"Devons-nous utiliser Postgres pour les journaux ? → oui", "="},
		{"¿Deberíamos guardar los registros en Postgres? → sí", "="},
		{"我们要把日志保存到 Postgres 吗？ → 好的", "="},
		{"The ticket shows local time. I'd count in the port's local time. Shall I? → yes, local time of the departure port", "="},
		{"Want me to do this? → no, we should never write generated files into the repository", "="},
		{"Shall I? → ok, always run the migration before the deploy", "="},
		{"rejected Write docs/plan.md → the parser exists in explain.go already, let's avoid duplication", "the parser exists in explain.go already, let's avoid duplication"},
		{"One hold or one per berth? → I think one per berth, the key of each line tells them apart", "="},
		{"How should `tides.csv` be kept? A. Commit it; B. Fetch it at build time → B", "="},
		{"Which one shall I build? Option 1: A file per parcel; Option 2: One log with a reader → let's try 2, but with a lock", "="},
		// Leave for the next step, or the next task.
		{"The branch is pushed. Shall I merge it? → yes, go ahead", ""},
		{"Which files shall the commit have? → all of them", ""},
		{"Want me to add error logging to these three places? → yes please", ""},
		{"Shall I go on with the harbour pages? → write a comment in #172, I'll do it there", ""},
		{"Which option? 1. Poll; 2. Push → 4", ""},
		{"Approved the plan: move the tide tables", ""},
		{"rejected Edit crane.go → let's do this as a separate PR", ""},
		{"Most of it is the harbour's cases. Want me to start building this out? → ok sounds great. lets get this going", ""},
		// No subject, or no outcome.
		{"Does this configuration structure look right? → yes", ""},
		{"Want me to implement this? → yes please", ""},
		{"Which approach? → the second", ""},
		{"Which items should I start with? → let's do the mediums first", ""},
		{"Which ones should I address? → skip 5, 7, 8 and do the rest", ""},
		{"Shall I go ahead with this? → Go ahead.", ""},
		{"Soll ich das so machen? → ja", ""},
		{"这样可以吗？ → 可以", ""},
		{"rejected Bash git push --force", ""},
		{"rejected Bash git reset --hard → what are you doing...??", ""},
		{"rejected Edit a.go → lol I guess this is idiomatic then", ""},
		{"commit 25f4652: docs: update comments", ""},
		{"commit: feat: add a helper", ""},
		{"plan (3): Add the field; Write it; Test it", ""},
		{"The two identifiers exist because: → ok do that", ""},
		{"Would you like tests for the harbour importer? → now paint the crane button of the page green", ""},
	} {
		if c.want == "=" {
			c.want = c.text
		}
		got, ok := Settled(c.text)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("Settled(%q)\n got %q, %v\nwant %q", c.text, got, ok, c.want)
		}
	}
}
