package choice_test

import (
	"testing"

	"github.com/memkernel/memkernel/internal/choice"
)

// A decision is kept with what it is about and what came of it, and one that lacks either
// is none.
func TestSettled(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// What was asked for is in the question.
		{"Which retry policy do you want? → chose B. Backoff with jitter (Recommended); spreads the load (user: B)", "Retry policy: Backoff with jitter; spreads the load"},
		{"Which broker should we use for the night jobs? → chose 2. Kafka (user: 2, but only for the night jobs because the rest is idle)", "Broker for the night jobs: Kafka (user: 2, but only for the night jobs because the rest is idle)"},
		{"Welche Datenbank möchtest du? → chose 1. Postgres (user: 1)", "Datenbank: Postgres"},
		{"Quelle base préférez-vous ? → chose B. SQLite, un seul fichier (user: B)", "Base: SQLite, un seul fichier"},
		{"¿Qué formato prefieres para los informes? → chose A. Markdown (user: la A)", "Formato para los informes: Markdown"},
		{"Where should `openLedger()` live? → chose Option 1: `ledger/` package (user: option 1)", "Where should `openLedger()` live? → `ledger/` package"},
		{"Which approach? → chose 2. Delete `oldQueue` and its tests (user: 2)", "Delete `oldQueue` and its tests"},
		{"Which store? → rejected Redis — nobody backs it up", "Which store? → rejected Redis — nobody backs it up"},
		// The proposal is in it.
		{"Should we keep the audit rows in Postgres? → yes", "Keep the audit rows in Postgres"},
		{"Do you want me to rename `index.jsonl` to `manifest.jsonl`? → go ahead", "Rename `index.jsonl` to `manifest.jsonl`"},
		{"Shall I use a backoff table? → yes", "Use a backoff table"},
		{"Sollen wir die Protokolle nach Postgres verschieben? → ja, gerne", "Die Protokolle nach Postgres verschieben"},
		{"Devons-nous utiliser Postgres pour les journaux ? → oui", "Utiliser Postgres pour les journaux"},
		{"¿Deberíamos guardar los registros en Postgres? → sí", "Guardar los registros en Postgres"},
		{"我们要把日志保存到 Postgres 吗？ → 好的", "日志保存到 Postgres"},
		{"The fix would compare with the base commit to count only lines that changed. Shall I? → yes", "The fix would compare with the base commit to count only lines that changed."},
		{"The ticket shows local time. I'd count in the port's local time. Shall I? → yes, local time of the departure port", "The ticket shows local time. I'd count in the port's local time. (user: yes, local time of the departure port)"},
		{"One question: may a smaller party pass if the first is too large for the room? I would say yes. Shall I? → yes, smaller parties may be served", "One question: may a smaller party pass if the first is too large for the room: I would say yes. (user: yes, smaller parties may be served)"},
		// The person's words say it by themselves.
		{"Want me to do this? → no, we should never write generated files into the repository", "no, we should never write generated files into the repository"},
		{"rejected Write docs/plan.md → the parser exists in explain.go already, let's avoid duplication", "the parser exists in explain.go already, let's avoid duplication"},
		{"Shall I? → ok, always run the migration before the deploy", "always run the migration before the deploy"},
		{"I would drop `trail.v1` from the new API. → nobody uses either, so no compatibility is needed", "I would drop `trail.v1` from the new API. (user: nobody uses either, so no compatibility is needed)"},
		{"agent: We decided to keep the ledger in one file because readers lock it.", "We decided to keep the ledger in one file because readers lock it."},
		// No subject, or no outcome.
		{"Does this configuration structure look right? → yes", ""},
		{"Want me to implement this? → yes please", ""},
		{"Which approach? → chose 1. Subagents (this session) - I dispatch one per task (user: 1)", ""},
		{"Which items should I start with? → let's do the mediums first", ""},
		{"Which ones should I address? → skip 5, 7, 8 and do the rest", ""},
		{"Ready to merge. Move to PR #91 next? → respond to the PR comments", ""},
		{"Want to test more? → jesus, everything works, you are a monster", ""},
		{"Shall I go ahead with this? → Go ahead.", ""},
		{"Soll ich das so machen? → ja", ""},
		{"这样可以吗？ → 可以", ""},
		{"rejected Bash git push --force", ""},
		{"rejected Bash git reset --hard → what are you doing...??", ""},
		{"rejected Edit a.go → lol I guess this is idiomatic then", ""},
		{"commit 25f4652: docs: update comments", ""},
		{"commit: feat: add a helper", ""},
		{"plan (3): Add the field; Write it; Test it", ""},
		{"agent: Going with that.", ""},
		{"The two identifiers exist because: → ok do that", ""},
	} {
		got, ok := choice.Settled(c.text)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("Settled(%q)\n got %q, %v\nwant %q", c.text, got, ok, c.want)
		}
	}
}
