package retrieval

import (
	"math/bits"
	"path"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// A note is also found by its names: the name of its file, its title and its aliases. The words of
// these names count for one passage of the note, its head: the property that gives a name, or else
// the first passage. For the note's other passages they count a little. If the question is a name
// of the note, the head comes before every other passage.

// nameWeight is how often a word of a name counts for the head, as in the index. nameShare is how
// often it counts for each other passage of the note.
var nameWeight = index.BM25.Weights[3]

const nameShare = .5

// separators replaces the characters that file names have in place of spaces.
var separators = strings.NewReplacer("-", " ", "_", " ", ".", " ")

// callNames returns the names of a file: its file name, and the given names from its front matter.
func callNames(file string, given []string) []string {
	_, file = index.SplitOwner(file)
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return append([]string{base, separators.Replace(base)}, given...)
}

// call adds the words of the file's names to its passages ps, which must be in order.
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
		// A name without letters, such as a day, counts only if it is the whole question.
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

// allOf reports whether the marked terms include each word of the question.
func (r *refiner) allOf(mark uint64) bool {
	for _, g := range r.groupsOf() {
		if mark&g == 0 {
			return false
		}
	}
	return true
}

// allIn reports whether the question contains all words of a name.
func (r *refiner) allIn(name *digest) bool {
	return name.within(digestOf(r.a, r.Text, name.lang))
}
