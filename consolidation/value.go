package consolidation

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
)

// valueKind is the form of a value. Only values of one kind can disagree.
type valueKind string

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
)

// value is the value of a claim in a normalised spelling. unit is the unit of a number, or the
// product of a version.
type value struct {
	kind       valueKind
	text, unit string
}

var (
	versionForm = textutil.LazyRegexp(`^v?(\d{1,4}(?:\.\d{1,5}){1,3}(?:-[a-z]+[.\d]*)?)$`)
	numberForm  = textutil.LazyRegexp(`^([$€£¥]?)([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+(?:[.,]\d+)?)\s?(%|[a-zµ°]{0,12}|[\p{L}]{0,12})(/(?:s|min|h|day|month|year))?$`)
	phoneForm   = textutil.LazyRegexp(`^(?:\+\d|0\d|\(0?\d)[\d \-()/.]{6,18}\d$|^\d{3}[ -]\d{4}[ -]\d{4}$`)
	addressForm = textutil.LazyRegexp(`^(?:[a-z][a-z0-9+.-]*://\S+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[\w.+-]+@[\w-]+\.[\w.-]+|(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?|localhost(?::\d+)?)$`)
	nameForm    = textutil.LazyRegexp(`^[\p{Lu}\p{Lo}][\p{L}\p{M}\p{N}.'’+#/_-]*(?: [\p{Lu}\p{Lo}\p{N}][\p{L}\p{M}\p{N}.'’+#/_-]*){0,2}$`)
	// productForm is "PostgreSQL 16".
	productForm = textutil.LazyRegexp(`^(\p{Lu}[\p{L}.+#-]*(?: \p{Lu}[\p{L}.+#-]*)?) v?(\d{1,4}(?:\.\d{1,5}){0,3})$`)
	// repeated is how often something happens at a time.
	repeated  = textutil.LazyRegexp(`(?i)\s+(?:every \w+|each \w+|daily|nightly|weekly)$`)
	tokenForm = textutil.LazyRegexp("^`([^`\\s]{1,60})`$")
)

// states are words for the state of something, by the side of a pair that they are on. The pairs
// are opposites such as done and open, or on and off. Words of different pairs don't disagree.
var states = map[string]string{
	"done": "progress:done", "completed": "progress:done", "complete": "progress:done", "finished": "progress:done", "closed": "progress:done",
	"resolved": "progress:done", "fixed": "progress:done", "shipped": "progress:done", "erledigt": "progress:done", "fertig": "progress:done",
	"terminé": "progress:done", "hecho": "progress:done", "完成": "progress:done", "已完成": "progress:done",
	"open": "progress:open", "pending": "progress:open", "todo": "progress:open", "unresolved": "progress:open", "not started": "progress:open",
	"in progress": "progress:open", "blocked": "progress:open", "offen": "progress:open", "en cours": "progress:open", "pendiente": "progress:open",
	"未完成": "progress:open", "进行中": "progress:open", "待办": "progress:open",
	"enabled": "switch:on", "on": "switch:on", "yes": "switch:on", "true": "switch:on", "active": "switch:on", "an": "switch:on", "ein": "switch:on", "aan": "switch:on",
	"disabled": "switch:off", "off": "switch:off", "no": "switch:off", "false": "switch:off", "inactive": "switch:off", "aus": "switch:off", "uit": "switch:off",
}

// valueOf reads a short text as a value. ok is false for an ambiguous text, such as a list, a
// range, an estimate or a sentence.
func valueOf(s string) (value, bool) {
	s = strings.Trim(strings.TrimSpace(s), "*_ ")
	s = repeated.ReplaceAllString(strings.TrimSpace(strings.TrimRight(s, ".;。")), "")
	if m := tokenForm.FindStringSubmatch(s); m != nil {
		if v, ok := plainValue(m[1]); ok && v.kind != kindName {
			return v, true
		}
		if strings.ContainsRune(m[1], '/') || path.Ext(m[1]) != "" {
			return value{}, false // of files there are many
		}
		return value{kind: kindName, text: m[1]}, true
	}
	return plainValue(strings.Trim(s, `"'`))
}

