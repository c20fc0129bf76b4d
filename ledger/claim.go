package ledger

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Claim is a statement of a sentence that gives its subject one value, in a form that can be
// compared with other claims.
//
//	"Ferry port: 5432"                  ferry, port            number 5432
//	"The ferry listens on port 5432"    ferry, port            number 5432
//	"Mika lives in Turku"               home, mika             name turku
//	"Anna owns the billing service"     billing, owner         name anna
//	"We moved the wiki from A to B"     home, wiki             name b
//	"Never deploy on Fridays"           deploy, weekday 5      state no
//
// Two claims on one subject with values that disagree can't both hold.
type Claim struct {
	// Subject are the words of the subject in one spelling, sorted.
	Subject []string
	Value   Value
	// Attribute is the word of the subject that a relation adds, "" for none.
	Attribute string
	// Said is the value, and About the subject, as the sentence has them.
	Said, About string
	// Label reports whether the subject is a label, which means something else under another
	// heading.
	Label bool
	// Bare reports whether the subject is a label that names nothing without its heading.
	Bare bool
	// Whole reports that the subject is all words of the sentence besides the value, and that the
	// sentence has no relation, or its subject is no thing that has one value at a time.
	Whole bool
	// Changes reports whether the sentence tells a change to the value, New whether it says that
	// the value is new.
	Changes, New bool
	// Named reports whether the subject holds a name. One reports whether it is a thing that has
	// one value at a time. Recurs reports whether it is an event that comes again.
	Named, One, Recurs bool
	// Stated reports whether the sentence says how something is, by a label or a relation.
	Stated bool
	// Many reports whether the subject may have several such values at a time.
	Many bool
	// Aside is the text after the statement, in brackets or after a dash.
	Aside string
}

// Key is equal for claims on one subject with values of one kind.
func (c *Claim) Key() string {
	return strings.Join(c.Subject, " ") + "\x00" + string(c.Value.Kind) + "\x00" + c.Value.Unit
}

// Overrules reports whether of two claims on one subject only one can hold, if c is the newer one.
func (c *Claim) Overrules(older *Claim) bool {
	return c.Value.Disagrees(older.Value) && (!c.Many || c.New || c.Changes)
}

// Bounds of claims, our choice.
const (
	mostClaim = 200 // characters; a longer sentence is a description
	mostAbout = 14  // words of a subject
	mostName  = 6   // words of a name
	mostLabel = 60  // bytes
	bareHan   = 12  // bytes of a label without spaces that is one word
)

// Under adds the words of the heading above to a subject that is bare. It reports whether the
// subject then names something.
func (c *Claim) Under(heading string) bool {
	above := lexiconOf().claim(tokens(heading), "", Value{})
	if len(above.Subject) == 0 || len(above.Subject) > mostAbout/2 {
		return false
	}
	c.Subject = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Subject, above.Subject))))
	c.About, c.Bare = above.About+" "+c.About, false
	return true
}

// Claims returns the claims of a line without its marks of a list.
func Claims(line string) []Claim {
	var out []Claim
	for s := range textutil.Sentences(line) {
		out = append(out, lexiconOf().claims(s)...)
	}
	return out
}

// claims returns the claims of a sentence.
func (x *lexicon) claims(said string) []Claim {
	main, aside := cutAside(strings.TrimRight(said, ".!。！;； "))
	if len(main) > 4*mostClaim || utf8.RuneCountInString(main) > mostClaim || main == "" || strings.ContainsAny(said, "?？|~≈<>→⇒") {
		return nil
	}
	r := reading{lexicon: x, aside: aside, words: x.unled(tokens(main))}
	r.fresh = slices.ContainsFunc(r.words, func(t token) bool { return t.is(fresh) })
	r.words = slices.DeleteFunc(r.words, func(t token) bool { return t.is(fresh) })
	if len(r.words) == 0 || len(r.words) > 4*mostAbout || r.words[0].is(condition) {
		return nil
	}
	if subject, value, ok := cutLabel(main); ok {
		if c, ok := x.labelled(subject, value); ok {
			c.Aside = aside
			r.out = append(r.out, c)
		}
		r.product(tokens(subject), tokens(value))
		r.label, r.stated = true, true
	} else {
		r.related()
	}
	if !strings.ContainsAny(main, `"“”„«»「」『』`) {
		r.whole(main)
	}
	return r.out
}

