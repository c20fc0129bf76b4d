package consolidation_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// Whatever the files hold, an audit ends, cites lines that are there, and a second
// one reports the same.
func TestAuditOfAnything(t *testing.T) {
	piece := rapid.SampledFrom([]string{"# H\n", "- [ ] do it\n", "- Port: 5\n", "[a](b.md#c)\n", "[[w]]\n", "<<<<<<< a\n", "=======\n", ">>>>>>> b\n", "```\n", "\xff", "\x00", "Ã©",
		"\uFFFD", "2027-01-01", "## 2027-01-01\n", "memory/x.md", "| a | b |\n", "X is 5. ", "数据库端口是5432\n", "<!-- from a#L1 -->", "<!-- supersedes -->\n", "~~", "\n", "\r\n", " ", "[decision]",
		"the same words stand here more than once in it\n", "---\n", "](", "`", "::", "= 5\n", "é (", "。"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 25).Draw(t, "pieces"), "") })
	rapid.Check(t, func(rt *rapid.T) {
		names := []string{"MEMORY.md", "memory.md", "TOOLS.md", "SESSION-STATE.md", "observations.md", "memory/2026-03-09.md", "memory/a.md", "memory/working-buffer.md"}
		texts := map[string]string{}
		for _, n := range names {
			if rapid.Bool().Draw(rt, n) {
				texts[n] = text.Draw(rt, "text")
			}
		}
		host, _ := consolidation.HostByName(rapid.SampledFrom([]string{"openclaw", "codex", "claude-code"}).Draw(rt, "host"))
		host.FileLimit = rapid.IntRange(1, 200).Draw(rt, "limit")
		o := consolidation.Options{Host: host, Now: now, Timezone: time.UTC}
		first, err := auditOf(t.Context(), files(texts), o)
		if err != nil {
			rt.Fatal(err)
		}
		for _, f := range first.Findings {
			for _, p := range append(f.Others, f.Place) {
				if n := strings.Count(texts[p.Path], "\n") + 1; p.StartLine < 0 || p.EndLine < p.StartLine || p.Path != "" && p.EndLine > n {
					rt.Fatalf("%s cites %s, of a file with %d lines: %s", f.Code, p, n, f.What)
				}
			}
			if f.What == "" || f.Hint == "" && f.Severity != health.OK || f.Code == "" || f.Severity == "" || strings.Contains(f.What, "\n") {
				rt.Fatalf("%+v", f)
			}
		}
	})
}
