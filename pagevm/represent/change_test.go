package represent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestChange(t *testing.T) {
	old := "# Rules\n\n- Never push to main.\n\n## Style\n\nTabs.\n\n## Old\n\nGone soon.\n"
	now := "# Rules\n\n- Never push to main.\n\n## Style\n\nSpaces.\n\n## New\n\n- Run the linter.\n"
	got := Change("AGENTS.md", old, now, 4000)
	for _, want := range []string{"AGENTS.md changed", "Spaces.", "Run the linter.", "no longer there: Old"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for _, no := range []string{"Tabs.", "Never push", "Gone soon"} {
		if strings.Contains(got, no) {
			t.Errorf("%q stands in:\n%s", no, got)
		}
	}
	if got := Change("AGENTS.md", "", now, 4000); !strings.Contains(got, "is new") || !strings.Contains(got, "Never push") {
		t.Errorf("a new file: %s", got)
	}
	if got := Change("AGENTS.md", old, "", 4000); !strings.Contains(got, "no longer exists") {
		t.Errorf("a removed file: %s", got)
	}
	long := "# Long\n\n" + strings.Repeat("Some prose that says nothing.\n", 400) + "- Never delete the ledger.\n"
	if got := Change("AGENTS.md", old, long, 1000); len(got) > 1600 || !strings.Contains(got, "Never delete the ledger.") {
		t.Errorf("a long change, %d bytes: %s", len(got), got)
	}
}

func TestSectionsTile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"# A\n", "## B ##\n", "```\n", "# in code?\n", "text\n", "\n", "#nope\n", "tail"})).Draw(t, "lines"), "")
		var b strings.Builder
		for _, s := range Sections(text) {
			b.WriteString(s.Text)
		}
		if b.String() != text {
			t.Fatalf("sections of %q make %q", text, b.String())
		}
		Change("x", text, text+"# C\nmore\n", 40)
	})
}
