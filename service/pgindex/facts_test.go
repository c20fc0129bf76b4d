//go:build unix

package pgindex

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

// A chunk is found by words of its facts, which come with it and are exported with it.
func TestFacts(t *testing.T) {
	ix := open(t, freshSchema(t))
	facts := []index.Fact{{StartLine: 1, EndLine: 1, Text: "Ana keeps honey", Citation: "memory/.facts/k.md#L6"}}
	f := files{"k.md": "she keeps it there"}
	read := func(path string) ([]index.Chunk, error) {
		chunks, err := f.read(path)
		chunks[0].Keywords, chunks[0].Facts = "pantry", facts
		return chunks, err
	}
	if _, err := ix.Sync(context.Background(), f.source(day), read, nil); err != nil {
		t.Fatal(err)
	}
	sound(t, ix)
	for _, q := range []string{"honey", "pantry", "keeps"} {
		got, err := ix.Search(context.Background(), index.Query{Text: q, K: 10})
		if err != nil || len(got.Keyword) != 1 || !reflect.DeepEqual(got.Keyword[0].Facts, facts) {
			t.Errorf("%q finds %+v, %v", q, got.Keyword, err)
		}
	}
}

// The labels of a file are read by its path, follow the file, and go with it.
func TestLabels(t *testing.T) {
	ix := open(t, freshSchema(t))
	for i, labels := range [][]string{{"#ops", "@alpha"}, {"domain:code"}, nil} {
		f := files{"k.md": "she keeps it there", "m.md": "without labels"}
		read := func(path string) ([]index.Chunk, error) {
			chunks, err := f.read(path)
			if path == "k.md" {
				chunks[0].Labels = labels
			}
			return chunks, err
		}
		if _, err := ix.Sync(context.Background(), f.source(day.Add(time.Duration(i)*time.Hour)), read, nil); err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{}
		if labels != nil {
			want["k.md"] = labels
		}
		if got, err := ix.Labels(context.Background()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("labels %v, %v, want %v", got, err, want)
		}
	}
}
