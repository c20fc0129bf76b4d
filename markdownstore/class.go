package markdownstore

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Kind is the purpose of a file of the workspace.
type Kind string

// The kinds. Any other file is ignored by this package.
const (
	KindMemory       Kind = "memory"       // MEMORY.md: curated long-term memory
	KindTopic        Kind = "topic"        // memory/**/*.md without a date
	KindDaily        Kind = "daily"        // memory/YYYY-MM-DD.md: the log of a day
	KindNote         Kind = "note"         // a dated name with more in it than the date
	KindObservations Kind = "observations" // observations.md
	KindBuffer       Kind = "buffer"       // working-buffer.md
	KindUser         Kind = "user"         // USER.md: about the person
	KindState        Kind = "state"        // SESSION-STATE.md: the state of the work
	KindInstructions Kind = "instructions" // AGENTS.md, SOUL.md, TOOLS.md, IDENTITY.md
	KindRoutine      Kind = "routine"      // HEARTBEAT.md, BOOT.md, BOOTSTRAP.md: run by the host on occasion
	kindFacts        Kind = "facts"        // memory/.facts/*.md, see [Store.FactFiles]
)

// tier says how a file ages.
type tier string

const (
	// tierNone is for files that are not memory.
	tierNone tier = ""
	// tierEvergreen never ages.
	tierEvergreen tier = "evergreen"
	// tierDated ages from the date in its name.
	tierDated tier = "dated"
	// tierRecent ages from its modification time.
	tierRecent tier = "recent"
)

// PageType is the type of the page that a file becomes in a prompt, with the names of package pagevm.
// It is "" for files that are not in prompts.
type PageType string

const (
	pageBootstrap  PageType = "bootstrap"
	pagePlan       PageType = "plan"
	pagePreference PageType = "preference"
)

// Class holds the properties of a file that its path alone determines.
type Class struct {
	Kind     Kind     `json:"kind"`
	Tier     tier     `json:"tier,omitempty"`
	PageType PageType `json:"page_type,omitempty"`
	// Date is YYYY-MM-DD, set in the dated tier.
	Date string `json:"date,omitempty"`
	// Private reports whether the file does not exist for shared sessions.
	Private bool `json:"private,omitempty"`
	// Memory reports whether Read returns the file and recall may show it.
	Memory bool `json:"memory,omitempty"`
	// Indexed files are searched. Every indexed file is memory.
	Indexed bool `json:"indexed,omitempty"`
}

const (
	memoryDir  = "memory"
	memoryName = "MEMORY.md"
	// memoryLower is the name that MEMORY.md may have if there is no MEMORY.md.
	memoryLower = "memory.md"
	userName    = "USER.md"
	// bufferName is the file, in the root or in memory/, with the text of private sessions.
	bufferName = "working-buffer.md"
)

// rootFiles are the files in the workspace's root that have a meaning.
var rootFiles = map[string]Class{
	memoryName:         {Kind: KindMemory, Tier: tierEvergreen, PageType: pagePreference, Private: true, Memory: true, Indexed: true},
	memoryLower:        {Kind: KindMemory, Tier: tierEvergreen, PageType: pagePreference, Private: true, Memory: true, Indexed: true},
	userName:           {Kind: KindUser, Tier: tierEvergreen, PageType: pagePreference, Private: true, Memory: true, Indexed: true},
	"AGENTS.md":        {Kind: KindInstructions, PageType: pageBootstrap},
	"SOUL.md":          {Kind: KindInstructions, PageType: pageBootstrap},
	"TOOLS.md":         {Kind: KindInstructions, PageType: pageBootstrap},
	"IDENTITY.md":      {Kind: KindInstructions, PageType: pageBootstrap},
	"HEARTBEAT.md":     {Kind: KindRoutine},
	"BOOT.md":          {Kind: KindRoutine},
	"BOOTSTRAP.md":     {Kind: KindRoutine},
	"SESSION-STATE.md": {Kind: KindState, PageType: pagePlan},
	bufferName:         {Kind: KindBuffer, Private: true, Memory: true},
	"observations.md":  {Kind: KindObservations, Tier: tierRecent, PageType: pagePreference, Memory: true, Indexed: true},
}

// rootNames are the names of rootFiles, in byte order.
var rootNames = slices.Sorted(maps.Keys(rootFiles))

// anywhere reports whether a file with a name of rootFiles has the same class in memory/.
func anywhere(name string) bool {
	switch rootFiles[name].Kind {
	case KindState, KindBuffer, KindObservations:
		return true
	}
	return false
}

// Classify returns the class of the workspace file at a clean, slash-separated relative path. ok
// is false if this package must not touch the file. This includes names that can't be shown,
// since names appear in prompts and citations. Classify looks only at the name.
func Classify(p string) (c Class, ok bool) {
	dir, name := path.Split(p)
	switch {
	case !textutil.IsVisible(p):
		return Class{}, false
	case dir == "", dir == memoryDir+"/" && anywhere(name):
		c, ok = rootFiles[name]
		return c, ok
	case dir == factsDir+"/":
		ok := isMarkdown(name) && !skippedName(name) && !anywhere(name)
		return Class{Kind: kindFacts, Memory: ok}, ok
	case !strings.HasPrefix(dir, memoryDir+"/"), skippedPath(dir), !isMarkdown(name), skippedName(name):
		return Class{}, false
	}
	return classifyMemory(strings.TrimPrefix(p, memoryDir+"/")), true
}

// classifyMemory returns the class of a Markdown file by its path below memory/.
func classifyMemory(rel string) Class {
	c := Class{Kind: KindTopic, Tier: tierEvergreen, PageType: pagePreference, Memory: true, Indexed: true}
	stem := rel[:len(rel)-len(".md")]
	if c.Date = dateIn(stem); c.Date == "" {
		return c
	}
	c.Kind, c.Tier = KindNote, tierDated
	if c.Date == stem {
		c.Kind = KindDaily
	}
	return c
}

// isMarkdown reports whether a name is that of a Markdown file.
func isMarkdown(name string) bool {
	return len(name) > 3 && strings.EqualFold(name[len(name)-3:], ".md")
}

// skippedName reports whether files and folders with a name are never read: hidden ones, such as .git
// and temporary files, and node_modules.
func skippedName(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules"
}

func skippedPath(p string) bool {
	return slices.ContainsFunc(strings.Split(strings.Trim(p, "/"), "/"), skippedName)
}
