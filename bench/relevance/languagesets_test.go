package relevance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/retrieval"
)

// languageSets are our own paragraphs on thirty subjects in languages that the sets
// outside the repository lack.
func languageSets(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/languages/*")
	if err != nil || len(dirs) != 6 {
		t.Fatalf("%d language sets, want 6: %v", len(dirs), err)
	}
	return dirs
}

// TestLanguageSets asks each language alone, then all of them in one workspace.
func TestLanguageSets(t *testing.T) {
	mixed, rows := t.TempDir(), ""
	for _, dir := range languageSets(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) { languageRecall(t, open(t, dir)) })
		if err := os.CopyFS(filepath.Join(mixed, "memory"), os.DirFS(filepath.Join(dir, "memory"))); err != nil {
			t.Fatal(err)
		}
		qa, err := os.ReadFile(filepath.Join(dir, "qa.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		rows += string(qa)
	}
	if err := os.WriteFile(filepath.Join(mixed, "qa.jsonl"), []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("mixed", func(t *testing.T) { languageRecall(t, open(t, mixed)) })
}

func languageRecall(t *testing.T, b *bench) {
	t.Helper()
	got := run(t, b, retrieval.Options{})
	if got.RecallAt10 < .96 || got.NDCGAt10 < .9 {
		t.Errorf("recall@10 %.3f, nDCG@10 %.3f, want .96 and .90", got.RecallAt10, got.NDCGAt10)
	}
}

// Vietnamese is often typed without its accents, and Turkish without its own letters.
func TestTypedBare(t *testing.T) {
	for lang, bare := range map[string]func(string) string{"vi": unaccented, "tr": unaccented} {
		b := open(t, "testdata/languages/"+lang)
		for i := range b.Questions {
			b.Questions[i].Text = bare(b.Questions[i].Text)
		}
		if got := run(t, b, retrieval.Options{}); got.RecallAt10 < .93 {
			t.Errorf("%s: recall@10 %.3f, want .93", lang, got.RecallAt10)
		}
	}
}

// unaccented is a text as a plain keyboard types it.
func unaccented(s string) string {
	return strings.Map(func(r rune) rune {
		for base, forms := range map[rune]string{
			'a': "àáảãạăằắẳẵặâầấẩẫậ", 'e': "èéẻẽẹêềếểễệ", 'i': "ìíỉĩịı", 'o': "òóỏõọôồốổỗộơờớởỡợö", 'u': "ùúủũụưừứửữựü",
			'y': "ỳýỷỹỵ", 'd': "đ", 'D': "Đ", 'A': "ÁÀ", 's': "ş", 'S': "Ş", 'c': "ç", 'C': "Ç", 'g': "ğ", 'I': "İ", 'O': "Ö", 'U': "Ü",
		} {
			if strings.ContainsRune(forms, r) {
				return base
			}
		}
		return r
	}, s)
}

// One or two characters are a question in Chinese and Japanese, and occur beside
// words of other scripts.
func TestShortAndMixedQuestions(t *testing.T) {
	dir := t.TempDir()
	writeTongue(t, dir, "zh", [][2]string{
		{"昨天我们把数据库迁移到了新的服务器。", "迁移"},
		{"茶要用七十度的水泡。", "茶"},
		{"用 Go 语言写的 HTTPServer 每晚重启一次。", "http_server 重启"},
		{"京都の店で抹茶を買った。", "京都"},
		{"The résumé of Zoë mentions naïve Bayes.", "zoe resume naive"},
		{"func parseConfigFile() liest die Größe der Straße.", "parse config file strasse"},
		{"Вчера деплой упал из-за таймаута Redis.", "redis таймаут"},
	})
	b := open(t, dir)
	answers, err := b.Ask(t.Context(), nil, dayAfter(t, b))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if a.Ranks[0] != 1 {
			t.Errorf("%q: rank %v, want 1", a.Text, a.Ranks)
		}
	}
}