// cutAside cuts a sentence into its main part and an aside. The aside begins with a bracket, with a
// dash, or with "because", "but" or "which".
func cutAside(s string) (main, aside string) {
	at, size := len(s), 0
	for _, mark := range [...]string{" (", "（", " – ", " — ", " - ", " because ", ", but ", ", which "} {
		if i := strings.Index(s[:at], mark); i > 0 {
			at, size = i, len(mark)
		}
	}
	return strings.TrimRight(s[:at], ".! "), strings.Trim(s[at+size:], " )）")
}

// cutLabel cuts a sentence after its label.
func cutLabel(s string) (label, value string, ok bool) {
	at := strings.IndexAny(s, ":：=")
	if at <= 0 || at > mostLabel || strings.Count(s[:at], "`")%2 == 1 {
		return "", "", false
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	label, value = s[:at], strings.TrimLeft(s[at+size:], "* _")
	if s[at] == ':' && at+1 < len(s) && !strings.ContainsRune(" *_", rune(s[at+1])) || value == "" {
		return "", "", false
	}
	return label, value, true
}

// unled returns the words of a sentence without its lead, such as "also" or "no,".
func (x *lexicon) unled(ts []token) []token {
	for len(ts) > 0 {
		first := lows(ts[:min(len(ts), 4)])
		at, n := meanings()["leads"].find(first)
		if at != 0 {
			if at, n = meanings()["refuses"].find(first); at != 0 || !ts[n-1].comma {
				break
			}
		}
		ts = ts[n:]
	}
	return ts
}

// reading is a sentence that is read.
type reading struct {
	*lexicon
	words []token
	aside string
	// label and stated report whether the sentence has a label, or a relation. fresh reports whether
	// it says that something is new.
	label, stated, fresh bool
	out                  []Claim
}

// Labelled returns the claim of a label and its value, such as two cells of a table.
func Labelled(label, value string) (Claim, bool) { return lexiconOf().labelled(label, value) }

func (x *lexicon) labelled(label, value string) (Claim, bool) {
	ts := tokens(label)
	v, ok := x.valueOf(value)
	ok = ok && !strings.Contains(value, ", ") && !strings.HasPrefix(value, "[")
	page := v.Kind == kindDate && !slices.ContainsFunc(ts, func(t token) bool { return !t.is(ofPage | weightless) })
	if !ok || page || len(ts) > mostAbout || slices.ContainsFunc(ts, func(t token) bool { return t.is(negator | pointing | condition) }) {
		return Claim{}, false
	}
	c := x.claim(ts, "", v)
	c.Label, c.Stated, c.Said = true, true, strings.Trim(value, "*_ ")
	c.Bare = (len(ts) == 1 && len(c.Subject) < 2 || len(label) <= bareHan && !strings.ContainsFunc(label, func(r rune) bool { return !ideograph(r) })) && (v.Kind != kindVersion || ts[0].is(ofPage)) || !slices.ContainsFunc(ts, func(t token) bool { return !t.is(ofPage | weightless) })
	return c, v.Kind != kindWord || c.One
}

// claim returns the claim that a subject has the value v. It adds attribute to the subject's words.
func (x *lexicon) claim(subject []token, attribute string, v Value) Claim {
	c := Claim{Value: v}
	for i, t := range subject {
		c.One = c.One || t.is(oneValue|oneRole)
		c.Recurs = c.Recurs || t.is(recurring)
		c.New = c.New || t.is(fresh)
		if r, size := utf8.DecodeRuneInString(t.raw); unicode.IsUpper(r) && !t.is(weightless) && (i > 0 && strings.ToLower(t.raw[size:]) == t.raw[size:] || len(subject) == 1 || i == 0 && len(subject) > 1 && startsUpper(subject[1].raw)) {
			c.Named = true
		}
		if t.is(fresh) || t.is(weightless) && !t.is(ofPage) {
			continue
		}
		if c.About += " " + t.raw; t.is(ofPage) && t.is(weightless) && len(subject) > 1 {
			continue
		}
		if t.is(impliedDate) && v.Kind == kindDate {
			continue
		}
		for w := range wordsIn(t.low) {
			if !x.word(w).is(weightless) || t.is(ofPage) {
				c.Subject = append(c.Subject, x.spelledAlike(w))
			}
		}
	}
	if v.Kind == kindVersion {
		attribute = ""
		if v.Unit == "" {
			attribute = "version"
		}
	}
	if len(c.Subject) > 2 {
		c.Subject = slices.DeleteFunc(c.Subject, func(w string) bool { return w == "name" || w == "nam" })
	}
	if attribute != "" && (attribute != "name" || len(c.Subject) < 2) {
		c.Subject, c.Attribute = append(c.Subject, attribute), attribute
	}
	slices.Sort(c.Subject)
	c.Subject = slices.Compact(c.Subject)
	c.About = strings.TrimSpace(c.About + " " + attribute)
	return c
}

func startsUpper(s string) bool { return unicode.IsUpper(firstRune(s)) }

// valueOf reads a whole text as a value. ok is false for an ambiguous text, such as a list, a range
// or a sentence.
func (x *lexicon) valueOf(s string) (Value, bool) {
	s = strings.TrimSpace(strings.TrimRight(strings.Trim(s, "*_ \"'"), ".;。 "))
	low := strings.ToLower(strings.TrimLeft(s, "✅❌🔴🟢🟡 "))
	w := x.word(low)
	for _, side := range [...]string{w.state, w.side} {
		if pair, _, ok := strings.Cut(side, ":"); ok {
			return Value{kindState, side, pair}, true
		}
	}
	if s == "" || len(s) > 90 || s[0] == '#' || strings.ContainsAny(s, "~≈<>→|\"") || strings.HasPrefix(s, "//") {
		return Value{}, false
	}
	return x.valueIn(x.timeless(tokens(s)))
}

// timeless returns a text without how often something happens, at its end.
func (x *lexicon) timeless(ts []token) []token {
	if n := len(ts); n > 2 && (ts[n-2].low == "every" || ts[n-2].low == "each") && ts[n-1].weekday == 0 {
		ts = ts[:n-2]
	}
	if n := len(ts); n > 1 && (ts[n-1].low == "daily" || ts[n-1].low == "nightly" || ts[n-1].low == "weekly") {
		ts = ts[:n-1]
	}
	return ts
}

// valueIn reads some words as one value. It returns false if they are not exactly one value.
func (x *lexicon) valueIn(ts []token) (Value, bool) {
	for len(ts) > 1 && (ts[0].is(weightless|fresh) && !ts[0].is(ofPage) && !startsUpper(ts[0].raw)) {
		ts = ts[1:]
	}
	if len(ts) == 0 {
		return Value{}, false
	}
	if v, n := x.valueAt(ts); n > 0 {
		return v, n == len(ts)
	}
	if v, n, vague := x.weekdays(ts); n > 0 {
		return v, !vague && n == len(ts)
	}
	first, last := ts[0], ts[len(ts)-1]
	if len(ts) == 2 && startsUpper(first.raw) || len(ts) == 3 && startsUpper(ts[1].raw) && startsUpper(first.raw) {
		if v, n := x.valueAt(ts[len(ts)-1:]); n > 0 && (v.Kind == kindVersion || v.Kind == kindNumber && v.Unit == "") {
			return Value{kindVersion, v.Text, strings.Join(lows(ts[:len(ts)-1]), " ")}, true // PostgreSQL 16
		}
	}
	text := strings.Join(lows(ts), " ")
	switch {
	case slices.ContainsFunc(ts, func(t token) bool {
		return t.is(negator|condition|unsaid) && t.raw == t.low || strings.ContainsAny(t.low, "(…") || t.low == "/"
	}):
		return Value{}, false
	case first.code && (strings.ContainsRune(first.low, '/') || strings.Contains(first.low, ".")):
		return Value{}, false // of files there are many
	case len(ts) == 1 && host(first.low):
		return Value{Kind: kindAddress, Text: first.low}, true
	case ideograph(firstRune(first.low)):
		return Value{Kind: kindName, Text: text}, len(ts) <= mostName
	case len(ts) > mostName:
		return Value{}, false
	case startsUpper(first.raw) && (last.raw != last.low || len(ts) == 1 || last.raw[0] >= '0' && last.raw[0] <= '9'):
		return Value{Kind: kindName, Text: text}, true
	case len(ts) == 1 && strings.ContainsAny(first.low, "0123456789_./:"):
		return Value{Kind: kindName, Text: text}, true
	}
	return Value{Kind: kindWord, Text: text}, len(ts) <= 3 && !strings.ContainsAny(text, "0123456789")
}

func lows(ts []token) []string {
	out := make([]string, len(ts))
	for i := range ts {
		out[i] = ts[i].low
	}
	return out
}

// host reports whether a word is the name of a host: labels with points, the last one of letters.
func host(low string) bool {
	low, _, _ = strings.Cut(low, ":")
	at := strings.LastIndexByte(low, '.')
	return low == "localhost" || at > 0 && len(low)-at > 2 && strings.IndexFunc(low[at+1:], func(r rune) bool { return r < 'a' || r > 'z' }) < 0 && !strings.ContainsAny(low, "/_\\")
}

// weekdays reads the days of the week at the beginning of some words. Together they are one value.
func (x *lexicon) weekdays(ts []token) (v Value, n int, vague bool) {
	var days []string
	for i, t := range ts {
		names := []string{t.low}
		if t.weekday == 0 && t.raw != t.low {
			names = strings.Split(t.low, "/") // Tuesdays/Fridays
		}
		for _, name := range names {
			if d := x.word(name).weekday; d > 0 {
				days, n = append(days, strconv.Itoa(d)), i+1
			}
		}
		if n != i+1 && !strings.Contains(" and und et e y en 和 と & / ", " "+t.low+" ") {
			vague = n > 0 && n == i && i+1 < len(ts) && ts[i+1].weekday > 0
			break
		}
	}
	slices.Sort(days)
	return Value{Kind: kindWeekday, Text: strings.Join(slices.Compact(days), ",")}, n, vague
}

// inCharge returns the sentence "Für X ist Y zuständig" or "X由Y负责" as one with a relation.
func (r *reading) inCharge() (subject, value []token) {
	n := len(r.words) - 1
	by := slices.IndexFunc(r.words, func(t token) bool { return t.low == "由" || t.low == "ist" && r.words[0].low == "für" })
	switch end := r.words[n].low; {
	case by < 1 || by > n-2:
	case end == "负责" || end == "維護" || end == "维护" || end == "負責":
		return r.words[:by], r.words[by+1 : n]
	case end == "zuständig" || end == "verantwortlich":
		return r.words[1:by], r.words[by+1 : n]
	}
	return nil, nil
}

// related reads the sentence by its first relation.
func (r *reading) related() {
	if subject, value := r.inCharge(); len(subject) > 0 {
		r.bound(&relation{"relation", "owner", 0}, subject, value)
		return
	}
	for i := 0; i < len(r.words)-1; i++ {
		rel := r.relationAt(i)
		if rel == nil {
			continue
		}
		if next := i + rel.words; rel.attribute != "" && rel.verb == "relation" && next < len(r.words)-1 {
			if after := r.relationAt(next); after != nil && after.attribute == "" {
				rel, i = after, next // "the music that they play is jazz"
			}
		}
		subject, value := r.words[:i], r.words[i+rel.words:]
		r.stated = i > 0
		r.bound(rel, subject, value)
		at := slices.IndexFunc(value, func(t token) bool { return t.is(placing) })
		placed := at > 0 && (i == 0 || i == 1 && subject[0].is(weightless))
		switch {
		case rel.attribute == "use" && placed:
			r.product(value[at+1:], value[:at])
		case rel.verb == "figuring" && placed:
			r.product(value[:at], value[at+1:])
		case rel.attribute == "" && (rel.verb == "relation" || rel.verb == "figuring" && rel.words > 1):
			r.product(subject, value)
			r.product(value, subject)
		}
		return
	}
}

// relationAt returns the longest relation at a place, or nil.
func (r *reading) relationAt(i int) (rel *relation) {
	phrase := ""
	for n := 1; n <= r.longest && i+n <= len(r.words); n++ {
		w := r.words[i+n-1]
		if i > 0 && w.raw != w.low {
			break
		}
		if n > 1 {
			phrase += " "
		}
		phrase += w.low
		if found := r.relations[phrase]; found != nil {
			rel = found
		}
	}
	return rel
}

// bound adds the claim that a relation makes of its subject and its value, if it makes one.
func (r *reading) bound(rel *relation, subject, value []token) {
	attribute := rel.attribute
	many := attribute == "use"
	switch {
	case rel.verb == "owning":
		subject, value = value, subject
	case rel.verb == "moving" && rel.words == 1:
		from, to := indexOf(value, "from"), indexOf(value, "to")
		if from < 0 || to < from {
			return
		}
		if from > 0 {
			subject = value[:from]
		}
		value = value[to+1:]
	case attribute == "use":
		if at := indexOf(value, "for"); at > 0 && (len(subject) == 0 || len(subject) == 1 && subject[0].low == "we") {
			subject, value, many = value[at+1:], value[:at], false
		}
	}
	if len(subject) == 0 || len(subject) > mostAbout || len(value) == 0 {
		return
	}
	bare := attribute == "" && rel.verb == "relation"
	// "the city of London"
	if at := indexOf(value, "of"); at > 1 && at < len(value)-1 && value[0].low == "the" && rel.verb == "relation" && attribute != "" {
		subject, value = slices.Concat(subject, value[1:at]), value[at+1:]
	}
	v, ok := r.valueIn(r.timeless(value))
	person := v.Kind == kindName && bare
	// "Anna is the lead of the team"
	if n, named := r.valueIn(subject); bare && named && n.Kind == kindName && (!ok || v.Kind == kindWord) && !strings.HasPrefix("an", value[0].low) {
		if at := slices.IndexFunc(value, func(t token) bool { return t.is(oneRole) }); at > 0 || ok && at == 0 {
			subject, value, v, ok = value, subject, n, true
		}
	}
	among := func(ts []token, tags tag) bool {
		return slices.ContainsFunc(ts, func(t token) bool { return t.is(tags) && t.low != "was" && t.raw == t.low })
	}
	if !ok || subject[0].is(pointing) || rel.verb == "figuring" && (v.Kind != kindVersion || v.Unit == "") || !slices.ContainsFunc(value, func(t token) bool { return !t.is(environment) }) ||
		among(subject, condition|unsaid|negator) || among(value, unsaid) {
		return
	}
	c := r.claim(subject, attribute, v)
	c.New, c.Stated, c.Changes, c.Many, c.Said, c.Aside = c.New || r.fresh, true, rel.verb == "moving", many, joined(value), r.aside
	if len(subject) == 1 && (subject[0].low == "i" || subject[0].low == "we") && (attribute == "home" || attribute == "employer") {
		c.Subject = append([]string{"i"}, c.Subject...)
	} else if len(c.Subject) == 0 || attribute != "" && len(c.Subject) < 2 && attribute != "name" {
		return
	}
	switch v.Kind {
	case kindName:
		ok = attribute != "" || rel.verb == "moving" || !person || role(subject)
	case kindWord:
		ok = attribute != "" && (attribute != "name" || len(value) == 1) || c.One && role(subject)
	case kindState:
		ok = false // the whole sentence says it
	}
	if ok {
		r.out = append(r.out, c)
	}
}

func indexOf(ts []token, low string) int {
	return slices.IndexFunc(ts, func(t token) bool { return t.low == low })
}

// product adds the claim that a thing runs on a product, with or without a version. A thing can't
// run on two products of the same class.
func (r *reading) product(subject, value []token) {
	for len(value) > 1 && value[0].is(weightless) {
		value = value[1:]
	}
	if len(subject) == 0 || len(subject) > mostAbout || len(value) == 0 || subject[0].is(pointing) ||
		slices.ContainsFunc(subject, func(t token) bool { return t.is(condition | unsaid | negator) }) {
		return
	}
	of, name, n := value[0].word, value[0].low, 1
	if len(value) > 1 {
		if two := name + " " + value[1].low; r.word(two).product != "" {
			of, name, n = r.word(two), two, 2
		}
	}
	if of.product == "" {
		return
	}
	if version := value[n:]; len(version) > 0 {
		if v, n := r.valueAt(version); n != len(version) || v.Kind != kindVersion && v.Kind != kindNumber {
			return
		}
	}
	single := slices.ContainsFunc(subject, func(t token) bool { return t.single && t.kindOf == of.product })
	named := slices.DeleteFunc(slices.Clone(subject), func(t token) bool {
		return t.kindOf == of.product || single && t.kindOf == "any"
	})
	c := r.claim(named, "", Value{kindProduct, cmp.Or(of.spelling, name), of.product})
	switch {
	case single:
		c.Subject, c.About = append(c.Subject, of.product), joined(subject)
		slices.Sort(c.Subject)
	case len(c.Subject) == 0:
		return // every project has a database
	}
	c.New, c.Stated, c.Said, c.Aside = c.New || r.fresh, true, joined(value), r.aside
	r.out = append(r.out, c)
}

func joined(ts []token) string {
	out := make([]string, len(ts))
	for i := range ts {
		out[i] = ts[i].raw
	}
	return strings.Join(out, " ")
}

// role reports whether a subject is something that one thing is at a time: "the port of the
// ferry", "Anna's manager".
func role(subject []token) bool {
	weighty := slices.DeleteFunc(slices.Clone(subject), func(t token) bool { return t.is(weightless) })
	return len(weighty) > 1 && slices.ContainsFunc(subject, func(t token) bool {
		return strings.Contains(" the of our my der die das el la le unser unsere 的 ", " "+t.low+" ") || strings.HasSuffix(t.low, "'s") || strings.HasSuffix(t.low, "s'")
	})
}

// parts are the values of a sentence and its other words, if it is read by its words alone.
type parts struct {
	// values are claims of which only Value and Said are set. named are their values as words of a
	// subject. dated reports whether one of them is a day.
	values []Claim
	named  []string
	dated  bool
	rest   []token
	// negated reports whether the sentence has a negation. side is the side of a pair of opposites
	// that it names, "" for none.
	negated bool
	side    string
}

// parts takes the sentence apart. ok is false if it claims nothing, or several things.
func (r *reading) parts() (p parts, ok bool) {
	for i := 0; i < len(r.words); i++ {
		t := r.words[i]
		v, n := r.valueAt(r.words[i:])
		vague := false
		if n == 0 {
			v, n, vague = r.weekdays(r.words[i:])
		}
		if n > 0 {
			year := len(v.Text) == 4 && v.Kind == kindNumber && v.Unit == "" && v.Text >= "1500" && v.Text <= "2200" && !r.label && !(i > 0 && r.words[i-1].is(oneValue))
			if vague || year || i > 0 && r.words[i-1].is(unsaid) || ranges(r.words, i+n) || v.Kind == kindAddress && strings.Contains(v.Text, "://") ||
				slices.ContainsFunc(p.values, func(c Claim) bool { return c.Value.Kind == v.Kind && c.Value.Unit == v.Unit }) {
				return p, false
			}
			p.values = append(p.values, Claim{Value: v, Said: joined(r.words[i : i+n])})
			p.named = append(p.named, string(v.Kind)+":"+v.Text+v.Unit)
			p.dated = p.dated || v.Kind == kindDate
			i += n - 1
			continue
		}
		if i+1 < len(r.words) {
			if two := r.word(t.low + " " + r.words[i+1].low); two.side != "" {
				t.word, i = two, i+1
			}
		}
		switch {
		case vague, t.is(unsaid), t.side != "" && p.side != "":
			return p, false
		case t.side != "":
			p.side = t.side
		case t.is(negator):
			p.negated = true
		case (t.low == "every" || t.low == "each") && i+1 < len(r.words) && r.words[i+1].weekday == 0:
			i++
		default:
			p.rest = append(p.rest, t)
		}
	}
	return p, len(p.rest)+len(p.values) <= 2*mostAbout
}

// says reports whether rest, the words of a sentence besides its values, has as much content as the
// given number of words. At most four letters of a word count.
func (r *reading) says(rest []token, words int) bool {
	letters := 0
	for _, t := range rest {
		for w := range wordsIn(t.low) {
			if !r.word(w).is(weightless | ofPage | impliedDate) {
				letters += min(len(w), 4)
			}
		}
	}
	return letters > 4*(words-1) && letters > 3
}

// whole reads the sentence by its words alone. Its claims are each value of the subject in the
// other words, and that the sentence affirms or denies its subject.
func (r *reading) whole(said string) {
	p, ok := r.parts()
	if !ok {
		return
	}
	labelled := r.label && len(r.out) > 0 // the label has the first value
	for i, v := range p.values {
		if p.dated && v.Value.Kind != kindDate || len(p.values) > 3 || labelled && i == 0 {
			continue // so it is, or was, of that day
		}
		c := r.claim(p.rest, "", v.Value)
		least := 2
		switch v.Value.Kind {
		case kindClock, kindWeekday:
			least = 1
		case kindVersion:
			if c.Named {
				least = 1
			}
		case kindDate:
			if slices.ContainsFunc(p.rest, func(t token) bool { return t.is(impliedDate) }) {
				least = 1
			}
		}
		if !r.says(p.rest, least) {
			continue
		}
		c.Subject = slices.Concat(c.Subject, p.named[:i], p.named[i+1:])
		if p.negated {
			c.Subject = append(c.Subject, "not")
		}
		if p.side != "" {
			c.Subject = append(c.Subject, p.side)
		}
		slices.Sort(c.Subject)
		c.New, c.Said, c.Aside, c.Whole, c.Stated = r.fresh, v.Said, r.aside, !r.stated || !c.One, r.stated
		r.out = append(r.out, c)
	}
	pair, of, _ := strings.Cut(cmp.Or(p.side, "rule:yes"), ":")
	if p.negated {
		of = map[string]string{"on": "off", "off": "on", "yes": "no", "no": "yes"}[of]
	}
	c := r.claim(p.rest, "", Value{kindState, pair + ":" + of, pair})
	if c.Subject = append(c.Subject, p.named...); r.label && pair == "rule" || !r.says(p.rest, max(1, 2-len(p.named))) && p.side == "" || len(c.Subject) == 0 {
		return
	}
	slices.Sort(c.Subject)
	c.Said, c.Aside, c.Whole, c.Stated = strings.TrimSpace(said), r.aside, true, r.stated
	r.out = append(r.out, c)
}

// ranges reports whether the value before a place is the beginning of a range.
func ranges(ts []token, at int) bool {
	if at+1 >= len(ts) {
		return false
	}
	switch ts[at].low {
	case "-", "–", "—", "to", "bis", "à", "a", "hasta", "al", "até", "tot", "至", "到", "から", "or", "oder", "ou", "±":
		next := ts[at+1]
		return next.low[0] >= '0' && next.low[0] <= '9' || next.is(unsaid)
	}
	return false
}

// Changed reports whether a text mentions that something changed, or replaces something else.
func Changed(text string) bool {
	if strings.ContainsAny(text, "→⇒") || strings.Contains(text, "->") || strings.Contains(text, "=>") || strings.Contains(text, "~~") {
		return true
	}
	return says("changes", text)
}
