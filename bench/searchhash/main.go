// Command searchhash asks the questions of sets in every way in which an index can be searched,
// and hashes the results. It hashes every hit with its order, its lines, the shown text, and the
// scores to nine decimals. Two builds that print the same lines find the same.
//
//	go build -C bench -o "$PWD/bin/searchhash" ./searchhash
//	bin/searchhash -o before.txt SET...
//	bin/searchhash -against before.txt SET...
//
// A set is a folder with qa.jsonl, as in package bench/relevance. Each question is asked twice,
// to cover cached results of the first time.
//
// It judges nothing, and it never writes outside a temporary folder and the file that
// -o names.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/memkernel/memkernel/bench/relevance"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval"
)

func main() {
	out := flag.String("o", "", "write the lines to `file` instead of standard output")
	against := flag.String("against", "", "compare with the lines in `file`, and print what differs")
	limit := flag.Int("questions", 0, "the number of questions of each set, 0 for all")
	flag.Parse()
	if err := run(*out, *against, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "searchhash:", err)
		os.Exit(1)
	}
}

func run(out, against string, limit int, dirs []string) error {
	if len(dirs) == 0 {
		return errors.New("no set given; name folders that have a qa.jsonl")
	}
	var lines bytes.Buffer
	for _, dir := range dirs {
		set, err := relevance.Read(dir, filepath.Join(dir, "qa.jsonl"))
		if err != nil {
			return err
		}
		if limit > 0 {
			set.Questions = set.Questions[:min(limit, len(set.Questions))]
		}
		if err := ask(context.Background(), &lines, set); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		fmt.Fprintln(os.Stderr, "done:", dir)
	}
	switch {
	case against != "":
		old, err := os.ReadFile(against)
		if err != nil {
			return err
		}
		return compare(os.Stdout, string(old), lines.String())
	case out != "":
		return os.WriteFile(out, lines.Bytes(), 0o644)
	}
	_, err := os.Stdout.Write(lines.Bytes())
	return err
}

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
	{"hybrid", relevance.VectorsRight, retrieval.Query{Passages: true}},
	{"hybrid-lines", relevance.VectorsForeign, retrieval.Query{Passages: true, Lines: true, Limit: 40}},
	{"hybrid-chunks", relevance.VectorsForeign, retrieval.Query{Limit: 20}},
	{"hybrid-some-files", relevance.VectorsForeign, retrieval.Query{Passages: true, Want: some}},
}

// some selects about half of the files.
func some(path string) bool { return sha256.Sum256([]byte(path))[0]%2 == 0 }

// trusted is an index whose vectors have full weight.
type trusted struct{ relevance.Index }

func (t trusted) Search(ctx context.Context, q index.Query) (index.Hits, error) {
	hits, err := t.Index.Search(ctx, q)
	hits.Reliance = nil
	return hits, err
}

// ask writes a line for each question, way and time.
func ask(ctx context.Context, out io.Writer, set relevance.Set) error {
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
				fmt.Fprintf(out, "%s %s %d %d %s\n", filepath.Base(set.Dir), w.name, i, again, hash(result))
			}
		}
	}
	return nil
}

// hash returns the hash of all parts of a result.
func hash(r retrieval.Result) string {
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

// compare prints how many lines are equal, and the first lines that differ.
func compare(w io.Writer, before, after string) error {
	old := map[string]string{}
	for key, hash := range fields(before) {
		old[key] = hash
	}
	same, differ := 0, 0
	for key, hash := range fields(after) {
		was, ok := old[key]
		delete(old, key)
		if ok && was == hash {
			same++
			continue
		}
		if differ++; differ <= 10 {
			fmt.Fprintln(w, "differs:", key)
		}
	}
	fmt.Fprintf(w, "%d equal, %d differ, %d missing\n", same, differ, len(old))
	if differ+len(old) > 0 {
		return errors.New("the builds find differently")
	}
	return nil
}

func fields(text string) func(yield func(key, hash string) bool) {
	return func(yield func(string, string) bool) {
		sc := bufio.NewScanner(strings.NewReader(text))
		for sc.Scan() {
			s := sc.Text()
			if i := strings.LastIndexByte(s, ' '); i >= 0 && !yield(s[:i], s[i+1:]) {
				return
			}
		}
	}
}
