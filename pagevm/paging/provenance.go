package paging

import (
	"fmt"
	"slices"
	"strings"
)

// links are the pages that a page comes from or makes stale.
func (p *Page) links() []string {
	if p.Supersedes == "" {
		return p.Provenance.From
	}
	return append(slices.Clip(p.Provenance.From), p.Supersedes)
}

// checkCircle refuses a page that would come from itself by way of others, those
// that arrive beside it among them. Pages that are not there yet may be named.
func (e *Engine) checkCircle(p *Page, beside []Page) error {
	if len(p.links()) == 0 {
		return nil
	}
	seen := map[string]bool{}
	var follow func(q *Page, path []string) []string
	follow = func(q *Page, path []string) []string {
		for _, id := range q.links() {
			next := append(slices.Clip(path), id)
			if id == p.ID {
				return next
			}
			if r := e.named(id, beside); r != nil && !seen[id] {
				seen[id] = true
				if c := follow(r, next); c != nil {
					return c
				}
			}
		}
		return nil
	}
	if c := follow(p, []string{p.ID}); c != nil {
		return fmt.Errorf("page %q: cyclic provenance, %s: take one of these links out", p.ID, strings.Join(c, " comes from "))
	}
	return nil
}

// named finds a page in the table or among those that arrive, nil if it is nowhere.
func (e *Engine) named(id string, beside []Page) *Page {
	if i, ok := e.ids[id]; ok {
		return e.rows[i].page
	}
	if i := slices.IndexFunc(beside, func(p Page) bool { return p.ID == id }); i >= 0 {
		return &beside[i]
	}
	return nil
}
