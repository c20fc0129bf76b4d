package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Key is one setting of one [Config]. In a tree it may also be a section, which has a Name, a Doc
// and a rule for projects.
type Key struct {
	// Name is the dotted path in the file.
	Name string
	// Doc is the meaning of the setting. Empty is the meaning of the zero value if that value has
	// a special meaning.
	Doc, Empty string
	// Flag is the name, without dashes, of the flag that sets it, if there is one.
	Flag string
	// Of lists the allowed words, nil if others are allowed.
	Of []string
	// Experimental is set for a setting that is kept for experiments: a weight, a limit or a wait
	// that measurements have set. It may change or go in any version.
	Experimental bool

	// Project says which values the file in a project's own folder may give: all values for "",
	// and no values for "never". Otherwise it lists the only values that the file may give. Each
	// value trusts less than the value before it.
	Project string

	def, limits string
	section     bool
	value       reflect.Value
}

// server is set if the program is memkernel-server.
var server bool

// ForServer adds the settings that only memkernel-server has: the settings of databases. Callers
// must call it before they read or make a configuration.
func ForServer() { server = true }

// never is a word of [Key.Project].
const never = "never"

// projectDoc describes the values that a tag allows.
func projectDoc(tag, it string) string {
	switch tag {
	case "":
		return ""
	case never:
		return " A project's file can't set " + it + "."
	}
	return " A project's file can only set " + strings.ReplaceAll(tag, ",", " or ") + "."
}

// projectMay reports whether a project's own file may change a setting from its previous value to
// its present one.
func (k Key) projectMay(before reflect.Value) bool {
	now := format(k.value)
	switch was := format(before); {
	case k.Project == "" || now == was:
		return true
	case k.Project == never:
		return false
	default:
		values := strings.Split(k.Project, ",")
		return slices.Index(values, now) > slices.Index(values, was)
	}
}

// Keys lists all settings in the order of the documentation.
func (c *Config) Keys() []Key {
	return slices.DeleteFunc(c.tree(), func(k Key) bool { return k.section })
}

// tree lists all settings and sections in the order of a file.
func (c *Config) tree() []Key { return treeOf(reflect.ValueOf(c).Elem(), "", "") }

// treeOf lists the settings of a struct, then its sections, each followed by its own members. A
// setting without a rule for projects has the rule of its section.
func treeOf(v reflect.Value, section, project string) (keys []Key) {
	var sections []Key
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := f.Tag
		if !f.IsExported() || tag.Get("server") != "" && !server {
			continue
		}
		k := Key{Name: strings.TrimPrefix(section+"."+tag.Get("key"), "."), Doc: tag.Get("doc"), Empty: tag.Get("empty"), Flag: tag.Get("flag"),
			Experimental: tag.Get("experimental") != "", Project: cmp.Or(tag.Get("project"), project), def: tag.Get("default"), limits: tag.Get("range"), value: v.Field(i)}
		if of := tag.Get("of"); of != "" {
			k.Of = strings.Split(of, "|")
		}
		if f.Type.Kind() != reflect.Struct {
			k.Doc += projectDoc(tag.Get("project"), "it")
			keys = append(keys, k)
			continue
		}
		k.section = true
		k.Doc += projectDoc(tag.Get("project"), "a setting of this section")
		sections = append(append(sections, k), treeOf(k.value, k.Name, k.Project)...)
	}
	return append(keys, sections...)
}

// below returns the direct members of a section, or of the file for "". The section of earlier
// versions has the members of the file.
func below(tree []Key, section string) (out []Key) {
	of := ""
	if section != "" && section != earlier {
		of = section + "."
	}
	for _, k := range tree {
		if strings.TrimSuffix(k.Name, short(k.Name)) == of {
			out = append(out, k)
		}
	}
	return out
}

