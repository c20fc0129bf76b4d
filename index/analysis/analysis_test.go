package analysis

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func newAnalyzer(t testing.TB) *Analyzer {
	t.Helper()
	a := New()
	return a
}

func TestIndex(t *testing.T) {
	a := newAnalyzer(t)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"punctuation", "--- *** !?", ""},
		{"stems", "The deployments were failing", "the deploy were fail"},
		{"function words stay", "to be or not to be", "to be or not to be"},
		{"camel case", "HTTPServer", "http server httpserver"},
		{"snake case", "http_server", "http server httpserver"},
		{"kebab case", "http-server", "http server httpserver"},
		{"plural acronym", "APIs", "api"},
		{"lone capitals", "README NASA", "readm nasa"},
		{"inner capital", "iPhone OpenClaw", "phone iphon open claw openclaw"},
		{"file name", "src/parse_tree.go", "src pars tree go parsetreego"},
		{"dotted version", "v1.61.1", "v1 61 1 v1611"},
		{"date", "2026-03-24", "2026 03 24 20260324"},
		{"thousands", "1,234 a,b", "1 234 1234 a b"},
		{"digits stay with letters", "sha256 gpt-4", "sha256 gpt 4 gpt4"},
		{"sentence end", "Stop. Go on.", "stop go on"},
		{"C++ and C#", "C++, C# and F#.", "c cplusplu c csharp and f fsharp"},
		{"markdown heading", "# Heading\n- [ ] item", "head item"},
		{"possessive", "John's notes", "john note"},
		{"typographic apostrophe", "John’s notes", "john note"},
		{"contraction", "don't", "dont don"},
		{"full width", "ＡＢＣ１２", "abc12"},
		{"soft hyphen and joiner", "co\u00adoperate zero\u200bwidth", "cooper zerowidth"},
		{"han", "数据库", "数 数据 据 据库 库"},
		{"mixed script", "用Go语言", "用 go 语 语言 言"},
		{"kana and width", "データ ﾃﾞｰﾀ", "デ デー ー ータ タ デ デー ー ータ タ"},
		{"hangul", "한국", "한 한국 국"},
		{"thai", "ภาษา", "ภา ภาษ าษ าษา ษา"},
		{"emoji", "ship it 🚀", "ship it 🚀"},
		{"cyrillic", "книги Ёлка", "книг елк"},
		{"decomposed cyrillic", "йод", "йод"},
		{"decomposed latin", "cafe\u0301", "cafe"},
		{"accent leaves both stems", "señor", "senor"},
		{"greek final sigma", "λόγος ΛΌΓΟΣ", "λογοσ λογοσ"},
		{"arabic letter shapes", "أحمد احمد", "احمد حمد احمد حمد"},
		{"russian root", "школьники школьном", "школьник школь школьн школь"},
		{"arabic plural and participle", "أسماك سمك مكتشف", "اسماك سمك سمك مكتشف كتشف"},
		{"encoded data", "aGVsbG8gd29ybGQhIFRoaXMgSXMgQmFzZTY0IGRhdGEgYW5kIG1vcmUgT2YgSXQ",
			"agvsbg8gd29ybgqhifroaxmgsxmgqmfzzty0igrhdgegyw5kig1vcmugt2ygsxq"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(a.Index(c.text), " ")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Index(%q) (-want +got):\n%s", c.text, diff)
			}
		})
	}
}

