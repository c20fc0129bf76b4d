package markdownstore_test

import (
	"testing"

	"github.com/memkernel/memkernel/markdownstore"
)

func TestSaysSuperseded(t *testing.T) {
	for _, l := range []string{"- ~~The parcels go out on Mondays.~~", "~~gone~~ (since March)", "- [x] ~~done and gone~~", "1. **~~old~~**", "- SUPERSEDED: the port is 5432", "- the port is 5432 (superseded by line 9)",
		"- 10:00 the port is 5432 [superseded]", "端口是 5432（已被下一行取代）", "Der Port ist 5432 (überholt seit März)", "- ~~x is y~~ <!-- from a.md#L1 -->"} {
		if !markdownstore.SaysSuperseded(l) {
			t.Errorf("%q says that it no longer holds", l)
		}
	}
	for _, l := range []string{"- ~~5432~~ 5433", "- the old API (obsolete)", "- what is superseded goes to the archive", "- the port is 5432 (see below)", "- Superseded entries: they leave first (prune)", "~~a~~ but not b, and this goes on",
		"- battery (replaced by Ingrid)", "- [superseded](log.md) is a link", "", "~~"} {
		if markdownstore.SaysSuperseded(l) {
			t.Errorf("%q holds", l)
		}
	}
}

func TestReplaces(t *testing.T) {
	for _, c := range [][2]string{
		{"- Postgres listens on port 5433 instead of 5432", "- Postgres runs on port 5432"},
		{"- Postgres port: 5433 (was: 5432)", "- Postgres port: 5432"},
		{"Postgres port 5432 → 5433", "The Postgres port is 5432."},
		{"- The harbour's crane is ~~red~~ green", "- The harbour's crane is red"},
		{"The deployment day changed from Tuesday to Thursday", "The deployment day is Tuesday"},
		{"- Der Wachdienst beginnt um 8 Uhr statt 7 Uhr", "- Der Wachdienst beginnt um 7 Uhr"},
		{"- 数据库端口现在是 5433，不再是 5432", "- 数据库端口是 5432"},
		{"- El servidor está en Madrid en vez de Sevilla", "- El servidor está en Sevilla"},
		{"- Сервер базы стоит в Риге вместо Таллин", "- Сервер базы стоит в Таллин"},
	} {
		r, ok := markdownstore.ReplacementOf(c[0])
		if !ok || !r.Replaces(c[1]) {
			t.Errorf("%q replaces %q: %v %+v", c[0], c[1], ok, r)
		}
		if o, ok := markdownstore.ReplacementOf(c[1]); ok && o.Replaces(c[0]) {
			t.Errorf("%q replaces %q", c[1], c[0])
		}
	}
	for _, c := range [][2]string{
		{"- Postgres listens on port 5433 instead of 5432", "- Redis listens on port 5432"},
		{"- Postgres listens on port 5433 instead of 5432", "- Postgres listens on port 5433"},
		{"- Postgres listens on port 5433 instead of 5432", "- Postgres port 5432 is blocked by the firewall"},
		{"- Use tabs instead of spaces", "- Use spaces"},
		{"- Team A writes Go instead of Java", "- Team B writes Java"},
		{"- The crane no longer works", "- The crane is red"},
		{"- Tests run on every push instead of nightly", "- Nightly backups run on the server"},
		{"- plain words", "- plain"},
	} {
		if r, ok := markdownstore.ReplacementOf(c[0]); ok && r.Replaces(c[1]) {
			t.Errorf("%q does not replace %q: %+v", c[0], c[1], r)
		}
	}
}