func plainValue(s string) (value, bool) {
	low := strings.ToLower(s)
	if s == "" || len(s) > 80 || strings.ContainsAny(s, "~≈<>→") {
		return value{}, false
	}
	if d, ok := dateValue(low); ok {
		return value{kind: kindDate, text: d}, true
	}
	state := strings.TrimLeft(low, "✅❌🔴🟢🟡 ")
	st, ok := states[state]
	if !ok {
		if st, ok = lexicon().side[state]; !ok {
			st, ok = lexicon().sideHan[state]
		}
	}
	if ok {
		pair, _, _ := strings.Cut(st, ":")
		return value{kindState, st, pair}, true
	}
	if m := clockIn.FindStringSubmatch(low); m != nil && m[0] == low {
		c, ok := clockOf(m)
		return value{kind: kindClock, text: c}, ok
	}
	if d, ok := onlyDays(low); ok {
		return d, true
	}
	switch {
	case phoneForm.MatchString(low) && strings.Count(low, ".") != 3:
		p, ok := phoneOf(low)
		return value{kind: kindPhone, text: p}, ok
	case addressForm.MatchString(low):
		return value{kind: kindAddress, text: strings.TrimSuffix(low, "/")}, true
	case numberForm.MatchString(low):
		m := numberForm.FindStringSubmatch(low)
		n, ok := numberOf(m[2])
		if u, known := lexicon().unit[m[3]]; known && m[1] == "" && m[3] != "" && m[4] == "" {
			return inUnit(n, u), ok
		}
		return value{kindNumber, n, m[1] + m[3] + m[4]}, ok
	case versionForm.MatchString(low):
		return value{kind: kindVersion, text: versionForm.FindStringSubmatch(low)[1]}, true
	case productForm.MatchString(s):
		m := productForm.FindStringSubmatch(s)
		return value{kindVersion, m[2], strings.ToLower(m[1])}, true
	case nameForm.MatchString(s) && len(words(s)) <= mostName:
		return value{kind: kindName, text: low}, true
	}
	return value{}, false
}

// onlyDays reads a text that only names days of the week.
func onlyDays(low string) (value, bool) {
	var st statement
	rest := st.days(low)
	if len(st.values) != 1 || st.vague {
		return value{}, false
	}
	for _, w := range words(rest) {
		if !lexicon().weightless[w] && w != "et" && w != "e" && w != "en" && w != "和" && w != "と" {
			return value{}, false
		}
	}
	return st.values[0].value, true
}

// mostName is the most words of a name, or its most characters in a script without spaces. Longer
// texts are phrases.
const mostName = 5

// dateLayouts are the formats of days. The names of months may be in any case.
var dateLayouts = []string{"2006-01-02", "2006/01/02", "2006.01.02", "2 January 2006", "January 2, 2006", "January 2 2006", "2 Jan 2006", "Jan 2, 2006",
	"2006年1月2日", "2.1.2006", "02.01.2006", "2 January", "January 2", "2 Jan", "Jan 2", "1月2日"}

// dateValue reads a whole text as a day, with or without a year.
func dateValue(s string) (string, bool) {
	for _, layout := range dateLayouts {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if t.Year() == 0 {
			return t.Format("-01-02"), true
		}
		return t.Format(time.DateOnly), true
	}
	return "", false
}

// disagree reports whether two values can't both hold. A value agrees with a more detailed form
// of itself, such as "PostgreSQL" with "PostgreSQL 16", "18" with "18.2", or a day without its
// year with the day in a year.
func (v value) disagree(w value) bool {
	if v.kind != w.kind || v.unit != w.unit || v.text == w.text {
		return false
	}
	switch v.kind {
	case kindVersion:
		return !strings.HasPrefix(v.text+".", w.text+".") && !strings.HasPrefix(w.text+".", v.text+".")
	case kindDate:
		return !strings.HasSuffix(v.text, w.text) && !strings.HasSuffix(w.text, v.text)
	case kindName:
		a, b := Key(v.text), Key(w.text)
		return a != b && !strings.Contains(a, b) && !strings.Contains(b, a)
	case kindAddress:
		if strings.Contains(v.text, "@") && strings.Contains(w.text, "@") {
			return true
		}
		return !strings.Contains(v.text, w.text) && !strings.Contains(w.text, v.text)
	case kindPhone:
		return local(v.text) != local(w.text)
	case kindWeekday:
		return !includes(v.text, w.text) && !includes(w.text, v.text)
	case kindNumber:
		a, _ := strconv.ParseFloat(v.text, 64)
		b, _ := strconv.ParseFloat(w.text, 64)
		return v.unit != "byte" || max(a, b) > 1.1*min(a, b) // a kilobyte has 1000, or 1024
	}
	return true
}

// local is a telephone's number without the country's part.
func local(digits string) string {
	digits = strings.TrimLeft(digits, "0")
	return digits[max(0, len(digits)-7):]
}

// includes reports whether list contains every item of part.
func includes(list, part string) bool {
	for d := range strings.SplitSeq(part, ",") {
		if !strings.Contains(list, d) {
			return false
		}
	}
	return true
}
