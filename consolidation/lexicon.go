package consolidation

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// lexicon is the index of the words by which statements are compared, made once. The tables of the
// vocabulary are these:
//
//   - side has words for the state of something, by the side of a pair. The two sides of a pair are
//     opposites. Words of different pairs never disagree. The pair named rule has the words for
//     permission and prohibition. It also sets a sentence with a negation against the same sentence
//     without it.
//   - negators turn a sentence into its opposite.
//   - weightless are words without which a sentence says the same. Among them are shall, is,
//     always, usually, us and the articles, but not never.
//   - unsaid are words of sentences that claim nothing: examples, guesses, plans, past or possible
//     things.
//   - bygone are words of headings under which no text is about today.
//   - settings are words for the environment of a setting. A fact about one environment does not
//     hold for another.
//   - spelling maps the spellings of a thing in many languages to one spelling.
//   - unit has the spellings of units with their values in a base, weekday the days of the week from
//     Monday, and month the months.
var lexicon = sync.OnceValue(makeLexicon)

type lexicons struct {
	side, sideHan, spelling                         map[string]string
	negator, weightless, unsaid, bygone, setting    map[string]bool
	weekday                                         map[string]int
	month                                           map[string]int
	unit                                            map[string]unit
	sidesHan, negatorsHan, weightlessHan, unsaidHan []string
	bygoneHan, settingsHan, weekdaysHan, unitsHan   []string
}

// unit is the value of a unit in a base.
type unit struct {
	base   string
	factor float64
}

func makeLexicon() *lexicons {
	l := &lexicons{side: map[string]string{}, sideHan: map[string]string{}, spelling: map[string]string{}, weekday: map[string]int{}, month: map[string]int{}, unit: map[string]unit{}}
	for name, ws := range tablesOf() {
		kind, of, _ := strings.Cut(name, " ")
		base, factor, _ := strings.Cut(of, " ")
		n, _ := strconv.Atoi(of)
		f, _ := strconv.ParseFloat(factor, 64)
		for _, w := range ws {
			switch han := strings.ContainsFunc(w, ideograph); {
			case kind == "side" && han:
				l.sideHan[w], l.sidesHan = of, append(l.sidesHan, w)
			case kind == "side":
				l.side[w] = of
			case kind == "spelling":
				l.spelling[w] = of
			case kind == "month":
				l.month[w] = n
			case kind == "weekday":
				if l.weekday[w] = n; han {
					l.weekdaysHan = append(l.weekdaysHan, w)
				}
			case kind == "unit":
				if l.unit[w] = (unit{base, f}); han {
					l.unitsHan = append(l.unitsHan, w)
				}
			}
		}
	}
	l.negator, l.negatorsHan = tableOf("negators")
	l.weightless, l.weightlessHan = tableOf("weightless")
	l.unsaid, l.unsaidHan = tableOf("unsaid")
	l.bygone, l.bygoneHan = tableOf("bygone")
	l.setting, l.settingsHan = tableOf("settings")
	for _, ws := range [][]string{l.sidesHan, l.negatorsHan, l.weightlessHan, l.weekdaysHan, l.unitsHan} {
		slices.SortFunc(ws, func(a, b string) int {
			if len(a) != len(b) {
				return len(b) - len(a)
			}
			return strings.Compare(a, b)
		})
	}
	return l
}

// tableOf returns the words of a table, those of scripts without spaces apart.
func tableOf(table string) (of map[string]bool, han []string) {
	of = map[string]bool{}
	for _, w := range tablesOf()[table] {
		if strings.ContainsFunc(w, ideograph) {
			han = append(han, w)
		} else {
			of[w] = true
		}
	}
	return of, han
}
