package consolidation

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
)

// The scores of the kinds of remarks, people's wishes first. The values are our choice. A remark
// needs a score of at least strong to go into MEMORY.md.
const (
	strong = 3.0
	// sure is the score that an entry needs once a day has leastPromoted entries.
	sure        = 3.5
	worthWish   = 5.0
	worthRule   = 4.0
	worthChoice = 4.0
	worthLesson = 3.8
	worthFact   = 3.4
	worthSaid   = 3.9 // a lasting statement in plain words, which may name nothing
	// scoreRepeat is added for each other day that repeats a tagged entry, at most mostRepeat times.
	scoreRepeat = 1.5
	mostRepeat  = 3
	scoreToday  = .5
	scoreAgreed = 2.5 // subtracted for a question with a bare yes, which mostly lets the agent go on
	scoreNeeded = .75 // added for each later day that mentions a name that the remark introduced
	scoreOwn    = .5  // added for a name that an earlier day mentions
	scoreEvent  = .75 // subtracted for a part of a timed report, and for a field of a form in a log
)

// weigh returns the tags of a remark, its score, and the reason for the score. The score is 0 for
// a remark that is not worth a place.
func (c *curator) weigh(r *remark) (Tags, float64, string) {
	near, passing, outer, copied := r.around()
	first := " " + strings.Join(r.words[:min(6, len(r.words))], " ") + " "
	person := r.starts(cuePerson, 6) || slices.ContainsFunc(c.people, func(name string) bool { return strings.Contains(first, " "+name+" ") })
	work := r.worked()
	tags, score, why := c.sense(r, near, person, work)
	wish := tags.has(human)
	if score == 0 || copied || passing && !(wish && person && r.has(cueRule|cueLasting|cuePrefer)) && !(r.starts(cueRule, 4) && r.names > 1 && !r.has(cueMoment)) || r.unfit(wish) {
		return nil, 0, ""
	}
	all := cuesOf(strings.Join(r.above, " ; "))
	before, after := mentionedBy(c.names, r.text, r.entry.Date, c.Day)
	for _, against := range [...]struct {
		holds bool
		by    float64
	}{
		{r.has(cueMoment), 1}, {r.has(cueRoutine), 1}, {(all|r.cues)&cueAbroad != 0 && !wish, 1}, {r.has(cuePlan) && !r.has(cueDecide) && !wish, 1},
		{utf8.RuneCountInString(r.text) > mostFact, 1}, {wordCount(r.text) < leastImplied && r.values == 0 && near&headPeople == 0 && why != "said", 1},
		{outer && !passing && !wish, .75},
		{(r.field || slices.ContainsFunc(r.above, clock.MatchString)) && !wish && why != "rule" && why != "choice", scoreEvent}, {before, -scoreOwn}, {after >= leastNeeded, -float64(min(after, mostRepeat)) * scoreNeeded},
		{r.has(cueGuess), .5}, {r.names == 0, .5}, {leans(r.text), .5}, {all&(headWork|cueWork) != 0 && !wish && r.under&(headDecision|headLesson|headCause) == 0, .75},
	} {
		if against.holds {
			score -= against.by
		}
	}
	return tags, max(score, 0), why
}

