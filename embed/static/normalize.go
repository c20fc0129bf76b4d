package static

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dlclark/regexp2"
	"golang.org/x/text/unicode/norm"
)

// normalizer returns the normalized form of a text.
type normalizer func(string) (string, error)

// normalizerFile is a normalizer in tokenizer.json. The comments name the type that uses a member.
type normalizerFile struct {
	Type string `json:"type"`

	Normalizers []*normalizerFile `json:"normalizers"` // Sequence

	Clean   *bool `json:"clean_text"` // BertNormalizer
	Chinese *bool `json:"handle_chinese_chars"`
	Accents *bool `json:"strip_accents"`
	Lower   *bool `json:"lowercase"`

	Left  *bool `json:"strip_left"` // Strip
	Right *bool `json:"strip_right"`

	Prepend string  `json:"prepend"` // Prepend
	Pattern pattern `json:"pattern"` // Replace
	Content string  `json:"content"`
	Map     []byte  `json:"precompiled_charsmap"` // Precompiled
}

// pattern is a text, or an expression in the syntax of Oniguruma. Such an expression may have a
// lookahead, which the package regexp does not support.
type pattern struct{ String, Regex string }

// on returns *b, or otherwise if b is nil.
func on(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

func plain(f func(string) string) normalizer {
	return func(s string) (string, error) { return f(s), nil }
}

// plainNormalizers are the normalizers without settings.
var plainNormalizers = map[string]func(string) string{
	"NFC":          norm.NFC.String,
	"NFD":          norm.NFD.String,
	"NFKC":         norm.NFKC.String,
	"NFKD":         norm.NFKD.String,
	"Lowercase":    strings.ToLower,
	"StripAccents": withoutMarks,
}

// normalizer returns the function that f describes. A nil f changes nothing.
func (f *normalizerFile) normalizer() (normalizer, error) {
	if f == nil {
		return plain(func(s string) string { return s }), nil
	}
	if p, ok := plainNormalizers[f.Type]; ok {
		return plain(p), nil
	}
	switch f.Type {
	case "Sequence":
		return f.sequence()
	case "BertNormalizer":
		return plain(f.bert), nil
	case "Strip":
		return plain(f.strip), nil
	case "Prepend":
		return plain(f.prepend), nil
	case "Replace":
		return f.replace()
	case "Precompiled":
		return parseCharsmap(f.Map)
	}
	return nil, fmt.Errorf("type %.50q is not known", f.Type)
}

func (f *normalizerFile) sequence() (normalizer, error) {
	all := make([]normalizer, len(f.Normalizers))
	for i, n := range f.Normalizers {
		var err error
		if all[i], err = n.normalizer(); err != nil {
			return nil, fmt.Errorf("normalizers[%d]: %w", i, err)
		}
	}
	return func(s string) (_ string, err error) {
		for _, n := range all {
			if s, err = n(s); err != nil {
				return "", err
			}
		}
		return s, nil
	}, nil
}

// bert normalizes as BERT's tokenizers do.
func (f *normalizerFile) bert(s string) string {
	lower := on(f.Lower, true)
	if on(f.Clean, true) {
		s = cleanText(s)
	}
	if on(f.Chinese, true) {
		s = spaced(s)
	}
	if on(f.Accents, lower) {
		s = withoutMarks(norm.NFD.String(s))
	}
	if lower {
		s = strings.ToLower(s)
	}
	return s
}

func (f *normalizerFile) strip(s string) string {
	if on(f.Left, true) {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
	}
	if on(f.Right, true) {
		s = strings.TrimRightFunc(s, unicode.IsSpace)
	}
	return s
}

func (f *normalizerFile) prepend(s string) string {
	if s == "" {
		return ""
	}
	return f.Prepend + s
}

// maxGrowth bounds how many times longer a text may become by replacements.
const maxGrowth = 64

var errGrowth = errors.New("normalizer: it blows the text up")

// matchTime bounds the time of matching an expression, because expressions of a model may be slow.
const matchTime = 2 * time.Second

// replace returns a normalizer that replaces each match that is not empty by the content.
func (f *normalizerFile) replace() (normalizer, error) {
	if f.Pattern.String != "" {
		return func(s string) (string, error) {
			if strings.Count(s, f.Pattern.String)*len(f.Content) > maxGrowth*(len(s)+64) {
				return "", errGrowth
			}
			return strings.ReplaceAll(s, f.Pattern.String, f.Content), nil
		}, nil
	}
	if f.Pattern.Regex == "" {
		return nil, errors.New("pattern: it is neither String nor Regex")
	}
	re, err := regexp2.Compile(f.Pattern.Regex, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	re.MatchTimeout = matchTime
	return func(s string) (string, error) {
		grown, limit := 0, maxGrowth*(len(s)+64)
		out, err := re.ReplaceFunc(s, func(m regexp2.Match) string {
			if m.Length == 0 || grown > limit {
				return ""
			}
			grown += len(f.Content)
			return f.Content
		}, -1, -1)
		switch {
		case err != nil:
			return "", fmt.Errorf("pattern %.100q: %w", f.Pattern.Regex, err)
		case grown > limit:
			return "", errGrowth
		}
		return out, nil
	}, nil
}

// withoutMarks removes combining marks, such as accents. The text must be decomposed.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// cleanText removes control characters, and replaces every white space character by a space.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || unicode.IsSpace(r):
			return ' '
		case r == 0 || r == 0xFFFD || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, s)
}

// spaced puts spaces around Chinese characters.
func spaced(s string) string {
	var b strings.Builder
	for _, r := range s {
		if isHan(r) {
			b.WriteString(" " + string(r) + " ")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHan reports whether r is in the blocks that BERT treats as Chinese.
func isHan(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
