package consolidation

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/lazyregexp"
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
	// A duration in milliseconds, a size in bytes, the digits of a phone number, whether a
	// sentence is negated, and what is no value of these.
	kindDuration valueKind = "duration"
	kindSize     valueKind = "size"
	kindPhone    valueKind = "phone"
	kindPolarity valueKind = "polarity"
	kindOther    valueKind = ""
)

// value is the value of a claim, in one spelling; unit is what a number counts, or
// of what a version is.
type value struct {
	kind       valueKind
	text, unit string
}

var (
	versionForm = lazyregexp.New(`^v?(\d{1,4}(?:\.\d{1,5}){1,3}(?:-[a-z]+[.\d]*)?)$`)
	numberForm  = lazyregexp.New(`^([$€£¥]?)([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+(?:\.\d+)?)\s?(%|[a-zµ°]{0,12}|[\p{Han}]{0,3})(?:/(?:s|min|h|day|month|year))?$`)
	clockForm   = lazyregexp.New(`^([01]?\d|2[0-3]):([0-5]\d)(?:\s?(am|pm|utc|h))?$`)
	addressForm = lazyregexp.New(`^(?:[a-z][a-z0-9+.-]*://\S+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|[\w.+-]+@[\w-]+\.[\w.-]+|(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?|localhost(?::\d+)?)$`)
	nameForm    = lazyregexp.New(`^[\p{Lu}\p{Lo}][\p{L}\p{M}\p{N}.'’+#/_-]*(?: [\p{Lu}\p{Lo}\p{N}][\p{L}\p{M}\p{N}.'’+#/_-]*){0,2}$`)
	// productForm is "PostgreSQL 16".
	productForm = lazyregexp.New(`^(\p{Lu}[\p{L}.+#-]*(?: \p{Lu}[\p{L}.+#-]*)?) v?(\d{1,4}(?:\.\d{1,5}){0,3})$`)
	// repeated is how often something happens at a time.
	repeated  = lazyregexp.New(`(?i)\s+(?:every \w+|each \w+|daily|nightly|weekly)$`)
	tokenForm = lazyregexp.New("^`([^`\\s]{1,60})`$")
)

// valueOf reads a short text as a value; ok is false for what could mean several
// things: lists, ranges, estimates, sentences.
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
	if v, ok := stateValue(strings.TrimLeft(low, "✅❌🔴🟢🟡 ")); ok {
		return v, true
	}
	switch {
	case phoneForm.FindString(low) == low:
		return phone(low)
	case clockForm.MatchString(low):
		return value{kind: kindClock, text: strings.ReplaceAll(low, " ", "")}, true
	case addressForm.MatchString(low):
		return value{kind: kindAddress, text: strings.TrimSuffix(low, "/")}, true
	case numberForm.MatchString(low):
		m := numberForm.FindStringSubmatch(low)
		if q, ok := quantity(strings.ReplaceAll(m[2], ",", ""), m[3]); ok && m[1] == "" {
			return q, true
		}
		n, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
		return value{kindNumber, strconv.FormatFloat(n, 'f', -1, 64), m[1] + m[3]}, err == nil
	case versionForm.MatchString(low):
		return value{kind: kindVersion, text: versionForm.FindStringSubmatch(low)[1]}, true
	case weekdays[low] != "":
		return value{kind: kindWeekday, text: weekdays[low]}, true
	case productForm.MatchString(s):
		m := productForm.FindStringSubmatch(s)
		return value{kindVersion, m[2], strings.ToLower(m[1])}, true
	case nameForm.MatchString(s) && len(words(s)) <= mostName:
		return value{kind: kindName, text: low}, true
	}
	return value{}, false
}

// mostName is how many words, or characters of a script without spaces, a name has
// at most: longer ones are phrases.
const mostName = 5

// dateLayouts are the ways in which days are written; the names of months may be in
// any case.
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
	if m := monthDate.FindStringSubmatch(s); m != nil && months[m[2]] > 0 {
		day, _ := strconv.Atoi(m[1])
		return fmt.Sprintf("%s-%02d-%02d", m[3], months[m[2]], day), day <= 31
	}
	return "", false
}

// monthDate is "4 de mayo de 2026", "4. Mai 2026", "4th may 2026".
var monthDate = lazyregexp.New(`^(\d{1,2})(?:st|nd|rd|th|\.)?\s(?:de\s)?(\p{L}{3,10})\.?(?:\sde)?\s(\d{4})$`)

// disagree reports whether two values can't both hold. One that has more
// detail than the other ("PostgreSQL 16", "PostgreSQL"; "18" and "18.2"; a day
// without its year) agrees with it.
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
	case kindWeekday: // one of several days
		return !holdsAll(v.text, w.text) && !holdsAll(w.text, v.text)
	case kindAddress:
		return !strings.Contains(v.text, w.text) && !strings.Contains(w.text, v.text)
	}
	return true
}

// holdsAll reports whether all words of b are among those of a.
func holdsAll(a, b string) bool {
	of := strings.Fields(a)
	return !slices.ContainsFunc(strings.Fields(b), func(w string) bool { return !slices.Contains(of, w) })
}
