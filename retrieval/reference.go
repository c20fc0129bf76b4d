package retrieval

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// reference matches a comment at the end of an entry, as package consolidation writes it. The
// comment names the origin of the entry, or the entry that it replaces, by a place
// (memory/2026-03-01.md#L3) or by the name of a line.
var reference = textutil.LazyRegexp(`<!--\s*(from|supersedes)\s+([^>]*?)\s*-->`)

// refersTo returns the places that the reference comments in lines name.
func refersTo(lines []string) (from, supersedes []string) {
	for _, l := range lines {
		if !strings.Contains(l, "<!--") {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(l, -1) {
			refs := strings.FieldsFunc(m[2], func(c rune) bool { return c == ',' || c == ' ' })
			if m[1] == "from" {
				from = append(from, refs...)
			} else {
				supersedes = append(supersedes, refs...)
			}
		}
	}
	return from, supersedes
}

// unreferenced returns a text without its reference comments, since their words are not searched.
func unreferenced(text string) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	return reference.ReplaceAllString(text, "")
}

// lineName returns the name of a line. The name depends only on the content of the line.
func lineName(line string) string {
	sum := sha256.Sum256([]byte(strings.Trim(comments.ReplaceAllString(line, ""), " \t\r-*+")))
	return "k-" + hex.EncodeToString(sum[:6])
}

var comments = textutil.LazyRegexp(`<!--.*?-->`)

// at reports whether a passage includes a line of a file.
func (p *place) at(path string, line int) bool {
	return p.chunk.hit.Path == path && p.from <= line && line <= p.to
}

// originals leaves out each passage that was promoted from another found passage. That passage, the
// original, gets the better of both scores. Both state the same fact, and the original has more
// detail.
func (r *refiner) originals() {
	kept := r.places[:0]
	for _, p := range r.places {
		if q := r.original(p); q != nil {
			q.score = max(q.score, p.own+r.sig.Session*p.session.score)
		} else {
			kept = append(kept, p)
		}
	}
	r.places = kept
}

// original returns the passage from which p was promoted, if that passage was found too.
func (r *refiner) original(p *place) *place {
	for _, ref := range p.comesFrom {
		path, line, ok := refLine(ref)
		if !ok {
			continue
		}
		for _, q := range r.places {
			if q != p && q.at(path, line) {
				return q
			}
		}
	}
	return nil
}

// refLine splits a reference into its path and its line.
func refLine(ref string) (path string, line int, ok bool) {
	path, anchor, ok := strings.Cut(ref, "#L")
	if !ok {
		return "", 0, false
	}
	for _, c := range anchor {
		if c < '0' || c > '9' || line > 1<<24 {
			break
		}
		line = 10*line + int(c-'0')
	}
	return path, line, line > 0
}

// superseded marks each passage that another passage replaces. It moves the replaced passage after
// its replacement, which gets the better of both scores. The score of a passage that is itself
// marked as no longer valid is multiplied by [Signals.Superseded].
func (r *refiner) superseded() {
	past := r.past()
	for _, p := range r.places {
		if p.gone && p.by == "" {
			if p.by = cite(p.chunk.hit.Path, p.from, p.to); r.sig.Superseded != 0 && !past {
				p.score *= r.sig.Superseded
			}
		}
		if p.replaces == nil && len(p.supersedes) == 0 {
			continue
		}
		for _, q := range r.places {
			if q == p || !p.names(q) && !p.outdates(q) {
				continue
			}
			if q.by = p.cite(); r.sig.Superseded != 0 && !past {
				p.score = max(p.score, q.score)
				q.score = min(q.score*max(r.sig.Superseded, .95), .95*p.score)
			}
		}
	}
}

// cite returns the citation of a passage's own lines.
func (p *place) cite() string {
	return cite(p.chunk.hit.Path, p.chunk.hit.StartLine+p.passage.own, p.to)
}

// names reports whether a reference comment of p says that p supersedes q.
func (p *place) names(q *place) bool {
	return slices.ContainsFunc(p.supersedes, func(ref string) bool {
		path, line, placed := refLine(ref)
		return placed && q.at(path, line) || strings.HasPrefix(ref, "k-") && q.comesAs(ref)
	})
}

// outdates reports whether p says in plain words that it replaces q. It is false if q is newer, by
// the dates of both or by their places in one file.
func (p *place) outdates(q *place) bool {
	if p.replaces == nil || q.changes || p.bound || q.bound || p.task || q.task || !q.pairs.hasAll(&p.former) {
		return false
	}
	ph, qh := &p.chunk.hit, &q.chunk.hit
	switch {
	case ph.Path == qh.Path:
		if p.from < q.to {
			return false
		}
	case ph.Date == "" || qh.Date == "" || ph.Date < qh.Date:
		return false
	}
	return p.replaces.Replaces(qh.Text[q.ownBegin:q.end])
}

// comesAs reports whether a passage begins with the line whose name is ref.
func (p *place) comesAs(ref string) bool {
	first, _, _ := strings.Cut(p.ownText(), "\n")
	return lineName(first) == ref
}
