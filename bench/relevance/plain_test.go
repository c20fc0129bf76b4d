package relevance

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/retrieval"
)

func TestPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"Deploys of web-2, über": "Deploys of web 2 über",
		"用Go写的迁移工具。":             "用 Go 写的 的迁 迁移 移工 工具",
		"茶":                      "茶",
		"— …":                    "",
	} {
		if got := strings.Join(plainWords(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A table's rows are what finds most, and function words of the files' language find nothing: with
// them the lines that are full of them would come first.
func TestPlainRows(t *testing.T) {
	blocks := func(format string) (out string) {
		for _, b := range [][2]string{{"Fähre", "Im Winter"}, {"Bus", "Im Sommer"}, {"Fähre", "Im Winter"}, {"Bus", "Im Sommer"}, {"Fähre", "Im Sommer"}} {
			out += fmt.Sprintf(format, b[0], b[1])
		}
		return out
	}
	for _, tc := range []struct{ text, question, rows string }{
		{"Was ist das und wer ist mit der Katze da?\n\nDie alte Fähre legt um neun von Steg drei ab.\n", "Was ist mit der Fähre?", rowsLine},
		{blocks("%s\n%s\n\n"), "Fähre im Sommer?", rowsParagraph},
		{blocks("# %s\n\n%s\n\n"), "Fähre im Sommer?", rowsSection},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "memory", "a.md"), tc.text)
		lines := strings.Split(tc.text, "\n")
		at := len(lines)
		for !strings.Contains(lines[at-1], "Fähre") {
			at--
		}
		b, err := Open(t.Context(), Set{Dir: dir, Questions: []Question{{Text: tc.question, Evidence: []Evidence{{File: "memory/a.md", Line: at}}}}})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		answers, rows, err := b.AskPlain(t.Context())
		if err != nil || rows != tc.rows || answers[0].Ranks[0] != 1 {
			t.Errorf("%q: rows %s, %v, %v, want %s", tc.question, rows, answers, err, tc.rows)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Folders and files that links lead to are judged like the set's own. A link to a folder above is
// not followed.
func TestLinkedSet(t *testing.T) {
	real, set := t.TempDir(), t.TempDir()
	write(t, filepath.Join(real, "notes", "a.md"), "- the pilot is Torunn\n")
	write(t, filepath.Join(real, "b.md"), "- the crane is broken\n")
	write(t, filepath.Join(set, "qa.jsonl"), `{"id":"a","question":"pilot","evidence":[{"file":"memory/notes/a.md","line":1}]}
{"id":"b","question":"crane","evidence":[{"file":"memory/b.md","line":1}]}`)
	for link, to := range map[string]string{filepath.Join(set, "memory"): real, filepath.Join(real, "again"): real} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	b := open(t, set)
	plain, _, err := b.AskPlain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := run(t, b, retrieval.Options{}).RecallAt1; got != 1 || Sum(plain).RecallAt1 != 1 {
		t.Errorf("memkernel finds %.2f, FTS5 %.2f, want all", got, Sum(plain).RecallAt1)
	}
}

// All notes of a folder are known items, also if no agent keeps it. Notes are asked for by names
// that their texts lack, and lines by four of their words, in order, that occur together on no
// other line.
func TestNamesAndWordsApart(t *testing.T) {
	dir := t.TempDir()
	same := "Ferries leave every harbour before seven because pilots prefer quiet water.\n"
	write(t, filepath.Join(dir, "ops", "night-shift.md"), "Torunn carries heavy cables across the wet northern landing stage tonight.\n")
	write(t, filepath.Join(dir, "x1.md"), "---\ntitle: Harbour Rules\n---\n"+same)
	write(t, filepath.Join(dir, "plain.md"), "A plain note.\n"+same)
	write(t, filepath.Join(dir, "said-twice.md"), "This is said twice.\n")
	b, err := Open(t.Context(), Set{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var names []string
	words := ""
	for _, it := range b.KnownItems(1, 9) {
		switch it.Kind {
		case kindName:
			names = append(names, it.Query+"="+it.places[0].File)
		case kindWords:
			words += it.Query + "\n"
		}
	}
	if got := strings.Join(names, ", "); got != "Harbour Rules=x1.md, night shift=ops/night-shift.md" && got != "night shift=ops/night-shift.md, Harbour Rules=x1.md" {
		t.Errorf("names: %s", got)
	}
	if !regexp.MustCompile(`^(torunn|carries|heavy|cables|across|northern|landing|stage|tonight|[ ])+\n$`).MatchString(words) || len(strings.Fields(words)) != 4 {
		t.Fatalf("words: %s", words)
	}
	line := strings.Fields("torunn carries heavy cables across the wet northern landing stage tonight")
	before := -2
	for _, w := range strings.Fields(words) {
		at := slices.Index(line, w)
		if at < before+2 {
			t.Errorf("%q: word %d of the line follows word %d", words, at, before)
		}
		before = at
	}
	ours, err := b.AskKnown(t.Context(), b.KnownItems(1, 9), nil, dayAfter(t, b))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := b.ComparePlain(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	of := plain[kindName]
	if d := of.Differences; of.Rows != rowsFile || *of.HitAt1 != 1 || len(d) != 3 || d[0].Mean != *sumKnown(ours)[kindName].HitAt1-1 || d[0].Low > d[0].Mean {
		t.Errorf("names in FTS5: %+v", of)
	}
}

// The peer finds lines by any word and its stem, and Chinese by pairs.
func TestAskPlain(t *testing.T) {
	dir := t.TempDir()
	writeTongue(t, dir, "x", [][2]string{{"The ferries are delayed by fog.", "delay of a ferry?"}, {"昨天我们把数据库迁移到了新的服务器。", "数据库怎么样了"}, {`He said "stop".`, `say "nothing" AND`}})
	answers, _, err := open(t, dir).AskPlain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 1, 0} {
		if got := answers[i].Ranks[0]; got != want {
			t.Errorf("%q: rank %d, want %d", answers[i].Text, got, want)
		}
	}
}

// The interval of the differences holds their mean, is the same each time, and leaves
// out 0 only if the second run is better.
func TestCompareBootstrap(t *testing.T) {
	var first, better, mixed []Answer
	for i := range 60 {
		answer := func(v float64) Answer { return Answer{Metrics: Metrics{Questions: 1, RecallAt10: v}} }
		first = append(first, answer(0))
		better = append(better, answer(float64(i%3)/2))
		mixed = append(mixed, answer(float64(i%3-1)))
	}
	at10 := func(second []Answer) difference { return Compare(first, second)[2] }
	up, none := at10(better), at10(mixed)
	if up.Name != "recall_at_10" || up.Low <= 0 || up.Mean != .5 || up.High <= up.Mean || up.High > .7 {
		t.Errorf("better: %+v", up)
	}
	if none.Low >= 0 || none.High <= 0 || none.Mean != 0 {
		t.Errorf("no difference: %+v", none)
	}
	if !reflect.DeepEqual(up, at10(better)) {
		t.Error("not the same twice")
	}
}

// Made vectors do what they say: right ones find everything, adversarial ones nothing,
// those that know nothing little.
func TestMadeVectors(t *testing.T) {
	got := map[string]float64{}
	for _, kind := range vectorKinds {
		b := open(t, "testdata/languages/ru")
		p, err := b.Vectors(kind)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Embed(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		got[kind] = run(t, b, retrieval.Options{Embedder: p, VectorWeight: 1}).RecallAt1
	}
	if got[vectorsRight] < .9 || got[vectorsAdversarial] > .1 || got[vectorsNoise] > .3 || got[vectorsConstant] > .3 {
		t.Errorf("%v", got)
	}
	if _, err := open(t, "testdata/tiny").Vectors("good"); err == nil || !strings.Contains(err.Error(), "adversarial") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// Every known item stands where a hit of its lines says, the same seed chooses the same,
// and a typo stands nowhere.
func TestKnownItems(t *testing.T) {
	b, err := Open(t.Context(), Set{Dir: "../../testdata/workspace"})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	items := b.KnownItems(1, 20)
	if d := cmp.Diff(items, b.KnownItems(1, 20), cmp.AllowUnexported(KnownItem{})); d != "" {
		t.Errorf("not the same twice: %s", d)
	}
	kinds := map[string]int{}
	for _, it := range items {
		kinds[it.Kind]++
		there, typed := len(it.places) > 0, false
		for path, lines := range b.lines {
			there = there || b.HeldBy(it, path, 1, len(lines))
			typed = typed || it.Kind == kindTypo && stands(strings.Join(lines, "\n"), it.Query, false)
		}
		if !there || typed {
			t.Errorf("%s %q: stands somewhere %v, as it is typed %v", it.Kind, it.Query, there, typed)
		}
	}
	for _, kind := range knownKinds {
		if kinds[kind] == 0 {
			t.Errorf("no item of kind %s", kind)
		}
	}
	ours, err := b.AskKnown(t.Context(), items, nil, dayAfter(t, b))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := b.ComparePlain(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]map[string]known{"ours": sumKnown(ours), "plain": plain} {
		if k := got[kindPhrase]; k.N != 20 || k.HitAt1 == nil || *k.HitAt10 < *k.HitAt1 || *k.HitAt10 < .5 || k.HitsHoldingShare != nil {
			t.Errorf("%s: phrases %+v", name, k)
		}
		if k := got[kindWord]; k.HitAt1 != nil || k.HitsHoldingShare == nil || *k.HitsHoldingShare <= 0 {
			t.Errorf("%s: words %+v", name, k)
		}
	}
}

// A hit is judged by the lines that it has.
func TestHolds(t *testing.T) {
	for _, tc := range []struct {
		line, text string
		within     bool
		want       bool
	}{
		{"The Crane is broken", "crane", false, true}, {"cranes", "crane", false, false}, {"cranes, then a crane", "crane", false, true},
		{"数据库迁移", "据库", true, true}, {"port 80801", "8080", false, false}, {"用crane吊", "crane", false, true}, {"", "x", false, false},
	} {
		if got := stands(tc.line, tc.text, tc.within); got != tc.want {
			t.Errorf("%q in %q: %v", tc.text, tc.line, got)
		}
	}
}

// Vectors that know nothing, or that mislead, leave what words find as it is, and right ones
// help.
func TestHybridHurtsNothing(t *testing.T) {
	for _, language := range []string{"ja", "ru"} {
		dir := "testdata/languages/" + language
		words := run(t, open(t, dir), retrieval.Options{})
		for _, kind := range vectorKinds {
			if kind == vectorsForeign {
				continue // among so few chunks whatever knows spellings finds the right one
			}
			b := open(t, dir)
			p, err := b.Vectors(kind)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Embed(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			got := run(t, b, retrieval.Options{Embedder: p})
			if got.RecallAt10 < words.RecallAt10-.005 || kind != vectorsRight && got.NDCGAt10 < words.NDCGAt10-.005 {
				t.Errorf("%s, %s vectors: %.3f and %.3f, words alone %.3f and %.3f", language, kind, got.RecallAt10, got.NDCGAt10, words.RecallAt10, words.NDCGAt10)
			}
			if kind == vectorsRight && got.RecallAt10 < 1 {
				t.Errorf("%s: right vectors find %.3f", language, got.RecallAt10)
			}
		}
	}
}
