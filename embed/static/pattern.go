package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// pattern finds the parts of a text that match, as ranges of bytes.
type pattern func(text string) ([][2]int, error)

// matchTime bounds an expression with a text: they come with the model and need
// not be reasonable.
const matchTime = 2 * time.Second

// parsePattern reads {"String": …} or {"Regex": …}. Expressions are Oniguruma's, with lookahead,
// which regexp does not support.
func parsePattern(raw json.RawMessage) (pattern, error) {
	var p struct {
		String *string
		Regex  *string
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	switch {
	case p.String != nil && *p.String != "":
		return literal(*p.String), nil
	case p.Regex != nil && *p.Regex != "":
		return expression(*p.Regex)
	}
	return nil, errors.New("pattern: it is neither String nor Regex")
}

func literal(s string) pattern {
	return func(text string) (out [][2]int, _ error) {
		for from := 0; ; {
			i := strings.Index(text[from:], s)
			if i < 0 {
				return out, nil
			}
			out = append(out, [2]int{from + i, from + i + len(s)})
			from += i + len(s)
		}
	}
}

func expression(s string) (pattern, error) {
	re, err := regexp2.Compile(s, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	re.MatchTimeout = matchTime
	return func(text string) (out [][2]int, _ error) {
		at := offsets(text)
		m, err := re.FindStringMatch(text)
		for ; m != nil && err == nil; m, err = re.FindNextMatch(m) {
			if m.Length > 0 {
				out = append(out, [2]int{at[m.Index], at[m.Index+m.Length]})
			}
		}
		if err != nil {
			return nil, fmt.Errorf("pattern %.100q: %w", s, err)
		}
		return out, nil
	}, nil
}

// offsets returns the bytes at which the characters of a text begin, and its
// length.
func offsets(text string) []int {
	out := make([]int, 0, utf8.RuneCountInString(text)+1)
	for i := range text {
		out = append(out, i)
	}
	return append(out, len(text))
}
