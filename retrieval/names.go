package retrieval

import (
	"math/bits"
	"path"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// A note is also asked for by its name: the name of its file, its title or an alias. The words of
// these names count for one passage of the note, its head: the property that gives the name, or
// else the first passage. A little of them counts for all passages of the note. The head of a
// note that is called exactly as the question comes before every other passage.

// nameWeight is the number of times that a word of a name counts for the head, as in the index.
// nameShare is the number for the other passages of the note.
var nameWeight = index.BM25.Weights[3]

const nameShare = .5

// separators replaces the characters that file names have in place of spaces.
var separators = strings.NewReplacer("-", " ", "_", " ", ".", " ")

// callNames returns the names of a file: those of the file itself, and those that it gives itself.
func callNames(file string, given []string) []string {
	_, file = index.SplitOwner(file)
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return append([]string{base, separators.Replace(base)}, given...)
}

// call counts the names of a file as words of its passages ps, which are in order.
func (r *refiner) call(ps []*place) {
	c := ps[0].chunk
	var held uint64
	same, best, called := 0, 0, ""
	for _, name := range callNames(c.hit.Path, c.found.Names) {
		d := digestOf(r.a, name, c.outline.lang)
		mark := d.mark(r.terms)
		if mark == 0 {
			continue
		}
		alike := spelled(bare(name)) == r.exact.whole
		// A day or a number is a name only for itself.
		if alike || strings.ContainsFunc(name, unicode.IsLetter) {
			held |= mark
			if n := bits.OnesCount64(mark); n > best {
				best, called = n, name
			}
		}
		if alike {
			same = sameName
		} else if same == 0 && r.allOf(mark) && r.allIn(d) {
			same = sameWords
		}
	}
	if held == 0 {
		return
	}
	head := headOf(ps)
	head.exact, head.held, head.called = same, head.held|held, called
	for j := range r.terms {
		if held&(1<<j) == 0 {
			continue
		}
		for _, p := range ps {
			p.tf[j] = max(p.tf[j], nameShare)
		}
		head.tf[j] = max(head.tf[j], nameWeight)
	}
}

// headOf returns the passage for which the names of a file count.
func headOf(ps []*place) *place {
	for _, p := range ps {
		if markdownstore.IsName(p.property) {
			return p
		}
	}
	for _, p := range ps {
		if p.property == "" {
			return p
		}
	}
	return ps[0]
}

// allOf reports whether marked terms include one of each word of the question.
func (r *refiner) allOf(mark uint64) bool {
	for _, g := range r.groupsOf() {
		if mark&g == 0 {
			return false
		}
	}
	return true
}

// allIn reports whether the question has all words of a name.
func (r *refiner) allIn(name *digest) bool {
	return name.within(digestOf(r.a, r.Text, name.lang))
}
