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
		{"any sentence", map[string]string{m: "- Backups are copied to the vault on Mondays.\n", tools: "- Backups are copied to the vault on Fridays.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"one of several days", map[string]string{m: "- The bins go out on Mondays and Fridays.\n", tools: "- The bins go out on Fridays.\n"}, ""},
		{"German", map[string]string{m: "- Der Kran wird mittwochs gewartet.\n", tools: "- Der Kran wird donnerstags gewartet.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"French", map[string]string{m: "- Les sauvegardes sont gardées 30 jours au coffre.\n", tools: "- Les sauvegardes sont gardées 2 semaines au coffre.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"one length in other units", map[string]string{m: "- Les sauvegardes sont gardées 14 jours au coffre.\n", tools: "- Les sauvegardes sont gardées 2 semaines au coffre.\n"}, ""},
		{"Russian", map[string]string{m: "- Отчёт отправляется по пятницам.\n", tools: "- Отчёт отправляется по вторникам.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"Japanese", map[string]string{m: "- 港の会議は火曜日に開く。\n", tools: "- 港の会議は木曜日に開く。\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"forbidden", map[string]string{m: "- Pushing to main is allowed.\n", tools: "- Pushing to main is not allowed.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"negated", map[string]string{m: "- We deploy on Fridays.\n", tools: "- Never deploy on Fridays.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"not yet", map[string]string{m: "- The mailer does not support attachments yet.\n", tools: "- The mailer supports attachments.\n"}, ""},
		{"elsewhere", map[string]string{m: "- In staging the cache is kept for 5 min.\n", tools: "- In production the cache is kept for 2 h.\n"}, ""},
		{"before", map[string]string{m: "- Until May the cache was kept for 5 min.\n", tools: "- The cache is kept for 2 h.\n"}, ""},
		{"measured", map[string]string{m: "- The build of the docs took 30 s.\n", tools: "- The build of the docs took 2 min.\n"}, ""},
		{"a guess", map[string]string{m: "- The build of the docs needs about 30 s.\n", tools: "- The build of the docs needs about 2 min.\n"}, ""},
		{"mail", map[string]string{m: "- Invoices go to ana@quay.example.\n", tools: "- Invoices go to boris@quay.example.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"owner", map[string]string{m: "- Boris is responsible for the crane.\n", tools: "- Clara is responsible for the crane.\n"}, "TOOLS.md:1 MEMORY.md:1"},
		{"owners", map[string]string{m: "- Boris is responsible for the crane.\n", tools: "- Boris and Clara are responsible for the crane.\n"}, ""},
		{"cell", map[string]string{m: "| host | port |\n|---|---|\n| quay | 80 |\n", tools: "| host | port |\n|---|---|\n| quay | 81 |\n"}, "TOOLS.md:3 MEMORY.md:3"},
		{"cell of another row", map[string]string{m: "| host | zone | port |\n|---|---|---|\n| quay | a | 80 |\n", tools: "| host | zone | port |\n|---|---|---|\n| quay | b | 81 |\n"}, ""},
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
