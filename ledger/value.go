package ledger

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// valueKind is the form of a value. Only values of one kind can disagree.
type valueKind string

// The kinds.
const (
	kindNumber  valueKind = "number"
	kindVersion valueKind = "version"
	kindDate    valueKind = "date"
	kindClock   valueKind = "time"
	kindAddress valueKind = "address"
	kindState   valueKind = "state"
	kindWeekday valueKind = "weekday"
	kindName    valueKind = "name"
	kindPhone   valueKind = "phone"
	// kindWord is a common word, or a few of them.
	kindWord valueKind = "word"
	// kindProduct is a product of a class of which a thing has one, such as its database.
	kindProduct valueKind = "product"
)

// Value is the value of a claim in a normalised spelling. Unit is the unit of a number, the product
// of a version, the class of a product, or the pair of a state.
type Value struct {
	Kind       valueKind
	Text, Unit string
}

// The bounds of numbers, our choice.
const (
	mostDigits  = 15 // of a telephone
	leastDigits = 7
)

// valueAt reads a value at the first of some tokens. n is the number of its tokens, 0 for none.
func (x *lexicon) valueAt(ts []token) (v Value, n int) {
	low := ts[0].low
	switch first := low[0]; {
	case strings.Contains(low, "://"), strings.Contains(low, "@") && strings.LastIndexByte(low, '.') > strings.IndexByte(low, '@'):
		return Value{Kind: kindAddress, Text: strings.TrimSuffix(low, "/")}, 1
	case ts[0].month > 0 && len(ts) > 1:
		if day, ok := dayOf(ts[1].low); ok {
			year, n := yearAt(ts[2:])
			return dateOf(year, ts[0].month, day), 2 + n
		}
		return v, 0
	case first != '+' && first != '$' && first != '-' && (first < '0' || first > '9') && !strings.HasPrefix(low, "€") && !strings.HasPrefix(low, "£") && !strings.HasPrefix(low, "¥"):
		if first == 'v' && len(low) > 1 && low[1] >= '0' && low[1] <= '9' && strings.Trim(low[1:], "0123456789.") == "" {
			return Value{Kind: kindVersion, Text: low[1:]}, 1
		}
		return v, 0
	}
	if v, n := x.dateAt(ts); n > 0 {
		return v, n
	}
	if v, n := clockAt(ts); n > 0 {
		return v, n
	}
	_, noPort := netip.ParseAddrPort(low)
	if _, err := netip.ParseAddr(low); err == nil || noPort == nil {
		return Value{Kind: kindAddress, Text: low}, 1
	}
	if v, n := phoneAt(ts); n > 0 {
		return v, n
	}
	return x.numberAt(ts)
}

// dayOf reads the number of a day, such as 4, 4th or "4.".
func dayOf(low string) (int, bool) {
	for _, end := range [...]string{"st", "nd", "rd", "th", "º", "er"} {
		low = strings.TrimSuffix(low, end)
	}
	d, err := strconv.Atoi(low)
	return d, err == nil && d > 0 && d < 32
}

// yearAt reads a year after a day, with a word like "de" before it.
func yearAt(ts []token) (year string, n int) {
	if len(ts) > 1 && (ts[0].low == "de" || ts[0].low == "del") {
		ts, n = ts[1:], 1
	}
	if len(ts) > 0 && len(ts[0].low) == 4 && strings.Trim(ts[0].low, "0123456789") == "" {
		return ts[0].low, n + 1
	}
	return "", 0
}

func dateOf(year string, month, day int) Value {
	return Value{Kind: kindDate, Text: fmt.Sprintf("%s-%02d-%02d", year, month, day)}
}

