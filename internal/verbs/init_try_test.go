package verbs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/markdownstore"
)

// TestQuestions: what is tried after init is a heading that says something and stands in
// one file, and else a long word; whatever is in the files, there are few, and each is a
// line that can be typed.
func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		first string
	}{
		"heading":         {map[string]string{"memory/a.md": "# Notes\n\n## How the harbour deploys\n\nx"}, "How the harbour deploys"},
		"in two files":    {map[string]string{"memory/a.md": "# Open points\n\n# Tides here\n", "memory/b.md": "# Open points\n"}, "Tides here"},
		"one word":        {map[string]string{"memory/a.md": "# Harbour\n"}, "Harbour"},
		"marks":           {map[string]string{"memory/a.md": "##   `code` and **bold** [link](x) ##\n"}, "code and bold link x"},
		"dates only":      {map[string]string{"memory/2026-11-22.md": "# 2026-11-22\n\nbarometer fell\n"}, "barometer"},
		"code":            {map[string]string{"memory/a.md": "```\n# not a heading\n```\n\n# Real heading\n"}, "Real heading"},
		"no hash heading": {map[string]string{"memory/a.md": "#tag and #another\n\nplain lighthouse\n"}, "lighthouse"},
		"Japanese":        {map[string]string{"memory/a.md": "# 記憶\n\n# 港のデプロイ手順\n"}, "港のデプロイ手順"},
		"Russian":         {map[string]string{"memory/a.md": "# Как мы выкатываем порт\n"}, "Как мы выкатываем порт"},
		"CRLF":            {map[string]string{"memory/a.md": "---\ntitle: x\n---\r\n# Tide tables\r\n"}, "Tide tables"},
		"empty":           {map[string]string{"memory/a.md": ""}, ""},
		"binary":          {map[string]string{"memory/a.md": "# a b\x00\x01\xff"}, ""},
		"nothing":         {nil, ""},
	} {
		dir := t.TempDir()
		for path, text := range c.files {
			lay(t, filepath.Join(dir, path), text)
		}
		got := ask(t, dir)
		if first := strings.Join(got[:min(1, len(got))], ""); first != c.first {
			t.Errorf("%s: %q, want %q", name, got, c.first)
		}
	}
	dir := t.TempDir()
	for i := range maxQuestionFiles + 20 {
		lay(t, filepath.Join(dir, "memory", fmt.Sprintf("%d.md", i)), fmt.Sprintf("# Heading number %d\n\x1b[31m# red one\x1b[0m\n# "+strings.Repeat("long ", 50)+"\n", i))
	}
	got := ask(t, dir)
	if len(got) != maxQuestions {
		t.Errorf("%d questions", len(got))
	}
	for _, q := range got {
		if strings.ContainsAny(q, "\x1b\n\r") || len(q) > 80 {
			t.Errorf("%q", q)
		}
	}
}

func lay(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ask(t *testing.T, dir string) []string {
	t.Helper()
	st, err := markdownstore.Open(dir, &markdownstore.Options{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	return questions(context.Background(), st)
}
