package consolidation_test

import (
	"testing"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

func TestContradictions(t *testing.T) {
	only := func(o *consolidation.Options) { o.Only = []health.Code{health.Contradictions} }
	m, u, tools, log := "MEMORY.md", "USER.md", "TOOLS.md", "memory/2026-03-09.md"
	tests := []struct {
		name  string
		files map[string]string
		want  string // place of the second against the first, "" for none
	}{
		{"port, two forms", map[string]string{m: "- Postgres runs on port 5432.\n", tools: "- Postgres port: 5433\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"port of", map[string]string{m: "- The port of Postgres is 5432.\n", tools: "- Postgres port: 5433\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"version", map[string]string{m: "- Go version: 1.25\n", tools: "Go version: v1.26.1\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"version that says more", map[string]string{m: "- Go version: 1.26\n", tools: "Go version: v1.26.1\n"}, ""},
		{"birthday", map[string]string{m: "- Mika's birthday is 5 May 1990.\n", u: "- Mika's birthday is May 4, 1990.\n"}, "USER.md:1 MEMORY.md:1"},
		{"day without a year", map[string]string{m: "- Mika's birthday is 4 May.\n", u: "- Mika's birthday is 1990-05-04.\n"}, ""},
		{"name under a heading", map[string]string{m: "## User\n\n- Timezone: Europe/Oslo\n", u: "## User\n\n- **Timezone:** Europe/Berlin\n"}, "USER.md:3 MEMORY.md:3"},
		{"one word under headings", map[string]string{m: "## Staging\n\n- Port: 80\n", tools: "## Demo\n\n- Port: 81\n"}, ""},
		{"one word under one heading", map[string]string{m: "## Staging\n\n- Port: 80\n", tools: "## Staging\n\n- Port: 81\n"}, "TOOLS.md:3 MEMORY.md:3"},
		{"name", map[string]string{m: "- Project lead: Jo\n", u: "- Project lead: Solveig\n"}, "USER.md:1 MEMORY.md:1"},
		{"state", map[string]string{m: "- Dark mode: enabled\n", u: "- Dark mode: off\n"}, "USER.md:1 MEMORY.md:1"},
		{"place", map[string]string{m: "- Mika lives in Oslo.\n", u: "Mika lives in Bergen.\n"}, "USER.md:1 MEMORY.md:1"},
		{"units", map[string]string{m: "- Statement timeout: 4 s\n", tools: "- Statement timeout: 4 seconds\n"}, ""},
		{"another unit", map[string]string{m: "- Statement timeout: 4 s\n", tools: "- Statement timeout: 5 min\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"thousands", map[string]string{m: "- Row limit: 1,000\n", tools: "- Row limit: 1000\n"}, ""},
		{"product", map[string]string{m: "- The staging database runs on PostgreSQL 15.\n", tools: "- Staging database: PostgreSQL 16\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"another product", map[string]string{m: "- The staging database runs on PostgreSQL 15.\n", tools: "- Staging database: Debian 12\n"}, ""},
		{"time of day", map[string]string{m: "- Backups run at 02:00 every night.\n", tools: "- Backups run at 03:00.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"weekday", map[string]string{m: "- Deploy day is Tuesday.\n", tools: "- Deploy day: Thursday\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"date of an event", map[string]string{m: "- The launch is scheduled for 2026-06-01.\n", u: "- Launch date: 2026-07-01\n"}, "USER.md:1 MEMORY.md:1"},
		{"the user by name", map[string]string{m: "- Mika's timezone is UTC+2.\n- Mika's birthday: 1990-05-05\n", u: "# USER.md\n\n- Name: Mika\n- Birthday: 1990-05-04\n"}, "USER.md:4 MEMORY.md:2"},
		{"the user under a heading", map[string]string{m: "## User\n\n- Timezone: Europe/Oslo\n", u: "# USER.md\n\n- Timezone: Europe/Berlin\n"}, "USER.md:3 MEMORY.md:3"},
		{"people in USER.md", map[string]string{m: "## User\n\n- Birthday: 1990-05-04\n", u: "# USER.md\n\n## Jo\n\n- Birthday: 1991-05-04\n"}, ""},
		{"version used", map[string]string{m: "- We use Node 20.3.\n", tools: "- Node: v22.1.0\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"version of two things", map[string]string{m: "- We use Node 20.3.\n", tools: "- Go: 1.26\n"}, ""},
		{"Chinese", map[string]string{m: "- 数据库端口是5432\n", tools: "- 数据库端口是5433\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"log against memory", map[string]string{m: "- Postgres port: 5432\n", log: "# L\n\n- 10:00 Postgres port: 5433\n"}, "memory/2026-03-09.md:3 MEMORY.md:1"},
		{"an older log is history", map[string]string{m: "- 2026-03-08: x\n\n## 2026-03-10\n\n- Postgres port: 5432\n", log: "- Postgres port: 5433\n"}, ""},
		{"two logs never disagree", map[string]string{"memory/2026-03-08.md": "- Postgres port: 5433\n", log: "- Postgres port: 5432\n"}, ""},
		{"the newest log counts", map[string]string{m: "- Postgres port: 5432\n", "memory/2026-03-08.md": "- Postgres port: 5433\n", log: "- Postgres port: 5432\n"}, ""},
		{"newer section of one file", map[string]string{m: "## 2026-03-01\n\n- Postgres port: 5432\n\n## 2026-03-05\n\n- Postgres port: 5433\n"}, ""},
		{"said to replace", map[string]string{m: "- Postgres port: 5432\n", tools: "- Postgres port: 5433 (replaces 5432)\n"}, ""},
		{"marked", map[string]string{m: "- Postgres port: 5432\n", tools: "- Postgres port: 5433 <!-- supersedes MEMORY.md#L1 -->\n"}, ""},
		{"struck through", map[string]string{m: "- ~~Postgres port: 5432~~\n", tools: "- Postgres port: 5433\n"}, ""},
		{"changed", map[string]string{m: "- Postgres port: 5432 → 5433\n", tools: "- Postgres port: 5433\n"}, ""},
		{"a list", map[string]string{m: "- Backend languages: Go, Rust\n", tools: "- Backend languages: Go\n"}, ""},
		{"an estimate", map[string]string{m: "- Row count: ~1000\n", tools: "- Row count: 1200\n"}, ""},
		{"in code", map[string]string{m: "- Postgres port: 5432\n", tools: "```\nPostgres port: 5433\n```\n"}, ""},
		{"done in the log, open in memory", map[string]string{m: "- [ ] Write the report for Ingrid\n", log: "- [x] Write the report for Ingrid\n"}, "memory/2026-03-09.md:1 MEMORY.md:1"},
		{"open in the log, done in memory", map[string]string{m: "- [x] Write the report for Ingrid\n", log: "- [ ] Write the report for Ingrid\n"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := audit(t, files(tt.files), only)
			got := ""
			for _, f := range r.Findings {
				got += f.Place.String() + " " + f.Others[0].String()
			}
			if got != tt.want {
				t.Errorf("found %q, want %q: %+v", got, tt.want, r.Findings)
			}
		})
	}
}

// Pairs of statements, the first in MEMORY.md and the second in a topic: those that
// can't both hold, and those that can although they look alike.
func TestStatementsInManyLanguages(t *testing.T) {
	told := func(first, second string) int {
		w := files(map[string]string{"MEMORY.md": "# Memory\n\n" + first + "\n", "memory/services.md": "# Services\n\n" + second + "\n"})
		return len(audit(t, w, func(o *consolidation.Options) { o.Only = []health.Code{health.Contradictions} }).Findings)
	}
	opposed := [][2]string{
		{"- We deploy on Fridays.", "- Never deploy on Fridays."},
		{"- Deploying on Fridays is allowed.", "- Deploys on Fridays are forbidden."},
		{"- Wir deployen freitags.", "- Freitags deployen wir nie."},
		{"- Los despliegues en producción están permitidos.", "- Los despliegues en producción están prohibidos."},
		{"- La journalisation est activée.", "- La journalisation est désactivée."},
		{"- Il server di prova è acceso.", "- Il server di prova è spento."},
		{"- O cache de imagens está ativado.", "- O cache de imagens não está ativado."},
		{"- De nachtelijke controle is ingeschakeld.", "- De nachtelijke controle is uitgeschakeld."},
		{"- Кэш изображений включен.", "- Кэш изображений отключен."},
		{"- 我们周五部署主站。", "- 周五不部署主站。"},
		{"- 夜間バックアップは有効です。", "- 夜間バックアップは無効です。"},
		{"- The proxy waits 30 s for an answer.", "- The proxy waits 2 minutes for an answer."},
		{"- L'attente du proxy est de 30 secondes.", "- L'attente du proxy est de 2 minutes."},
		{"- Das Team trifft sich dienstags.", "- Das Team trifft sich donnerstags."},
		{"- La riunione del gruppo è martedì.", "- La riunione del gruppo è giovedì."},
		{"- Backups happen on Mondays and Thursdays.", "- Backups happen on Tuesdays/Fridays."},
		{"- Anna's email is anna@north.example.", "- Anna's e-mail: anna@south.example"},
		{"- Anna's phone is +49 30 1234567.", "- Anna's phone: +49 30 7654321"},
		{"- Anna owns the billing service.", "- Boris owns the billing service."},
		{"| Service | Port |\n|---|---|\n| Ledger | 8080 |", "- Ledger port: 8081"},
		{"- 缓存的过期时间是30秒。", "- 缓存的过期时间是2分钟。"},
	}
	for _, p := range opposed {
		if told(p[0], p[1]) != 1 {
			t.Errorf("%q and %q are not told once", p[0], p[1])
		}
		if told(p[1], p[0]) != 1 {
			t.Errorf("%q and %q are not told once", p[1], p[0])
		}
	}
	agreeing := [][2]string{
		{"- The proxy waits 60 s for an answer.", "- The proxy waits 1 minute for an answer."},
		{"- Das Limit beträgt 1,5 Sekunden je Anfrage.", "- Das Limit beträgt 1500 ms je Anfrage."},
		{"- The staging ledger is enabled.", "- The production ledger is disabled."},
		{"## Staging\n\n- Debug logging is enabled.", "## Production\n\n- Debug logging is disabled."},
		{"- Debug logging is enabled (staging).", "- Debug logging is disabled (production)."},
		{"- Anna deploys on Fridays.", "- Boris never deploys on Fridays."},
		{"- We deploy on Fridays.", "- We did not deploy on Fridays until the spring."},
		{"- We deploy on Fridays.", "- For example: never deploy on Fridays."},
		{"- We deploy on Fridays.", "- Somebody wrote \"never deploy on Fridays\"."},
		{"- We deploy on Fridays.", "> Never deploy on Fridays."},
		{"- We deploy on Fridays.", "```\nNever deploy on Fridays.\n```"},
		{"- We deploy on Fridays.", "- Never deploy on Fridays unless Anna agrees."},
		{"- Deploy on Fridays.", "## Never do\n\n- Deploy on Fridays."},
		{"- Backups happen on Mondays and Thursdays.", "- Backups happen on Mondays."},
		{"- The proxy waits 30 s for an answer.", "- The proxy waits 20 to 40 s for an answer."},
		{"- The proxy waits 30 s for an answer.", "- The proxy waits about 45 s for an answer."},
		{"- The proxy waits 30 s for an answer.", "## History\n\n- The proxy waits 45 s for an answer."},
		{"- Anna's phone is +49 30 1234567.", "- Anna's phone: 030 1234567"},
		{"- The limit is 100/min.", "- The limit is 6000/h."},
		{"- Antes el puerto era 8080 en todas partes.", "- El puerto es 8081 en todas partes."},
		{"- Si falla, no se repite la copia.", "- La copia se repite."},
		{"- 以前周五部署主站。", "- 周五不部署主站。"},
		{"- 测试环境的缓存已启用。", "- 生产环境的缓存已禁用。"},
		{"- Кэш изображений был включен.", "- Кэш изображений отключен."},
		{"- [Ledger](https://a.example/ledger) is party content.", "- [Ledger](https://b.example/guide) is party content."},
		{"- Is debug logging enabled?", "- Debug logging is disabled."},
		{"- The sprint review of 2026-03-01 begins at 09:00.", "- The sprint review of 2026-04-01 begins at 10:00."},
		{"| Day | Runs |\n|---|---|\n| 2026-03-01 | 4 |", "| Day | Runs |\n|---|---|\n| 2026-03-01 | 5 |"},
		{"| Ledger | Port |\n|---|---|\n| staging | 8080 |\n| production | 8081 |", "- Ledger port: 8082 (demo)"},
	}
	for _, p := range agreeing {
		if told(p[0], p[1]) != 0 {
			t.Errorf("%q and %q are told", p[0], p[1])
		}
	}
	if told("- The board meets on Monday.\n- The board meets on Thursday.", "- Nothing.") != 0 {
		t.Error("a list of days is told as a contradiction of itself")
	}
}
