package retrieval

import (
	"regexp"
	"slices"
	"strings"
)

// The words of time in English, Spanish, German, French, Italian, Portuguese and
// Chinese, as far as questions use them.

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

// unitNames are days, weeks, months and years.
var unitNames = map[string]byte{
	"day": 'd', "days": 'd', "día": 'd', "días": 'd', "dia": 'd', "dias": 'd', "tag": 'd', "tage": 'd', "tagen": 'd', "天": 'd', "日": 'd',
	"week": 'w', "weeks": 'w', "semana": 'w', "semanas": 'w', "woche": 'w', "wochen": 'w', "周": 'w', "星期": 'w',
	"month": 'm', "months": 'm', "mes": 'm', "meses": 'm', "monat": 'm', "monate": 'm', "monaten": 'm', "月": 'm',
	"year": 'y', "years": 'y', "año": 'y', "años": 'y', "ano": 'y', "anos": 'y', "jahr": 'y', "jahre": 'y', "jahren": 'y', "年": 'y',
}

// spokenNames are periods that are named relative to today. Each has a unit, and the number of
// units ago.
var spokenNames = map[string]string{
	"today": "d0", "yesterday": "d1", "this week": "w0", "last week": "w1", "this month": "m0", "last month": "m1",
	"this year": "y0", "last year": "y1",
	"hoy": "d0", "ayer": "d1", "anteayer": "d2", "esta semana": "w0", "la semana pasada": "w1", "semana pasada": "w1",
	"este mes": "m0", "el mes pasado": "m1", "mes pasado": "m1", "este año": "y0", "el año pasado": "y1", "año pasado": "y1",
	"heute": "d0", "gestern": "d1", "vorgestern": "d2", "diese woche": "w0", "letzte woche": "w1", "vorige woche": "w1", "letzter woche": "w1",
	"diesen monat": "m0", "letzten monat": "m1", "letztem monat": "m1", "dieses jahr": "y0", "letztes jahr": "y1", "letzten jahr": "y1",
	"今天": "d0", "昨天": "d1", "前天": "d2", "这周": "w0", "本周": "w0", "上周": "w1", "上个星期": "w1", "上星期": "w1",
	"这个月": "m0", "本月": "m0", "上个月": "m1", "今年": "y0", "去年": "y1", "前年": "y2",
}

// feasts are days of the year that have a name.
var feasts = []struct {
	name       string
	month, day int
}{
	{"christmas", 12, 25}, {"weihnachten", 12, 25}, {"navidad", 12, 25}, {"圣诞", 12, 25},
	{"new year's day", 1, 1}, {"neujahr", 1, 1}, {"año nuevo", 1, 1}, {"元旦", 1, 1},
	{"new year's eve", 12, 31}, {"silvester", 12, 31}, {"nochevieja", 12, 31}, {"halloween", 10, 31},
}

// count and hanCount are numbers in digits or words.
var (
	count    = `\d{1,3}|` + oneOf(latinNumbers())
	hanCount = `\d{1,3}|十[一二]?|[一二两三四五六七八九]`
)

func latinNumbers() map[string]int {
	out := map[string]int{}
	for w, n := range numberNames {
		if w[0] < 0x80 || strings.HasPrefix(w, "f") || strings.HasPrefix(w, "z") {
			out[w] = n
		}
	}
	return out
}

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
func oneOf[V any](m map[string]V) string {
	var out []string
	for w := range m {
		out = append(out, strings.ReplaceAll(regexp.QuoteMeta(w), " ", `\s+`))
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return strings.Join(out, "|")
}

// border keeps the words of an expression from matching within other words, except Chinese words.
func border(words string) string {
	var latin, han []string
	for _, w := range strings.Split(words, "|") {
		if w[0] < 0xE0 {
			latin = append(latin, w)
		} else {
			han = append(han, w)
		}
	}
	return `\b(?:` + strings.Join(latin, "|") + `)\b|` + strings.Join(han, "|")
}
