package pagevm

import "strings"

// RepresentPreference makes the representations of a remembered preference.
// source is its provenance (file and lines) and stands in every level.
func RepresentPreference(id, source, text, resolver string, opt *RepOptions) []Rep {
	o := opt.withDefaults()
	text = strings.ToValidUTF8(text, "\uFFFD")
	reps := repChain{left: len(text)}
	head := "[from " + orUnknown(source) + "]\n"
	s := scanText(text, kindProse, false)
	p := s.pick(o.room(len(text), len(head)))
	if len(text) >= o.MinBytes {
		reps.add(Compressed, string(s.excerpt([]byte(head), p.chosen)))
	}
	f := &PreferenceFields{Page: id, Source: source, Resolver: resolver}
	for i, k := range p.head(4, min(o.QuoteBytes/3, len(text)/3)) {
		if k {
			f.Telling = append(f.Telling, s.quote(i))
		}
	}
	reps.addFields(&Fields{Preference: f})
	reps.add(Pointer, "[preference "+orUnknown(id)+" from "+orUnknown(source)+"; "+howToRead(resolver, id)+"]")
	return reps.reps
}
