package consolidation_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/consolidation"
)

// qualified are statements with what restricts them, in several languages and shapes.
var qualified = []struct{ say, but string }{
	{"Deploy the gateway every working day after the tests", "Except on Fridays."},
	{"Deploy the gateway every working day after the tests", "except on Fridays"},
	{"Restart the sweeper by hand whenever its queue is full", "Unless the harbour is closed."},
	{"Push straight to the branch of the release", "Only if Ingrid said so before."},
	{"The crane may lift the heavy parcels alone", "But never with two people below."},
	{"Alle Zweige werden nach der Prüfung sofort gelöscht", "Außer am Freitag."},
	{"Die Pakete gehen jeden Morgen an die Kunden raus", "Es sei denn, es stürmt."},
	{"Los paquetes salen cada mañana del puerto viejo", "Salvo los viernes."},
	{"On déploie la passerelle chaque jour après les tests", "Sauf le vendredi."},
	{"De pakketten gaan elke ochtend naar de klanten", "Behalve op vrijdag."},
	{"Мы выкатываем шлюз каждый день после проверки", "Кроме пятницы."},
	{"每天测试之后都要部署网关到生产环境", "除非港口关闭。"},
}

// What restricts a statement is promoted with it, wherever in its file it stands; alone it
// is not promoted.
func TestCurateKeepsConditions(t *testing.T) {
	for _, q := range qualified {
		for name, text := range map[string]string{
			"next item": "- 10:00 [decision] " + q.say + "\n- " + q.but + "\n", "nested": "- 10:00 [decision] " + q.say + "\n  - " + q.but + "\n",
			"paragraph": "- [decision] " + q.say + ".\n\n" + q.but + "\n", "tagged": "- [decision] " + q.say + "\n- [decision] " + q.but + "\n",
		} {
			got := curatedOf(t, "# 2026-03-09\n\n"+text)
			if len(got) != 1 || !strings.Contains(got[0], q.say) || !strings.Contains(got[0], q.but) {
				t.Errorf("%s: of %q comes %q", name, text, got)
			}
		}
	}
	for text, want := range map[string]string{
		"## Never without asking\n\n- [decision] Delete the branches of the other keepers\n":                            "Never without asking: Delete the branches of the other keepers",
		"Never without asking:\n\n- [decision] Delete the branches of the other keepers\n":                              "Never without asking: Delete the branches of the other keepers",
		"## Nur auf Staging\n\n- [decision] Die Prüfung der Tore wird übersprungen\n":                                   "Nur auf Staging: Die Prüfung der Tore wird übersprungen",
		"## Decisions\n\n- [decision] The boats are kept in the long shed\n":                                            "The boats are kept in the long shed",
		"Lessons learned:\n\n- [lesson] The crane needs two pulls before it starts\n- [lesson] Lamps want better oil\n": "The crane needs two pulls before it starts",
	} {
		if got := curatedOf(t, "# 2026-03-09\n\n"+text); len(got) == 0 || got[0] != want {
			t.Errorf("of %q comes %q", text, got)
		}
	}
}

func curatedOf(t *testing.T, log string) []string {
	t.Helper()
	s, err := consolidation.Read(t.Context(), files(map[string]string{"MEMORY.md": "# Memory\n", "memory/2026-03-09.md": log}), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range s.Curate(consolidation.CurateOptions{Day: "2026-03-09"}).Entries {
		out = append(out, p.Text)
	}
	return out
}

// A fact that is cut keeps what restricts it, or is none.
func TestPresentKeepsConditions(t *testing.T) {
	long := "The gateway is restarted by hand after each deployment of the sweeper because its queue does not drain by itself while the harbour's book is open, and whoever does it tells the keepers of both gates before, writes the hour into the book, waits for the lamps"
	for _, q := range qualified {
		for _, text := range []string{
			long + ". " + q.say + ". " + q.but, long + " and then does this: " + q.say + ", " + strings.ToLower(q.but[:1]) + q.but[1:],
			strings.Repeat("Some words that matter less. ", 6) + q.say + " " + strings.Repeat("and again ", 6) + ". " + q.but,
		} {
			if got := consolidation.Present(text); strings.Contains(got, q.say) && !strings.HasSuffix(strings.ToLower(got), strings.ToLower(q.but)) {
				t.Errorf("of %q stays %q", text, got)
			}
		}
	}
	if got := consolidation.Present(long + " and so on, " + strings.Repeat("over and over ", 80) + "unless it rains."); got != "" {
		t.Errorf("%q says less than it means", got)
	}
	if got := consolidation.Present(long + ". " + strings.Repeat("Words follow that restrict nothing. ", 9)); !strings.HasSuffix(got, ".") || len(got) > 300 {
		t.Errorf("%q", got)
	}
}

// An item that restricts those before it does not leave alone, and neither do they.
func TestPruneKeepsConditions(t *testing.T) {
	for _, q := range qualified {
		memory := "# Memory\n\n## Rules\n\n- something else that stands first\n- " + q.say + "\n- " + q.but + "\n\n## Rest\n\n- a thing that may leave alone\n"
		p := prune(t, with(map[string]string{"MEMORY.md": memory}), func(o *consolidation.PruneOptions) { o.MemoryLines = 3 })
		for _, m := range p.Moves {
			if strings.Contains(m.Text, q.say) != strings.Contains(m.Text, q.but) {
				t.Errorf("%q left without %q: %+v", q.say, q.but, p.Moves)
			}
		}
	}
}

// A line that calls itself a decision is one, also if it names nothing.
func TestLabelledDecision(t *testing.T) {
	got := curatedOf(t, "- Decision: invoices are numbered per year.\n- Decision: later\n- Invoices are sent out now and then\n")
	if len(got) != 1 || got[0] != "Invoices are numbered per year." {
		t.Errorf("%q", got)
	}
}

// Plain lines of a person's log, without a tag, a label or a heading, are kept if they say a decision,
// a rule or a lasting fact. Chatter, tasks, questions and reports are not.
func TestPlainStatements(t *testing.T) {
	for line, want := range map[string]string{
		"We decided to use pnpm, not npm.":                                 "Use pnpm, not npm.",
		"Our database host is orca-main.":                                  "Our database host is orca-main.",
		"14:20 Never deploy on Fridays.":                                   "Never deploy on Fridays.",
		"Wir haben uns für Gradle entschieden.":                            "Wir haben uns für Gradle entschieden.",
		"Unser Staging-Server heißt ulme-2.":                               "Unser Staging-Server heißt ulme-2.",
		"Nuestro servidor de pruebas se llama garza-3.":                    "Nuestro servidor de pruebas se llama garza-3.",
		"我们的生产数据库叫 orca-main。":                                             "我们的生产数据库叫 orca-main。",
		"本番のデータベースは orca-main です。":                                         "本番のデータベースは orca-main です。",
		"Lunch was late again and the tram was full.":                      "",
		"Should we move to Kafka one day?":                                 "",
		"Fixed the login bug and pushed it.":                               "",
		"The deploy took 11 minutes this morning.":                         "",
		"Read the log of the gateway first.":                               "",
		"The vendor claims their SDK is thread safe.":                      "",
		"Right now the staging server is at 10.2.3.4, only for this test.": "",
	} {
		got := strings.Join(curatedOf(t, "# 2026-03-09\n\n- "+line+"\n"), "|")
		if para := strings.Join(curatedOf(t, "# 2026-03-09\n\n"+line+"\n"), "|"); got != want || para != want {
			t.Errorf("of %q the night keeps %q and %q, want %q", line, got, para, want)
		}
	}
}