func TestLanguages(t *testing.T) {
	a := newAnalyzer(t)
	for _, c := range []struct{ want, text string }{
		{"en", "The plan is to move the server to the other rack before the audit."},
		{"es", "La canción que más me gusta es la que cantan los niños en el parque."},
		{"de", "Der Plan ist, den Server vor der Prüfung in das andere Rack zu stellen."},
		{"fr", "Le plan est de mettre le serveur dans une autre baie avant la visite."},
		{"pt", "O plano é mudar o servidor para a outra sala antes da visita do cliente, não depois."},
		{"it", "Il piano è di spostare il server in un altro armadio prima della visita."},
		{"nl", "Het plan is om de server naar het andere rek te brengen voor de controle."},
		{"sv", "Planen är att flytta servern till det andra racket innan kunden kommer och ser den."},
		{"en", "parse_tree.go main.go README"},
		{"en", ""},
	} {
		_, got := a.AppendIndex(nil, c.text)
		if c.text == "" {
			c.want = ""
		}
		if got != c.want {
			t.Errorf("language of %q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	a := newAnalyzer(t)
	for _, c := range []struct {
		name, text string
		langs      []string
		want       string
	}{
		{"empty", "", nil, ""},
		{"function words go", "What did we decide about the deployments?", []string{"en"}, "decid deploy"},
		{"nothing but function words", "who am I", []string{"en"}, "who am i"},
		{"repeats", "fail failing failed", nil, "fail"},
		{"operators are words", `"foo" AND bar* NEAR(x) body:y -z ^q`, []string{"en"}, "foo bar near x bodi y z q"},
		{"spanish", "¿Cuándo compramos las bicicletas?", []string{"es"}, "compram biciclet"},
		{"no accents typed", "cancion", []string{"es"}, "cancion"},
		{"variants per language", "canciones", []string{"en", "es"}, "cancion"},
		{"foreign look-alike", "die hard movie", []string{"en"}, "die hard movi"},
		{"one character", "库", nil, "库"},
		{"two characters", "京都", nil, "京都"},
		{"chinese question words", "数据库在哪里", nil, "数据 据库 库在 在哪"},
		{"nothing but question words", "什么", nil, "什么"},
		{"japanese endings", "船はいつ出ますか", nil, "船は 船 つ出 出ま 出"},
		{"vietnamese function words", "dữ liệu của tôi ở đâu", nil, "dữ liệu"},
		{"vietnamese accents are meant", "bộ máy", []string{"vi"}, "bộ máy"},
		{"vietnamese without accents", "bo may", []string{"vi"}, "bo may"},
		{"pairs only", "数据库", nil, "数据 据库"},
		{"lone particle", "の", nil, "の"},
		{"thai pair", "ไทย", nil, "ไท ไทย ทย"},
		{"russian", "что было в книге", nil, "книг"},
		{"emoji alone", "🦞?", nil, "🦞"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(a.Query(c.text, c.langs), " ")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Query(%q, %v) (-want +got):\n%s", c.text, c.langs, diff)
			}
		})
	}
}

// A word of a document is found by the same word, by its other forms, and by
// those typed without accents.
func TestQueriesMeetDocuments(t *testing.T) {
	a := newAnalyzer(t)
	for _, c := range []struct{ name, doc, ask, lang string }{
		{"es plural", "La canción que más me gusta es la de los niños.", "canciones", "es"},
		{"es no tilde", "La canción que más me gusta es la de los niños.", "ninos", "es"},
		{"es no accent plural", "Las canciones de la banda y los conciertos", "cancion", "es"},
		{"pt no accent", "A programação do servidor não é para a equipe", "programacao", "pt"},
		{"de umlaut", "Die Müller haben das Straßenfest mit den Häusern", "strassenfest", "de"},
		{"de plural", "Die Häuser sind in der Stadt und das ist gut", "Haus", "de"},
		{"fr elision", "Il a pris l'avion pour la ville avec les amis", "avions", "fr"},
		{"fr apostrophe", "Il a pris l’avion pour la ville", "avion", "fr"},
		{"en from camel case", "call parseConfigFile() here", "parse config", "en"},
		{"identifier spelled otherwise", "call parseConfigFile() here", "parse_config_file", "en"},
		{"hyphen or not", "send an e-mail", "email", "en"},
		{"ru case", "Мы купили новые серверы", "сервер", "ru"},
		{"ru other part of speech", "В школьном саду растут тыквы", "школьники", "ru"},
		{"ar broken plural", "يبدأ مزاد سوق السمك في الرابعة", "الأسماك", "ar"},
		{"ar participle", "اكتشف الفلكي مذنبا جديدا", "مكتشف", "ar"},
		{"de compound", "Der Rundfunkbeitrag ist für die Haushalte und nicht für den Betrieb", "Rundfunk", "de"},
		{"tr suffixes", "Ninem çayı yetmiş derecelik suyla demlerdi ve bize verirdi", "demlenmeli", "tr"},
		{"tr dotted capital", "İstanbul'da bir toplantı var ve bu akşam için bilet gerekiyor", "istanbul", "tr"},
		{"vi typed bare", "Đèn hải đăng của thị trấn được thắp sáng", "den hai dang", "vi"},
		{"vi with accents", "Đèn hải đăng của thị trấn được thắp sáng", "thị trấn", "vi"},
		{"el no accent", "Το πλοίο φεύγει στις έξι", "πλοιο", "el"},
		{"el other form", "Οι ομάδες της πόλης κέρδισαν", "ποια κέρδισε", "el"},
		{"hindi", "किताबें मेज पर हैं", "किताब", "hi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := a.Index(c.doc)
			for _, langs := range [][]string{{c.lang}, {"en", c.lang}} {
				ask := a.Query(c.ask, langs)
				if !slices.ContainsFunc(ask, func(s string) bool { return slices.Contains(doc, s) }) {
					t.Errorf("langs %v: %q gives %q, none of which is in %q", langs, c.ask, ask, doc)
				}
			}
		})
	}
}

