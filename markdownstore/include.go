package markdownstore

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Everything returns globs for all Markdown in a folder, including the instructions that hosts
// load. They are the default if the folder has no other memory.
func Everything() []string {
	return []string{"**/*.md", "**/*.markdown", "**/*.mdx", ".cursorrules", ".cursor/rules/*.mdc", ".github/copilot-instructions.md"}
}

// generated are names of folders with dependencies or build results.
var generated = []string{"node_modules", "bower_components", "vendor", "dist", "build", "out", "target", "_site", "__pycache__", "venv"}

// closed reports whether a folder is entered only if a glob names it: a hidden or generated folder.
func closed(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(generated, name)
}

// hostFiles are instructions that hosts load by themselves, in any folder, in addition to those
// of rootNames; and by their whole path.
var hostFiles = []string{"CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "AGENTS.md", "AGENTS.override.md", ".cursorrules", ".github/copilot-instructions.md"}

// anyMarkdown reports whether a name is that of a Markdown file, by whatever ending.
func anyMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdx":
		return true
	}
	return false
}

// Includes reports whether Options.Include takes in more than memory's own files. Callers must
// then watch the whole workspace.
func (s *Store) Includes() bool { return !s.in.Empty() }

// Enters reports whether a folder may hold files that Walk lists. Callers must then watch the
// folder.
func (s *Store) Enters(dir string) bool {
	if dir == memoryDir || strings.HasPrefix(dir, memoryDir+"/") {
		return dir == factsDir || !skippedPath(dir)
	}
	return s.in.Below(dir) && !s.out.Match(dir) && !s.isOwn(dir) && !s.ignored(dir, true)
}

// takes reports whether the globs of the store include a file, by its path.
func (s *Store) takes(p string) bool {
	if s.in.Empty() || s.out.Match(p) {
		return false
	}
	if _, known := Classify(p); known && s.opts.PrivateNotes {
		return false // files that prompts show are no notes where an agent keeps memory
	}
	return s.named(p)
}

// named reports whether a glob of Options.Include matches a file.
func (s *Store) named(p string) bool { return s.in.Names(p) || anyMarkdown(p) && s.in.Match(p) }

// Classify does the work of [Classify] for the files of this store. A file that Options.Include
// takes in is also memory, as a topic, in any folder. Classify looks only at names. Walk also
// leaves out files that .gitignore names.
func (s *Store) Classify(p string) (Class, bool) {
	c, ok := Classify(p)
	switch {
	case !ok && textutil.IsVisible(p) && s.takes(p):
		return classifyNote(p), true
	case ok && (c.Kind == KindInstructions || c.Kind == KindRoutine) && s.takes(p):
		c.Tier, c.Memory, c.Indexed = tierEvergreen, true, true
	}
	return c, ok
}

// isNote reports whether a file can be memory only because Options.Include includes it.
func isNote(p string) bool {
	c, ok := Classify(p)
	return !ok || !c.Memory && (c.Kind == KindInstructions || c.Kind == KindRoutine)
}

// classifyNote returns the class of a file that is memory because it is included. A file with the name
// of a private file is private in every folder.
func classifyNote(p string) Class {
	dir, name := path.Split(p)
	c := Class{Kind: KindTopic, Tier: tierEvergreen, PageType: pagePreference, Memory: true, Indexed: true}
	switch {
	case name == memoryName, name == userName:
		c.Private = true
	case name == bufferName:
		return Class{Kind: KindBuffer, Private: true, Memory: true}
	case name == "SESSION-STATE.md":
		return Class{Kind: KindState}
	case isHostFile(p):
		c.Kind = KindInstructions
	case isMarkdown(name):
		if i := strings.LastIndex("/"+dir, "/"+memoryDir+"/"); i >= 0 {
			return classifyMemory(p[i+len(memoryDir)+1:])
		}
	}
	return c
}

func isHostFile(p string) bool {
	return slices.Contains(hostFiles, p) || slices.Contains(hostFiles, path.Base(p)) || strings.EqualFold(path.Ext(p), ".mdc")
}
