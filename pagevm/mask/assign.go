package mask

import (
	"math"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// matchAssignment matches the value in "password = ...", "api_key: ...",
// "DB_SECRET=..." and their quoted and JSON forms, if the value looks random.
func matchAssignment(s string, i int) match {
	end := 0
	for _, k := range maskKeys {
		if s[i]|0x20 == k[0] && s[i+2]|0x20 == k[2] && len(s)-i > len(k)+8 && strings.EqualFold(s[i:i+len(k)], k) {
			end = max(end, i+len(k))
		}
	}
	if end == 0 {
		return match{}
	}
	end, ok := keyEnd(s, i, end)
	if !ok {
		return match{}
	}
	v, quoted, ok := valueStart(s, end)
	if !ok {
		return match{}
	}
	if m := matchToken(s, v); m.kind != "" {
		return m
	}
	e := valueEnd(s, v, quoted)
	// An environment variable's value needs no quotes to be a literal.
	literal := quoted != 0 || lex.ByteClass[s[i]]&lex.ByteClass[s[end-1]]&lex.CUpper != 0
	if e < 0 || !secretValue(s[v:e], literal) {
		return match{}
	}
	return match{v, e, "secret"}
}

// keyEnd follows the name to its end and reports whether it can be the name of a
// secret: "token" and "secret_access_key" can, "tokenizer", "tokens" and
// "secret_name" can't.
func keyEnd(s string, start, end int) (int, bool) {
	j := end
	for j < len(s) && j-end < 40 && (setURL.has(s[j])) {
		j++
	}
	rest := s[end:j]
	if rest == "" {
		return j, true
	}
	c := rest[0]
	hump := lex.ByteClass[c]&lex.CUpper != 0 && lex.ByteClass[s[end-1]]&lex.CLower != 0
	if c != '_' && c != '-' && !hump && lex.ByteClass[c]&lex.CDigit == 0 {
		return j, false
	}
	rest = strings.ToLower(rest)
	return j, !slices.ContainsFunc(notSecret, func(end string) bool { return strings.HasSuffix(rest, end) })
}

// notSecret ends the names of things that belong to a secret.
var notSecret = strings.Fields(`name hash id path file type count url uri length len size limit budget
	ttl expiry expires regex pattern prefix field env var usage policy version arn ref endpoint`)

// valueStart skips a closing quote, white space and one separator, and returns where the value
// starts and its quote, 0 if it has none. A value without quotes between spaces is more likely
// code than configuration, unless a colon precedes it.
func valueStart(s string, j int) (start int, quote byte, ok bool) {
	esc := ""
	j, esc = skipQuote(s, j)
	for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
		j++
	}
	if j >= len(s) || s[j] != '=' && s[j] != ':' {
		return 0, 0, false
	}
	for n := 0; n < 2 && j < len(s) && (s[j] == '=' || s[j] == ':' || s[j] == '>'); n++ {
		j++
	}
	for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
		j++
	}
	if esc != "" && !strings.HasPrefix(s[j:], esc) {
		return 0, 0, false
	}
	if j >= len(s) {
		return 0, 0, false
	}
	if s[j] == '\\' && j+1 < len(s) && s[j+1] == '"' {
		return j + 2, '\\', true
	}
	if s[j] == '"' || s[j] == '\'' || s[j] == '`' {
		return j + 1, s[j], true
	}
	return j, 0, true
}

// skipQuote steps over the quote that ends a key; esc is `\"` if the quote is
// escaped, as in JSON inside a string, so that the value's must be too.
func skipQuote(s string, j int) (int, string) {
	if strings.HasPrefix(s[j:], `\"`) {
		return j + 2, `\`
	}
	if j < len(s) && (s[j] == '"' || s[j] == '\'') {
		return j + 1, ""
	}
	return j, ""
}

const maxSecret = 1600 // bytes

func valueEnd(s string, v int, quote byte) int {
	for e := v; e < len(s) && e-v <= maxSecret; e++ {
		c := s[e]
		switch {
		case quote == 0 && (c <= ' ' || c >= 0x7f || strings.IndexByte(`,;)"'}]<>&|\`+"`", c) >= 0):
			return e
		case quote == '\\' && c == '\\', quote != 0 && quote != '\\' && c == quote:
			return e
		case c == '\n':
			return -1
		}
	}
	if len(s)-v <= maxSecret && quote == 0 {
		return len(s)
	}
	return -1
}

// secretValue reports whether a value looks like a secret rather than a word, an
// expression, a path or a placeholder. literal means that it cannot be code.
func secretValue(v string, literal bool) bool {
	if len(v) < 8 || placeholder(v) || v[0] == '/' && !(len(v) >= 40 && jumpy(v)) || v[0] == '~' || strings.HasPrefix(v, "./") ||
		strings.Contains(v, "://") || strings.Contains(v, "[masked:") || strings.Contains(v, "...") || strings.Contains(v, "env.") || strings.HasPrefix(v, "urn:") {
		return false
	}
	for i := range len(v) {
		noCall := v[i] == '(' && literal && len(v) >= 30 && i > 0 && !wordByte(v[i-1])
		if v[i] <= ' ' || v[i] >= 0x7f || strings.IndexByte("({[", v[i]) >= 0 && !noCall {
			return false
		}
	}
	upper, lower, digit, other := classes(v)
	if digit == 0 || upper+lower == 0 {
		return literal && passphrase(v, 4) || len(v) >= 20 && jumpy(v) && (entropy(v) >= 3.8 || other == 0 && entropy(v) >= 3.5)
	}
	// Code: names, fields, numbers with units.
	if !literal && other == strings.Count(v, ".")+strings.Count(v, "_") && digit*4 < len(v) && !(len(v) >= 20 && (upper > 2 && digit > 2 || jumpy(v))) {
		return false
	}
	if len(v) < 16 {
		classes := btoi(upper > 0) + btoi(lower > 0) + btoi(other > 0) + 1
		return classes >= 3 && varied(v) || digit >= 3 && entropy(v) >= 3
	}
	return random(v)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// random reports whether a long value has the spread of characters that generated values have: at
// least 3 bits per character, and digits among letters.
func random(v string) bool {
	return digits(v) > 0 && digits(v) < len(v) && entropy(v) >= 3
}

// entropy returns the Shannon entropy of the bytes of v, in bits per byte.
func entropy(v string) float64 {
	var count [256]int
	for i := range len(v) {
		count[v[i]]++
	}
	h := 0.0
	for _, c := range count {
		if c > 0 {
			p := float64(c) / float64(len(v))
			h -= p * math.Log2(p)
		}
	}
	return h
}
