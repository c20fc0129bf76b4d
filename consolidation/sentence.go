package consolidation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// statement is the analysis of a sentence. It has the sentence's values, its other words, and
// whether the sentence affirms or denies.
type statement struct {
	values  []found
	words   []string // the remaining words, in one spelling, sorted
	plain   string   // the same as it is written
	negated bool
	// side is the word for a state in the sentence, "" for none.
	side string
	// vague reports a range or several values of one kind.
	vague bool
	// pages reports that the sentence links to a page.
	pages bool
}

// found is a value in a sentence, as the sentence spells it.
type found struct {
	value
	said string
}

var (
	addressIn = textutil.LazyRegexp(`[a-z][a-z0-9+.-]*://[^\s)>\]，。；]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?`)
	dateIn    = textutil.LazyRegexp(`\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{4}年\d{1,2}月\d{1,2}[日号]|\d{1,2}月\d{1,2}[日号]`)
	monthIn   = textutil.LazyRegexp(`(\d{1,2})\.?(?:st|nd|rd|th|º|er)?\s+(?:de\s+|of\s+)?(\p{L}{3,10})\.?(?:,?\s+(?:de\s+|del\s+)?(\d{4}))?|(\p{L}{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?`)
	phoneIn   = textutil.LazyRegexp(`\+\d[\d \-()/.]{6,18}\d|\b0\d[\d \-/]{6,16}\d|\b\d{3}-\d{4}\b`)
	clockIn   = textutil.LazyRegexp(`(上午|下午|晚上|凌晨|早上|午前|午後)?\s?(\d{1,2})(?::(\d{2})(?::\d{2})?\s?(am|pm|a\.m\.|p\.m\.|uhr|h\b)?|\s?(am|pm|a\.m\.|p\.m\.|uhr)|h(\d{2})|[点點時时](半|\d{1,2}分)?)`)
	rangeIn   = textutil.LazyRegexp(`\d\s?(?:%|\p{L}{1,3})?\s?(?:-|–|—|~|〜|\bto\b|\bbis\b|à|\ba\b|\bhasta\b|\bal\b|até|\btot\b|至|到|から|\bor\b|\boder\b|\bou\b|\bdo\b|±|/)\s?\d|\bbetween\b|\bzwischen\b|\bentre\b|\bfra\b|\btussen\b|между|之间`)
	numberIn  = textutil.LazyRegexp(`([$€£¥]\s?)?(\d+(?:[.,]\d+)*)(?:\s?([%€]|°c|°f)|[\s-]?([\p{L}]+))?`)
	// versionWord is a word for versions. A number next to it is a version, even without a point.
	versionWord = textutil.LazyRegexp(`(?i)versi|версия|版本|バージョン`)
	dayRange    = textutil.LazyRegexp(`^\s*(?:-|–|—|to|through|thru|bis|a|à|au|al|hasta|até|tot|t/m|по|至|到|から|~)\s*$`)
	quotation   = textutil.LazyRegexp(`["“”„«»「」『』]`)
	unsure      = textutil.LazyRegexp(`[?？~≈<>→]|\b(?:e\.\s?g|i\.\s?e|z\.\s?b|p\.\s?ej|p\.\s?ex|bijv)\b|\betwa\b|\btal vez\b|peut-être|\b(?:about|around)\s+\d|\broughly\b|\bapprox|\bcirca\b|\bca\.|\bungefähr\b|\bunos\b|\baproximadamente\b|\benviron\b|\bcerca de\b|около|примерно|大约|约|左右|約|\bup to\b|\bat least\b|\bat most\b|\bbis zu\b|\bmindestens\b|\bhöchstens\b|\bal menos\b|至少|最多|至多|不超过`)
)

