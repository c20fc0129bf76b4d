package install

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRulesTeachWhatThereIs: the rules name tools and commands that are there, and are
// short: every request pays for them.
func TestRulesTeachWhatThereIs(t *testing.T) {
	for name, text := range map[string]string{"tools": rulesByTools, "commands": rulesByCommands} {
		if len(text) > 400 {
			t.Errorf("%s: %d bytes:\n%s", name, len(text), text)
		}
		// Hosts take these for references to files and tools, and for marks.
		if strings.ContainsAny(text, "@#") || strings.Contains(text, "<!--") {
			t.Errorf("%s: a host reads more into it:\n%s", name, text)
		}
		for _, m := range regexp.MustCompile("`([a-z]+_[a-z]+)`").FindAllStringSubmatch(text, -1) {
			if !slices.Contains([]string{"memory_search", "memory_append"}, m[1]) {
				t.Errorf("%s: there is no tool %s", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile("`memkernel ([a-z]+)").FindAllStringSubmatch(text, -1) {
			usage, err := os.ReadFile("../../doc/commands.md")
			if err != nil || !strings.Contains(string(usage), "| `"+m[1]) {
				t.Errorf("%s: there is no command %s: %v", name, m[1], err)
			}
		}
		for _, want := range []string{"search this project's memory", "a later session needs"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: nothing says %q", name, want)
			}
		}
	}
}