// sense returns what a remark is: a wish or a rule of a person, a decision, a lesson or a fact. A
// heading alone makes none of these.
func (c *curator) sense(r *remark, near cue, person, work bool) (Tags, float64, string) {
	cause := r.has(cueReason) || r.under&headCause != 0
	told := person && (!work || r.starts(cueState, 2))
	_, rest := label(r.text)
	switch {
	case r.spoken, person && r.has(cuePrefer), told && r.has(cueWant|cueAsk|cueState) && (r.has(cueLasting|cueRule) || near&headWish != 0):
		return makeTags(human), worthWish, "wish"
	case told && r.names > 0 && (r.has(cueState) && r.has(cueDecide|cueChange|cueReason|cueHolds) || r.has(cueWant) && !r.has(cuePlan)):
		return makeTags(human), worthChoice - .5, "wish"
	case person && r.has(cueAsk) && !r.has(cueDecide): // of the day
	case near&headWish != 0 && !work && r.has(cueLasting|cueRule|cuePrefer|cueNeed|cueDecide):
		return makeTags(human), worthRule, "rule"
	case r.starts(cueRule, 3) && !work && r.names > 0 && !r.has(cuePlan):
		return makeTags(lesson), worthRule, "rule"
	case r.under&headDecision != 0 && (r.names > 0 || wordCount(r.text) > leastReason || wordCount(r.text) > leastFact && len(ledger.Read(rest)) > 0) && !work:
		return makeTags(decision), worthChoice, "choice"
	case near&headDecision != 0 && !work && (r.has(cueDecide|cueChange|cueReason|cueRule) && r.names > 0 || r.names > 1 && wordCount(r.text) > leastReason):
		return makeTags(decision), worthChoice - .5, "choice"
	case r.has(cueDecide) && r.has(cueReason) && !work, r.names > 0 && (r.has(cueDecide) && r.has(cueChange|cueLasting) && !work || r.has(cueChange) && r.has(cueReason) && !(work && !r.starts(cueChange, 2))):
		return makeTags(decision), worthChoice - .25, "choice"
	case r.has(cueBroken|cueReason) && cause && r.has(cueFixed|cueNeed) && !(work && !r.has(cueReason)):
		return makeTags(lesson), worthLesson, "remedy"
	case r.under&headLesson != 0 && tagging(r.label) && wordCount(r.text) > leastImplied, r.under&headCause != 0 && r.has(cueReason) && r.names > 0, r.names > 0 && !work && (r.has(cueBroken) && r.has(cueNeed) || r.has(cueLearned) && r.has(cueBroken|cueNeed|cueReason)):
		return makeTags(lesson), worthLesson - .3, "remedy"
	case near&headLesson != 0 && !work && (r.has(cueReason|cueBroken|cueRule) || r.has(cueNeed) && r.names > 0):
		return makeTags(lesson), worthLesson - .3, "remedy"
	case work:
	case r.names > 1 && (r.has(cueNeed) && r.has(cueLasting|cueReason) || r.has(cueRule)):
		return makeTags(lesson), worthFact, "remedy"
	case r.values > 0 && (r.label != "" && cuesOf(r.label)&cueKey != 0 && (r.subject() != "" || r.names > 1) || r.has(cueHolds)):
		return nil, worthFact, "fact"
	case near&headPeople != 0 && r.names > 0, near&headFact != 0 && r.label != "" && r.values > 0:
		return nil, worthFact - .2, "fact"
	}
	switch kind := r.states(); {
	case work || kind == "":
	case kind == ledger.Fact:
		return nil, worthSaid, "said"
	case kind == ledger.Rule:
		return makeTags(lesson), worthSaid + .25, "said"
	default:
		return makeTags(decision), worthSaid + .25, "said"
	}
	return nil, 0, ""
}

// leastReason is the number of words up to which a text below a heading for decisions may be a reason
// alone, such as "Cheap, and no risk". Our choice.
const leastReason = 7

// mostPlain is the most characters of a plain line, our choice. A longer one is a report.
const mostPlain = 160

// states returns the kind of the lasting statement with which a plain line begins, "" if there is
// none. A line with a label, below the heading of a subject, or about what somebody did or asked
// for is a part of a report.
func (r *remark) states() ledger.Kind {
	if r.label != "" || headed(strings.Join(r.above, " "))&(headCause|headWork) != 0 || r.subject() != "" || r.entry.State != stateNone || strings.ContainsAny(r.text, "→=") || utf8.RuneCountInString(r.text) > mostPlain ||
		r.starts(cueAsk|cueState, 4) && !r.has(cueDecide) || len(r.words) > 0 && (strings.HasSuffix(r.words[0], "ed") || strings.HasSuffix(r.words[0], "ing")) ||
		slices.ContainsFunc(mentions(r.words), func(m mention) bool { return m.cue&cueWork != 0 && m.from > 1 && m.from < 5 }) {
		return ""
	}
	if said := ledger.Read(r.text); len(said) > 0 && said[0].Lasting {
		return said[0].Kind
	}
	return ""
}

