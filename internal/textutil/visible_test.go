package textutil

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// readable is text that must stay as it is, in many scripts.
var readable = []string{
	"", "plain", "two\nlines\r\nand\ta tab", "naïve café – “quoted” …", "日本語 한국어 中文", "葛\U000e0100城市", // a selector for a kanji's shape
	"مرحبا بالعالم، كيف الحال؟", "שלום עולם, מה נשמע?", "שָׁלוֹם",
	"می‌خواهم کتاب‌های خوب بخوانم", "خانه‌ای", "مُـ‌ہ",
	"हिन्दी में क्‍षमा और क्‌ष", "বাংলা র‍্যাব", "മലയാളം ന്‍", "ශ්‍රී ලංකා", "தமிழ் க்‌ஷ", "ภาษา​ไทย", "ភាសា​ខ្មែរ",
	"👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 ❤️‍🔥 👁️‍🗨️ 🧑‍⚕️ 🐦‍⬛ 🙂‍↔️ 👩‍❤️‍💋‍👨 ☺️ 1️⃣ 🇩🇪", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿", "e\u0301", "\ufffd", "ᠮᠣᠩᠭᠣᠯ\u180eᠠ",
}

func TestReadableTextStays(t *testing.T) {
	for _, s := range readable {
		if got := Visible(s); got != s {
			t.Errorf("Visible(%+q) = %+q", s, got)
		}
		if got := VisibleJSON(s); got != s {
			t.Errorf("VisibleJSON(%+q) = %+q", s, got)
		}
	}
}

func TestHostileTextIsShown(t *testing.T) {
	for s, want := range map[string]string{
		"\x1b]52;c;aGk=\a":                `\u{1b}]52;c;aGk=\u{7}`,
		"\x1b[2J\x1b[31m":                 `\u{1b}[2J\u{1b}[31m`,
		"\x1bP1$r\x1b\\":                  `\u{1b}P1$r\u{1b}\`,
		"a\rb\bc\x00\x7f":                 `a\u{d}b\u{8}c\u{0}\u{7f}`,
		"a\r\r\n":                         "a\\u{d}\r\n",
		"\u009b2J\u009d0;x\u009c\u0085":   `\u{9b}2J\u{9d}0;x\u{9c}\u{85}`,
		"\x9b2J \xff \xe2\x80":            `\x9b2J \xff \xe2\x80`,
		"a\u202ecod.exe\u202c":            `a\u{202e}cod.exe\u{202c}`,
		"\u2066x\u2069\u200e\u200f\u061c": `\u{2066}x\u{2069}\u{200e}\u{200f}\u{61c}`,
		"pay\u200bpal\u200c\u200d":        `pay\u{200b}pal\u{200c}\u{200d}`,
		"a\u2060b\ufeffc\u00add":          `a\u{2060}b\u{feff}c\u{ad}d`,
		"😀\U000e0041\U000e0042":           `😀\u{e0041}\u{e0042}`,
		"🏴\U000e0041\U000e007f":           `🏴\u{e0041}\u{e007f}`,
		"😀\U000e0101\U000e0102":           "😀\U000e0101\\u{e0102}",
		"\ufe0f":                          `\u{fe0f}`,
		"می‌‌":                            "می‌\\u{200c}",
		"👩‍x":                             `👩\u{200d}x`,
		"line\u2028par\u2029":             `line\u{2028}par\u{2029}`,
		"\u3164\u115f":                    `\u{3164}\u{115f}`,
	} {
		if got := Visible(s); got != want {
			t.Errorf("Visible(%+q) = %s, want %s", s, got, want)
		}
		if IsVisible(s) {
			t.Errorf("IsVisible(%+q) holds", s)
		}
	}
}

func TestNames(t *testing.T) {
	for _, s := range []string{"memory/2026-01-02.md", "memory/یادداشت‌ها.md", "memory/notes 👨‍👩‍👧.md", "メモ.md", "a\\b"} {
		if !IsVisible(s) {
			t.Errorf("IsVisible(%q) does not hold", s)
		}
	}
	for _, s := range []string{"a\nb", "a\tb", "a\r\nb"} {
		if IsVisible(s) {
			t.Errorf("IsVisible(%q) holds", s)
		}
	}
}

// Whatever is given, nothing is left that a terminal acts on, what is shown is shown the
// same way again, and a JSON document means what it meant.
func TestNothingGetsThrough(t *testing.T) {
	pieces := rapid.OneOf(rapid.String(), rapid.SampledFrom(readable), rapid.SampledFrom([]string{"\x1b", "\x9b", "\u009b", "\u202e", "\u200d", "\u200c", "\ufe0f", "\U000e0041", "🏴", "क", "ی", "\r", "\n"}))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")
		got := Visible(s)
		if Visible(got) != got || !utf8.ValidString(got) {
			t.Fatalf("Visible(%+q) = %+q is not shown the same again", s, got)
		}
		for _, r := range strings.ReplaceAll(got, "\r\n", "\n") {
			if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("Visible(%+q) holds %U", s, r)
			}
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var a, b string
		doc := VisibleJSON(string(raw))
		if json.Unmarshal(raw, &a) != nil || json.Unmarshal([]byte(doc), &b) != nil || a != b {
			t.Fatalf("VisibleJSON(%q) = %q means another", raw, doc)
		}
		if Visible(doc) != doc {
			t.Fatalf("VisibleJSON(%q) = %q is not safe to show", raw, doc)
		}
	})
}
