package static

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseSplitter reads a pre-tokenizer; nil if there is none.
func parseSplitter(raw json.RawMessage) (splitter, error) {
	if isNull(raw) {
		return nil, nil
	}
	kind, err := kindOf(raw)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "Sequence":
		return parseSplitters(raw)
	case "BertPreTokenizer":
		return each(func(s string) []string { return byRune(s, bertRune) }), nil
	case "Whitespace":
		return each(func(s string) []string { return byRune(s, wordRune) }), nil
	case "WhitespaceSplit":
		return each(strings.Fields), nil
	case "Digits":
		return parseDigits(raw)
	case "Punctuation":
		return parsePunctuation(raw)
	case "Split":
		return parseSplit(raw)
	case "Metaspace":
		return parseMetaspace(raw)
	case "ByteLevel":
		return parseByteLevel(raw)
	}
	return nil, fmt.Errorf("type %.50q is not known", kind)
}

func parseSplitters(raw json.RawMessage) (splitter, error) {
	var s struct {
		Splitters []json.RawMessage `json:"pretokenizers"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	var all []splitter
	for i, r := range s.Splitters {
		n, err := parseSplitter(r)
		if err != nil {
			return nil, fmt.Errorf("pretokenizers[%d]: %w", i, err)
		}
		if n != nil {
			all = append(all, n)
		}
	}
	return func(pieces []string, first bool) ([]string, error) {
		for _, n := range all {
			var err error
			if pieces, err = n(pieces, first); err != nil {
				return nil, err
			}
		}
		return pieces, nil
	}, nil
}

// each cuts every piece by itself.
func each(f func(string) []string) splitter {
	return func(pieces []string, _ bool) (out []string, _ error) {
		for _, p := range pieces {
			out = append(out, f(p)...)
		}
		return out, nil
	}
}

// class is the role of a character in a cut: part of a run of its class, alone, or left out.
type class int

const (
	leftOut class = iota
	single
	firstRun
)

// byRune cuts a text into runs of one class and single characters.
func byRune(s string, of func(rune) class) (out []string) {
	from, run := 0, leftOut
	for i, r := range s {
		c := of(r)
		if c == run && c >= firstRun {
			continue
		}
		if run != leftOut {
			out = append(out, s[from:i])
		}
		from, run = i, c
	}
	if run != leftOut {
		out = append(out, s[from:])
	}
	return out
}

func bertRune(r rune) class {
	switch {
	case unicode.IsSpace(r):
		return leftOut
	case isPunctuation(r):
		return single
	}
	return firstRun
}

// isPunctuation reports whether r is punctuation in Unicode or one of the
// signs of ASCII.
func isPunctuation(r rune) bool {
	return r < utf8.RuneSelf && r > ' ' && r != 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsPunct(r)
}

// wordRune is \w+|[^\w\s]+.
func wordRune(r rune) class {
	switch {
	case isWord(r):
		return firstRun
	case unicode.IsSpace(r):
		return leftOut
	}
	return firstRun + 1
}

func parseDigits(raw json.RawMessage) (splitter, error) {
	var c struct {
		Individual bool `json:"individual_digits"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	return each(func(s string) []string {
		return byRune(s, func(r rune) class {
			switch {
			case !unicode.IsNumber(r):
				return firstRun
			case c.Individual:
				return single
			}
			return firstRun + 1
		})
	}), nil
}

func parsePunctuation(raw json.RawMessage) (splitter, error) {
	c := struct {
		Behavior string `json:"behavior"`
	}{"Isolated"}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	find := func(s string) (out [][2]int, _ error) {
		for i, r := range s {
			if isPunctuation(r) {
				out = append(out, [2]int{i, i + utf8.RuneLen(r)})
			}
		}
		return out, nil
	}
	return byPattern(find, c.Behavior, false)
}

func parseSplit(raw json.RawMessage) (splitter, error) {
	var c struct {
		Pattern  json.RawMessage `json:"pattern"`
		Behavior string          `json:"behavior"`
		Invert   bool            `json:"invert"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	find, err := parsePattern(c.Pattern)
	if err != nil {
		return nil, err
	}
	return byPattern(find, c.Behavior, c.Invert)
}

// byPattern cuts every piece where a pattern matches, or where it doesn't.
func byPattern(find pattern, behavior string, invert bool) (splitter, error) {
	join, ok := behaviors[behavior]
	if !ok {
		return nil, fmt.Errorf("behavior %.50q is not known", behavior)
	}
	return func(pieces []string, _ bool) (out []string, _ error) {
		for _, p := range pieces {
			at, err := find(p)
			if err != nil {
				return nil, err
			}
			out = append(out, join(stretches(p, at, invert))...)
		}
		return out, nil
	}, nil
}

// stretch is a part of a text that matches, or is between two that do.
type stretch struct {
	text  string
	match bool
}

func stretches(s string, at [][2]int, invert bool) (out []stretch) {
	add := func(text string, match bool) {
		if text != "" {
			out = append(out, stretch{text, match != invert})
		}
	}
	end := 0
	for _, m := range at {
		add(s[end:m[0]], false)
		add(s[m[0]:m[1]], true)
		end = m[1]
	}
	add(s[end:], false)
	return out
}

// behaviors turn the stretches of a text into parts, by the name of the behavior.
var behaviors = map[string]func([]stretch) []string{
	"Removed": func(in []stretch) (out []string) {
		for _, s := range in {
			if !s.match {
				out = append(out, s.text)
			}
		}
		return out
	},
	"Isolated":           func(in []stretch) []string { return joined(in, func(stretch, stretch) bool { return false }) },
	"Contiguous":         func(in []stretch) []string { return joined(in, func(a, b stretch) bool { return a.match == b.match }) },
	"MergedWithPrevious": func(in []stretch) []string { return joined(in, func(a, b stretch) bool { return !a.match && b.match }) },
	"MergedWithNext":     func(in []stretch) []string { return joined(in, func(a, b stretch) bool { return a.match && !b.match }) },
}

// joined puts neighbours together.
func joined(in []stretch, together func(a, b stretch) bool) (out []string) {
	for i, s := range in {
		if i > 0 && together(in[i-1], s) {
			out[len(out)-1] += s.text
		} else {
			out = append(out, s.text)
		}
	}
	return out
}
