// Command planhash plans every call of recorded sessions and hashes the results. It hashes the
// bytes of each request body, the decision that led to the body, and the journals at the end. Two
// builds that print the same lines plan alike.
//
//	go build -C bench -o "$PWD/bin/planhash" ./planhash
//	bin/planhash -o before.txt SESSION...
//	bin/planhash -against before.txt SESSION...
//
// Each session runs under several hosts (see hosts), with a copy of a workspace and the recorded
// clock. The hashes leave out the time and work of a plan and the frames of journal records.
//
// It judges nothing, and it never writes outside a temporary folder and the file that
// -o names.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	workspace := flag.String("workspace", "testdata/workspace", "`folder` whose memory the sessions run over")
	out := flag.String("o", "", "write the lines to `file` instead of standard output")
	against := flag.String("against", "", "compare with the lines in `file`, and print what differs")
	limit := flag.Int("calls", 0, "the number of calls of each session, 0 for all")
	only := flag.String("host", "", "run under this `host` only")
	flag.Parse()
	if err := run(*workspace, *out, *against, *only, *limit, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "planhash:", err)
		os.Exit(1)
	}
}

func run(workspace, out, against, only string, limit int, sessions []string) (err error) {
	if len(sessions) == 0 {
		return errors.New("no session given; name the files of recorded sessions")
	}
	var lines bytes.Buffer
	for _, path := range sessions {
		for _, h := range hosts {
			if only != "" && only != h.name {
				continue
			}
			if err := h.run(context.Background(), &lines, path, workspace, limit); err != nil {
				return fmt.Errorf("%s, host %s: %w", path, h.name, err)
			}
			fmt.Fprintln(os.Stderr, "done:", filepath.Base(path), h.name)
		}
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

// compare prints how many lines of each kind are equal, and the first lines that differ. A line
// is "session host call kind hash".
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
	for _, kind := range kinds {
		fmt.Fprintf(w, "%-10s %6d, %d differ", kind, count[kind], differ[kind])
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
		return errors.New("the builds plan differently")
	}
	return nil
}

func fields(text string) func(yield func(key, hash string) bool) {
	return func(yield func(string, string) bool) {
		sc := bufio.NewScanner(strings.NewReader(text))
		for sc.Scan() {
			key, hash, ok := cutLast(sc.Text())
			if ok && !yield(key, hash) {
				return
			}
		}
	}
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ' ')
	if i < 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}
