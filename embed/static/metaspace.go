package static

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// parseMetaspace reads SentencePiece's way with spaces: they become a character of
// the words that follow them.
func parseMetaspace(raw json.RawMessage) (splitter, error) {
	c := struct {
		Replacement string `json:"replacement"`
		Scheme      string `json:"prepend_scheme"`
		Prefix      *bool  `json:"add_prefix_space"`
		Split       *bool  `json:"split"`
	}{Replacement: "▁"}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.Scheme == "" { // older files
		c.Scheme = "always"
		if c.Prefix != nil && !*c.Prefix {
			c.Scheme = "never"
		}
	}
	if utf8.RuneCountInString(c.Replacement) != 1 {
		return nil, fmt.Errorf("replacement %.20q is not one character", c.Replacement)
	}
	if c.Scheme != "always" && c.Scheme != "first" && c.Scheme != "never" {
		return nil, fmt.Errorf("prepend_scheme %.20q is not known", c.Scheme)
	}
	return func(pieces []string, first bool) (out []string, _ error) {
		for i, p := range pieces {
			p = strings.ReplaceAll(p, " ", c.Replacement)
			prepend := c.Scheme == "always" || c.Scheme == "first" && first && i == 0
			if prepend && !strings.HasPrefix(p, c.Replacement) {
				p = c.Replacement + p
			}
			if c.Split != nil && !*c.Split {
				out = append(out, p)
			} else {
				out = append(out, beginning(p, c.Replacement)...)
			}
		}
		return out, nil
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

// gpt2 is the expression by which GPT-2 cuts a text,
// github.com/openai/gpt-2/blob/master/src/encoder.py.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func parseByteLevel(raw json.RawMessage) (splitter, error) {
	c := struct {
		Prefix bool `json:"add_prefix_space"`
		Regex  bool `json:"use_regex"`
	}{true, true}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	find, err := expression(gpt2)
	if err != nil {
		return nil, err
	}
	cut, err := byPattern(find, "Isolated", false)
	if err != nil {
		return nil, err
	}
	return func(pieces []string, first bool) ([]string, error) {
		for i, p := range pieces {
			if c.Prefix && !strings.HasPrefix(p, " ") {
				pieces[i] = " " + p
			}
		}
		if c.Regex {
			var err error
			if pieces, err = cut(pieces, first); err != nil {
				return nil, err
			}
		}
		for i, p := range pieces {
			pieces[i] = byteLevel(p)
		}
		return pieces, nil
	}, nil
}

// byteLevel writes every byte as a character that can be seen: its own where it
// has one, else one from 256 on.
func byteLevel(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(byteRunes[s[i]])
	}
	return b.String()
}

var byteRunes = func() (out [256]rune) {
	next := rune(256)
	for i := range rune(256) {
		if i >= '!' && i <= '~' || i >= 0xA1 && i <= 0xAC || i >= 0xAE {
			out[i] = i
			continue
		}
		out[i] = next
		next++
	}
	return out
}()