// takeApart reads a sentence. ok is false for a sentence that claims nothing.
func takeApart(sentence string) (st statement, ok bool) {
	low := strings.ToLower(strings.NewReplacer("’", "'", "*", "", "`", "", "_", " ").Replace(sentence))
	if utf8.RuneCountInString(low) > 160 || quotation.MatchString(low) || unsure.MatchString(low) {
		return st, false
	}
	low = strings.ReplaceAll(strings.ReplaceAll(low, "n't", " not"), "can not", "not")
	han := strings.ContainsFunc(low, ideograph)
	for _, w := range lexicon().unsaidHan {
		if han && strings.Contains(low, w) {
			return st, false
		}
	}
	low = strings.NewReplacer("e-mail", "email", "turned on", "enabled", "switched on", "enabled", "turned off", "disabled", "switched off", "disabled").Replace(low)
	low = st.scan(low)
	low = st.days(low)
	if han {
		low = st.han(low)
	}
	for _, w := range words(low) {
		switch side := lexicon().side[w]; {
		case lexicon().unsaid[w]:
			return st, false
		case side != "":
			if st.side != "" {
				return st, false
			}
			st.side = side
		case lexicon().negator[w]:
			st.negated = true
		case lexicon().weightless[w]:
		default:
			st.words = append(st.words, spelledAlike(w))
			if r, _ := utf8.DecodeRuneInString(w); st.plain != "" && !ideograph(r) {
				st.plain += " "
			}
			st.plain += w
		}
	}
	slices.Sort(st.words)
	st.words = slices.Compact(st.words)
	return st, len(st.words)+len(st.values) <= 14
}

// cut takes the matches of an expression out of a text if read makes a value of them.
func (st *statement) cut(text string, in *textutil.Regexp, read func(m []string) (value, int, bool)) string {
	var b strings.Builder
	at := 0
	for _, m := range in.FindAllStringSubmatchIndex(text, -1) {
		if m[0] < at || withinWord(text, m[0]) {
			continue
		}
		parts := make([]string, len(m)/2)
		for i := range parts {
			if m[2*i] >= 0 {
				parts[i] = text[m[2*i]:m[2*i+1]]
			}
		}
		v, size, ok := read(parts)
		if !ok {
			continue
		}
		b.WriteString(text[at:m[0]] + " ")
		at = m[0] + size
		st.add(v, strings.TrimSpace(text[m[0]:at]))
	}
	return b.String() + text[at:]
}

// withinWord reports whether the text at an offset is the end of a word, such as the number in
// p95.
func withinWord(s string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:at])
	return r != utf8.RuneError && !ideograph(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_#/.", r))
}

func (st *statement) add(v value, said string) {
	for _, w := range st.values {
		if w.kind == v.kind && w.unit == v.unit {
			st.vague = true
		}
	}
	st.values = append(st.values, found{v, said})
}

// scan takes the values out of a text.
func (st *statement) scan(low string) string {
	low = st.cut(low, addressIn, func(m []string) (value, int, bool) {
		s := strings.TrimRight(m[0], ".,;:")
		// A thing may have many pages.
		if strings.Contains(s, "://") {
			st.pages = true
		}
		return value{kind: kindAddress, text: strings.TrimSuffix(s, "/")}, len(s), true
	})
	low = st.cut(low, dateIn, func(m []string) (value, int, bool) {
		d, ok := dateValue(strings.ReplaceAll(m[0], "号", "日"))
		return value{kind: kindDate, text: d}, len(m[0]), ok
	})
	low = st.cut(low, monthIn, func(m []string) (value, int, bool) {
		d, ok := namedDay(m)
		return value{kind: kindDate, text: d}, len(m[0]), ok
	})
	low = st.cut(low, phoneIn, func(m []string) (value, int, bool) {
		p, ok := phoneOf(m[0])
		return value{kind: kindPhone, text: p}, len(m[0]), ok
	})
	low = st.cut(low, clockIn, func(m []string) (value, int, bool) {
		c, ok := clockOf(m)
		return value{kind: kindClock, text: c}, len(m[0]), ok
	})
	if rangeIn.MatchString(low) {
		st.vague = true
	}
	versioned := versionWord.MatchString(low)
	return st.cut(low, numberIn, func(m []string) (value, int, bool) {
		size := len(m[1]) + len(m[2])
		if m[1] == "" && m[3] == "" && strings.Count(m[2], ".") > 0 && !strings.Contains(m[2], ",") && m[4] == "" {
			return value{kind: kindVersion, text: m[2]}, size, true
		}
		n, ok := numberOf(m[2])
		if !ok {
			return value{}, 0, false
		}
		v := value{kind: kindNumber, text: n, unit: strings.TrimSpace(m[1]) + m[3]}
		if v.unit != "" {
			return v, len(m[0]), true
		}
		word := m[4]
		if strings.ContainsFunc(word, ideograph) {
			i := slices.IndexFunc(lexicon().unitsHan, func(u string) bool { return strings.HasPrefix(word, u) })
			if word = ""; i >= 0 {
				word = lexicon().unitsHan[i]
			}
		}
		if u, ok := lexicon().unit[word]; ok && word != "" {
			return inUnit(n, u), len(m[0]) - len(m[4]) + len(word), true
		}
		if word != "" && len(m[0]) == size+len(m[4]) {
			return value{}, 0, false // the beginning of a hash or a name
		}
		if versioned {
			v.kind = kindVersion
		}
		return v, size, true
	})
}

