package markdownstore_test

import (
	"testing"

	"github.com/memkernel/memkernel/markdownstore"
)

// A note's front matter says whether the note still holds, and what replaces it.
func TestOver(t *testing.T) {
	for front, want := range map[string]string{
		"":                                 "",
		"title: a":                         "",
		"status: active":                   "",
		"status: in progress":              "",
		"status: Done":                     "done",
		"status: closed":                   "done",
		"status: [archived]":               "done",
		"status: deprecated":               "superseded",
		"status: Superseded":               "superseded",
		"superseded_by: ":                  "",
		"superseded_by: notes/b.md":        "notes/b.md",
		"replaced_by: [[Port list]]":       "Port list",
		"superseded-by: \"[[Port list]]\"": "Port list",
		"status: superseded by [ADR 5](0005-ports.md)": "0005-ports.md",
		"status: 7":              "",
		"supersedes: notes/a.md": "",
		"status: done\nsuperseded_by: [b.md, notes/c.md]": "b.md",
	} {
		if got := markdownstore.Parse("notes/a.md", "---\n"+front+"\n---\nthe port is 5432\n").Over(); got != want {
			t.Errorf("%q: %q, want %q", front, got, want)
		}
	}
}
