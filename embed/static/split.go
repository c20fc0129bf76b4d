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
	case "Metaspace":
		return parseMetaspace(raw)
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
	return func(pieces []string, first bool) []string {
		for _, n := range all {
			pieces = n(pieces, first)
		}
		return pieces
	}, nil
}

// each cuts every piece by itself.
func each(f func(string) []string) splitter {
	return func(pieces []string, _ bool) (out []string) {
		for _, p := range pieces {
			out = append(out, f(p)...)
		}
		return out
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
