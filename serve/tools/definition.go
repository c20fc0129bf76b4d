package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// The names of tools that the code itself uses.
const (
	memoryGet    = "memory_get"
	memoryAppend = "memory_append"
	memoryUndo   = "memory_undo"
)

// property is a member of an object's schema.
type property struct {
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	Enum        []string `json:"enum,omitempty"`
}

// schema is the schema of a tool's arguments.
type schema struct {
	Type       string              `json:"type"`
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required,omitempty"`
	// Additional is false if all arguments are listed, so that an unknown argument is an error.
	Additional *bool `json:"additionalProperties,omitempty"`
}

func text(description string) property { return property{Type: "string", Description: description} }

func number(kind, description string, least, most float64) property {
	p := property{Type: kind, Description: description, Minimum: &least}
	if most > least {
		p.Maximum = &most
	}
	return p
}

// The arguments of several tools.
var (
	editedFile = text("File of memory, such as memory/deploys.md.")
	oldText    = text("The passage as it stands there; it must stand there once, or begin on line from.")
	oldVersion = text("The file's version as memory_get gave it.")
	oldLines   = number("integer", "How many lines the passage has, where old is left out; 1 if left out.", 1, 0)

	fromLine  = number("integer", "First line, from 1.", 1, 0)
	lineCount = number("integer", "How many lines; all that follow if left out.", 1, 0)
)

// spec is a tool. Its title is its name for people.
type spec struct {
	name, title, description string
	properties               map[string]property
	required                 []string
	// write means that the tool changes something. edit means that it replaces or removes
	// existing text.
	write, edit bool
	// rare means that only a list of all tools has the tool. Only such a list has rareArguments.
	rare          bool
	rareArguments []string
	// run answers a call. If it returns an error, it also returns an answer, to which the caller
	// adds the reason.
	run func(*Set, context.Context, args) (answer, error)
	// answer is the type of the answer.
	answer reflect.Type
	// unknown is added to the answer of a call that took too long. It says that the change may have
	// been made. It is "" for a tool that changes nothing.
	unknown string
}

var specs = []spec{
	{name: "memory_search", title: "Search memory",
		description: "Mandatory before answering about past work, decisions, dates, people, preferences or todos. Reads a path#L1-L9 or id, too.",
		properties: map[string]property{
			"query":      text("The question in plain words, or what is to be read."),
			"maxResults": number("integer", "Most results to return; 10 if left out.", 1, maxResults),
			"minScore":   number("number", "Leave out results that score less, 0 to 1.", 0, 1),
			"lines":      {Type: "boolean", Description: "A result for each passage that answers, several of one place too, instead of one for each place."},
			"source":     {Type: "string", Description: "Where to look: notes (memory) or what was said in sessions; both if left out.", Enum: []string{"memory", "sessions"}},
			"scope":      text("Look only in these folders, tags or projects, separated by commas; -name leaves one out."),
		}, required: []string{"query"}, rareArguments: []string{"maxResults", "minScore", "lines", "source", "scope"},
		run: (*Set).search, answer: reflect.TypeFor[found]()},
	{name: memoryGet, title: "Read memory, or what an id points to",
		description: "Read a path that memory_search found, or an id (ev-…, cp_…).",
		properties:  map[string]property{"path": text("Path as memory_search gave it, such as memory/deploys.md, or an id, such as ev-0123456789abcdef."), "from": fromLine, "lines": lineCount},
		required:    []string{"path"},
		run: func(s *Set, ctx context.Context, a args) (answer, error) {
			return s.get(ctx, a.text("path"), int(a.number("from")), int(a.number("lines")))
		}, answer: reflect.TypeFor[lines]()},
	{name: memoryAppend, title: "Add to memory",
		description: "Keep a decision, preference or fact.",
		properties:  map[string]property{"text": text("What to keep, as Markdown."), "path": text("File of memory to append to; today's log if left out.")},
		required:    []string{"text"}, rareArguments: []string{"path"}, write: true,
		run: (*Set).append, answer: reflect.TypeFor[kept](),
		unknown: "; whether it was kept is not known: calling again keeps it once"},
	{name: "memory_list", title: "List memory", rare: true,
		description: "The entries of memory, newest first: the line of each, its day, and whether a person, an agent or memkernel wrote it.",
		properties: map[string]property{
			"path":       text("File or folder of memory, such as memory/deploys.md; all of memory if left out."),
			"maxResults": number("integer", "Most entries to return; 20 if left out.", 1, maxListed),
		}, run: (*Set).list, answer: reflect.TypeFor[entries]()},
	{name: "memory_update", title: "Change memory", rare: true,
		description: "Change something in memory that no longer holds: replace a passage of a file of memory. Say what you read: the passage as old, or the file's version (memory_get gives it) with the line. If that is not what stands there now, nothing is changed and the answer shows what does. " +
			"What a person wrote is left alone; add to it with memory_append instead. memory_undo takes it back.",
		properties: map[string]property{
			"path":    editedFile,
			"text":    text("What takes its place, as Markdown."),
			"old":     oldText,
			"version": oldVersion,
			"from":    number("integer", "First line of the passage, counted from 1. Without it and without old, the passage is the whole file.", 1, 0),
			"lines":   oldLines,
		}, required: []string{"path", "text"}, write: true, edit: true, run: (*Set).edit, answer: reflect.TypeFor[edited](), unknown: unknownEdit},
	{name: "memory_delete", title: "Delete from memory", rare: true,
		description: "Take something out of memory that should not be there: a passage of a file of memory, named as for memory_update. What a person wrote is left alone. memory_undo takes it back.",
		properties: map[string]property{
			"path":    editedFile,
			"old":     oldText,
			"version": oldVersion,
			"from":    number("integer", "First line of the passage, counted from 1. Without it and without old, the whole file goes.", 1, 0),
			"lines":   oldLines,
		}, required: []string{"path"}, write: true, edit: true, run: (*Set).edit, answer: reflect.TypeFor[edited](), unknown: unknownEdit},
	{name: memoryUndo, title: "Undo a change of memory", rare: true,
		description: "Take back a change of memory that memory_append, memory_update or memory_delete made: what it wrote goes, what it took out comes back, and what anybody changed since stays.",
		properties:  map[string]property{"edit": text("The change, as its answer named it; this session's last one if left out.")},
		write:       true, edit: true,
		run: (*Set).undo, answer: reflect.TypeFor[edited](),
		unknown: "; whether it was taken back is not known: memory_get shows it"},
}

