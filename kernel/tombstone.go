package kernel

import (
	"strings"
)

// Any, Forgotten, ForgottenContent and Retired are what ingesting has to know.
func (e *erasures) Any() bool { return len(e.forgotten) > 0 }

func (e *erasures) Forgotten(page string) (hash string, ok bool) {
	g, ok := e.forgotten[page]
	return g.Hash, ok
}

func (e *erasures) ForgottenContent(hash string) bool { return e.forgottenHash[hash] }

func (e *erasures) Retired(page string) bool {
	_, ok := e.retired[page]
	return ok
}

// goneContent is the answer for what was forgotten or went by retention.
func goneContent(id string, g grave, what string) *Content {
	detail := what
	if !g.time.IsZero() {
		detail += " on " + g.time.UTC().Format("2006-01-02")
	}
	if r := strings.TrimSpace(g.reason); r != "" {
		detail += ": " + r
	}
	return &Content{ID: id, Reason: ReasonForgotten, Detail: detail}
}

// buriedPage is the answer for a page that was forgotten.
func (s *session) buriedPage(id string) (*Content, bool) {
	g, ok := s.forgotten[id]
	if !ok || s.pages[id] != nil {
		return nil, false
	}
	return goneContent(id, g, "it was forgotten"), true
}
