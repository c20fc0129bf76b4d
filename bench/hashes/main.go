// Command hashes plans every call of recorded sessions, or asks every question of sets, and hashes
// the results. Two builds that print the same lines plan alike, or find the same.
//
//	go build -C bench -o "$PWD/bin/hashes" ./hashes
//	bin/hashes -o before.txt plans SESSION...
//	bin/hashes -against before.txt searches SET...
//
// Each session runs under several hosts (see hosts), with a copy of a workspace and the recorded
// clock. The hashes cover the bytes of each request body, the decision that led to the body, and
// the journals at the end. They leave out the time and work of a plan and the frames of journal
// records.
//
// A set is a folder with qa.jsonl, as in package bench/relevance. Each question is asked in every
// way in which an index can be searched (see ways). It is asked twice, because a search caches results
// of its first run. The hashes cover the order of the hits, their lines and shown texts, and the
// scores to nine decimals.
//
// The command only compares, and does not judge. It writes only to a temporary folder and to the
// file that -o names.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	workspace := flag.String("workspace", "testdata/workspace", "`folder` whose memory the sessions run over")
	out := flag.String("o", "", "write the lines to `file` instead of standard output")
	against := flag.String("against", "", "compare with the lines in `file`, and print what differs")
	limit := flag.Int("limit", 0, "the number of calls of each session or questions of each set, 0 for all")
	flag.Parse()
	if err := run(*workspace, *out, *against, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "hashes:", err)
		os.Exit(1)
	}
}

func run(workspace, out, against string, limit int, args []string) (err error) {
	if len(args) < 2 || args[0] != "plans" && args[0] != "searches" {
		return errors.New("give plans and files of recorded sessions, or searches and folders that have a qa.jsonl")
	}
	var lines bytes.Buffer
	for _, path := range args[1:] {
		if args[0] == "searches" {
			err = search(context.Background(), &lines, path, limit)
		} else {
			err = plans(context.Background(), &lines, path, workspace, limit)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintln(os.Stderr, "done:", filepath.Base(path))
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
	_, err = os.Stdout.Write(lines.Bytes())
	return err
}

// compare prints how many lines of each kind are equal, and the first lines that differ. The
// kind of a line is the word before its hash.
func compare(w io.Writer, before, after string) error {
	old := map[string]string{}
	for key, hash := range fields(before) {
		old[key] = hash
	}
	count, differ, first := map[string]int{}, map[string]int{}, map[string]string{}
	missing := len(old)
	for key, hash := range fields(after) {
		kind := key[strings.LastIndexByte(key, ' ')+1:]
		count[kind]++
		if was, ok := old[key]; ok {
			missing--
			if was == hash {
				continue
			}
		}
		if differ[kind]++; first[kind] == "" {
			first[kind] = key
		}
	}
	bad := missing
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(w, "%-18s %6d, %d differ", kind, count[kind], differ[kind])
		if first[kind] != "" {
			fmt.Fprintf(w, ", the first: %s", first[kind])
		}
		fmt.Fprintln(w)
		bad += differ[kind]
	}
	if missing > 0 {
		fmt.Fprintf(w, "%d lines of before are missing\n", missing)
	}
	if bad > 0 {
		return errors.New("the builds differ")
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
