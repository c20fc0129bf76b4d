package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Over reads a file over the present settings. For a missing file it returns an error that satisfies
// errors.Is(err, fs.ErrNotExist). For a mistake in the file it returns an [*Error]. Callers must
// not use the settings after an error, unless the file is missing. The parameter project is set for
// a file in a project, whose author may be somebody else. Its settings count only if they trust
// nobody more than the previous settings. See [Config.Ignored].
func (c *Config) Over(path string, project bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return c.over(f, path, project)
}

// maxFile is the largest size of a configuration: 1 MiB.
const maxFile = 1 << 20

// Read reads a configuration over the defaults. The name is used for errors and
// origins, and relative paths are taken from its folder.
func Read(r io.Reader, name string) (*Config, error) {
	c := Default()
	if err := c.over(r, name, false); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) over(r io.Reader, name string, project bool) error {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f := &file{Config: c, name: name, project: project, tree: c.tree(), lines: map[string]int{}}
	root, err := f.document(data)
	if err != nil {
		return err
	}
	if root != nil {
		if err := f.section("", root); err != nil {
			return err
		}
	}
	return f.Validate()
}

// file is a configuration that is being read.
type file struct {
	*Config
	name    string
	project bool           // see [Config.Over]
	tree    []Key          // all settings and sections
	lines   map[string]int // the settings that were read, by full name
}

func (f *file) errorAt(line int, key, hint, format string, args ...any) error {
	return &Error{Origin: Origin{File: f.name, Line: line}, Key: key, Err: fmt.Errorf(format, args...), Hint: hint}
}

// document parses the only document of a file. It returns nil if the file has no document.
func (f *file) document(data []byte) (*yaml.Node, error) {
	if len(data) > maxFile {
		return nil, f.errorAt(0, "", "a configuration is a few lines", "larger than 1 MiB")
	}
	if line := notText(data); line > 0 {
		return nil, f.errorAt(line, "", "save it as UTF-8", "not a text")
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, f.syntax(err)
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return doc.Content[0], nil
	case err != nil:
		return nil, f.syntax(err)
	}
	return nil, f.errorAt(second.Line, "", "keep one, and remove the line ---", "a second document begins here")
}

// notText returns the first line that no YAML file can hold, 0 if there is no such line.
func notText(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return line
		}
		data = data[n:]
	}
	return 0
}

var yamlError = textutil.LazyRegexp(`^yaml: (?:line (\d+): )?(.*)`)

// syntax returns a mistake that the YAML parser found. The parser leaves out the number of the
// first line, and sometimes names the line before the mistake.
func (f *file) syntax(err error) error {
	line, text := 1, err.Error()
	if m := yamlError.FindStringSubmatch(text); m != nil {
		text = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	return f.errorAt(line, "", "see the lines about there for indentation, colons and quotes", "not YAML: %s", text)
}

// section reads a mapping. An empty mapping changes nothing.
func (f *file) section(name string, n *yaml.Node) error {
	n = target(n)
	switch {
	case n.ShortTag() == "!!null":
		return nil
	case n.Kind != yaml.MappingNode:
		return f.errorAt(n.Line, name, f.suggest(name, ""), "want keys and values, got %s", describe(n))
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if before, twice := lines[k.Value]; twice {
			return f.errorAt(k.Line, "", "keep one of them", "key %q stands in line %d already", k.Value, before)
		}
		lines[k.Value] = k.Line
		if err := f.member(name, k, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// member reads one key of a section.
func (f *file) member(section string, k, v *yaml.Node) error {
	if section == "" && k.Value == earlier {
		return f.section(earlier, v)
	}
	members := below(f.tree, section)
	i := slices.IndexFunc(members, func(m Key) bool { return short(m.Name) == k.Value })
	if i < 0 {
		if section == "" && k.Value == "store" && !server && !f.project {
			if k, v := member(target(v), "backend"); k != nil && target(v).Value == "postgres" {
				return f.errorAt(k.Line, "store.backend", "run memkernel-server, which keeps the state in PostgreSQL, or take it out", "memkernel keeps the state in files, and would not find what is in the database")
			}
		}
		if f.removedKey(k, v, strings.TrimPrefix(section+"."+k.Value, ".")) {
			return nil
		}
		return f.errorAt(k.Line, section, f.suggest(section, k.Value), "unknown key %q", k.Value)
	}
	key := members[i]
	if key.section {
		return f.section(key.Name, v)
	}
	if before, twice := f.lines[key.Name]; twice {
		return f.errorAt(k.Line, key.Name, "keep one of them", "it stands in line %d already", before)
	}
	f.lines[key.Name] = k.Line
	before := reflect.New(key.value.Type()).Elem()
	before.Set(key.value)
	if err := f.read(key, target(v)); err != nil {
		return err
	}
	at := Origin{File: f.name, Line: k.Line}
	if f.project && !key.projectMay(before) {
		key.value.Set(before)
		f.ignored = append(f.ignored, ignored{Key: key.Name, Origin: at})
		return nil
	}
	f.origin[key.Name] = at
	return nil
}

// read gives a setting its value.
func (f *file) read(key Key, n *yaml.Node) error {
	if list, ok := key.value.Addr().Interface().(*[]string); ok {
		return f.list(key, list, n)
	}
	if k := kindOf(key.value); n.Kind != yaml.ScalarNode || !slices.Contains(k.tags, n.ShortTag()) {
		return f.errorAt(n.Line, key.Name, remedy(k, n), "want %s, got %s", k.noun, describe(n))
	}
	if err := key.parse(n.Value); err != nil {
		return f.errorAt(n.Line, key.Name, "", "%w", err)
	}
	if p, ok := key.value.Addr().Interface().(*filePath); ok && *p != "" && !filepath.IsAbs(string(*p)) {
		*p = filePath(filepath.Join(filepath.Dir(f.name), string(*p)))
	}
	return nil
}

func (f *file) list(key Key, list *[]string, n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return f.errorAt(n.Line, key.Name, "write it as [a, b], or [] for none", "want a list, got %s", describe(n))
	}
	*list = []string{}
	for _, e := range n.Content {
		if e = target(e); e.Kind != yaml.ScalarNode || e.ShortTag() != "!!str" {
			return f.errorAt(e.Line, key.Name, remedy(kindOf(key.value), e), "want text, got %s", describe(e))
		}
		if !f.removedIn(e.Line, key.Name+": "+e.Value) {
			*list = append(*list, e.Value)
		}
	}
	return nil
}

// target follows an alias. It cannot loop, because the depth of our own tree bounds the reading.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// describe names the kind of a file's content. It does not repeat text, because the text may be a
// misplaced secret.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	case n.ShortTag() == "!!str":
		return "text"
	}
	return n.Value
}

// remedy returns the hint for a wrong type.
func remedy(k kind, n *yaml.Node) string {
	switch {
	case n.ShortTag() == "!!null":
		return "give it a value, or remove the line for the default"
	case n.Kind == yaml.ScalarNode && slices.Contains(k.tags, "!!str"):
		return "put it in quotes if it is meant as text"
	}
	return ""
}
