package install

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/markdownstore"
)

// rules describe the file of rules that a host shows its model in every session. A new file has
// front before the section. A host whose requests have the description of each tool needs no
// rules, because the descriptions say when to search memory and which facts to keep.
type rules struct{ own, front, text string }

// section is memkernel's section in files of rules.
var section = settings.Section{Name: markdownstore.RulesSection, Note: "(memkernel uninstall removes it)"}

const (
	// rulesByTools are for a host that shows its model only the names of tools.
	rulesByTools = "Before you answer about earlier work, decisions, dates, people or preferences, search this project's memory: `memory_search`. Keep what a later session needs: `memory_append`.\n"
	// rulesByCommands are for a host that has no tools, offers its user to run commands, and edits files.
	rulesByCommands = "Before you answer about earlier work, decisions, dates, people or preferences, search this project's memory: run `memkernel search \"QUESTION\"`, and `memkernel get CITATION` for what it cites. " +
		"Keep what a later session needs, but no secrets: add a line to the file `memory/YYYY-MM-DD.md` of today.\n"
)

// rulesPart adds the section to a file. In a new file it adds front before the section.
func rulesPart(path, front, text string) part {
	return part{what: "rules",
		add: func(data []byte) ([]byte, error) {
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

// files returns the file that gets the section. With all it leaves the file out if a file is in the
// place of the folder.
func (r *rules) files(s *Site, all bool) []file {
	path := filepath.Join(s.Workspace, filepath.FromSlash(r.own))
	if st, err := os.Stat(filepath.Dir(path)); all && err == nil && !st.IsDir() {
		return nil
	}
	return []file{{path: path, parts: []part{rulesPart(path, r.front, r.text)}}}
}