const unknownEdit = "; whether it was done is not known: calling again does it once"

// Writes reports whether a tool changes memory's files.
func Writes(name string) bool {
	return slices.ContainsFunc(specs, func(s spec) bool { return s.write && name == s.name })
}

// schema returns the JSON schema of the arguments. If all is set, it has all arguments with
// descriptions. Otherwise it has only the names and types of the arguments that most calls need.
// A call may have any argument in either case.
func (s *spec) schema(all bool) json.RawMessage {
	in := schema{Type: "object", Properties: s.properties, Required: s.required}
	if all {
		in.Additional = new(bool)
	} else {
		in.Properties = map[string]property{}
		for name, p := range s.properties {
			if !slices.Contains(s.rareArguments, name) {
				in.Properties[name] = property{Type: p.Type}
			}
		}
	}
	raw, _ := json.Marshal(in) // it is made of constants
	return raw
}

// output returns the JSON schema of the answer, made from the answer's Go type.
func (s *spec) output() *jsonschema.Schema {
	out, err := jsonschema.ForType(s.answer, nil)
	if err != nil {
		panic("tools: schema of an answer: " + err.Error()) // the types are this package's
	}
	return out
}

// specs returns the tools of the set, in a fixed order.
func (s *Set) specs() iter.Seq[*spec] {
	return func(yield func(*spec) bool) {
		for i := range specs {
			if s.has(&specs[i]) && !yield(&specs[i]) {
				return
			}
		}
	}
}

// definition is a tool in one of the formats, each of which has its own member for the schema.
type definition struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Anthropic   json.RawMessage `json:"input_schema,omitempty"`
	MCP         json.RawMessage `json:"inputSchema,omitempty"`
	Hints       *hints          `json:"annotations,omitempty"`
}

// hints tell an MCP client what a tool may do.
type hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// Tools returns the definitions as a JSON list in a format: "anthropic" of the Messages API, or
// "mcp". If all is set, the list has all tools and arguments. Otherwise it has the tools that most
// conversations need, with the arguments that most calls need. A call may name any tool in either
// case.
func (s *Set) Tools(format string, all bool) (json.RawMessage, error) {
	out := []definition{}
	for sp := range s.specs() {
		if sp.rare && !all {
			continue
		}
		d := definition{Name: sp.name, Description: sp.description}
		switch format {
		case "anthropic":
			d.Anthropic = sp.schema(all)
		case "mcp":
			d.MCP, d.Hints = sp.schema(all), &hints{ReadOnly: !sp.write, Destructive: sp.edit}
		default:
			return nil, fmt.Errorf("tools: unknown format %q: give anthropic or mcp", format)
		}
		out = append(out, d)
	}
	return json.Marshal(out)
}
