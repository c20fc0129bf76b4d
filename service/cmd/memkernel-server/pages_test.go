package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/cli"
)

// call is a call of the program in a page: its verbs and its flags.
var call = regexp.MustCompile(`memkernel-server((?: [a-z]+)+)((?: +[^\n]*?)?)(?:\n|$|\x60)`)

// TestPagesName no verb and no flag that the program does not have.
func TestPagesName(t *testing.T) {
	pages, err := filepath.Glob("../../../doc/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root, n := command.Root(&cli.App{UI: &cli.UI{}}), 0
	for _, page := range append(pages, "../../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(text), -1) {
			words := strings.Fields(m[1])
			cmd, _, err := root.Find(words[:1])
			if err != nil || cmd == root {
				continue // a sentence about the program
			}
			n++
			if cmd.HasSubCommands() {
				if cmd, _, err = root.Find(words); err != nil {
					t.Errorf("%s: %s: %v", page, m[0], err)
					continue
				}
			}
			for _, w := range strings.Fields(m[2]) {
				if name, ok := strings.CutPrefix(w, "--"); ok {
					name, _, _ = strings.Cut(strings.TrimRight(name, ".,)`'"), "=")
					if cmd.Flag(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
						t.Errorf("%s: %s: there is no flag --%s", page, strings.TrimSpace(m[0]), name)
					}
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d calls were found", n)
	}
}