// short returns the last word of a dotted path, as it is in the file.
func short(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// find finds a setting by its full name.
func (c *Config) find(name string) (Key, bool) {
	keys := c.Keys()
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// Origin returns the source of the value of a setting.
func (c *Config) Origin(name string) Origin { return c.origin[name] }

// Set gives a setting another value, written as in a file. The items of a list are separated by
// commas. The parameter flag becomes the origin of the value. Set checks the value by itself.
// After an error the setting has its old value.
func (c *Config) Set(name, text, flag string) error {
	k, ok := c.find(name)
	if !ok {
		return &Error{Err: fmt.Errorf("unknown key %q", name), Hint: c.suggest("", name)}
	}
	scratch := k
	scratch.value = reflect.New(k.value.Type()).Elem()
	err := scratch.parse(text)
	if err == nil {
		err = scratch.check()
	}
	if err != nil {
		return &Error{Origin: Origin{Flag: flag}, Key: name, Err: err}
	}
	k.value.Set(scratch.value)
	if c.origin == nil {
		c.origin = map[string]Origin{}
	}
	c.origin[name] = Origin{Flag: flag}
	return nil
}

// Value returns the value in a form for JSON: a string, a number, a boolean or a list of strings.
// A number counts the setting's Unit.
func (k Key) Value() any { return plain(k.value) }

// Unit returns the unit of a number: tokens, bytes, seconds, or "".
func (k Key) Unit() string { return kindOf(k.value).unit }

// Unsaid reports whether the value has the special meaning that [Key.Empty] describes.
func (k Key) Unsaid() bool { return k.Empty != "" && isEmpty(k.value) }

// String returns the value as a file has it, without quotes.
func (k Key) String() string { return format(k.value) }

// Accepts describes in a few words the values that the setting may have.
func (k Key) Accepts() string {
	if k.Of != nil {
		return strings.Join(k.Of, ", ")
	}
	noun := kindOf(k.value).noun
	if low, high, ok := strings.Cut(k.limits, ".."); ok {
		return fmt.Sprintf("%s, %s to %s", noun, low, high)
	}
	return noun
}

// parse sets the setting to the value that a text spells. If "" has a special meaning, parse
// accepts it for every type.
func (k Key) parse(text string) error {
	if text == "" && k.Empty != "" {
		k.value.SetZero()
		return nil
	}
	return parse(k.value, text)
}

// check returns an error if the value is not allowed. It parses the value's text again, so that
// values set by code follow the same rules as values in files.
func (k Key) check() error {
	if k.Unsaid() {
		return nil
	}
	scratch := reflect.New(k.value.Type()).Elem()
	if err := parse(scratch, k.String()); err != nil {
		return err
	}
	if k.Of != nil && !slices.Contains(k.Of, k.String()) {
		return fmt.Errorf("%q is none of %s", k.String(), strings.Join(k.Of, ", "))
	}
	return k.checkRange()
}

func (k Key) checkRange() error {
	low, high, ok := strings.Cut(k.limits, "..")
	if !ok {
		return nil
	}
	bound := reflect.New(k.value.Type()).Elem()
	within := func(text string, sign int) (bool, error) {
		err := parse(bound, text)
		return cmp.Compare(number(k.value), number(bound))*sign >= 0, err
	}
	above, err1 := within(low, 1)
	below, err2 := within(high, -1)
	if e := cmp.Or(err1, err2); e != nil {
		return fmt.Errorf("range %s: %w", k.limits, e)
	}
	if !above || !below {
		return fmt.Errorf("%s is not within %s to %s", k, low, high)
	}
	return nil
}

// suggest returns the hint for a key that a section doesn't have: the key that was probably
// meant, or the existing keys if no key is similar.
func (c *Config) suggest(section, word string) string {
	if _, known := c.find(word); known && strings.Contains(word, ".") {
		return "a dot is a level of the file: write " + short(word) + " indented below its section"
	}
	near := c.nearest(section, short(word))
	if _, key := c.find(near); key && section != "" && !strings.Contains(near, ".") {
		return fmt.Sprintf("did you mean %s, at the top of the file?", near)
	}
	if near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	var keys, sections []string
	for _, k := range below(c.tree(), section) {
		if k.section {
			sections = append(sections, short(k.Name))
		} else {
			keys = append(keys, short(k.Name))
		}
	}
	if section == "" {
		return fmt.Sprintf("sections are %s; %s stands by itself", strings.Join(sections, ", "), strings.Join(keys, ", "))
	}
	return fmt.Sprintf("keys of %s are %s", section, strings.Join(append(keys, sections...), ", "))
}

// nearest returns the full name of the key that a word misspells, within a third of the word's
// length, or "". It prefers keys of the same section.
func (c *Config) nearest(section, word string) string {
	best, name := 2*(len(word)/3+1), ""
	try := func(full string, far int) {
		if d := 2*textutil.Distance(word, short(full)) + far; d < best {
			best, name = d, full
		}
	}
	all := c.tree()
	for _, k := range below(all, section) {
		try(strings.TrimPrefix(section+"."+short(k.Name), "."), 0)
	}
	for _, k := range all {
		try(k.Name, 1)
	}
	return name
}