// days takes the days of the week out of a text. Together they are one value.
func (st *statement) days(low string) string {
	type at struct{ from, to, day int }
	var all []at
	for i := 0; i < len(low); {
		r, size := utf8.DecodeRuneInString(low[i:])
		if ideograph(r) {
			j := slices.IndexFunc(lexicon().weekdaysHan, func(w string) bool { return strings.HasPrefix(low[i:], w) })
			if j >= 0 {
				w := lexicon().weekdaysHan[j]
				all, size = append(all, at{i, i + len(w), lexicon().weekday[w]}), len(w)
			}
			i += size
			continue
		}
		if !unicode.IsLetter(r) {
			i += size
			continue
		}
		end := i
		for end < len(low) {
			r, n := utf8.DecodeRuneInString(low[end:])
			if !unicode.IsLetter(r) && (r != '-' || !strings.HasPrefix(low[end:], "-feira")) || ideograph(r) {
				break
			}
			end += n
		}
		if d := lexicon().weekday[low[i:end]]; d > 0 {
			all = append(all, at{i, end, d})
		}
		i = end
	}
	if len(all) == 0 {
		return low
	}
	var set []int
	var b strings.Builder
	from := 0
	for i, d := range all {
		if i > 0 && dayRange.MatchString(low[all[i-1].to:d.from]) {
			st.vague = true
		}
		set = append(set, d.day)
		if i == 0 || strings.TrimSpace(low[from:d.from]) != "/" {
			b.WriteString(low[from:d.from])
		}
		b.WriteString(" ")
		from = d.to
	}
	slices.Sort(set)
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(set)), " ", ","), "[]")
	st.add(value{kind: kindWeekday, text: text}, low[all[0].from:all[len(all)-1].to])
	return b.String() + low[from:]
}

// han takes out the words of scripts without spaces that a sentence is not about.
func (st *statement) han(low string) string {
	for _, w := range lexicon().sidesHan {
		if strings.Contains(low, w) {
			if st.side != "" && st.side != lexicon().sideHan[w] {
				st.vague = true
			}
			st.side = lexicon().sideHan[w]
			low = strings.Replace(low, w, " ", 1)
			break
		}
	}
	for _, w := range lexicon().negatorsHan {
		if strings.Contains(low, w) {
			st.negated = true
			low = strings.Replace(low, w, " ", 1)
			break
		}
	}
	for _, w := range lexicon().weightlessHan {
		low = strings.ReplaceAll(low, w, " ")
	}
	return low
}

