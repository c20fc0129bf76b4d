package install

import (
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/markdownstore"
)

// rules are where a host reads what its model is told in every session.
type rules struct {
	// first are files of which the first that is there gets the section; without one of
	// them it is own, which has front before the section.
	first      []string
	own, front string
}

// section is what memkernel has in files of rules.
var section = settings.Section{Name: markdownstore.RulesSection, Note: "(memkernel uninstall removes it)"}

//go:embed rules.md
var rulesText string

// ways are how a model reaches memory: the sentences that differ between hosts.
type ways struct{ Search, Get, Write string }

var (
	byTools = ways{
		Search: "Tool: `memory_search`.",
		Get:    "Read what it cites with `memory_get`.",
		Write:  "Tool: `memory_append`, one short entry each.",
	}
	// A host without tools offers its user to run commands, and edits files.
	byCommands = ways{
		Search: "Search by running `memkernel search \"QUESTION\"`.",
		Get:    "Read what it cites by running `memkernel get CITATION` before you build on it.",
		Write:  "Write by adding a line to the file `memory/YYYY-MM-DD.md` of today.",
	}
)

// text is what the rules say to a model with these ways.
func (w ways) text() (string, error) {
	t, err := template.New("rules").Parse(rulesText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, w)
	return b.String(), err
}

// rulesPart puts the section into a file, and front before it into one that is new.
func rulesPart(path, front string, w ways) part {
	return part{what: "rules",
		add: func(data []byte) ([]byte, error) {
			text, err := w.text()
			if err != nil {
				return nil, err
			}
			if data == nil {
				data = []byte(front)
				after, err := section.Put(path, nil, text)
				return append(data, after...), err
			}
			return section.Put(path, data, text)
		},
		takeOut: func(data []byte) ([]byte, error) {
			after, err := section.Drop(path, data)
			if err == nil && !settings.Same(after, data) && strings.TrimSpace(string(after)) == strings.TrimSpace(front) {
				after = []byte{}
			}
			return after, err
		}}
}

// files are those that get the section, or with all those that ever may have.
func (r *rules) files(s *Site, all bool) (out []file) {
	at := func(name, front string) file {
		path := filepath.Join(s.Workspace, filepath.FromSlash(name))
		return file{path: path, parts: []part{rulesPart(path, front, byTools)}}
	}
	for _, name := range r.first {
		if st, err := os.Stat(filepath.Join(s.Workspace, filepath.FromSlash(name))); err == nil && st.Mode().IsRegular() {
			out = append(out, at(name, ""))
		}
	}
	if len(out) > 0 && !all {
		return out[:1]
	}
	if slices.ContainsFunc(out, func(f file) bool { return f.path == filepath.Join(s.Workspace, r.own) }) {
		return out
	}
	if st, err := os.Stat(filepath.Dir(filepath.Join(s.Workspace, filepath.FromSlash(r.own)))); all && err == nil && !st.IsDir() {
		return out // there is a file where its folder would be
	}
	return append(out, at(r.own, r.front))
}
