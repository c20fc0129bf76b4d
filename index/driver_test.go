package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// otherEnv names the test binary of this package that was built with the other
// driver; make test-cgo sets it, for both.
const otherEnv = "INDEX_TEST_OTHER"

// visit is what a process does with an index that it has synced: it brings the
// missing vectors, checks everything, and prints answers.
func visit(ctx context.Context, ix *Index) error {
	if err := putLetters(ctx, ix); err != nil {
		return err
	}
	for err := range ix.Check(ctx) {
		return err
	}
	fmt.Println("as", Driver)
	lines, err := answers(ctx, ix)
	fmt.Println(strings.Join(lines, "\n"))
	return err
}

// putLetters brings the vectors that are missing.
func putLetters(ctx context.Context, ix *Index) error {
	if err := ix.UseModel(ctx, "m", 26); err != nil {
		return err
	}
	var batch []Embedding
	for m, err := range ix.MissingEmbeddings(ctx, "m") {
		if err != nil {
			return err
		}
		batch = append(batch, Embedding{m.Hash, letters(m.Text)})
	}
	return ix.PutEmbeddings(ctx, "m", batch)
}

// answers are hits of both kinds of search.
func answers(ctx context.Context, ix *Index) ([]string, error) {
	got, err := ix.Search(ctx, Query{Text: "word1 word5 word40 d3", Model: "m", Vector: letters("etaoin"), K: 12})
	if err == nil {
		err = got.VectorErr
	}
	var near []string
	for _, h := range got.Vector {
		near = append(near, fmt.Sprintf("%s %s %.5f", h.Path, h.ID, h.Raw))
	}
	return append(scored(got.Keyword), near...), err
}

// Two drivers in turn read and change one file, and find in it what each finds
// in a file of its own.
func TestOtherDriver(t *testing.T) {
	other := os.Getenv(otherEnv)
	if other == "" {
		t.Skip("make test-cgo runs this test, with both drivers")
	}
	ctx := context.Background()
	w := many(t, 60)
	path := filepath.Join(t.TempDir(), "shared.sqlite")
	for round := range 6 {
		for i := range 10 * round {
			// Each of another length, so that no two score the same.
			w.put(t, fmt.Sprintf("d%d/f%03d.md", i%7, i), fmt.Sprintf("round %d word1 word5%s\n\nword40 in %d %s\n",
				round, strings.Repeat(" eat", i), i, strings.Repeat(" tea net", 2*i)))
		}
		w.remove(t, fmt.Sprintf("d%d/f%03d.md", (50+round)%7, 50+round))
		if round%2 == 0 {
			theirs(t, other, w, path)
		} else {
			ours(t, w, path)
		}
		ix := openAt(t, path, &Options{ReadOnly: round%4 > 1})
		checkClean(t, ix)
		alone := openNew(t)
		w.sync(t, alone)
		if err := putLetters(ctx, alone); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(must(answers(ctx, alone)), must(answers(ctx, ix))); diff != "" {
			t.Errorf("round %d: the shared file answers otherwise (-alone +shared):\n%s", round, diff)
		}
		if late, err := ix.Lag(ctx, w.list()); err != nil || !late.Zero() {
			t.Errorf("round %d: behind = %v, %v", round, late, err)
		}
		ix.Close()
	}
}

func ours(t *testing.T, w *workspace, path string) {
	t.Helper()
	ix := openAt(t, path, nil)
	defer ix.Close()
	w.sync(t, ix)
	if err := putLetters(context.Background(), ix); err != nil {
		t.Fatal(err)
	}
}

// theirs lets the other driver sync, and wants the answers that it gives.
func theirs(t *testing.T, other string, w *workspace, path string) {
	t.Helper()
	cmd, out := start(t, other, task{w.root, path, "visit"})
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, said, ok := strings.Cut(out.String(), "as ")
	driver, said, _ := strings.Cut(said, "\n")
	if !ok || driver == Driver {
		t.Fatalf("%s is no test binary of the other driver: %s", other, out)
	}
	ix := openAt(t, path, &Options{ReadOnly: true})
	defer ix.Close()
	mine := must(answers(context.Background(), ix))
	if diff := cmp.Diff(strings.TrimSpace(said), strings.Join(mine, "\n")); diff != "" {
		t.Errorf("the drivers answer differently (-%s +%s):\n%s", driver, Driver, diff)
	}
}
