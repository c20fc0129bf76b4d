package budget

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/suite"
)

// reference returns the tokenizer that our own is measured against.
var reference = func() func(tb testing.TB, name string) *tiktoken.Tiktoken {
	var mu sync.Mutex
	made := map[string]*tiktoken.Tiktoken{}
	return func(tb testing.TB, name string) *tiktoken.Tiktoken {
		tb.Helper()
		mu.Lock()
		defer mu.Unlock()
		if made[name] == nil {
			tiktoken.SetBpeLoader(loader.NewOfflineLoader())
			enc, err := tiktoken.GetEncoding(name + "_base")
			if err != nil {
				tb.Fatal(err)
			}
			made[name] = enc
		}
		return made[name]
	}
}()

var vocabularies = []string{o200k, cl100k}

func exact(name string) *bpe {
	c, _ := For(name)
	return c.(*bpe)
}

func wantCount(tb testing.TB, name, text string) {
	tb.Helper()
	want := len(reference(tb, name).EncodeOrdinary(text))
	got := exact(name).Count(text)
	if got.Tokens != want || got.Bound != want || got.Kind != Exact {
		tb.Errorf("%s of %.60q (%d bytes): got %+v, reference counts %d", name, text, len(text), got, want)
	}
}

func TestCountEqualsReference(t *testing.T) {
	texts := []string{
		"", " ", "\n", "a", "hello world", "Hello, World! It's 2026-11-20.",
		"don't DON'T we'll WE'LL they're I'VE o'reilly 'sup 'S 'l 'll' 'r", "l'été d'Été s'ſ 'ſ",
		"HTTPServer camelCase snake_case SCREAMING_CASE ABCdefGHI",
		"1 12 123 1234 12345678 3.14159 ½ Ⅷ ٣٤٥ ௧௨௩",
		"  a   b\t\tc \n\n d\r\n\r\n  e   ", "   ", "\t\t\n", " \n ", "\u00a0\u00a0x", "\u2003\u2003\n y", "\u0085\u2028 z",
		"//// /\n/\r/ a//b\n\n", "...\n\n\n", "{\"a\":[1,2,{\"b\":null}]}\n",
		"日本語のテキスト。漢字とひらがな", "中文文本，测试一下。", "漢ABC漢DEF", "한국어 텍스트", "ไทย ภาษา", "हिन्दी में", "العربية",
		"e\u0301a\u0300 \u0301abc \u0301ABC \u0301's !\u0301 !!\u0301x", "\u0301\u0301\u0301", "ǅungla ǅ ʰa Aʰ Aʰb",
		"👍🏽 👨‍👩‍👧‍👦 🇩🇪", "\ufeffbom", "\x00\x00", "a\x00", "abc\x00def\x00", "<|endoftext|> <|endofprompt|> <|fim_prefix|>",
		"\xff", "\xff\xfe\xfd", "a\xffb", " \xe4\xb8", "\xed\xa0\x80", "x\xf4\x90\x80\x80y", "\xc0\x80", "caf\xe9 na\xefve",
		"\u0130'S K'l \u212a", strings.Repeat("-", 300), strings.Repeat("=", 77), strings.Repeat(" ", 200) + "x", strings.Repeat("\n", 90),
		strings.Repeat("ab", 150), strings.Repeat("a", 511), strings.Repeat("a", 512), strings.Repeat("a", 513), strings.Repeat("a", 1200),
		strings.Repeat("漢字", 120), strings.Repeat("\xff", 100), strings.Repeat("é", 400),
	}
	for _, name := range vocabularies {
		t.Run(name, func(t *testing.T) {
			for _, text := range texts {
				wantCount(t, name, text)
			}
		})
	}
}

// TestEveryToken counts each token's own text, alone and behind a letter.
func TestEveryToken(t *testing.T) {
	for _, name := range vocabularies {
		ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + "_base.tiktoken")
		if err != nil {
			t.Fatal(err)
		}
		v := exact(name).vocab
		for tok, rank := range ranks {
			if got, _, _ := v.merge(tok); got != 1 {
				t.Fatalf("%s: token %q (%d) merges into %d tokens", name, tok, rank, got)
			}
			if utf8.ValidString(tok) && !v.whole(tok, 0, len(tok)) {
				t.Fatalf("%s: token %q (%d) is not found whole", name, tok, rank)
			}
		}
	}
}

