package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"time"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval"
)

// ways lists the ways in which questions are asked.
var ways = []struct {
	name    string
	vectors string
	query   retrieval.Query
}{
	{"places", "", retrieval.Query{Passages: true}},
	{"lines", "", retrieval.Query{Passages: true, Lines: true, Limit: 40}},
	{"chunks", "", retrieval.Query{Lines: true, Limit: 20}},
	{"some-files", "", retrieval.Query{Passages: true, Want: some}},
	{"hybrid", "right", retrieval.Query{Passages: true}},
	{"hybrid-lines", "foreign", retrieval.Query{Passages: true, Lines: true, Limit: 40}},
	{"hybrid-chunks", "foreign", retrieval.Query{Limit: 20}},
	{"hybrid-some-files", "foreign", retrieval.Query{Passages: true, Want: some}},
}

// some selects about half of the files.
func some(path string) bool { return sha256.Sum256([]byte(path))[0]%2 == 0 }

// trusted is an index whose vectors have full weight.
type trusted struct{ retrieval.Index }

func (t trusted) Search(ctx context.Context, q index.Query) (index.Hits, error) {
	hits, err := t.Index.Search(ctx, q)
	hits.Reliance = nil
	return hits, err
}

// search writes a line for each question of a set, way and time.
func search(ctx context.Context, out io.Writer, dir string, limit int) error {
	set, err := relevance.Read(dir, filepath.Join(dir, "qa.jsonl"))
	if err != nil {
		return err
	}
	if limit > 0 {
		set.Questions = set.Questions[:min(limit, len(set.Questions))]
	}
	b, err := relevance.Open(ctx, set)
	if err != nil {
		return err
	}
	defer b.Close()
	now, err := b.Moment(ctx)
	if err != nil {
		return err
	}
	vectors := ""
	for _, w := range ways {
		opts := &retrieval.Options{}
		if w.vectors != "" {
			p, err := b.Vectors(w.vectors)
			if err != nil {
				return err
			}
			if opts.Embedder = p; w.vectors != vectors {
				vectors = w.vectors
				if err := b.Embed(ctx, p); err != nil {
					return err
				}
			}
		}
		r := retrieval.New(trusted{b.Index}, opts)
		for again := range 2 {
			for i, q := range set.Questions {
				query := w.query
				query.Text, query.Now = q.Text, now.Add(12*time.Hour)
				result := r.Search(ctx, query)
				if result.Err != nil {
					return fmt.Errorf("%q: %w", q.Text, result.Err)
				}
				fmt.Fprintf(out, "%s %d %d %s %s\n", filepath.Base(set.Dir), i, again, w.name, resultHash(result))
			}
		}
	}
	return nil
}

// resultHash returns the hash of all parts of a result.
func resultHash(r retrieval.Result) string {
	round(reflect.ValueOf(&r).Elem())
	text, err := json.Marshal([]any{r, r.Grounds})
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// round rounds all numbers to nine decimals.
func round(v reflect.Value) {
	switch v.Kind() {
	case reflect.Float64:
		if v.CanSet() {
			v.SetFloat(math.Round(v.Float()*1e9) / 1e9)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			round(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			round(v.Index(i))
		}
	}
}
