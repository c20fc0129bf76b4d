package ingest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/memkernel/memkernel/pagevm"
)

func TestCaptureJSON(t *testing.T) {
	page := func(id, hash string) *pagevm.Page { return &pagevm.Page{ID: id, Hash: hash} }
	for _, c := range []struct {
		name string
		fill func(*Pages)
		want map[string]string
	}{
		{"nothing", func(*Pages) {}, nil},
		{"small", func(c *Pages) { c.add(page("a", "1"), "x\ny"); c.add(page("b", "2"), "") }, map[string]string{"a": "x\ny", "b": ""}},
		{"large", func(c *Pages) { c.add(page("a", "1"), strings.Repeat("x", inlineBytes+1)) }, nil},
		{"not UTF-8", func(c *Pages) { c.add(page("a", "1"), "x\xff") }, nil},
		{"code", func(c *Pages) { c.add(page("a", "1"), "<a href=\"x\"> && \u2028\x00\b\t") }, map[string]string{"a": "<a href=\"x\"> && \u2028\x00\b\t"}},
		{"twice", func(c *Pages) { c.add(page("a", "1"), "old"); c.add(page("a", "2"), "new") }, map[string]string{"a": "new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := &Pages{}
			c.fill(out)
			raw, err := out.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if html := "\\u003c"; strings.Contains(string(raw), html) {
				t.Errorf("%s is escaped for HTML", raw)
			}
			var b Body
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			if d := cmp.Diff(Body{Pages: out.New, Content: c.want}, b, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
