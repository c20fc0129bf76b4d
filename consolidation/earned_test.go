package consolidation_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// session is a log as a flush writes it of a session.
func session(day, key string, lines ...string) (string, string) {
	return "memory/" + day + ".md", "# " + day + "\n\nSession " + key + ", cp_001:\n- " + strings.Join(lines, "\n- ") + "\n<!-- mk:fl-" + key + " -->\n"
}

func logsOf(pairs ...string) fstest.MapFS {
	more := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		more[pairs[i]] += pairs[i+1]
	}
	return with(more)
}

// What a machine noticed is kept by evidence: a decision that has its subject and its
// outcome, a lesson that was dear or came again and whose remedy can be used.
// How a line is tagged by an earlier program does not matter.
func TestCapturesEarnTheirPlace(t *testing.T) {
	path, log := session("2026-03-09", "a",
		"[decision] Which broker should we use? 1. RabbitMQ; 2. Kafka → 2, because the order counts",
		"[decision] Want me to do this? → yes",
		"[decision] rejected Bash git push --force",
		"[decision] commit 25f4652: docs: update comments",
		"[lesson] Edit /src/a.go failed: String to replace not found in file. → worked with other input after reading a.go",
		"[surprise] [lesson] rg -n \"(x\" src failed: regex parse error → rg -n x src worked (9 calls later)",
		"[lesson] go build ./... failed: a.go:12:3: undefined: foo → worked after changing a.go (11 calls later)",
		"[surprise] [lesson] bd sync --short failed: Error: unknown flag: --short → bd sync worked (7 calls later)",
		"[surprise] [lesson] pnpm run seed failed: ERR_PNPM_NO_SCRIPT Missing script: seed → pnpm run db:seed worked",
		"[surprise] [lesson] helm lint chart failed: Error: plugin lint is disabled here → helm template chart worked",
		"[open] in_progress: write the schema")
	before, earlier := session("2026-03-08", "b", "pnpm run seed failed: ERR_PNPM_NO_SCRIPT Missing script: seed → pnpm run db:seed worked")
	c := curate(t, logsOf(path, log, before, earlier), nil)
	want := []string{
		"`pnpm run seed` fails (ERR_PNPM_NO_SCRIPT Missing script: seed); `pnpm run db:seed` works",
		"Which broker should we use? 1. RabbitMQ; 2. Kafka → 2, because the order counts",
		"`bd sync --short` fails (unknown flag: --short); `bd sync` works",
	}
	if got := texts(c); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Work without consequence for later days is not worth a place, even if a day has nothing else.
func TestWorkAloneIsNothing(t *testing.T) {
	path, log := session("2026-03-09", "a", "commit 25f4652: feat(queue): retry failed jobs with a growing pause", "plan (2): Write the schema; Test it")
	log += "\n## Done\n\n- Implemented `retryQueue` in `queue.go`\n- 12 tests pass\n"
	if c := curate(t, logsOf(path, log), nil); len(c.Entries) > 0 {
		t.Errorf("got %s", c.Text())
	}
}

// Logs that others write have no tags: headings, labels, leads and what sentences state
// speak for what is in them, in several languages and styles.
func TestLogsOfOthers(t *testing.T) {
	for name, c := range map[string]struct{ log, want, not string }{
		"headings":  {"## What happened\n\n- Moved the queue from Redis to Postgres because the reports join it\n- 438 tests passing\n\n## Next steps\n\n- Move the cache to Postgres because it is slow\n", "Moved the queue from Redis to Postgres", "Move the cache"},
		"label":     {"**Root cause:** `openLedger()` kept the lock because the error path returned early.\n\n**Status:** done, all of it\n", "kept the lock because", "Status"},
		"lead":      {"- **Key insight**:\n  1. `vacuum` only works when no reader is open\n  2. What else could it be?\n- **Next Action**: write `lab/tool.md` before noon\n", "`vacuum` only works when no reader is open", "Next Action"},
		"prose":     {"We spent the morning on the importer. It turned out that the port authority sends `utf-16` since March, which is why dates were empty. Lunch was late.\n", "sends `utf-16`", "Lunch"},
		"sentences": {"I also found that the backup had failed since March 20 because the disk label changed to `data-eu`. The soup was cold and the bread was old. Mika would rather have the totals of every report at the top.\n", "totals of every report at the top", "soup"},
		"quoted":    {"- 09:02 heartbeat ok\n- 09:40 user: please never send the newsletter on Mondays\n", "- [human] Please never send the newsletter on Mondays", "heartbeat"},
		"one line":  {"- Staging database is on port 5433\n- All good today with the whole team\n- VPN config lives in /etc/wireguard/wg0.conf\n", "Staging database is on port 5433", "All good"},
		"decided":   {"After a long talk we decided to keep the audit rows for ten years because the law asks for it.\n", "audit rows for ten years", "zzz"},
		"user":      {"- Mika prefers tables over prose in every weekly report\n- Mika was out at noon with the others\n", "prefers tables", "was out"},
		"deutsch":   {"## Erkenntnisse\n\n- Der Import läuft nur, wenn `LC_ALL` gesetzt ist, weil das Skript sonst abbricht\n\n## Nächste Schritte\n\n- Das Skript umstellen, weil es langsam ist\n", "`LC_ALL`", "umstellen"},
		"français":  {"## Leçons apprises\n\n- Le serveur `gate01` nécessite un redémarrage parce que le cache garde l'ancienne clé\n", "`gate01`", "zzz"},
		"español":   {"## Decisiones\n\n- Los informes van en Markdown porque `pandoc` los convierte sin pérdida\n", "`pandoc`", "zzz"},
		"chinese":   {"## 教训\n\n- 部署脚本必须先运行 `migrate`，否则服务启动失败\n\n## 下一步\n\n- 把部署脚本迁移到 `make`，因为更简单\n", "`migrate`", "`make`"},
		"several":   {"**Lessons:**\n1. **Reload**: `SIGUSR1` keeps the old model because sessions persist\n2. **Restart**: only a restart switches the model for `gate01` sessions\n", "`SIGUSR1` keeps the old model", "2. **Restart**"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"memory/2026-03-09.md": "# 2026-03-09\n\n" + c.log, "USER.md": "# User\n\n- Name: Mika\n"}
			got := curate(t, with(files), nil).Text()
			if !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
				t.Errorf("%q is wanted, and not %q:\n%s", c.want, c.not, got)
			}
		})
	}
}