// dateAt reads a date that begins with a number.
func (x *lexicon) dateAt(ts []token) (v Value, n int) {
	for _, layout := range [...]string{"2006-1-2", "2006/1/2", "2006.1.2", "2.1.2006"} {
		if t, err := time.Parse(layout, ts[0].low); err == nil {
			return Value{Kind: kindDate, Text: t.Format(time.DateOnly)}, 1
		}
	}
	year := ""
	rest := ts
	if len(ts) > 2 && ts[1].low == "年" {
		year, rest = ts[0].low, ts[2:]
	}
	if len(rest) > 2 && rest[1].low == "月" {
		month, err := strconv.Atoi(rest[0].low)
		if day, ok := dayOf(rest[2].low); ok && err == nil && month > 0 && month < 13 {
			n := len(ts) - len(rest) + 3
			if n < len(ts) && (ts[n].low == "日" || ts[n].low == "号") {
				n++
			}
			return dateOf(year, month, day), n
		}
	}
	day, ok := dayOf(ts[0].low)
	at := 1
	if len(ts) > 2 && (ts[1].low == "de" || ts[1].low == "of") {
		at = 2
	}
	if !ok || at >= len(ts) || ts[at].month == 0 {
		return v, 0
	}
	year, n = yearAt(ts[at+1:])
	return dateOf(year, ts[at].month, day), at + 1 + n
}

// clockAt reads a time of day: 10:00, 10am, 10 Uhr, 14h30, 9点半.
func clockAt(ts []token) (v Value, n int) {
	low, n := strings.ReplaceAll(ts[0].low, ".m", "m"), 1
	half := ""
	for _, end := range [...]string{"am", "pm", "uhr"} {
		if t, ok := strings.CutSuffix(low, end); ok {
			low, half = t, end
		}
	}
	if len(ts) > 1 && half == "" {
		switch next := strings.ReplaceAll(ts[1].low, ".m", "m"); next {
		case "am", "pm", "uhr":
			half, n = next, 2
		case "点", "點", "時", "时":
			if half, n = "h", 2; len(ts) > 2 && ts[2].low == "半" {
				low, n = low+":30", 3
			}
		}
	}
	hour, minute, found := strings.Cut(low, ":")
	if !found {
		hour, minute, found = strings.Cut(low, "h")
		found = found && len(minute) == 2
	}
	if !found {
		hour, minute = low, "0"
	}
	minute, _, _ = strings.Cut(minute, ":")
	h, err := strconv.Atoi(hour)
	m, wrong := strconv.Atoi(minute)
	if err != nil || wrong != nil || h < 0 || h > 23 || m > 59 || !found && half == "" || found && len(minute) != 2 {
		return v, 0
	}
	switch {
	case half == "pm" && h < 12:
		h += 12
	case half == "am" && h == 12:
		h = 0
	}
	return Value{Kind: kindClock, Text: fmt.Sprintf("%02d:%02d", h, m)}, n
}

// phoneAt reads a telephone's number, which begins with + or 0 or has the form 555-1234. It leaves
// a country's code, and the 0 in place of it, to the comparison.
func phoneAt(ts []token) (v Value, n int) {
	first := ts[0].low
	if first[0] != '+' && (first[0] != '0' || len(first) < 3) && (len(first) != 8 || first[3] != '-') || strings.Contains(first, ".") {
		return v, 0
	}
	digits := ""
	for _, t := range ts {
		if strings.Trim(t.low, "+0123456789-/") != "" {
			break
		}
		digits += strings.NewReplacer("+", "", "-", "", "/", "").Replace(t.low)
		n++
	}
	if len(digits) < leastDigits || len(digits) > mostDigits {
		return v, 0
	}
	return Value{Kind: kindPhone, Text: digits}, n
}

