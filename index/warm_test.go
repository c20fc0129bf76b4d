package index

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel/internal/suite"
)

// What an index keeps in memory of the searches before never changes an answer: one that
// has been open all the time and one that was opened just now find the same,
// whatever happened to files and vectors in between.
func TestWarmAnswersAreThoseOfACold(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewSource(7))
	words := strings.Fields("abc bcd xyz yza mmm lamp boat chair river stone")
	text := func() string {
		var b strings.Builder
		for range 1 + rng.Intn(12) {
			if rng.Intn(3) == 0 {
				b.WriteString("# " + words[rng.Intn(len(words))] + "\n\n")
			}
			for range 1 + rng.Intn(6) {
				b.WriteString(words[rng.Intn(len(words))] + " ")
			}
			b.WriteString("\n\n")
		}
		return b.String()
	}
	w := newWorkspace(t, map[string]string{})
	for i := range 12 {
		w.put(t, fmt.Sprintf("f%d.md", i), text())
	}
	ix := openNew(t)
	w.sync(t, ix)
	model, scale := "m1", float32(1)
	if err := ix.UseModel(ctx, model, 26); err != nil {
		t.Fatal(err)
	}
	of := func(m Missing) []float32 {
		v := letters(m.Text)
		v[25] += scale
		return v
	}
	embed(t, ix, model, of)
	score := "%x"
	if Driver != "sqlite" {
		score = "%.5f" // that one's vectors are added up in another order
	}
	asked := func(ix *Index, q Query) []string {
		got, err := ix.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		out := []string{fmt.Sprint(got.Terms, got.Holders, got.Chunks)}
		for _, h := range append(got.Keyword, got.Vector...) {
			out = append(out, fmt.Sprintf("%d %s:%d-%d %s %v %v "+score+" "+score+" %q", h.Rank, h.Path, h.StartLine, h.EndLine, h.ID, h.Trail, h.ModTime, h.Raw, h.Score, h.Text))
		}
		return out
	}
	file := func() string { return fmt.Sprintf("f%d.md", rng.Intn(12)) }
	changes := []func(){
		func() {},
		func() { w.put(t, file(), text()) },
		func() { // lines move, chunks stay
			p := file()
			b, _ := os.ReadFile(filepath.Join(w.root, p))
			w.put(t, p, "first of all\n\n"+string(b))
		},
		func() { // another time, the same content
			p := file()
			if b, err := os.ReadFile(filepath.Join(w.root, p)); err == nil {
				w.put(t, p, string(b))
			}
		},
		func() {
			if p := file(); len(w.reads) > 0 {
				os.Remove(filepath.Join(w.root, p))
			}
		},
		func() { // other vectors of the same texts
			scale++
			var all []Embedding
			for m, err := range ix.MissingEmbeddings(ctx, "nobody's") {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, Embedding{m.Hash, of(m)})
			}
			if err := ix.PutEmbeddings(ctx, model, all); err != nil {
				t.Fatal(err)
			}
		},
		func() {
			model += "'"
			if err := ix.UseModel(ctx, model, 26); err != nil {
				t.Fatal(err)
			}
		},
	}
	for step := range suite.Pick(14, 21) {
		changes[step%len(changes)]()
		w.sync(t, ix)
		if step%3 > 0 {
			embed(t, ix, model, of)
		}
		cold := openAt(t, ix.Path(), &Options{ReadOnly: true, BusyTimeout: time.Second})
		for range 3 {
			text := words[rng.Intn(len(words))] + " " + words[rng.Intn(len(words))]
			q := Query{Text: text, Model: model, Vector: letters(text), K: 1 + rng.Intn(30), Holders: rng.Intn(2) == 0}
			if rng.Intn(3) == 0 {
				q.Want = func(path string) bool { return path[1]%2 == 0 }
			}
			want := asked(cold, q)
			for again := range 3 {
				if diff := cmp.Diff(want, asked(ix, q)); diff != "" {
					t.Fatalf("step %d, time %d, %+v (-cold +warm)\n%s", step, again, q, diff)
				}
			}
			cold.Close()
			cold = openAt(t, ix.Path(), &Options{ReadOnly: true, BusyTimeout: time.Second})
		}
	}
	if ix.door.cur.seen.block.Load() == nil {
		t.Error("no vectors are in memory: nothing was compared")
	}
}