// TestClassesFollowUnicode fails when Go's unicode tables move on; go generate
// then mends it.
func TestClassesFollowUnicode(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		c, n := classAt(string(r), 0)
		m := unicode.Is(unicode.M, r)
		lo := unicode.Is(unicode.Lm, r) || unicode.Is(unicode.Lo, r)
		for _, check := range []struct {
			what      string
			got, want bool
		}{
			{"width", n == utf8.RuneLen(r), true},
			{"upper", c&classUpper != 0, m || lo || unicode.Is(unicode.Lu, r) || unicode.Is(unicode.Lt, r)},
			{"lower", c&classLower != 0, m || lo || unicode.Is(unicode.Ll, r)},
			{"mark", c&classMark != 0, m},
			{"number", c&classNumber != 0, unicode.Is(unicode.N, r)},
			{"space", c&classSpace != 0, unicode.IsSpace(r)},
			{"newline", c&classNewline != 0, r == '\n' || r == '\r'},
			{"letter", isLetter(c), unicode.IsLetter(r)},
			{"symbol", isSymbol(c), !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.Is(unicode.N, r)},
			{"lead", isLead(c), r != '\r' && r != '\n' && !unicode.IsLetter(r) && !unicode.Is(unicode.N, r)},
		} {
			if check.got != check.want {
				t.Fatalf("%U: %s is %v, unicode says %v", r, check.what, check.got, check.want)
			}
		}
	}
}

// TestMergeOrder compares long pieces with merging pair by pair.
func TestMergeOrder(t *testing.T) {
	v := exact(o200k).vocab
	rng := rand.New(rand.NewPCG(1, 2))
	alphabets := []string{"a", "ab", "-=", "aeiostrn", "漢字日本", " \t", "abcdefghijklmnopqrstuvwxyz"}
	for range suite.Pick(300, 1500) {
		letters := alphabets[rng.IntN(len(alphabets))]
		var b strings.Builder
		for n := 1 + rng.IntN(900); b.Len() < n; {
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
		piece := b.String()
		var ids []uint32
		for i := range len(piece) {
			ids = append(ids, load32(v.bytes, 4*int(piece[i])))
		}
		for {
			best, at := uint32(noID), 0
			for i := range ids[1:] {
				if id := v.pair(ids[i], ids[i+1]); id < best {
					best, at = id, i
				}
			}
			if best == noID {
				break
			}
			ids = slices.Replace(ids, at, at+2, best)
		}
		if got, first, _ := v.merge(piece); got != len(ids) || first != ids[0] {
			t.Fatalf("merged %d tokens, want %d, for %q", got, len(ids), piece)
		}
	}
}

// TestUnboundedRuns counts runs on which merging is quadratic if done naively.
func TestUnboundedRuns(t *testing.T) {
	n := suite.Pick(1<<16, 1<<20)
	for _, s := range []string{"a", "A", "-", " ", "\n", "漢", "é", "\u0301", "\xff", "ab", "\t ", "x\xff"} {
		text := strings.Repeat(s, n/len(s))
		for _, name := range vocabularies {
			if got := exact(name).Count(text).Tokens; got <= 0 || got > 3*len(text) {
				t.Errorf("%s: %d tokens for %d bytes of %q", name, got, len(text), s)
			}
		}
	}
}

func TestCountDoesNotAllocate(t *testing.T) {
	text := strings.Join(ourSource(t), "\n") + strings.Repeat("漢字かな", 500) + strings.Repeat("-", 5000)
	for _, name := range vocabularies {
		c, err := For(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(3, func() { c.Count(text) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// ourSource is this package's own Go files.
func ourSource(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		tb.Fatal("no source files", err)
	}
	var out []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, string(data))
	}
	return out
}

func TestSourceEqualsReference(t *testing.T) {
	for _, name := range vocabularies {
		for _, text := range ourSource(t) {
			wantCount(t, name, text)
		}
	}
}

// TestAllRunesEqualReference takes every code point, with neighbours of other
// kinds.
func TestAllRunesEqualReference(t *testing.T) {
	stride := suite.Pick(rune(17), 1)
	var b strings.Builder
	for r := rune(0); r <= unicode.MaxRune; {
		b.Reset()
		for i := 0; i < 400 && r <= unicode.MaxRune; i++ {
			b.WriteString([]string{"", " ", "A", "a", "'s", "1", "\n", "!"}[i%8])
			b.WriteRune(r)
			if r += stride; r > 0x323AF && r < 0xE0000 {
				r = 0xE0000 // nothing is assigned in between
			} else if r > 0xE0200 && r < 0x10FF00 {
				r = 0x10FF00
			}
		}
		wantCount(t, o200k, b.String())
		if stride == 1 {
			wantCount(t, cl100k, b.String())
		}
	}
}

func TestRandomTextEqualsReference(t *testing.T) {
	for _, name := range vocabularies {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				text := mixedText().Draw(rt, "text")
				if got, want := exact(name).Count(text).Tokens, len(reference(t, name).EncodeOrdinary(text)); got != want {
					rt.Fatalf("%s of %q: got %d, reference counts %d", name, text, got, want)
				}
			})
		})
	}
}