// What files have from a form is left out, and what stands behind it is whole.
func TestFormsAreLeftOut(t *testing.T) {
	files := map[string]string{}
	for i := 1; i <= 9; i++ {
		files[fmt.Sprintf("memory/2026-03-0%d.md", i)] = fmt.Sprintf("# 2026-03-0%d\n\nmemory_type: session-derived\nconfidence: high\nreviewed: no\nLesson: the lamp of pier %d only burns after valve `v-%d` was opened, because the feed is shared.\n\nWrite down what was learned here, because it is needed later.\n", i, i, i)
	}
	c := curate(t, with(files), nil)
	got := c.Text()
	if !strings.Contains(got, "The lamp of pier 9 only burns after valve `v-9` was opened, because the feed is shared.") {
		t.Errorf("the content is cut or gone:\n%s", got)
	}
	for _, form := range []string{"memory_type", "confidence", "reviewed", "Write down"} {
		if strings.Contains(got, form) {
			t.Errorf("%s is of the form:\n%s", form, got)
		}
	}
}

// A name that a log introduced and that later days needed brings its entry up, once its day
// is over.
func TestNeededAgain(t *testing.T) {
	files := map[string]string{"memory/2026-03-04.md": "# 2026-03-04\n\n- `driftSentinel` runs on gate01, and its socket is removed at every restart\n- `otherThing` runs on gate02, and its socket is removed at every restart\n"}
	for _, day := range []string{"2026-03-06", "2026-03-08"} {
		files["memory/"+day+".md"] = "# " + day + "\n\n- Looked at driftSentinel again\n"
	}
	got := curate(t, with(files), nil).Text()
	if !strings.Contains(got, "`driftSentinel` runs on gate01") || strings.Contains(got, "otherThing") {
		t.Errorf("got\n%s", got)
	}
}
