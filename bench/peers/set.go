package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/bench/relevance"
)

// set is a question set with the lines of its files.
type set struct {
	relevance.Set
	files map[string][]string
}

// read reads sets, and of each the questions that are asked, evenly spread.
func read(dirs []string, questions int) ([]set, error) {
	var out []set
	for _, d := range dirs {
		s, err := relevance.Read(d, filepath.Join(d, "qa.jsonl"))
		if err != nil {
			return nil, err
		}
		if n := len(s.Questions); questions > 0 && questions < n {
			var some []relevance.Question
			for i := range questions {
				some = append(some, s.Questions[i*n/questions])
			}
			s.Questions = some
		}
		files, err := lines(d)
		if err != nil {
			return nil, err
		}
		out = append(out, set{s, files})
	}
	return out, nil
}

// lines reads the Markdown files of a folder, by path.
func lines(dir string) (map[string][]string, error) {
	out := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = strings.Split(strings.TrimRight(string(b), "\n"), "\n")
		return err
	})
	return out, err
}

// A file of the large corpus has so many chunks, a chunk about so many bytes.
const (
	fileChunks = 10
	chunkBytes = 1600
)

// shuffled writes files of so many chunks, made of all sets' lines in random order,
// which is the same each time.
func shuffled(dir string, sets []set, chunks int) error {
	var all []string
	for _, s := range sets {
		for _, path := range sortedKeys(s.files) {
			for _, l := range s.files[path] {
				if l != "" && !strings.HasPrefix(l, "#") {
					all = append(all, strings.TrimPrefix(l, "- "))
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	if err := os.MkdirAll(filepath.Join(dir, "memory"), 0o755); err != nil {
		return err
	}
	for n := range max(1, chunks/fileChunks) {
		var b strings.Builder
		fmt.Fprintf(&b, "# Notes %d\n", n)
		for b.Len() < fileChunks*chunkBytes {
			fmt.Fprintf(&b, "- %s\n", all[r.IntN(len(all))])
		}
		if err := os.WriteFile(filepath.Join(dir, "memory", fmt.Sprintf("notes-%04d.md", n)), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys(m map[string][]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
