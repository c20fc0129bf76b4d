package retrieval

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Words of time in English, Spanish, German, French, Italian, Portuguese and Chinese, as questions
// use them.

var monthNames = numbered(
	"january jan enero januar jänner janvier gennaio janeiro",
	"february feb febrero februar février fevrier febbraio fevereiro",
	"march mar marzo märz maerz mars março",
	"april apr abril avril aprile",
	"may mayo mai maggio maio",
	"june jun junio juni juin giugno junho",
	"july jul julio juli juillet luglio julho",
	"august aug agosto août aout",
	"september sept sep septiembre setiembre septembre settembre setembro",
	"october oct octubre oktober okt octobre ottobre outubro",
	"november nov noviembre novembre novembro",
	"december dec diciembre dezember dez décembre decembre dicembre dezembro",
)

// doubtful are names of months that are also other words.
var doubtful = map[string]bool{"may": true, "march": true, "mar": true, "mars": true, "sep": true, "mai": true, "jan": true, "dec": true, "nov": true}

var numberNames = numbered(
	"a an one un una uno ein eine einem einer einen 一", "two dos zwei 二 两", "three tres drei 三", "four cuatro vier 四",
	"five cinco fünf 五", "six seis sechs 六", "seven siete sieben 七", "eight ocho acht 八", "nine nueve neun 九",
	"ten diez zehn 十", "eleven once elf 十一", "twelve doce zwölf 十二",
)

// unitNames maps names of days, weeks, months and years to the numbers of these units.
var unitNames = numbered(
	"day days día días dia dias tag tage tagen 天 日",
	"week weeks semana semanas woche wochen 周 星期",
	"month months mes meses monat monate monaten 月",
	"year years año años ano anos jahr jahre jahren 年",
)

// count matches a number in digits or words.
var count = `\d{1,3}|` + oneOf(numberNames)

// numbered maps each word to the number of its group, from 1.
func numbered(groups ...string) map[string]int {
	out := map[string]int{}
	for i, g := range groups {
		for _, w := range strings.Fields(g) {
			out[w] = i + 1
		}
	}
	return out
}

// oneOf returns an expression for the keys of a map, the longest first.
func oneOf(m map[string]int) string {
	return strings.Join(slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	}), "|")
}
