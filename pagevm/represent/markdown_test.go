package represent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm"
)

// guide is a Markdown text of some 30 KB with code, tables, lists, and the word error in many
// places, as an agent's Read shows it if numbered is set.
func guide(numbered bool) string {
	var b strings.Builder
	b.WriteString("# Guide to the importer\n\nRead this before you change the importer.\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "## Step %d\n\nThe step %d reads records and hands them on.\n\n", i, i)
		for j := range 6 {
			fmt.Fprintf(&b, "If record %d-%d is malformed, the error handler logs an error and the import fails with ErrRecord%d.\n", i, j, j)
		}
		b.WriteString("\n```sh\n# not a heading\nimporter --step || echo \"error: failed\"\n```\n\n- never skip the check\n\n")
	}
	if !numbered {
		return b.String()
	}
	var n strings.Builder
	for i, l := range strings.Split(b.String(), "\n") {
		fmt.Fprintf(&n, "%6d→%s\n", i+1, l)
	}
	return n.String()
}

// A long Markdown file is shown shortened by its headings, and not by the lines that speak of
// errors.
func TestMarkdownIsShortenedByItsHeadings(t *testing.T) {
	for _, numbered := range []bool{false, true} {
		in := EvidenceInput{Tool: "Read", Input: `{"file_path":"/w/docs/guide.md"}`, Text: guide(numbered), PageID: "ev-1", Resolver: "get"}
		reps := Evidence(in)
		if len(reps) != 3 {
			t.Fatalf("%d representations, want 3", len(reps))
		}
		for _, r := range reps[:2] {
			headings, errors := 0, 0
			for l := range strings.Lines(r.Text) {
				if strings.Contains(l, "# Step ") || strings.Contains(l, "# Guide ") {
					headings++
				}
				if strings.Contains(l, "ErrRecord") {
					errors++
				}
				if strings.Contains(l, "not a heading") && r.Level == pagevm.Structured {
					t.Error("a comment in code is taken for a heading")
				}
			}
			if headings != 41 {
				t.Errorf("numbered %t, %s: %d of 41 headings in\n%s", numbered, r.Level, headings, r.Text)
			}
			if r.Level == pagevm.Structured && errors > 1 {
				t.Errorf("%d lines are quoted for the word error:\n%s", errors, r.Text)
			}
		}
		if !strings.Contains(reps[0].Text, "The step 39 reads records") || strings.Contains(reps[1].Text, "error line") {
			t.Error("the first line under a heading is missing, or lines are counted as errors")
		}
	}
}

// A log, code with comments, and a diff that shows Markdown are no Markdown.
func TestWhatOnlyLooksLikeMarkdown(t *testing.T) {
	texts := map[string]string{
		"code": strings.Repeat("# section\n\nimport os\nx = f(1)\nreturn x\n\n# other\ny = [1,\n2,\n]\n", 20),
		"log":  strings.Repeat("2026-01-02 12:00:00 ERROR # not here\n\n# retry\n2026-01-02 12:00:01 INFO ok\n2026-01-02 12:00:02 INFO ok\n", 20),
		"diff": "diff --git a/x.md b/x.md\n--- a/x.md\n+++ b/x.md\n@@ -1,9 +1,9 @@\n\n# One\n\n# Two\n-a\n+b\n",
	}
	for want, text := range texts {
		if got := ContentKind(text); got != want {
			t.Errorf("%s is taken for %s", want, got)
		}
	}
}
