package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
)

// TestOpenAPIDescribesAnswers: what a server answers to the conversations of serve/testdata and
// doc/rpc.md is as the document says, and so is what was asked, where it is not refused.
func TestOpenAPIDescribesAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "serve", "testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, file := range append(files, filepath.Join(root, "doc", "rpc.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	doc := described(t)
	schemas := doc.Components.Schemas
	k, err := kernel.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	s := serve.New(k, &serve.Options{Private: true})
	defer s.Stop(t.Context())
	results := map[string]string{}
	schema, err := schemaOf(root)
	if err != nil {
		t.Fatal(err)
	}
	p, err := read(schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.methods {
		results[m.name] = m.result.name
	}
	seen := map[string]bool{}
	names := map[string]string{}
	wanted := regexp.MustCompile(`"(base|plan_id)":"<(\w+):any>"`)
	values := regexp.MustCompile(`"(base|plan_id)":"([^"]+)"`)
	for i, line := range lines {
		said, ok := strings.CutPrefix(line, "C: ")
		if !ok || said[0] != '{' || strings.Contains(said, "shutdown") || strings.Contains(said, "reindex") {
			continue
		}
		for name, v := range names {
			said = strings.ReplaceAll(said, "<"+name+">", v)
		}
		reply := s.Answer(t.Context(), []byte(said), serve.Caller{Name: "test"})
		if reply.JSON == nil {
			continue
		}
		answer := reply.JSON
		if i+1 < len(lines) {
			for _, w := range wanted.FindAllStringSubmatch(lines[i+1], -1) {
				for _, v := range values.FindAllStringSubmatch(string(answer), -1) {
					if v[1] == w[1] {
						names[w[2]] = v[2]
					}
				}
			}
		}
		var asked, answered any
		if err := json.Unmarshal([]byte(said), &asked); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer, &answered); err != nil {
			t.Fatal(err)
		}
		if reply.Error != nil {
			if err := schemas["RefusedMessage"].Value.VisitJSON(answered); err != nil {
				t.Errorf("line %d: the refusal: %.300v", i+1, err)
			}
			continue
		}
		method := asked.(map[string]any)["method"].(string)
		if method == "$/cancelRequest" {
			continue
		}
		seen[method] = true
		if err := schemas["call."+method].Value.VisitJSON(asked); err != nil {
			t.Errorf("line %d: the call: %.400v", i+1, err)
		}
		if err := schemas[results[method]].Value.VisitJSON(answered.(map[string]any)["result"]); err != nil {
			t.Errorf("line %d: the result of %s: %.400v", i+1, method, err)
		}
	}
	if len(seen) < 26 {
		t.Errorf("only %d methods were asked: %v", len(seen), seen)
	}
}
