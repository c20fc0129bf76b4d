package relevance

import (
	"reflect"
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
	at10 := func(second []Answer) Difference { return Compare(first, second)[2] }
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
	for _, kind := range VectorKinds {
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
	if got[VectorsRight] < .9 || got[vectorsAdversarial] > .1 || got[vectorsNoise] > .3 || got[vectorsConstant] > .3 {
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
	for _, kind := range KnownKinds {
		if kinds[kind] == 0 {
			t.Errorf("no item of kind %s", kind)
		}
	}
	ours, err := b.AskKnown(t.Context(), items, nil, dayAfter(t, b))
	if err != nil {
		t.Fatal(err)
	}
	beside, err := b.ComparePlain(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string]Known{}
	for kind, k := range beside {
		plain[kind] = k.Known
	}
	for name, got := range map[string]map[string]Known{"ours": SumKnown(ours), "plain": plain} {
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
		for _, kind := range VectorKinds {
			if kind == VectorsForeign {
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
			if got.RecallAt10 < words.RecallAt10-.005 || kind != VectorsRight && got.NDCGAt10 < words.NDCGAt10-.005 {
				t.Errorf("%s, %s vectors: %.3f and %.3f, words alone %.3f and %.3f", language, kind, got.RecallAt10, got.NDCGAt10, words.RecallAt10, words.NDCGAt10)
			}
			if kind == VectorsRight && got.RecallAt10 < 1 {
				t.Errorf("%s: right vectors find %.3f", language, got.RecallAt10)
			}
		}
	}
}
