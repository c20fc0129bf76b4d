package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/settings"
)

// Aider shows its model the files that its configuration lists under read.
const (
	aiderConfig = ".aider.conf.yml"
	aiderKey    = "read"
	// aiderRules is the file of rules for a project whose configuration reads no file of rules
	// yet. aiderNote ends the line that makes Aider read this file.
	aiderRules = "CONVENTIONS.md"
	aiderNote  = "memkernel"
)

// aiderFiles returns the configuration, and the file of rules that the configuration reads or
// will read.
func aiderFiles(s *Site) []file {
	out := []file{s.aiderFile()}
	for _, name := range s.aiderReads() {
		if isMarkdown(name) {
			return append(out, s.aiderRulesFile(name))
		}
	}
	return append(out, s.aiderRulesFile(aiderRules))
}

func aiderAll(s *Site) []file {
	out := []file{s.aiderFile(), s.aiderRulesFile(aiderRules)}
	for _, name := range s.aiderReads() {
		if isMarkdown(name) && name != aiderRules {
			out = append(out, s.aiderRulesFile(name))
		}
	}
	return out
}

// isMarkdown reports whether a name is the name of a Markdown file in the project.
func isMarkdown(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && strings.EqualFold(filepath.Ext(name), ".md")
}

func (s *Site) aiderRulesFile(name string) file {
	path := filepath.Join(s.Workspace, filepath.FromSlash(name))
	return file{path: path, parts: []part{rulesPart(path, "", rulesByCommands)}}
}

// aiderReads returns the files that the project's configuration lists under read.
func (s *Site) aiderReads() []string {
	path := filepath.Join(s.Workspace, aiderConfig)
	data, err := settings.Read(path)
	if err != nil {
		return nil
	}
	d, err := settings.ParseYAML(path, data)
	if err != nil {
		return nil // it is told where the file is to change
	}
	return aiderList(d)
}

func aiderList(d *settings.YAML) (names []string) {
	switch v := d.Value(aiderKey).(type) {
	case string:
		return []string{v}
	case []any:
		for _, name := range v {
			names = append(names, fmt.Sprint(name))
		}
	}
	return names
}

// aiderAbove returns a configuration of the repository or of the home that lists files to read. A
// project's list would replace that list. It returns "" if there is no such configuration.
func (s *Site) aiderAbove() string {
	var above []string
	for dir := s.Workspace; !exists(filepath.Join(dir, ".git")) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if exists(filepath.Join(filepath.Dir(dir), ".git")) {
			above = append(above, filepath.Join(filepath.Dir(dir), aiderConfig))
		}
	}
	if s.Home != "" {
		above = append(above, filepath.Join(s.Home, aiderConfig))
	}
	for _, path := range above {
		data, err := settings.Read(path)
		if err != nil || data == nil {
			continue
		}
		if d, err := settings.ParseYAML(path, data); err != nil || d.Value(aiderKey) != nil {
			return path
		}
	}
	return ""
}

// aiderFile returns the configuration. If the configuration reads no file yet, the part adds a
// line that makes Aider read the rules.
func (s *Site) aiderFile() file {
	path := filepath.Join(s.Workspace, aiderConfig)
	add := func(data []byte) ([]byte, error) {
		d, err := settings.ParseYAML(path, data)
		if err != nil {
			return nil, err
		}
		if d.Value(aiderKey) != nil {
			if !slices.ContainsFunc(aiderList(d), isMarkdown) {
				return nil, &settings.Error{Path: path, Err: errors.New(`what it has under "read" is no Markdown of this folder: add ` + aiderRules)}
			}
			return data, nil
		}
		if above := s.aiderAbove(); above != "" {
			return nil, &settings.Error{Path: path, Err: fmt.Errorf(`a "read" in it would hide that of %s: add %s there`, s.Short(above), aiderRules)}
		}
		err = d.Add(aiderKey, aiderRules, aiderNote)
		return d.Bytes(), err
	}
	takeOut := func(data []byte) ([]byte, error) {
		d, err := settings.ParseYAML(path, data)
		if err != nil {
			return nil, err
		}
		err = d.Drop(aiderKey, aiderRules, aiderNote)
		return d.Bytes(), err
	}
	return file{path: path, hand: []string{aiderKey + ": " + aiderRules + " # " + aiderNote}, parts: []part{{what: "rules", add: add, takeOut: takeOut}}}
}
