package retrieval

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// intentBare and whenBare read a question with the expressions alone.
func intentBare(text string) intent {
	w := asksWhen.MatchString(text)
	return intent{when: w, several: !w && (asksSeveral.MatchString(text) || plural(text)), present: asksPresent.MatchString(text), past: past(text)}
}

func holdsKey[V any](lower string, keys map[string]V) bool {
	for k := range keys {
		if strings.Contains(lower, k) {
			return true
		}
	}
	return false
}

// whenBare asks every expression of a text that has any of its words in it, be it
// within others.
func whenBare(text string, now time.Time) when {
	r := reader{text: text, today: time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)}
	r.dates()
	if holdsKey(strings.ToLower(r.text), monthNames) {
		r.monthsIn()
	}
	r.mentions()
	r.years()
	r.shift()
	return r.when
}

// The words that expressions need are looked for first, and change nothing.
func TestLiteralsChangeNothing(t *testing.T) {
	words := strings.Fields(`When what What which WHICH day Date month year time Times how many often are were kinds of type all call
		both has have hasty and so who where Maria mar. March may May 7 7th 2023 12. de of the in last  week weekend yesterday todays today
		ago three vor zwei Monaten tagen hace dos meses before after días ſeit auguſt AUGUST mayo märz août Now nowadays snow latest ſtill
		cuándo cuántos qué Städte Welche wann seit 哪 哪些 几月 上周 去年 两个月前 五月 现在 jetzt año pasado el la semana Christmas
		一 K ſ any more anymore was were the used use to be originally former previous at first did war wer era cuál created früher avant 以前`)
	words = append(words, "\n", "\t", "\u00a0", "last \v week", "?", "¿", "_", "'", "-")
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 9).Draw(t, "words") {
			b.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
			b.WriteString(rapid.SampledFrom([]string{" ", " ", " ", "", "  ", "\n", ". "}).Draw(t, "gap"))
		}
		text := b.String()
		if rapid.Bool().Draw(t, "capitals") {
			text = strings.ToUpper(text)
		}
		if want, got := intentBare(text), intentOf(text); want != got {
			t.Fatalf("%q: %+v, the expressions say %+v", text, got, want)
		}
		now := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
		if diff := cmp.Diff(whenBare(text, now), whenOf(text, now), cmp.AllowUnexported(when{}, stretch{})); diff != "" {
			t.Fatalf("%q (-expressions +got):\n%s", text, diff)
		}
	})
}