// numberAt reads a number with its unit, or a version.
func (x *lexicon) numberAt(ts []token) (v Value, n int) {
	low := ts[0].low
	from := strings.IndexAny(low, "0123456789")
	if from < 0 || len(low) > 30 {
		return v, 0
	}
	to := from
	for to < len(low) && strings.IndexByte("0123456789.,", low[to]) >= 0 {
		to++
	}
	currency, digits, suffix := strings.TrimLeft(low[:from], "+"), low[from:to], strings.TrimPrefix(low[to:], "-")
	if currency == "-" {
		currency, digits = "", "-"+digits
	}
	n = 1
	if suffix == "" && len(ts) > 1 && !ts[0].comma {
		if next := ts[1]; next.unit.base != "" || slices.Contains(signs, next.low) {
			suffix, n = next.low, 2
		}
	}
	number, ok := numberOf(digits)
	u := x.word(suffix).unit
	switch {
	case currency == "" && suffix == "" && strings.Contains(digits, ".") && !strings.Contains(digits, ","):
		return Value{Kind: kindVersion, Text: digits}, n
	case !ok || currency != "" && utf8.RuneCountInString(currency) > 1:
		return v, 0
	case u.base != "" && currency == "":
		f, _ := strconv.ParseFloat(number, 64)
		return Value{kindNumber, strconv.FormatFloat(f*u.factor, 'g', 12, 64), u.base}, n
	case suffix == "" || slices.Contains(signs, suffix) || suffix[0] == '/' && len(suffix) > 1 && !unicode.IsDigit(rune(suffix[1])):
		return Value{kindNumber, number, currency + suffix}, n
	}
	return v, 0
}

// signs follow a number without being a unit.
var signs = []string{"%", "€", "$", "eur", "usd"}

// numberOf reads a number as it is written with points or commas. ok is false for one that
// differs between languages, such as 1.250.
func numberOf(s string) (string, bool) {
	groups := strings.FieldsFunc(s, func(r rune) bool { return r == '.' || r == ',' })
	last := groups[len(groups)-1]
	switch {
	case len(groups) == 1:
	case len(groups) == 2 && len(last) == 3 && groups[0] != "0" && strings.Contains(s, "."):
		return "", false
	case len(groups) == 2 && len(last) != 3, len(groups) == 2 && groups[0] == "0":
		s = groups[0] + "." + last
	default:
		s = strings.Join(groups, "")
	}
	n, err := strconv.ParseFloat(s, 64)
	return strconv.FormatFloat(n, 'f', -1, 64), err == nil
}

// Disagrees reports whether two values can't both hold. A value agrees with a more detailed form of
// itself, such as "18" with "18.2", or a day without its year with the day in a year.
func (v Value) Disagrees(w Value) bool {
	if v.Kind != w.Kind || v.Unit != w.Unit || v.Text == w.Text {
		return false
	}
	switch v.Kind {
	case kindVersion:
		return !strings.HasPrefix(v.Text+".", w.Text+".") && !strings.HasPrefix(w.Text+".", v.Text+".")
	case kindDate:
		return !strings.HasSuffix(v.Text, w.Text) && !strings.HasSuffix(w.Text, v.Text)
	case kindName, kindWord:
		return !within(v.Text, w.Text) && !within(w.Text, v.Text)
	case kindAddress:
		return strings.Contains(v.Text, "@") && strings.Contains(w.Text, "@") || !strings.Contains(v.Text, w.Text) && !strings.Contains(w.Text, v.Text)
	case kindPhone:
		return local(v.Text) != local(w.Text)
	case kindWeekday:
		return !includes(v.Text, w.Text) && !includes(w.Text, v.Text)
	case kindNumber:
		a, _ := strconv.ParseFloat(v.Text, 64)
		b, _ := strconv.ParseFloat(w.Text, 64)
		return v.Unit != "byte" || max(a, b) > 1.1*min(a, b) // a kilobyte has 1000, or 1024
	}
	return true
}

// local is a telephone's number without the country's part.
func local(digits string) string {
	digits = strings.TrimLeft(digits, "0")
	return digits[max(0, len(digits)-leastDigits):]
}

// includes reports whether a list contains every item of part.
func includes(list, part string) bool {
	return !slices.ContainsFunc(strings.Split(part, ","), func(d string) bool { return !strings.Contains(list, d) })
}

// within reports whether all words of a text are among those of another one.
func within(text, other string) bool {
	return !slices.ContainsFunc(slices.Collect(wordsIn(text)), func(w string) bool { return !strings.Contains(other, w) })
}
