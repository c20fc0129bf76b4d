package markdownstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/adrg/frontmatter"
	"gopkg.in/yaml.v3"

	"github.com/memkernel/memkernel/internal/textutil"
)

// maxFrontMatter bounds the text that is decoded and searched for the closing delimiter.
const maxFrontMatter = 64 << 10 // 64 KiB

// closers maps the delimiter that opens front matter to the one that closes it. The opening delimiter
// must be on the first line that is not blank. Front matter without delimiters, a JSON object, is not
// supported, because a note may begin with a brace.
var closers = map[string]string{
	"---": "---", "---yaml": "---", "---toml": "---", "---json": "---", "+++": "+++", ";;;": ";;;",
}

// frontMatter decodes the front matter at the beginning of a text. size is its length with the
// delimiters, or 0 if there is none. The error describes text that looks like front matter but can't
// be decoded. Such text belongs to the body.
func frontMatter(text string) (size int, meta map[string]any, err error) {
	opener, size := blockSize(text)
	if size == 0 {
		return 0, nil, neverClosed(opener, text)
	}
	value, err := decode(opener, text[:size])
	meta, keys := value.(map[string]any)
	switch {
	case err == nil && keys:
		return size, meta, nil
	case err == nil && value == nil && !hasText(text[:size]):
		return size, nil, nil
	case ruled(opener, text[:size]), err != nil && toFill.MatchString(text[:size]):
		return 0, nil, nil
	case err != nil:
		return 0, nil, fmt.Errorf("front matter does not parse, it is read as text: %w", err)
	case value == nil:
		return 0, nil, errors.New("front matter holds only comments, it is read as text")
	}
	return 0, nil, errors.New("front matter is no list of keys and values, it is read as text")
}

// toFill matches a placeholder of a template. The front matter of a template can't be decoded.
var toFill = textutil.LazyRegexp(`\{\{|<%`)

// ruled reports whether a block is text between two rules (---) and no front matter. This is so if a
// blank line follows the first rule and no line of the block begins with a key.
func ruled(opener, block string) bool {
	_, rest, _ := strings.Cut(strings.TrimSpace(block), "\n")
	first, rest, _ := strings.Cut(rest, "\n")
	if opener != "---" || strings.TrimSpace(first) != "" {
		return false
	}
	for line := range strings.Lines(rest) {
		if keyLine.MatchString(line) {
			return false
		}
	}
	return true
}

// blockSize returns the length of the block at the beginning of text, including its closing line. It is
// 0 if the block is not closed. opener is "" if text does not begin with a delimiter.
func blockSize(text string) (opener string, size int) {
	at, head := 0, text[:min(len(text), maxFrontMatter)]
	for line := range strings.Lines(head) {
		at += len(line)
		trimmed := strings.TrimSpace(line)
		switch {
		case opener == "" && trimmed == "":
		case opener == "":
			if closers[trimmed] == "" {
				return "", 0
			}
			opener = trimmed
		case trimmed == closers[opener]:
			if at == len(head) && len(head) < len(text) && !strings.HasSuffix(line, "\n") {
				return opener, 0 // the limit cut the line
			}
			return opener, at
		}
	}
	return opener, 0
}

// keyLine matches a line with a key and a value, which is common in front matter and rare in prose.
var keyLine = textutil.LazyRegexp(`^[A-Za-z_][\w-]*\s*[:=](\s|$)`)

// neverClosed returns the error for a text that begins with an opening delimiter and a key but has no
// closing line within maxFrontMatter. For any other text it returns nil, because the text only begins
// with a rule.
func neverClosed(opener, text string) error {
	if opener == "" {
		return nil
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	first, _, _ := strings.Cut(rest, "\n")
	if !keyLine.MatchString(first) {
		return nil
	}
	return fmt.Errorf("front matter has no closing %s within %d KiB, it is read as text", closers[opener], maxFrontMatter>>10)
}

// hasText reports whether anything is between the delimiters.
func hasText(block string) bool {
	n := 0
	for line := range strings.Lines(block) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n > 2
}

// decode returns the value of a block. Keys of nested maps are strings. If a decoder panics, which
// arbitrary files may cause, decode returns an error.
func decode(opener, block string) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("decoder panicked: %v", p)
		}
	}()
	if opener == "+++" || opener == "---toml" {
		m := map[string]any{}
		// The default formats bring the TOML decoder along.
		_, err = frontmatter.Parse(strings.NewReader(block), &m)
		if len(m) == 0 {
			return nil, err
		}
		return plain(m), err
	}
	unmarshal := yaml.Unmarshal
	if opener == ";;;" || opener == "---json" {
		unmarshal = json.Unmarshal
	}
	format := frontmatter.NewFormat(opener, closers[opener], func(data []byte, v any) error {
		if len(strings.TrimSpace(string(data))) == 0 {
			return nil
		}
		return unmarshal(data, v)
	})
	_, err = frontmatter.Parse(strings.NewReader(block), &value, format)
	return plain(value), err
}

// plain converts a decoded value to one that can be written as JSON: the keys of maps become strings,
// and infinite numbers become texts.
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
