// Package textutil holds string functions that several packages use: show foreign text safely on
// a terminal (Visible), find the word that a typing error meant (Nearest), match paths against
// globs and .gitignore rules (Globs, Ignore), decode UTF-16 (UTF8), and name folders (SafeName).
// It knows no file format, and opens no files.
package textutil

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s in a form that a terminal only prints. Characters that move the cursor,
// control the terminal, change the order of writing or can't be seen become escapes. Joiners
// within Arabic, Indic and emoji stay, and so do selectors after a character.
//
// Escapes have the form \u{1b} for a character, and \x9b for a byte that is not valid UTF-8. Line
// feeds, also with a carriage return before them, and tabs stay.
func Visible(s string) string { return new(VisibleRun).Text(s) }

// VisibleRun applies Visible to a text that comes in pieces. The zero value is ready for the
// first piece.
type VisibleRun struct{ last, base rune } // the previous character, and the last character that is not a mark on another

// Text returns the next piece, as Visible shows it.
func (c *VisibleRun) Text(s string) string {
	return c.replace(s, func(b *strings.Builder, r rune, bad string) {
		if r == utf8.RuneError {
			fmt.Fprintf(b, `\x%02x`, bad[0])
			return
		}
		fmt.Fprintf(b, `\u{%x}`, r)
	})
}

// VisibleJSON returns the same JSON document, with JSON escapes for the characters that Visible
// replaces. Bytes that are not valid UTF-8 become U+FFFD, as decoders read them.
func VisibleJSON(doc string) string {
	return new(VisibleRun).replace(doc, func(b *strings.Builder, r rune, _ string) {
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
			return
		}
		fmt.Fprintf(b, `\u%04x`, r)
	})
}

// IsVisible reports whether a name, or a path, can be shown as it is: on one line, with
// nothing that Visible would replace.
func IsVisible(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return !strings.ContainsAny(s, "\n\t\r") && Visible(s) == s
		}
	}
	return true
}

// replace lets f write the replacement of every rune that must not stay.
func (c *VisibleRun) replace(s string, f func(b *strings.Builder, r rune, bad string)) string {
	var b strings.Builder
	done := 0 // length of the part of s that is in b
	for i := 0; i < len(s); {
		if s[i] >= ' ' && s[i] < 0x7f {
			c.saw(rune(s[i]))
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && n == 1
		if m := c.sequence(s[i:]); m > 0 {
			i += m
			continue
		}
		if bad || !c.allows(r, s[i+n:]) {
			b.WriteString(s[done:i])
			f(&b, r, s[i:i+n])
			done = i + n
			*c = VisibleRun{}
		} else {
			c.saw(r)
		}
		i += n
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

func (c *VisibleRun) saw(r rune) {
	c.last = r
	if !unicode.Is(unicode.M, r) {
		c.base = r
	}
}

// allows reports whether a character may stay as it is, before the rest of the text.
func (c *VisibleRun) allows(r rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\n', r == '\t':
		return true
	case r == '\r':
		return next == '\n'
	case r < ' ', r >= 0x7f && r < 0xa0:
		return false
	case r == '\u200c': // Persian writes it at the end of a stem
		return unicode.In(c.base, joining...) && c.seen()
	case r == '\u200d':
		return c.seen() && (unicode.In(c.base, joining...) || emoji(c.base) && emoji(next))
	case r == '\u200b': // between words of scripts that write no spaces
		return unicode.In(c.base, spaceless...) && c.seen()
	case r == '\u180e':
		return unicode.Is(unicode.Mongolian, c.base)
	case unicode.Is(unicode.Variation_Selector, r):
		return c.base > ' ' && c.seen() && !unicode.Is(unicode.Variation_Selector, c.last)
	}
	return !unicode.Is(hidden, r)
}

// seen reports whether the previous character is visible by itself.
func (c *VisibleRun) seen() bool {
	return c.last != '\u200b' && c.last != '\u200c' && c.last != '\u200d' && c.last != '\u180e'
}

// emoji reports whether r is a character that a joiner can combine with others into one picture.
func emoji(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= 0x1f3fb && r <= 0x1f3ff || r == '↔'
}

// flags are the sequences of tags that are in use after a black flag: England, Scotland, Wales.
var flags = []string{tags("gbeng"), tags("gbsct"), tags("gbwls")}

func tags(s string) string {
	var b strings.Builder
	for _, r := range s + "\x7f" {
		b.WriteRune(0xe0000 + r)
	}
	return b.String()
}

// sequence returns the length of the tags of a flag at the start of s, 0 if s does not begin with
// such tags.
func (c *VisibleRun) sequence(s string) int {
	if c.last != '🏴' {
		return 0
	}
	for _, f := range flags {
		if strings.HasPrefix(s, f) {
			return len(f)
		}
	}
	return 0
}

// joining are the scripts in which joiners decide on the shape of letters.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mandaic, unicode.Mongolian, unicode.Phags_Pa, unicode.Adlam, unicode.Hanifi_Rohingya,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Sinhala, unicode.Myanmar, unicode.Khmer, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Sundanese,
	unicode.Brahmi, unicode.Grantha, unicode.Newa, unicode.Chakma, unicode.Meetei_Mayek, unicode.Tirhuta, unicode.Siddham, unicode.Modi,
	{R16: []unicode.Range16{{Lo: 0x0640, Hi: 0x0640, Stride: 1}}}, // the stroke that lengthens Arabic
}

// spaceless are scripts that separate words by a zero-width space.
var spaceless = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Javanese, unicode.Balinese, unicode.Tai_Tham, unicode.Tibetan}

// hidden are characters that reverse the order of writing, break lines or take no room. No text
// needs them to be readable.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, // soft hyphen
		{Lo: 0x034f, Hi: 0x034f, Stride: 1},
		{Lo: 0x061c, Hi: 0x061c, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x200e, Hi: 0x200f, Stride: 1},
		{Lo: 0x2028, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1},
		{Lo: 0xe0000, Hi: 0xe00ff, Stride: 1}, // tags
		{Lo: 0xe01f0, Hi: 0xe0fff, Stride: 1},
	},
}
