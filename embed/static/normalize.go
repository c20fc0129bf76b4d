package static

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// parseNormalizer reads a normalizer; nil if there is none.
func parseNormalizer(raw json.RawMessage) (normalizer, error) {
	if isNull(raw) {
		return nil, nil
	}
	kind, err := kindOf(raw)
	if err != nil {
		return nil, err
	}
	if f, ok := plainNormalizers[kind]; ok {
		return func(s string) (string, error) { return f(s), nil }, nil
	}
	switch kind {
	case "Sequence":
		return parseNormalizers(raw)
	case "BertNormalizer":
		return parseBert(raw)
	case "Strip":
		return parseStrip(raw)
	case "Prepend":
		return parsePrepend(raw)
	case "Replace":
		return parseReplace(raw)
	case "Precompiled":
		return parsePrecompiled(raw)
	}
	return nil, fmt.Errorf("type %.50q is not known", kind)
}

// plainNormalizers have no settings.
var plainNormalizers = map[string]func(string) string{
	"NFC":          norm.NFC.String,
	"NFD":          norm.NFD.String,
	"NFKC":         norm.NFKC.String,
	"NFKD":         norm.NFKD.String,
	"Lowercase":    strings.ToLower,
	"StripAccents": withoutMarks,
	"Nmt":          nmt,
}

// withoutMarks removes the marks above and below letters; a text must be
// decomposed for that.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

// nmt removes control characters and makes one kind of space of all, as
// SentencePiece's rules for translation do.
func nmt(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 1 && r <= 8, r == 0xB, r >= 0xE && r <= 0x1F, r == 0x7F, r == 0x8F, r == 0x9F:
			return -1
		case r == 0x9, r == 0xA, r == 0xC, r == 0xD, r == 0x1680, r >= 0x200B && r <= 0x200F, r == 0x2028, r == 0x2029, r == 0x2581, r == 0xFEFF, r == 0xFFFD:
			return ' '
		}
		return r
	}, s)
}

func parseNormalizers(raw json.RawMessage) (normalizer, error) {
	var s struct {
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, err
	}
	var all []normalizer
	for i, r := range s.Normalizers {
		n, err := parseNormalizer(r)
		if err != nil {
			return nil, fmt.Errorf("normalizers[%d]: %w", i, err)
		}
		if n != nil {
			all = append(all, n)
		}
	}
	return func(s string) (string, error) {
		for _, n := range all {
			var err error
			if s, err = n(s); err != nil {
				return "", err
			}
		}
		return s, nil
	}, nil
}

// parseBert reads the normalizer of BERT's tokenizers.
func parseBert(raw json.RawMessage) (normalizer, error) {
	c := struct {
		Clean   *bool `json:"clean_text"`
		Chinese *bool `json:"handle_chinese_chars"`
		Accents *bool `json:"strip_accents"`
		Lower   *bool `json:"lowercase"`
	}{}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	on := func(b *bool, otherwise bool) bool {
		if b == nil {
			return otherwise
		}
		return *b
	}
	clean, chinese, lower := on(c.Clean, true), on(c.Chinese, true), on(c.Lower, true)
	accents := on(c.Accents, lower)
	return func(s string) (string, error) {
		if clean {
			s = cleanText(s)
		}
		if chinese {
			s = spaced(s)
		}
		if accents {
			s = withoutMarks(norm.NFD.String(s))
		}
		if lower {
			s = strings.ToLower(s)
		}
		return s, nil
	}, nil
}

// cleanText removes control characters and makes one kind of space of all.
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

// spaced puts spaces round Chinese characters.
func spaced(s string) string {
	var b strings.Builder
	for _, r := range s {
		if isHan(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isHan reports whether r is in the blocks that BERT takes for Chinese.
func isHan(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}

func parseStrip(raw json.RawMessage) (normalizer, error) {
	c := struct {
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}{true, true}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	return func(s string) (string, error) {
		if c.Left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if c.Right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s, nil
	}, nil
}

func parsePrepend(raw json.RawMessage) (normalizer, error) {
	var c struct {
		Prepend string `json:"prepend"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	return func(s string) (string, error) {
		if s == "" {
			return "", nil
		}
		return c.Prepend + s, nil
	}, nil
}

// maxGrowth bounds the length of a text after replacements, in times its length before.
const maxGrowth = 64

var errGrowth = errors.New("normalizer: it blows the text up")

func parseReplace(raw json.RawMessage) (normalizer, error) {
	var c struct {
		Pattern json.RawMessage `json:"pattern"`
		Content string          `json:"content"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	find, err := parsePattern(c.Pattern)
	if err != nil {
		return nil, err
	}
	return func(s string) (string, error) {
		at, err := find(s)
		if err != nil || len(at) == 0 {
			return s, err
		}
		if len(at)*len(c.Content) > maxGrowth*(len(s)+64) {
			return "", errGrowth
		}
		var b strings.Builder
		end := 0
		for _, m := range at {
			b.WriteString(s[end:m[0]])
			b.WriteString(c.Content)
			end = m[1]
		}
		b.WriteString(s[end:])
		return b.String(), nil
	}, nil
}
