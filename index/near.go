package index

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/internal/textutil"
)

// A word of a question that no chunk holds may be misspelled, or the notes may write it as two
// words. Two neighbouring words of a question may be one word in the notes. If the index holds
// such another spelling, the search looks for it in addition to the typed words.

// Also holds the words that were searched in addition to a word of the question: other spellings of
// it, or words that mean the same.
type Also struct {
	// Typed is the word, or the two words, as in the question.
	Typed string
	// Asked are the other spellings that the hits hold. It is empty if only other chunks hold
	// them, and for words that mean the same.
	Asked []string
	// Of are the indexes in Hits.Terms of the terms of Typed. Terms are the indexes in Hits.Terms of
	// the added terms.
	Of, Terms []int

	// edits is how many letters of Typed were changed at most.
	edits int
	// whole reports whether a hit must hold all searched words.
	whole bool
	// meaning reports whether the added words mean the same as Typed. Otherwise they are other
	// spellings of it.
	meaning bool
}

const (
	// leastMistyped is the least number of letters of a word that may have one wrong letter.
	leastMistyped = 5
	// leastTwice is the least number of letters of a word that may have two wrong letters.
	leastTwice = 9
	// mostMistyped is the largest number of letters of a word that is corrected.
	mostMistyped = 32
	// leastPart is the least number of letters of each part of a split word.
	leastPart = 3
	// leastJoined is the least length of a word joined from two words.
	leastJoined = 5
	// mostJoined is the largest length of a joined word.
	mostJoined = 24
	// mostUnknown is the largest number of unknown words of a question that are looked up.
	mostUnknown = 3
	// mostAsked is the largest number of words that are searched in place of one unknown word.
	mostAsked = 2
)

// typed is a word of a question that consists of letters alone.
type typed struct {
	text string
	// next reports whether a space and another such word follow the word.
	next  bool
	terms []string
}

// wordsOf returns the ordinary words of a question, each with its terms. It leaves out names in
// code, numbers, dates, hashes, and words in scripts without spaces.
func wordsOf(a *analysis.Analyzer, text string, langs []string) (out []typed) {
	beside := false
	for _, f := range strings.Fields(text) {
		w := strings.TrimFunc(f, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_/~@#$", r)
		})
		if !wordly(w) {
			beside = false
			continue
		}
		if beside && strings.HasPrefix(f, w) && len(out) > 0 {
			out[len(out)-1].next = true
		}
		out = append(out, typed{text: w, terms: a.Stems(w, langs)})
		beside = strings.HasSuffix(f, w)
	}
	return out
}

// wordly reports whether a word consists only of letters, with no capital after the first letter.
func wordly(w string) bool {
	for i, r := range w {
		if !spelling(r) || i > 0 && unicode.IsUpper(r) {
			return false
		}
	}
	return w != ""
}

// spelling reports whether a character is a letter of a script that puts spaces between words.
func spelling(r rune) bool {
	return r < utf8.RuneSelf && (r|0x20 >= 'a' && r|0x20 <= 'z') || r >= utf8.RuneSelf && unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek)
}

// word reports whether a term may be compared with the words of a question.
func word(term []byte) bool {
	if len(term) < leastPart {
		return false
	}
	for _, r := range string(term) {
		if !spelling(r) {
			return false
		}
	}
	return true
}

// joined returns an Also for each pair of neighbouring words of a question, with the pair written as
// one word. more are the terms of these words, which the caller appends to terms.
func joined(a *analysis.Analyzer, words []typed, langs []string, terms []string) (out []Also, more []string) {
	for i, w := range words {
		if !w.next || len(words[i+1].text)+len(w.text) > mostJoined || min(len(w.text), len(words[i+1].text)) < 2 || len(w.text)+len(words[i+1].text) < leastJoined {
			continue
		}
		second := words[i+1]
		of := placesOf(terms, slices.Concat(w.terms, second.terms))
		if len(placesOf(terms, w.terms)) == 0 {
			continue // a function word begins no compound
		}
		also := Also{Typed: w.text + " " + second.text, Asked: []string{w.text + second.text}, Of: of}
		for _, t := range a.Stems(also.Asked[0], langs) {
			if !slices.Contains(terms, t) && !slices.Contains(more, t) {
				also.Terms = append(also.Terms, len(terms)+len(more))
				more = append(more, t)
			}
		}
		if len(also.Terms) > 0 {
			out = append(out, also)
		}
	}
	return out, more
}

