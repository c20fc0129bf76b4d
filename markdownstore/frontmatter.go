package markdownstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/BurntSushi/toml"
	"gopkg.in/yaml.v3"

	"github.com/memkernel/memkernel/internal/textutil"
)

// maxFrontMatter bounds the text that is decoded and searched for the closing delimiter.
const maxFrontMatter = 64 << 10 // 64 KiB

// closers are the delimiters that may open front matter, on the first line of
// a document that is not blank, with the one that closes it. The bare JSON
// object is left out: a note that begins with a brace is no front matter.
var closers = map[string]string{
	"---": "---", "---yaml": "---", "---toml": "---", "---json": "---", "+++": "+++", ";;;": ";;;",
}

// frontMatter finds the block that text begins with and decodes it: its length with delimiters, 0
// if there is none. The error describes text that looks like front matter but is none, such as a
// rule (---) at the beginning. The text is then all body.
func frontMatter(text string) (size int, meta map[string]any, err error) {
	opener, inner, size := block(text)
	first, _, _ := strings.Cut(inner, "\n")
	switch {
	case size == 0 && !keyLine.MatchString(first): // text begins with a rule, or with neither
		return 0, nil, nil
	case size == 0:
		return 0, nil, fmt.Errorf("front matter has no closing %s within %d KiB, it is read as text", closers[opener], maxFrontMatter>>10)
	case strings.TrimSpace(inner) == "":
		return size, nil, nil
	}
	value, err := decode(opener, inner)
	meta, keys := value.(map[string]any)
	switch {
	case err == nil && keys:
		return size, meta, nil
	case opener == "---" && ruled(inner), err != nil && toFill.MatchString(inner):
		return 0, nil, nil
	case err != nil:
		return 0, nil, fmt.Errorf("front matter does not parse, it is read as text: %w", err)
	case value == nil:
		return 0, nil, errors.New("front matter holds only comments, it is read as text")
	}
	return 0, nil, errors.New("front matter is no list of keys and values, it is read as text")
}

// toFill is a place of a template that takes a value: a template is no front matter yet.
var toFill = textutil.LazyRegexp(`\{\{|<%`)

// keyLine is a line as front matter has them and prose hardly ever.
var keyLine = textutil.LazyRegexp(`(?m)^[A-Za-z_][\w-]*[ \t]*[:=](\s|$)`)

// ruled reports whether a block that holds no keys and values is text between two rules: it
// begins with a blank line, and none of its lines is a key's.
func ruled(inner string) bool {
	first, rest, _ := strings.Cut(inner, "\n")
	return strings.TrimSpace(first) == "" && !keyLine.MatchString(rest)
}

// block returns the delimiter that opens front matter at the beginning of text, the text between
// it and the closing line, and the length of all three. The length is 0 if text begins with no
// delimiter, or never closes it in reach.
func block(text string) (opener, inner string, size int) {
	from, at, head := 0, 0, text[:min(len(text), maxFrontMatter)]
	for line := range strings.Lines(head) {
		begin := at
		at += len(line)
		trimmed := strings.TrimSpace(line)
		switch {
		case opener == "" && trimmed == "":
		case opener == "":
			if closers[trimmed] == "" {
				return "", "", 0
			}
			opener, from = trimmed, at
		case trimmed == closers[opener]:
			if at == len(head) && len(head) < len(text) && !strings.HasSuffix(line, "\n") {
				return opener, head[from:], 0 // the limit cut the line
			}
			return opener, head[from:begin], at
		}
	}
	return opener, head[from:], 0
}

// decode returns the value of a block, with nested maps keyed by strings. The
// decoders are other people's and get arbitrary files: should one of them
// panic, the block is text.
func decode(opener, inner string) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("decoder panicked: %v", p)
		}
	}()
	switch opener {
	case "+++", "---toml":
		var m map[string]any
		if _, err = toml.Decode(inner, &m); len(m) > 0 {
			value = m
		}
	case ";;;", "---json":
		err = json.Unmarshal([]byte(inner), &value)
	default:
		err = yaml.Unmarshal([]byte(inner), &value)
	}
	return plain(value), err
}

// plain makes a decoded value one that JSON can hold: maps keyed by strings,
// and no infinities.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = plain(e)
		}
		return v
	case map[any]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[fmt.Sprint(k)] = plain(e)
		}
		return m
	case []any:
		for i, e := range v {
			v[i] = plain(e)
		}
	case []map[string]any:
		for _, e := range v {
			plain(e)
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	}
	return v
}
