package static

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter cuts pieces of a text into smaller pieces. first reports whether pieces[0] begins the text.
type splitter func(pieces []string, first bool) []string

// splitterFile is a pre-tokenizer in tokenizer.json. The comments name the type that uses a member.
type splitterFile struct {
	Type string `json:"type"`

	Splitters []*splitterFile `json:"pretokenizers"` // Sequence

	Replacement *string `json:"replacement"` // Metaspace
	Scheme      string  `json:"prepend_scheme"`
	Prefix      *bool   `json:"add_prefix_space"` // in older files, in place of the scheme
	Split       *bool   `json:"split"`
}

// splitter returns the function that f describes. A nil f changes nothing.
func (f *splitterFile) splitter() (splitter, error) {
	if f == nil {
		return func(pieces []string, _ bool) []string { return pieces }, nil
	}
	switch f.Type {
	case "Sequence":
		return f.sequence()
	case "BertPreTokenizer":
		return each(func(s string) []string { return byRune(s, bertRune) }), nil
	case "Whitespace":
		return each(func(s string) []string { return byRune(s, wordRune) }), nil
	case "WhitespaceSplit":
		return each(strings.Fields), nil
	case "Metaspace":
		return f.metaspace()
	}
	return nil, fmt.Errorf("type %.50q is not known", f.Type)
}

func (f *splitterFile) sequence() (splitter, error) {
	all := make([]splitter, len(f.Splitters))
	for i, s := range f.Splitters {
		var err error
		if all[i], err = s.splitter(); err != nil {
			return nil, fmt.Errorf("pretokenizers[%d]: %w", i, err)
		}
	}
	return func(pieces []string, first bool) []string {
		for _, split := range all {
			pieces = split(pieces, first)
		}
		return pieces
	}, nil
}

// each returns a splitter that calls f for each piece.
func each(f func(string) []string) splitter {
	return func(pieces []string, _ bool) (out []string) {
		for _, p := range pieces {
			out = append(out, f(p)...)
		}
		return out
	}
}

// class is the role of a character in a cut: left out, a piece by itself, or part of a run of
// characters of the same class.
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

// isPunctuation reports whether r is punctuation in Unicode, or an ASCII character other than letters,
// digits, space and control characters.
func isPunctuation(r rune) bool {
	return r < utf8.RuneSelf && r > ' ' && r != 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsPunct(r)
}

// wordRune returns the classes for cutting a text into the matches of \w+|[^\w\s]+.
func wordRune(r rune) class {
	switch {
	case isWord(r):
		return firstRun
	case unicode.IsSpace(r):
		return leftOut
	}
	return firstRun + 1
}

// metaspace returns SentencePiece's splitter, which replaces a space by a mark at the beginning of the
// next word.
func (f *splitterFile) metaspace() (splitter, error) {
	mark, scheme := "▁", f.Scheme
	if f.Replacement != nil {
		mark = *f.Replacement
	}
	switch {
	case scheme == "" && on(f.Prefix, true):
		scheme = "always"
	case scheme == "":
		scheme = "never"
	case scheme != "always" && scheme != "first" && scheme != "never":
		return nil, fmt.Errorf("prepend_scheme %.20q is not known", scheme)
	}
	if utf8.RuneCountInString(mark) != 1 {
		return nil, fmt.Errorf("replacement %.20q is not one character", mark)
	}
	return func(pieces []string, first bool) (out []string) {
		for i, p := range pieces {
			p = strings.ReplaceAll(p, " ", mark)
			if (scheme == "always" || scheme == "first" && first && i == 0) && !strings.HasPrefix(p, mark) {
				p = mark + p
			}
			if on(f.Split, true) {
				out = append(out, beginning(p, mark)...)
			} else {
				out = append(out, p)
			}
		}
		return out
	}, nil
}

// beginning cuts a text before every occurrence of a mark.
func beginning(s, mark string) (out []string) {
	for {
		_, size := utf8.DecodeRuneInString(s)
		i := strings.Index(s[size:], mark)
		if i < 0 {
			return append(out, s)
		}
		out = append(out, s[:size+i])
		s = s[size+i:]
	}
}
