package window

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/serve/ui"
)

// view is one that is looked at: where it is, and how one sees that it stands.
type view struct{ name, path, ready string }

func views(id string, call int, page string) []view {
	planned := `document.querySelectorAll(".plot svg").length >= 3 && !document.querySelector(".tile small")?.textContent.includes("planned")`
	return []view{
		{"now", "/", `document.querySelector(".asked a .hint")?.textContent.includes("prompt")`},
		{"said", "/s/" + id, `document.querySelectorAll(".said").length > 1`},
		{"session", "/s/" + id + "/numbers", planned},
		{"call", fmt.Sprintf("/s/%s/c/%d", id, call), `document.querySelector(".blocks li")`},
		{"page", fmt.Sprintf("/s/%s/c/%d/p/%s", id, call, page), `document.querySelector(".beside article")`},
		{"memory", "/memory", `document.querySelector(".entry")`},
		{"search", "/memory/search?q=when+do+we+deploy", `document.querySelector(".signals")`},
		{"audit", "/memory/audit", `document.querySelector("table")`},
		{"changes", "/memory/changes", `document.querySelector(".versions, .bad")`},
		{"saved", "/saved", `document.querySelector(".sum")`},
		{"health", "/health", `document.querySelectorAll(".badge").length > 1 && !document.body.innerText.includes("looking…")`},
	}
}

// sample finds the session of a transcript, a call of it and a page of that, once it is planned.
func (b *browser) sample(name string) (id string, call int, page string) { return b.sampleAt(name, 0) }

// sampleAt is sample for a certain call, 0 for one in the last quarter.
func (b *browser) sampleAt(name string, n int) (id string, call int, page string) {
	b.t.Helper()
	var list ui.Sessions
	b.ask("/api/sessions", &list)
	for _, s := range list.Sessions {
		if s.Name == name {
			id = s.ID
		}
	}
	if id == "" {
		b.t.Fatalf("no session %s among %d", name, len(list.Sessions))
	}
	var doc ui.Session
	for range 600 {
		b.ask("/api/session?session="+id, &doc)
		if doc.Head.Done {
			break
		}
		b.do(pause)
	}
	if !doc.Head.Done || doc.Head.Error != "" {
		b.t.Fatalf("the session is not planned: %+v", doc.Head)
	}
	if call = n; n == 0 {
		call = max(doc.Head.Planned*3/4, 1)
	}
	var c ui.Call
	b.ask(fmt.Sprintf("/api/call?session=%s&call=%d", id, call), &c)
	best := 0
	for _, block := range c.Blocks {
		n := 0
		for _, v := range []int{block.Levels.Full, block.Levels.Compressed, block.Levels.Structured, block.Levels.Pointer} {
			if v > 0 {
				n++
			}
		}
		if n > best && block.Type == "evidence" {
			page, best = block.Page, n
		}
	}
	if page == "" {
		b.t.Fatalf("call %d has no page of a tool's among %d blocks", call, len(c.Blocks))
	}
	return id, call, page
}

// Every view stands at three widths, light and dark, without a complaint of the browser's.
func TestViews(t *testing.T) {
	b := open(t)
	s := window(t, workspace(t), ui.Options{Plan: ui.Plan{Window: 128_000, Resolver: "memory_get"}, Doctor: healthy}, filepath.Join(root, "testdata/session.jsonl"))
	b.size(1280, false)
	base := b.enter(s)
	id, call, page := b.sample("session")
	for _, v := range views(id, call, page) {
		b.size(1280, false)
		b.visit(base, v.path, v.ready)
		for _, width := range []int{390, 1280, 2560} {
			b.size(width, false)
			b.do(pause)
			if over := told[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("%s at %d px is %d px too wide", v.name, width, over)
			}
			b.shoot(fmt.Sprintf("%s-%d", v.name, width), width < 2000)
		}
		b.size(1280, true)
		b.visit(base, v.path, v.ready)
		b.do(pause)
		b.shoot(v.name+"-dark", true)
		b.calm(v.name)
	}
}

// healthy is a doctor who finds little.
func healthy(context.Context) (*health.Report, error) {
	r := &health.Report{}
	r.Add(health.Finding{Code: health.Config, Severity: health.OK, What: "there is no configuration file, the defaults hold"},
		health.Finding{Code: health.Index, Severity: health.Warning, What: "3 files have changed since they were indexed", Hint: "run 'memkernel reindex'"})
	return r, nil
}