// placesOf returns the indexes in terms of those of some that terms holds.
func placesOf(terms, some []string) (out []int) {
	for _, t := range some {
		if i := slices.Index(terms, t); i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// unknown returns the words of a question of which no chunk holds a stem. It returns at most
// mostUnknown words, each with at least leastMistyped letters.
func unknown(words []typed, terms []string, holders []int64) (out []typed) {
	for _, w := range words {
		at := placesOf(terms, w.terms)
		held := slices.ContainsFunc(at, func(i int) bool { return i >= len(holders) || holders[i] > 0 })
		n := utf8.RuneCountInString(w.text)
		if len(at) > 0 && !held && n >= leastMistyped && n <= mostMistyped && len(out) < mostUnknown && !slices.ContainsFunc(out, func(o typed) bool { return o.text == w.text }) {
			out = append(out, w)
		}
	}
	return out
}

// speller finds the words of the index that a user may have meant by an unknown word.
type speller struct {
	*reader
	ctx   context.Context
	a     *analysis.Analyzer
	langs []string
	// all are the words of the index, in order.
	all []string
}

// respelled is a word that the index holds.
type respelled struct {
	text  string
	terms []string
	// chunks is the number of chunks that hold the word.
	chunks int64
}

// maxSpelt bounds the words whose spellings are kept.
const maxSpelt = 512

// speltWord holds the possible spellings of an unknown word.
type speltWord struct {
	as    []respelled
	edits int
}

// spelled returns the words of the index that differ from a word in one letter. If the index
// holds no such word, it returns the word's two parts, or else the words that differ in two
// letters.
func (s *speller) spelled(w typed) (fs []respelled, edits int, err error) {
	low := strings.ToLower(w.text)
	if fs, err = s.best(s.once(low)); err != nil || len(fs) > 0 {
		return fs, 1, err
	}
	if fs, err = s.parts(low); err != nil || len(fs) > 0 {
		return fs, 0, err
	}
	if utf8.RuneCountInString(low) < leastTwice {
		return nil, 0, nil
	}
	var near []respelled
	for _, t := range w.terms {
		if utf8.RuneCountInString(t) <= leastMistyped+1 {
			continue
		}
		_, first := utf8.DecodeRuneInString(t)
		for _, n := range s.all {
			if strings.HasPrefix(n, t[:first]) && max(len(n)-len(t), len(t)-len(n)) <= 2*utf8.UTFMax && textutil.Distance(t, n) <= 2 {
				near = append(near, respelled{text: n, terms: []string{n}})
			}
		}
	}
	fs, err = s.best(near)
	return fs, 2, err
}

// known returns the stems of a word that the index holds.
func (s *speller) known(text string) []string {
	return slices.DeleteFunc(s.a.Stems(text, s.langs), func(t string) bool {
		_, held := slices.BinarySearch(s.all, t)
		return !held
	})
}

// once returns the words of the index that begin with the same letter as w and differ from w in
// one letter. For a short word it only tries a missing letter and two swapped letters, because
// other changes of a short word give too many words.
func (s *speller) once(w string) (out []respelled) {
	letters := []rune(w)
	first := letters[0]
	seen := map[string]bool{w: true}
	swapped := false
	try := func(edited []rune) {
		t := string(edited)
		if seen[t] || edited[0] != first || len(letters) == leastMistyped && len(edited) <= len(letters) && !swapped {
			return
		}
		seen[t] = true
		if terms := s.known(t); len(terms) > 0 {
			out = append(out, respelled{text: t, terms: terms})
		}
	}
	alphabet := alphabetOf(letters)
	for i := range letters {
		head, tail := letters[:i:i], letters[i:]
		try(slices.Concat(head, tail[1:]))
		if len(tail) > 1 {
			swapped = true
			try(slices.Concat(head, []rune{tail[1], tail[0]}, tail[2:]))
			swapped = false
		}
		for _, r := range alphabet {
			try(slices.Concat(head, []rune{r}, tail[1:]))
			try(slices.Concat(head, []rune{r}, tail))
		}
	}
	for _, r := range alphabet {
		try(slices.Concat(letters, []rune{r}))
	}
	return out
}

// alphabetOf returns the letters that are likely in a word that has the given letters.
func alphabetOf(letters []rune) []rune {
	from, to := 'a', 'z'
	switch {
	case unicode.Is(unicode.Cyrillic, letters[0]):
		from, to = 'а', 'я'
	case unicode.Is(unicode.Greek, letters[0]):
		from, to = 'α', 'ω'
	}
	var out []rune
	for r := from; r <= to; r++ {
		out = append(out, r)
	}
	return out
}

// parts returns the two words that one word is made of. Of several such pairs it returns the pair
// whose words are nearest in length.
func (s *speller) parts(w string) ([]respelled, error) {
	letters := []rune(w)
	for off := range len(letters) {
		for _, at := range []int{(len(letters) + off) / 2, (len(letters) - off) / 2} {
			if at < leastPart || len(letters)-at < leastPart {
				continue
			}
			var out []respelled
			for _, part := range []string{string(letters[:at]), string(letters[at:])} {
				best, err := s.best([]respelled{{text: part, terms: s.known(part)}})
				if err != nil {
					return nil, err
				}
				out = append(out, best...)
			}
			if len(out) == 2 {
				return out, nil
			}
		}
	}
	return nil, nil
}

// best returns the words that most chunks hold.
func (s *speller) best(fs []respelled) ([]respelled, error) {
	for i := range fs {
		for _, t := range fs[i].terms {
			n, err := s.chunksWith(s.ctx, t)
			if err != nil {
				return nil, err
			}
			fs[i].chunks = max(fs[i].chunks, n)
		}
	}
	fs = slices.DeleteFunc(fs, func(f respelled) bool { return f.chunks == 0 })
	slices.SortFunc(fs, func(a, b respelled) int {
		return cmp.Or(cmp.Compare(b.chunks, a.chunks), cmp.Compare(a.text, b.text))
	})
	var out []respelled
	for _, f := range fs {
		if same := slices.ContainsFunc(out, func(o respelled) bool { return slices.Equal(o.terms, f.terms) }); !same && len(out) < mostAsked {
			out = append(out, f)
		}
	}
	return out, nil
}

// respell adds to the hits the spellings that were searched in place of unknown words.
func (r *reader) respell(ctx context.Context, a *analysis.Analyzer, words []typed, out *Hits) error {
	strange := unknown(words, out.Terms, out.Holders)
	if len(strange) == 0 {
		return nil
	}
	all := r.words.Words(ctx, r.tx, r.structure, word)
	if all == nil {
		return nil
	}
	s := &speller{reader: r, ctx: ctx, a: a, langs: r.v.langs, all: all}
	for _, w := range strange {
		spelt, known := r.v.spelt.Get(w.text)
		if !known {
			var err error
			if spelt.as, spelt.edits, err = s.spelled(w); err != nil {
				return err
			}
			r.v.spelt.Put(w.text, spelt, 1, maxSpelt/2)
		}
		also := Also{Typed: w.text, Of: placesOf(out.Terms, w.terms), edits: spelt.edits, whole: spelt.edits == 0}
		for _, f := range spelt.as {
			also.Asked = append(also.Asked, f.text)
			for _, t := range f.terms {
				if !slices.Contains(out.Terms, t) && len(out.Terms) < MaxTerms {
					n, err := r.chunksWith(ctx, t)
					if err != nil {
						return err
					}
					also.Terms = append(also.Terms, len(out.Terms))
					out.Terms, out.Holders = append(out.Terms, t), append(out.Holders, n)
				}
			}
		}
		if len(also.Terms) > 0 {
			out.Also = append(out.Also, also)
		}
	}
	return nil
}

// ask searches for the words of a question and for the words that the user may have meant. It
// counts the chunks that hold each word.
func (r *reader) ask(ctx context.Context, ix *Index, q *Query, out *Hits) error {
	a := ix.analyzers.Lend()
	defer ix.analyzers.Give(a)
	words := wordsOf(a, q.Text, r.v.langs)
	typed := len(out.Terms)
	pairs, more := joined(a, words, r.v.langs, out.Terms)
	if len(out.Terms)+len(more) > MaxTerms {
		pairs, more = nil, nil
	}
	same, others, err := r.meant(ctx, a, q.Text, append(out.Terms[:typed:typed], more...))
	if err != nil {
		return err
	}
	if typed+len(more)+len(others) > MaxTerms {
		same, others = nil, nil
	}
	out.Terms = append(append(out.Terms, more...), others...)
	pairs = append(pairs, same...)
	if out.Keyword, err = r.keyword(ctx, q.Words(out.Terms), q.K, q.Want); err != nil {
		return err
	}
	if out.Holders, err = r.holders(ctx, out.Terms); err != nil {
		return err
	}
	out.take(typed, pairs)
	before := len(out.Terms)
	if err = r.respell(ctx, a, words, out); err == nil && len(out.Terms) > before {
		out.Keyword, err = r.keyword(ctx, q.Words(out.Terms), q.K, q.Want)
	}
	if err == nil && len(out.Also) > 0 {
		if dropped := out.settle(a, r.v.langs); dropped {
			out.Keyword, err = r.keyword(ctx, q.Words(out.Terms), q.K, q.Want)
		}
	}
	if err == nil {
		out.Keyword, err = r.complete(ctx, out.words(a, q.Text), q, out.Keyword)
	}
	return err
}

// words returns the searched terms of each word of the question. A spelling that was searched in
// place of a word, or of two, belongs to each of them.
func (h *Hits) words(a *analysis.Analyzer, text string) (out [][]string) {
	of := a.Words(text, h.Terms)
	added := map[int]bool{}
	for _, also := range h.Also {
		for _, t := range also.Terms {
			added[t] = true
		}
	}
	at := map[int]int{}
	for i, w := range of {
		if added[i] {
			continue
		}
		if _, ok := at[w]; !ok {
			at[w] = len(out)
			out = append(out, nil)
		}
		out[at[w]] = append(out[at[w]], h.Terms[i])
	}
	for _, also := range h.Also {
		for _, i := range also.Of {
			if added[i] {
				continue
			}
			for _, t := range also.Terms {
				out[at[of[i]]] = append(out[at[of[i]]], h.Terms[t])
			}
		}
	}
	return out
}

// settle keeps the added spellings that occur as words in the hits, and drops the others, such as a
// spelling of which the hits hold only the stem. It reports whether it dropped terms.
func (h *Hits) settle(a *analysis.Analyzer, langs []string) (dropped bool) {
	gone := map[int]bool{}
	var kept []Also
	for _, also := range h.Also {
		if also.meaning {
			kept = append(kept, also)
			continue
		}
		var asked []string
		var terms []int
		for _, t := range also.Terms {
			w := also.standing(a, langs, h.Keyword, h.Terms[t])
			if w == "" {
				gone[t] = true
				continue
			}
			terms = append(terms, t)
			if !slices.Contains(asked, w) {
				asked = append(asked, w)
			}
		}
		if also.whole && !also.apart(langs, asked, h.Keyword) {
			for _, t := range also.Terms {
				gone[t] = true
			}
			continue
		}
		if also.Asked, also.Terms = asked, terms; len(terms) > 0 {
			kept = append(kept, also)
		}
	}
	h.Also = kept
	h.drop(gone)
	return len(gone) > 0
}

// drop removes the terms at the indexes in gone, and corrects the indexes in h.Also.
func (h *Hits) drop(gone map[int]bool) {
	to := make([]int, len(h.Terms))
	var terms []string
	var holders []int64
	for i, t := range h.Terms {
		if to[i] = len(terms); !gone[i] {
			terms = append(terms, t)
			if i < len(h.Holders) {
				holders = append(holders, h.Holders[i])
			}
		}
	}
	for _, also := range h.Also {
		for i, t := range also.Terms {
			also.Terms[i] = to[t]
		}
	}
	h.Terms, h.Holders = terms, holders
}

// standing returns a word of the hits that has term as a stem and is near enough to the typed
// word. It returns "" if the hits have no such word.
func (o *Also) standing(a *analysis.Analyzer, langs []string, hits []Hit, term string) string {
	first, _ := utf8.DecodeRuneInString(term)
	for _, h := range hits {
		for _, text := range append([]string{h.Text, h.Path}, h.Trail...) {
			for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !spelling(r) }) {
				last := strings.ToLower(w)
				r, _ := utf8.DecodeRuneInString(last)
				if r != first && r < utf8.RuneSelf {
					continue
				}
				if (o.edits == 0 || textutil.Distance(o.Typed, last) <= o.edits) && slices.Contains(a.Stems(w, langs), term) {
					return last
				}
			}
		}
	}
	return ""
}