// mixedText joins fragments that exercise each rule of the split patterns.
func mixedText() *rapid.Generator[string] {
	fragment := rapid.OneOf(
		rapid.StringMatching(`[a-z]{1,12}`),
		rapid.StringMatching(`[A-Z]{1,4}[a-z]{0,6}`),
		rapid.StringMatching(`[0-9]{1,7}`),
		rapid.StringMatching(`[ \t\r\n]{1,6}`),
		rapid.StringMatching(`[!-/:-@\[-`+"`"+`{-~]{1,6}`),
		rapid.StringMatching(`[A-Za-z0-9+/]{8,60}={0,2}`),
		rapid.SampledFrom([]string{"'s", "'T", "'re", "'VE", "'m", "'ll", "'D", "'", "’s", "/", "\n/", "  ", " \n", "\u00a0", "\u3000", "\u2028"}),
		rapid.SampledFrom([]string{"\xff", "\xc3", "\xe4\xb8", "\xed\xa0\x80", "\xf0\x9f", "\x80", "\xf5\x80\x80\x80", "\x00"}),
		rapid.SampledFrom([]string{"\u0301", "\u0300\u0327", "\u20dd", "\ufe0f", "\u200d", "\u200b", "ʰ", "ǅ", "ﬁ", "ß", "ẞ", "İ", "K", "ſ"}),
		rapid.StringOfN(rapid.RuneFrom(nil, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul), 1, 12, -1),
		rapid.StringOfN(rapid.RuneFrom(nil, unicode.Cyrillic, unicode.Greek, unicode.Arabic, unicode.Hebrew, unicode.Devanagari, unicode.Thai), 1, 12, -1),
		rapid.StringOfN(rapid.RuneFrom(nil, unicode.N, unicode.So, unicode.M, unicode.Lm, unicode.Lt), 1, 6, -1),
		rapid.StringOfN(rapid.Rune(), 1, 8, -1),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 1, 8), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(1, 40), func(n int) string { return strings.Repeat(" ", n) }),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"-", "=", "a", "ha", "漢", "\n", "\t", "."}).Draw(t, "run"),
				rapid.IntRange(1, 150).Draw(t, "times"))
		}),
	)
	return rapid.Map(rapid.SliceOfN(fragment, 1, 20), func(parts []string) string { return strings.Join(parts, "") })
}

// FuzzO200kEqualsReference compares with the reference on any bytes. Long runs
// are left out: the reference is quadratic on them.
func FuzzO200kEqualsReference(f *testing.F) {
	for _, s := range []string{"", "hello world", "don't\n\n  x", "漢ABC\u0301's", "\xff\xfe a", "123456 ½", " \t\r\n/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			t.Skip()
		}
		wantCount(t, o200k, text)
	})
}
