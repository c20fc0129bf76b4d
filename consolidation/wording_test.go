package consolidation_test

import (
	"testing"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// opposites are pairs of which only one can hold, in the words that people use. harmless are pairs
// that look alike and can both hold.
var opposites = [][2]string{
	{"- The API gateway listens on port 8443.", "- We expose the API gateway on 9443, the old port is closed."},
	{"- Grafana is reachable at grafana.north.example.", "- Grafana's host is grafana.south.example."},
	{"- Our production database is called orca-main.", "- The production database's name is heron-main."},
	{"- The CI runners are hosted on Hetzner.", "- We moved the CI runners from Hetzner to OVH."},
	{"- Always squash commits before merging.", "- Don't squash commits before merging."},
	{"- The beta starts on 3 March 2026.", "- Beta start: 2026-03-17"},
	{"- Lena is responsible for billing.", "- Billing is owned by Marek."},
	{"- Standup is at 9:30.", "- Our standup happens at 10:00 every day."},
	{"- We deploy from the main branch.", "- Deploys go out from the release branch."},
	{"- The retention period for logs is 30 days.", "- Logs are kept for 90 days."},
	{"- Use tabs for indentation.", "- Use spaces for indentation."},
	{"- Anna Krüger is our release manager.", "- Our release manager is Tom Vogel."},
	{"- The staging server runs Ubuntu 22.04.", "- Staging server: Ubuntu 24.04"},
	{"- Invoices are due within 14 days.", "- Invoices are due within 30 days."},
	{"- Never push directly to main.", "- Pushing directly to main is allowed."},
	{"- The backup bucket is called tern-backups.", "- Backup bucket: `gull-backups`"},
	{"- Feature flags live in LaunchDarkly.", "- Feature flags live in Unleash."},
	{"- Maria works at Northwind.", "- Maria now works for Contoso."},
	{"- The default timeout of the scraper is 20 seconds.", "- Scraper's default timeout: 45s"},
	{"- The team lead is Jonas.", "- Sofia is the team lead."},
}

var harmless = [][2]string{
	{"- The API gateway listens on port 8443.", "- The admin gateway listens on port 9443."},
	{"- The API gateway listens on port 8443.", "- API gateway port: 8443"},
	{"- Lena owns billing.", "- Lena owns the search service."},
	{"- Lena owns billing.", "- Marek owns the search service."},
	{"- We use Postgres for orders.", "- We use Redis for sessions."},
	{"- Standup is at 9:30.", "- Retro is at 15:00."},
	{"- Standup is at 9:30.", "- Standup on Fridays is at 10:00."},
	{"- Never push directly to main.", "- Always open a pull request for main."},
	{"- The staging server runs Ubuntu 22.04.", "- The production server runs Ubuntu 24.04."},
	{"- Logs are kept for 30 days.", "- Audit logs are kept for 365 days."},
	{"- The launch was planned for May.", "- The launch is on 3 June 2026."},
	{"- Maria works at Northwind.", "- Maria used to work at Contoso."},
	{"- Maria lives in Oslo.", "- Maria's office is in Bergen."},
	{"- The importer failed with exit code 2.", "- The importer failed with exit code 3 on the second day."},
	{"- Run the tests before each commit.", "- Run the linter before each commit."},
	{"- Use tabs for indentation in Go.", "- Use spaces for indentation in Python."},
	{"- Invoice 1042 is paid.", "- Invoice 1043 is not paid."},
	{"- The scraper's timeout is 20 s.", "- The scraper retries 3 times."},
	{"- The scraper's timeout is 20 s.", "- The scraper's timeout is 20 seconds per page."},
	{"- The trip costs 300 EUR.", "- The hotel costs 450 EUR."},
	{"- The team has 5 developers.", "- The team has 2 designers."},
	{"- Version 2.1 added dark mode.", "- Version 2.2 added offline mode."},
	{"- Go 1.26 is required.", "- Node 22 is required."},
	{"- Anna is our release manager.", "- Tom is our product manager."},
	{"- Anna is a doctor.", "- Anna is tall."},
	{"- The problem was the cache.", "- The problem is solved."},
	{"- Backups run on Mondays.", "- Backups run on Mondays at 02:00."},
	{"- Dark mode is enabled for admins.", "- Dark mode is disabled for guests."},
	{"- The cache is not shared.", "- The cache is fast."},
	{"- If the disk is full, restart the worker.", "- Do not restart the worker."},
	{"- The build takes 5 to 8 minutes.", "- The build takes 7 minutes."},
	{"- The build takes about 5 minutes.", "- The build takes 6 minutes."},
	{"- Prefer short names.", "- Prefer long names only in tests."},
	{"- Don't use force push.", "- Use force push only on your own branches."},
	{"- The office in Berlin opens at 8:00.", "- The office in Lisbon opens at 9:00."},
	{"- Jonas prefers tea.", "- Jonas prefers short answers."},
	{"- Feature flags live in LaunchDarkly.", "- Secrets live in Vault."},
	{"- The repo has a main branch.", "- The repo has a release branch."},
	{"- Deadline for the draft: 3 May", "- Deadline for the final text: 20 May"},
	{"## Importer\n\n- Priority: high", "## Exporter\n\n- Priority: low"},
	{"## 2026-03-01\n\n- Status: done", "## 2026-03-02\n\n- Status: open"},
	{"- Contact: Lena (billing)", "- Contact: Marek (search)"},
	{"- The API returns 404 for missing rows.", "- The API returns 403 for denied rows."},
	{"- Chapter 3 covers errors.", "- Chapter 4 covers errors and panics."},
	{"- Mika said the port is 5432.", "- The port is 5433."},
	{"- Alice reviews frontend changes.", "- Bob reviews backend changes."},
	{"- The default branch of the docs repo is main.", "- The default branch of the app repo is trunk."},
	{"- Emails go out at 08:00 UTC.", "- Emails go out in German."},
	{"- Nachts ist die Heizung aus.", "- Tagsüber ist die Heizung an."},
	{"- Los informes se envían los lunes.", "- Los informes mensuales se envían el día 1."},
}

// leastFound is how many of the opposites are told. Nothing harmless is.
const leastFound = 16

func TestContradictionsInPeoplesWords(t *testing.T) {
	told := func(p [2]string) bool {
		w := files(map[string]string{"MEMORY.md": "# Memory\n\n" + p[0] + "\n", "memory/services.md": "# Services\n\n" + p[1] + "\n"})
		return len(audit(t, w, func(o *consolidation.Options) { o.Only = []health.Code{health.Contradictions} }).Findings) > 0
	}
	n := 0
	for _, p := range opposites {
		if told(p) {
			n++
		} else {
			t.Logf("not told: %q", p)
		}
	}
	if n < leastFound {
		t.Errorf("%d of %d are told, want %d", n, len(opposites), leastFound)
	}
	for _, p := range harmless {
		if told(p) {
			t.Errorf("told: %q", p)
		}
	}
}

// Two notes that name one thing and give it two values are told, and notes that give it two values
// that can both hold are not.
func TestContradictionsOfTwoNotes(t *testing.T) {
	told := func(p [2]string) int {
		w := files(map[string]string{"memory/infra.md": "# Infra\n\n" + p[0] + "\n", "memory/team.md": "# Team\n\n" + p[1] + "\n"})
		return len(audit(t, w, func(o *consolidation.Options) { o.Only = []health.Code{health.Contradictions} }).Findings)
	}
	for _, p := range [][2]string{
		{"Production runs on Postgres 14.", "Production runs on MySQL 8."},
		{"Production runs on Postgres 14.", "Production runs on Postgres 16."},
		{"Production runs on Postgres.", "Production runs on MySQL 8."},
		{"Production database: PostgreSQL 14", "Production runs on MySQL."},
		{"Our production database is Postgres 14.", "Our production database is MySQL 8."},
		{"We use Postgres in production.", "We use MySQL 8 in production."},
		{"We deploy on Fridays.", "We deploy on Mondays."},
		{"The API listens on port 8080.", "The API listens on port 9090."},
		{"Die Produktion läuft auf Postgres 14.", "Die Produktion läuft auf MySQL 8."},
		{"Unsere Produktionsdatenbank ist Postgres 14.", "Unsere Produktionsdatenbank ist MySQL 8."},
		{"Wir nutzen Postgres in Produktion.", "Wir nutzen MySQL in Produktion."},
		{"Wir deployen freitags.", "Wir deployen montags."},
		{"Die API lauscht auf Port 8080.", "Die API lauscht auf Port 9090."},
		{"Producción corre en Postgres 14.", "Producción corre en MySQL 8."},
		{"La base de datos de producción es Postgres 14.", "La base de datos de producción es MySQL 8."},
		{"Desplegamos los viernes.", "Desplegamos los lunes."},
		{"La API escucha en el puerto 8080.", "La API escucha en el puerto 9090."},
		{"We use Jenkins for CI.", "CI runs on GitHub Actions."},
		{"We use Jenkins for CI.", "CI: GitHub Actions"},
		{"Jenkins is our CI server.", "Our CI/CD pipeline is GitLab CI."},
		{"We run CI on Buildkite.", "CI runs in GitHub Actions."},
		{"Issue tracker: Jira", "We use Linear for issues."},
		{"We use npm for packages.", "The package manager is pnpm."},
		{"Wir nutzen Jenkins für CI.", "CI läuft auf GitHub Actions."},
	} {
		if told(p) != 1 || told([2]string{p[1], p[0]}) != 1 {
			t.Errorf("not told once: %q", p)
		}
	}
	for _, p := range [][2]string{
		{"Production runs on Postgres 14.", "Production runs on Debian 12."},
		{"Production runs on Postgres 14.", "Staging runs on MySQL 8."},
		{"Production runs on PostgreSQL 14.", "Production runs on Postgres."},
		{"Production runs on Postgres 14 and Redis 7.", "Production runs on MySQL 8."},
		{"The old server has Postgres 14.", "The old server has MySQL 8."},
		{"The server runs Postgres 14.", "The server runs MySQL 8."},
		{"The importer uses Postgres.", "The importer uses SQLite."},
		{"Database: Postgres", "Database: SQLite"},
		{"We use Postgres for orders.", "We use SQLite for the tests."},
		{"If production runs on Postgres, dump it.", "Production runs on MySQL."},
		{"Production no longer runs on Postgres 14.", "Production runs on MySQL 8."},
		{"Producción corría en Postgres 14.", "Producción corre en MySQL 8."},
		{"We use Jenkins for CI.", "The docs' CI runs on GitHub Actions."},
		{"We use Jenkins for CI.", "CI no longer runs on GitHub Actions."},
		{"We use Travis for CI.", "CI: Travis CI"},
		{"We use Jenkins for CI.", "We use GitHub Actions for releases."},
		{"We use Jenkins for CI.", "CI runs on GitHub Actions in staging."},
		{"We use Slack.", "Chat: Mattermost"},
		{"Sentry is our error tracker.", "Jira is our issue tracker."},
	} {
		if told(p) != 0 || told([2]string{p[1], p[0]}) != 0 {
			t.Errorf("told: %q", p)
		}
	}
}

// A vault's notes have forms, examples, pictures and code in them. None of them disagrees with
// another one.
func TestFormsAreNoContradictions(t *testing.T) {
	for name, texts := range map[string][3]string{
		"a field of many notes":   {"## Summary\n\n- Type: boolean\n", "## Summary\n\n- Type: number\n", "## Summary\n\n- Type: date\n"},
		"a field of one note":     {"## Options\n\n- dest\n  - Required: true\n- mode\n  - Required: false\n", "", ""},
		"a menu's commands":       {"- Run `Ledger: Add Port`.\n", "- Run `Ledger: Drop Port`.\n", ""},
		"pictures":                {"Gate plan: ![](gate-1.png)\n", "Gate plan: ![](gate-2.png)\n", ""},
		"tags":                    {"Gate tags: #harbour\n", "Gate tags: #tides\n", ""},
		"HTML":                    {"<div style=\"padding-bottom: 53%\"></div>\n", "<div style=\"padding-bottom: 62%\"></div>\n", ""},
		"code":                    {"// Gate type: Lock\n", "// Gate type: Weir\n", ""},
		"bounds":                  {"The pattern matches 0 or more gates.\n", "The pattern matches 1 or more gates.\n", ""},
		"cases that are opposite": {"Below the mark aim at 12% for the gates.\n", "Otherwise aim at 18% for the gates.\n", ""},
	} {
		w := files(map[string]string{"memory/a.md": "# A\n\n" + texts[0], "memory/b.md": "# B\n\n" + texts[1], "memory/c.md": "# C\n\n" + texts[2]})
		if got := audit(t, w, func(o *consolidation.Options) { o.Only = []health.Code{health.Contradictions} }).Findings; len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
