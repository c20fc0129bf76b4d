package markdownstore

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for name, tt := range map[string]struct {
		data, front string
		meta        map[string]any
		line        int
		notes       string
		dos         bool
	}{
		"none":                {data: "text\n", line: 1},
		"empty file":          {data: "", line: 1},
		"yaml":                {data: "---\ntags: [a, b]\n---\ntext\n", front: "---\ntags: [a, b]\n---\n", meta: map[string]any{"tags": []any{"a", "b"}}, line: 4},
		"nested":              {data: "---\na:\n  b: {1: x}\n---\n", front: "---\na:\n  b: {1: x}\n---\n", meta: map[string]any{"a": map[string]any{"b": map[string]any{"1": "x"}}}, line: 5},
		"byte-order mark":     {data: bom + "---\na: 1\n---\nx", front: "---\na: 1\n---\n", meta: map[string]any{"a": 1}, line: 4},
		"dos":                 {data: "---\r\na: 1\r\n---\r\nx\r\n", front: "---\r\na: 1\r\n---\r\n", meta: map[string]any{"a": 1}, line: 4, dos: true},
		"mixed":               {data: "a\r\nb\n", line: 1},
		"blank lines first":   {data: "\n\n---\na: 1\n---\nx\n", front: "\n\n---\na: 1\n---\n", meta: map[string]any{"a": 1}, line: 6},
		"ends with the close": {data: "---\na: 1\n---", front: "---\na: 1\n---", meta: map[string]any{"a": 1}, line: 3},
		"empty block":         {data: "---\n---\nx\n", front: "---\n---\n", line: 3},
		"never closed":        {data: "---\na: 1\nx\n", line: 1, notes: "front_matter"},
		"never closed toml":   {data: bom + "\n+++\r\na = 1\nx\n", line: 1, notes: "front_matter"},
		"only a rule":         {data: "---\n\nProse: it goes on.\n", line: 1},
		"a rule, then a link": {data: "---\nhttps://example.org\n", line: 1},
		"an opener alone":     {data: "---", line: 1},
		"a rule":              {data: "---\n\nSome: text. More: text\n\n---\nx\n", line: 1, notes: "front_matter"},
		"rules and an entry":  {data: "---\n\n## 10:47 — \"it\": what\n\n---\nx\n", line: 1},
		"to be filled in":     {data: "---\ndate: {{date}}\n---\nx\n", line: 1},
		"a rule and prose":    {data: "---\nJust prose here.\n---\nx\n", line: 1, notes: "front_matter"},
		"rules and a heading": {data: "---\n# Title\n---\nx\n", line: 1, notes: "front_matter"},
		"a list":              {data: "---\n- a\n- b\n---\nx\n", line: 1, notes: "front_matter"},
		"twice the same key":  {data: "---\na: 1\na: 2\n---\nx\n", line: 1, notes: "front_matter"},
		"a tab":               {data: "---\n\ta: 1\n---\nx\n", line: 1, notes: "front_matter"},
		"not a number":        {data: "---\na: .nan\n---\n", front: "---\na: .nan\n---\n", meta: map[string]any{"a": "NaN"}, line: 4},
		"toml":                {data: "+++\na = 1\n[b]\nc = \"d\"\n+++\nx\n", front: "+++\na = 1\n[b]\nc = \"d\"\n+++\n", meta: map[string]any{"a": int64(1), "b": map[string]any{"c": "d"}}, line: 6},
		"json":                {data: "---json\n{\"a\": 1}\n---\nx\n", front: "---json\n{\"a\": 1}\n---\n", meta: map[string]any{"a": 1.0}, line: 4},
		"a brace":             {data: "{\n}\n\nx\n", line: 1},
		"latin-1":             {data: "caf\xe9\n", line: 1, notes: "invalid_utf8"},
		"too large a block":   {data: "---\na: " + strings.Repeat("x", maxFrontMatter) + "\n---\n", line: 1, notes: "front_matter"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Parse("memory/x.md", tt.data)
			codes := []string{}
			for _, n := range d.Notes {
				codes = append(codes, string(n.Code))
				if strings.Contains(n.Text, "\n") {
					t.Errorf("note of several lines: %q", n.Text)
				}
			}
			if d.FrontMatter != tt.front || d.BodyLine != tt.line || isDOS(tt.data) != tt.dos || strings.Join(codes, " ") != tt.notes {
				t.Errorf("front %q, line %d, dos %v, notes %v", d.FrontMatter, d.BodyLine, tt.dos, d.Notes)
			}
			if diff := cmp.Diff(tt.meta, d.Meta); diff != "" {
				t.Errorf("meta (-want +got):\n%s", diff)
			}
			checkDocument(t, "memory/x.md", tt.data, nil)
		})
	}
}

func TestBinaryFiles(t *testing.T) {
	for name, data := range map[string]string{
		"png":    "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"utf-16": "\xff\xfe#\x00 \x00A\x00",
		"noise":  strings.Repeat("\x01\x02abc", 100),
	} {
		d := Parse("memory/x.md", data)
		if !d.Binary || len(d.Notes) != 1 || d.Notes[0].Code != noteBinary || len(chunksOf(d, nil)) != 0 {
			t.Errorf("%s: %+v", name, d.Notes)
		}
	}
	for name, data := range map[string]string{
		"gbk":      strings.Repeat("\xd6\xd0\xce\xc4 ", 300),
		"ansi":     "\x1b[31mred\x1b[0m log line of a terminal\n",
		"late nul": strings.Repeat("text and more text\n", 1000) + "\x00",
	} {
		if d := Parse("memory/x.md", data); d.Binary || len(chunksOf(d, nil)) == 0 {
			t.Errorf("%s counts as binary: %+v", name, d.Notes)
		}
	}
}