// worked reports whether a remark reports work that was done. Scripts without spaces have the word
// for it at the end.
func (r *remark) worked() bool {
	_, rest := label(r.text)
	said, _, _ := strings.Cut(rest, "（")
	ws := words(said)
	named, of := words(r.label), mentions(r.words)
	did := func(m mention) bool { // "The user ran it"
		return m.cue&cueWork != 0 && m.from < 3 && r.starts(cuePerson, m.from) && !slices.ContainsFunc(of, func(o mention) bool { return o.from == m.from && o.cue&(cueState|cueDecide|cueChange) != 0 })
	}
	switch {
	case startOf(rest)&cueWork != 0, slices.ContainsFunc(of, did):
		return true
	case r.starts(cueWork, 1) && (len(named) < 3 || r.values == 0 && r.label != ""): // "Added the gate: …"
		return true
	case len(named) > 1 && r.under == 0 && cuesOf(named[len(named)-1])&cueWork != 0: // "Migración completada: …"
		return true
	}
	return slices.ContainsFunc(mentions(ws), func(m mention) bool { return m.cue&cueWork != 0 && m.to == len(ws) && hasHan(ws[len(ws)-1]) })
}

// clock matches a time of day, which a heading above the report of an event has.
var clock = textutil.LazyRegexp(`\b\d{1,2}:\d{2}\b`)

// unfit reports whether a remark is a status, a question, a task, a lead, or a copy, or can't be
// understood by itself.
func (r *remark) unfit(wish bool) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(r.text, "*_ )）"))
	return strings.ContainsRune("?？:：", end) || r.has(cueHost) || wordCount(r.text) < leastFact || strings.ContainsAny(r.text, "✅❌✔☑") && !wish || strings.ContainsAny(r.text, "⏳🔄⬜") ||
		strings.Contains(r.text, "assistant: ") || strings.Contains(r.text, "user: [") || r.starts(cuePlan, 2) && !wish || r.starts(cueMoment, 1) || leans(r.text) && r.subject() == ""
}

func hasHan(s string) bool { return strings.ContainsFunc(s, ideograph) }

// leastNeeded is the number of later days that must mention a name for the name to count as needed.
const leastNeeded = 2

// coded matches names that are written like code. They are rare enough to identify one thing.
var coded = textutil.LazyRegexp("`[^`\\s]{4,60}`" + `|\b[a-z]+[A-Z]\w+|\b[a-z]+_[a-z_]+\b`)

// codeNames returns the names in a text that are written like code, each once.
func codeNames(s string) []string {
	var out []string
	for _, m := range coded.FindAllString(s, -1) {
		n, _, _ := strings.Cut(strings.ToLower(strings.Trim(m, "`")), "(")
		if len(n) >= 5 && strings.ContainsFunc(n, unicode.IsLetter) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// needed returns for each name in the logs the days that mention it, in order.
func (s *Snapshot) needed() map[string][]string {
	out := map[string][]string{}
	for _, f := range s.Files {
		if f.Date != "" && !f.archived() && f.Err == nil {
			for _, n := range codeNames(f.Doc.Raw) {
				if at, ok := slices.BinarySearch(out[n], f.Date); !ok {
					out[n] = slices.Insert(out[n], at, f.Date)
				}
			}
		}
	}
	return out
}

// mentionedBy reports whether an earlier day mentions a name of a text, and on how many later days,
// up to a last one, a name was mentioned that the text introduced on day.
func mentionedBy(names map[string][]string, text, day, last string) (before bool, after int) {
	for _, n := range codeNames(text) {
		days := names[n]
		if len(days) > 0 && days[0] < day {
			before = true
		} else {
			after = max(after, len(slices.DeleteFunc(slices.Clone(days), func(d string) bool { return d <= day || d > last })))
		}
	}
	return before, after
}