// apart reports whether hits hold the parts of a word next to each other. In languages that join
// words freely, the parts need not be next to each other.
func (o *Also) apart(langs, asked []string, hits []Hit) bool {
	if len(asked) != 2 {
		return false
	}
	if len(langs) > 0 && slices.Contains(joining, langs[0]) && min(utf8.RuneCountInString(asked[0]), utf8.RuneCountInString(asked[1])) > leastPart {
		return true
	}
	return slices.ContainsFunc(hits, func(h Hit) bool {
		text := strings.ToLower(h.Text)
		return strings.Contains(text, asked[0]+" "+asked[1]) || strings.Contains(text, asked[0]+"-"+asked[1])
	})
}

// joining are the languages that write compounds in one word.
var joining = []string{"de", "nl", "sv", "da", "no", "fi", "hu"}

// take adds pairs to h.Also, without the added terms that no chunk holds. The first typed terms of
// h.Terms are those of the question, and the added terms follow them.
func (h *Hits) take(typed int, pairs []Also) {
	gone := map[int]bool{}
	for i := typed; i < len(h.Terms); i++ {
		gone[i] = h.Holders[i] == 0
	}
	for _, p := range pairs {
		if p.Terms = slices.DeleteFunc(p.Terms, func(t int) bool { return gone[t] }); len(p.Terms) > 0 {
			h.Also = append(h.Also, p)
		}
	}
	h.drop(gone)
}
