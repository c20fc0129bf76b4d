package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
)

// wholeBy is the command that a shaped result ends with.
var wholeBy = regexp.MustCompile(`\S*memkernel get -s \S+ (ev-[0-9a-f]{16})`)

// TestLargeResults: without a proxy, Claude Code's model sees the shaped text of a large result, reads
// the whole by the command in it, and edits a file that it has read.
func TestLargeResults(t *testing.T) {
	binary := builtOnce(t)
	dir, node := installNode(t)
	h := &clis[0]
	path, version := install(t, dir, h.name, h.pkg, filepath.Join(".bin", h.program), pathWith(node))
	var printed strings.Builder
	printed.WriteString("{\"error\": \"crate 77 has no lid\", \"crates\": [\n")
	for i := range 900 {
		fmt.Fprintf(&printed, "  {\"crate\": %d, \"worker\": %d, \"state\": \"packed\", \"lid\": true},\n", i, i%7)
	}
	printed.WriteString("  {\"crate\": 977, \"worker\": 3, \"state\": \"open\", \"lid\": false}\n]}\n")
	var results []string
	var command, page, crates string
	answer := func(turn fakemodel.Turn) fakemodel.Reply {
		if len(turn.Tools) == 0 {
			return fakemodel.Reply{Text: "The crates"}
		}
		results = append(results, turn.Results...)
		var input any
		tool := "Bash"
		switch len(results) {
		case 0:
			input = map[string]string{"command": "sh build.sh", "description": "builds"}
		case 1:
			if m := wholeBy.FindStringSubmatch(results[0]); m != nil {
				command, page = m[0], m[1]
			}
			input = map[string]string{"command": command + " | sha256sum", "description": "reads the whole"}
		case 2:
			tool, input = "Read", map[string]string{"file_path": crates}
		case 3:
			tool, input = "Edit", map[string]string{"file_path": crates, "old_string": "lids = 76", "new_string": "lids = 77"}
		default:
			return fakemodel.Reply{Text: "done"}
		}
		data, err := json.Marshal(input)
		if err != nil {
			panic(err) // maps of strings
		}
		return fakemodel.Reply{Calls: []fakemodel.Call{{ID: fmt.Sprintf("call_%d", len(results)), Name: tool, Input: data}}}
	}
	s := newStand(t, h, binary, path, node, true, fakemodel.Options{Script: answer})
	write(t, filepath.Join(s.project, "build.txt"), printed.String())
	write(t, filepath.Join(s.project, "build.sh"), "exec cat build.txt\n")
	crates = filepath.Join(s.project, "crates.go")
	write(t, crates, "package crates\n\nconst lids = 76\n")
	s.put(h.files, s.url)
	s.memkernel("init", "--yes", "--host", h.name)
	if out, err := s.host(s.url, []string{"-p", "{prompt}", "--session-id", "{session}", "--allowedTools", "Bash,Read,Edit"}, "build the crates"); err != nil || len(results) != 4 {
		t.Fatalf("%d results, %v\n%s\n%q", len(results), err, tail(out, 20), results)
	}
	if n := len(results[0]); page == "" || n > 2200 || !strings.Contains(results[0], "crate 77 has no lid") {
		t.Errorf("the model of Claude Code %s sees %d bytes of %d:\n%s", version, n, printed.Len(), results[0])
	}
	if want := fmt.Sprintf("%x", sha256.Sum256([]byte(printed.String()))); !strings.Contains(results[1], want) {
		t.Errorf("%s gave %s, want the sum %s", command, results[1], want)
	}
	if text := files(t, s.project)[crates]; !strings.Contains(text, "lids = 77") {
		t.Errorf("the edit gave %q: %s", text, results[3])
	}
	settle(t, binary) // the turn's end
	if got := s.memkernel("get", "-s", "claude:"+session, page); got != printed.String() {
		t.Errorf("after the turn %s holds %d bytes, want %d", page, len(got), printed.Len())
	}
	for _, v := range s.model.Violations() {
		t.Error(v.Rule)
	}
}