// spelledAlike returns a word of a subject in one spelling: it gives things with names in many
// languages one name, and drops the endings of number.
func spelledAlike(w string) string {
	if n := lexicon().spelling[w]; n != "" {
		return n
	}
	for _, end := range [...]string{"ments", "ment", "ing", "ed", "es", "s"} {
		if stem, ok := strings.CutSuffix(w, end); ok && len(stem) >= 4 && (end != "s" || !strings.HasSuffix(stem, "s")) && isASCII(w) {
			return strings.TrimSuffix(stem, "e")
		}
	}
	if len(w) > 4 && isASCII(w) {
		return strings.TrimSuffix(w, "e")
	}
	return w
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// keyOf is the common key of subjects in the same words, in any order and number.
func keyOf(subject string) string {
	var out []string
	low := strings.ReplaceAll(strings.ToLower(subject), "e-mail", "email")
	if strings.ContainsFunc(low, ideograph) {
		for _, w := range lexicon().weightlessHan {
			low = strings.ReplaceAll(low, w, " ")
		}
	}
	for _, w := range words(low) {
		if !lexicon().weightless[w] {
			out = append(out, spelledAlike(w))
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// statements returns the claims of a sentence by its words alone. A claim is a value of the
// subject in the other words, or that the sentence affirms or denies its subject.
func statements(sentence string) []claim {
	st, ok := takeApart(sentence)
	if !ok {
		return nil
	}
	var out []claim
	add := func(v value, said string, rest []string) {
		key := slices.Concat(st.words, rest)
		slices.Sort(key)
		if len(st.words) < 1 || len(st.words) < 2 && v.unit != "rule" || len(strings.Join(st.words, "")) < 4 {
			return
		}
		k := strings.Join(key, " ")
		out = append(out, claim{subject: st.plain, key: k, value: v, said: said, loose: true})
	}
	var named []string
	for _, v := range st.values {
		named = append(named, string(v.kind)+":"+v.text+v.unit)
	}
	dated := slices.ContainsFunc(st.values, func(v found) bool { return v.kind == kindDate })
	for i, v := range st.values {
		if st.vague || st.pages || i > 2 {
			break
		}
		if dated && v.kind != kindDate {
			continue // so it is, or was, of that day
		}
		rest := slices.Delete(slices.Clone(named), i, i+1)
		if st.negated {
			rest = append(rest, "not")
		}
		if st.side != "" {
			rest = append(rest, st.side)
		}
		add(v.value, v.said, rest)
	}
	pair, side, _ := strings.Cut(st.side, ":")
	if pair == "" {
		pair, side = "rule", "yes"
	}
	if st.negated {
		side = map[string]string{"on": "off", "off": "on", "yes": "no", "no": "yes"}[side]
	}
	add(value{kindState, pair + ":" + side, pair}, strings.TrimSpace(sentence), named)
	return out
}

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

// inUnit converts a number in a unit to the unit's base.
func inUnit(n string, u unit) value {
	f, _ := strconv.ParseFloat(n, 64)
	return value{kindNumber, strconv.FormatFloat(f*u.factor, 'g', 12, 64), u.base}
}

// phoneOf returns the digits of a telephone's number. It leaves a country's code, and the 0 in
// place of it, to the comparison.
func phoneOf(s string) (string, bool) {
	d := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
	return d, len(d) >= 7 && len(d) <= 15
}

// clockOf reads a match of clockIn: hh:mm of 24 hours.
func clockOf(m []string) (string, bool) {
	h, _ := strconv.Atoi(m[2])
	minute := m[3] + m[6]
	switch {
	case m[7] == "半":
		minute = "30"
	case m[7] != "":
		minute = strings.TrimSuffix(m[7], "分")
	}
	n, _ := strconv.Atoi(minute)
	half := strings.ReplaceAll(m[4]+m[5], ".", "")
	switch {
	case half == "pm" && h < 12, (m[1] == "下午" || m[1] == "晚上" || m[1] == "午後") && h < 12:
		h += 12
	case half == "am" && h == 12:
		h = 0
	}
	return fmt.Sprintf("%02d:%02d", h, n), h < 24 && n < 60
}

// namedDay reads a match of monthIn.
func namedDay(m []string) (string, bool) {
	day, month, year := m[1], lexicon().month[m[2]], m[3]
	if day == "" {
		day, month, year = m[5], lexicon().month[m[4]], m[6]
	}
	d, _ := strconv.Atoi(day)
	if month == 0 || d < 1 || d > 31 {
		return "", false
	}
	if year == "" {
		return fmt.Sprintf("-%02d-%02d", month, d), true
	}
	return fmt.Sprintf("%s-%02d-%02d", year, month, d), true
}
