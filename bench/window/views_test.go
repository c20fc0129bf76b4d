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

func views(id string, call int) []view {
	planned := `document.querySelectorAll(".plot svg").length >= 2 && !document.querySelector("[role=status].hint")?.textContent.includes("planned")`
	return []view{
		{"now", "/", `document.querySelector(".asked a .hint")?.textContent.includes("prompt")`},
		{"find", "/?q=half+up", `document.querySelector(".asked .quote")`},
		{"said", "/s/" + id, `document.querySelectorAll(".said").length > 1`},
		{"session", "/s/" + id + "/numbers", planned},
		{"call", fmt.Sprintf("/s/%s/c/%d", id, call), `document.querySelector(".blocks li")`},
		{"memory", "/memory", `document.querySelector(".entry")`},
		{"search", "/memory/search?q=when+do+we+deploy", `document.querySelector("header a code")`},
		{"changes", "/memory/changes", `document.querySelector(".versions, .bad")`},
		{"saved", "/saved", `document.querySelector(".sum")`},
		{"health", "/health", `document.querySelectorAll(".badge").length > 1`},
	}
}

// sessionList is a part of the document of /api/sessions.
type sessionList struct {
	Sessions []struct{ ID, Name string }
}

// sample finds the session of a transcript, and a call of it in the last quarter, once it is
// planned.
func (b *browser) sample(name string) (id string, call int) {
	b.t.Helper()
	var list sessionList
	b.ask("/api/sessions", &list)
	for _, s := range list.Sessions {
		if s.Name == name {
			id = s.ID
		}
	}
	if id == "" {
		b.t.Fatalf("no session %s among %d", name, len(list.Sessions))
	}
	var doc struct {
		Head struct {
			Done    bool
			Planned int
			Error   string
		}
	}
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
	return id, max(doc.Head.Planned*3/4, 1)
}

// Every view stands at three widths, light and dark, without a complaint of the browser's.
func TestViews(t *testing.T) {
	b := open(t)
	s := window(t, workspace(t), ui.Options{Window: 128_000, Resolver: "memory_get", Doctor: healthy}, filepath.Join(root, "testdata/session.jsonl"))
	b.size(1280, false)
	base := b.enter(s)
	id, call := b.sample("session")
	for _, v := range views(id, call) {
		b.size(1280, false)
		b.visit(base, v.path, v.ready)
		for _, width := range []int{390, 1280, 2560} {
			b.size(width, false)
			b.do(pause)
			over := told[string](b, `[document.documentElement, ...document.querySelectorAll(".scroll:has(> table:not(.prose-of *)), .virtual")].filter(e => e.scrollWidth > e.clientWidth).map(e => (e.getAttribute("aria-label") || "the page") + " by " + (e.scrollWidth - e.clientWidth)).join()`)
			if over != "" {
				t.Errorf("%s at %d px is too wide: %s", v.name, width, over)
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
