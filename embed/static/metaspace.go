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
	return func(pieces []string, first bool) (out []string) {
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