// Terms are words for the index's own tokenizer: nothing in them separates or
// reads as an operator; the same text always gives the same terms; a question
// of a document's own words meets the document.
func TestTermsAreClean(t *testing.T) {
	warm := newAnalyzer(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-zA-Z_.'’éüñ0-9+#,-]{1,12} ?){1,20}`),
			rapid.StringMatching(`[数据库のデタﾃﾞ한국ไทยабёй🚀 a-z]{1,30}`)).Draw(t, "text")
		got := warm.Index(text)
		for _, term := range append(warm.Query(text, nil), got...) {
			if !clean(term) {
				t.Fatalf("term %q of %q holds something else than letters and digits", term, text)
			}
		}
		cold := New()
		if diff := cmp.Diff(cold.Index(text), got); diff != "" {
			t.Fatalf("a warm Analyzer answers otherwise than a fresh one:\n%s", diff)
		}
		if (len(got) > 0) != (len(warm.Query(text, nil)) > 0) {
			t.Fatalf("%q has %d terms, its question %d", text, len(got), len(warm.Query(text, nil)))
		}
	})
}

func clean(term string) bool {
	if !utf8.ValidString(term) || term == "" || len(term) > 4*maxTerm {
		return false
	}
	for i := 0; i < len(term); i++ {
		if c := term[i]; c < 0x80 && (asciiClass[c] == space || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}

func TestInvalidUTF8(t *testing.T) {
	a := newAnalyzer(t)
	got := a.Index("ok \xff\xfe caf\xe9 \xe6\x95 end")
	if diff := cmp.Diff([]string{"ok", "caf", "end"}, got); diff != "" {
		t.Error(diff)
	}
}

// The memory of words is bounded: more distinct words than it holds change
// nothing.
func TestMemoryIsBounded(t *testing.T) {
	a := newAnalyzer(t)
	before := a.Index("running tests")
	var b strings.Builder
	for i := range maxMemo + 10 {
		b.WriteString(" w" + string(rune('a'+i%26)) + strings.Repeat("x", i%7) + itoa(i))
	}
	a.Index(b.String())
	if len(a.memo) > maxMemo {
		t.Errorf("memory holds %d words, want at most %d", len(a.memo), maxMemo)
	}
	if diff := cmp.Diff(before, a.Index("running tests")); diff != "" {
		t.Error(diff)
	}
}

func itoa(i int) string {
	if i == 0 {
		return ""
	}
	return itoa(i/10) + string(rune('0'+i%10))
}

// The retrieval sets come in the languages that they are named after.
func TestLanguageOfRealText(t *testing.T) {
	a := newAnalyzer(t)
	for _, lang := range []string{"en", "es", "de"} {
		files, _ := filepath.Glob("../../../shared/data/retrieval/xquad-" + lang + "/memory/*/*.md")
		if len(files) == 0 {
			t.Skip("no retrieval sets at ../shared/data")
		}
		right, all := 0, 0
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range strings.Split(string(b), "\n") {
				if len(p) < 200 {
					continue
				}
				all++
				if _, got := a.AppendIndex(nil, p); got == lang {
					right++
				}
			}
		}
		if right*100 < all*98 {
			t.Errorf("%s: %d of %d paragraphs recognised, want 98 in 100", lang, right, all)
		}
	}
}

func BenchmarkAppendIndex(b *testing.B) {
	for name, glob := range map[string]string{
		"en": "../../../shared/data/retrieval/xquad-en/memory/*/*.md",
		"es": "../../../shared/data/retrieval/xquad-es/memory/*/*.md",
		"zh": "../../../shared/data/retrieval/xquad-zh/memory/*/*.md",
	} {
		b.Run(name, func(b *testing.B) {
			text := corpus(b, glob)
			a := newAnalyzer(b)
			var buf []byte
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				buf, _ = a.AppendIndex(buf[:0], text)
			}
		})
	}
}

func corpus(b *testing.B, glob string) string {
	files, _ := filepath.Glob(glob)
	if len(files) == 0 {
		b.Skip("no retrieval sets at ../shared/data")
	}
	var out strings.Builder
	for _, f := range files {
		t, err := os.ReadFile(f)
		if err != nil {
			b.Fatal(err)
		}
		out.Write(t)
	}
	return out.String()
}

// What the first analyzer of a process costs.
func BenchmarkLexicon(b *testing.B) {
	for b.Loop() {
		build()
	}
}
