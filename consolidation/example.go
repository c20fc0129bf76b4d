package consolidation

import (
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/lazyregexp"
)

// maskedValue is what a masker took out of a line: by which rule, and behind what.
type maskedValue struct{ rule, value, before, behind string }

// maskedValues holds a line against the same one masked. A value whose end can't be told
// reaches to the end of the line.
func maskedValues(was, is string) (out []maskedValue) {
	at, in := 0, 0
	for _, m := range mark.FindAllStringSubmatchIndex(is, -1) {
		at += m[0] - in // what stands between marks is the same
		in = m[1]
		if at > len(was) {
			return out
		}
		next := is[in:]
		if n := mark.FindStringIndex(next); n != nil {
			next = next[:n[0]]
		}
		end := len(was)
		if n := strings.Index(was[at:], next); next != "" && n >= 0 {
			end = at + n
		}
		if v := was[at:end]; !mark.MatchString(v) {
			out = append(out, maskedValue{is[m[2]:m[3]], v, was[:at], was[end:]})
		}
		at = end
	}
	return out
}

var (
	// amounts are several numbers with what they are of: p200/c30, 8k/32k, min8/max32.
	amounts = lazyregexp.New(`^(?:[A-Za-z]{1,5}-?)?\d{0,5}(?:\.\d+)?[A-Za-z%]{0,2}(?:/(?:[A-Za-z]{1,5}-?)?\d{0,5}(?:\.\d+)?[A-Za-z%]{0,2})+$`)
	// exampleWord is a word that nobody's secret has in it.
	exampleWord = lazyregexp.New(`(?i)example|eyJzdWIiOiIxMjM0NTY3ODkw|your[-_]|yourkey|yourtoken|yourpass|placeholder|changeme|change[-_]me|dummy|sample|redacted|x{8}|0{8}|not[-_]?real|fake|insert[-_]`)
	// usualPassword is one that stands in every tutorial, or says what belongs in its place.
	usualPassword = lazyregexp.New(`(?i)^(?:(?:my|our|the|some|pass|passwd|password|passw0rd|pwd|pw|super|secret|token|key|api|auth|bearer|client|app|db|test|testing|demo|root|admin|guest|user|postgres|mysql|mongo|redis|hunter|changeme|letmein|qwerty|foo|bar|abcd?|default|dev|local)[-_.]?)+(?:v?[0-9]{0,4}[!.]{0,2})$`)
	// words in lower case with numbers among them: an identifier, or a phrase.
	wordy = lazyregexp.New(`^(?:[a-z]{2,}|\d{1,4})(?:[-_](?:[a-z]+|\d{1,4}))+$`)
	// phraseKey is a name of what may be a phrase.
	phraseKey = lazyregexp.New(`(?i)pass|pwd|kennwort|contrase|senha|парол|密码|密碼|パスワード|암호|secret|phrase`)
	// exampleHost is a name that is kept for examples.
	exampleHost = lazyregexp.New(`(?i)^@(?:[\w-]+\.)*example(?:\.(?:com|org|net))?(?:[:/]|$)`)
)

// example reports whether a value that would rather be masked is known to be no secret of
// anybody's: one that examples and tutorials have, or a number of something.
func (v *maskedValue) example() bool {
	value := strings.Trim(v.value, "\"'`")
	if exampleWord.MatchString(value) || series(value) {
		return true
	}
	switch v.rule {
	case "url-password":
		user := v.before[strings.LastIndexByte(v.before, '/')+1:]
		return usualPassword.MatchString(value) || strings.TrimSuffix(user, ":") == value || exampleHost.MatchString(v.behind)
	case "secret":
		return amounts.MatchString(value) && strings.ContainsAny(value, "0123456789") || usualPassword.MatchString(value) ||
			wordy.MatchString(value) && !phraseKey.MatchString(v.before[max(0, strings.LastIndexAny(strings.TrimRight(v.before, " \t:=\"'`"), " \t\n,;")+1):])
	}
	return usualPassword.MatchString(value)
}

// leastSeries is how many characters in a row, each one more than the last, nobody
// generates.
const leastSeries = 7

// series reports whether half of a value or more is one character again and again, or the
// alphabet or the digits in order.
func series(value string) bool {
	best, up, same := 0, 1, 1
	rs := []rune(strings.ToLower(value))
	for i := 1; i < len(rs); i++ {
		d := rs[i] - rs[i-1]
		switch {
		case d == 1, rs[i] == '0' && rs[i-1] == '9', rs[i] == '1' && rs[i-1] == 'z', rs[i] == '0' && rs[i-1] == 'z', rs[i] == 'a' && unicode.IsDigit(rs[i-1]) && up >= 4:
			up++
		default:
			up = 1
		}
		if d == 0 {
			same++
		} else {
			same = 1
		}
		best = max(best, up, same)
	}
	return best >= leastSeries && 2*best >= min(len(rs), 2*12)
}
