package embed_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/index"
)

// An index is filled by handing its two sides to Fill.
func ExampleFill() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "embed")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ix, err := index.Open(filepath.Join(dir, "index.sqlite"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ix.Close()
	syncTwoNotes(ctx, ix)

	var p embed.Provider = embedtest.Provider{} // else of embed.FromConfig
	missing := func(yield func(embed.Text[index.Hash], error) bool) {
		for m, err := range ix.MissingEmbeddings(ctx, p.Model()) {
			if !yield(embed.Text[index.Hash]{Key: m.Hash, Text: embed.Compose(m.Trail, m.Text)}, err) {
				return
			}
		}
	}
	var dim int // known from the first vectors on
	put := func(ctx context.Context, vectors []embed.Vector[index.Hash]) error {
		out := make([]index.Embedding, len(vectors))
		for i, v := range vectors {
			out[i] = index.Embedding{Hash: v.Key, Vector: v.Vector}
		}
		dim = len(out[0].Vector)
		return ix.PutEmbeddings(ctx, p.Model(), out)
	}
	report, err := embed.Fill(ctx, p, missing, put, nil)
	fmt.Println(report.Embedded, "of", report.Texts, err)
	if err := ix.UseModel(ctx, p.Model(), dim); err != nil {
		fmt.Println(err)
		return
	}

	question, err := p.EmbedQuery(ctx, "which server has the backups")
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, err := ix.Vector(ctx, p.Model(), question, 1, nil)
	fmt.Println(hits[0].Text, err)
	// Output:
	// 2 of 2 <nil>
	// The backups are on the server borealis. <nil>
}

func syncTwoNotes(ctx context.Context, ix *index.Index) {
	source := func(yield func(index.FileStat, error) bool) {
		yield(index.FileStat{Path: "MEMORY.md", Size: 1}, nil)
	}
	read := func(string) ([]index.Chunk, error) {
		return []index.Chunk{{Text: "Ana likes tea."}, {Text: "The backups are on the server borealis."}}, nil
	}
	if _, err := ix.Sync(ctx, source, read, nil); err != nil {
		fmt.Println(err)
	}
}
