package mask

import (
	"math"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// between matches the text between a name and its value: the quote that ends the name, a separator,
// and the quote that begins the value.
var between = textutil.LazyRegexp("^(\\\\\"|[\"'])?[ \t]*[=:][=:>]?[ \t]*(\\\\\"|[\"'`])?")

// notSecret lists endings of names of values that belong to a secret and are not secret, as in
// "secret_name".
var notSecret = strings.Fields(`name hash id path file type count url uri length len size limit budget
	ttl expiry expires regex pattern prefix field env var usage policy version arn ref endpoint`)

// maxSecret is the length of the longest secret in bytes.
const maxSecret = 1600

// matchAssignment matches the value in "password = ...", "api_key: ...",
// "DB_SECRET=..." and their quoted and JSON forms, if the value looks random.
func matchAssignment(s string, i int) match {
	key := 0 // the end of the longest word for a secret
	for _, k := range maskKeys {
		if len(s)-i > len(k)+8 && equalFold(s[i:i+len(k)], k) {
			key = max(key, i+len(k))
		}
	}
	if key == 0 {
		return match{}
	}
	end := setURL.run(s, key, 40) // of the name
	at := between.FindStringSubmatchIndex(s[end:])
	if at == nil || !ofSecret(s[key-1], s[key:end]) {
		return match{}
	}
	// In an escaped string both quotes are escaped.
	escaped, quote := at[3]-at[2] == 2, ""
	if at[4] >= 0 {
		quote = s[end+at[4] : end+at[5]]
	}
	if escaped && quote != `\"` {
		return match{}
	}
	v := end + at[1]
	if m := matchToken(s, v); m.kind != "" {
		return m
	}
	n := valueLen(s[v:], quote)
	// An environment variable's value needs no quotes to be a literal.
	literal := quote != "" || classOf(s[i]) == 'A' && classOf(s[end-1]) == 'A'
	if n < 0 || !secretValue(s[v:v+n], literal) {
		return match{}
	}
	return match{v, v + n, "secret"}
}

// ofSecret reports whether a word for a secret, followed by rest, can be the name of a secret:
// "token" and "secret_access_key" can; "tokenizer", "tokens" and "secret_name" can't. last is the
// word's last byte.
func ofSecret(last byte, rest string) bool {
	if rest == "" {
		return true
	}
	if c := classOf(rest[0]); rest[0] != '_' && rest[0] != '-' && c != '0' && !(c == 'A' && classOf(last) == 'a') {
		return false
	}
	rest = strings.ToLower(rest)
	return !slices.ContainsFunc(notSecret, func(end string) bool { return strings.HasSuffix(rest, end) })
}

// valueLen returns the length of the value that s begins with, after the quote that begins it. It
// returns -1 if the value does not end on its line.
func valueLen(s, quote string) int {
	head := s[:min(len(s), maxSecret+1)]
	if quote != "" {
		if n := strings.IndexAny(head, quote[:1]+"\n"); n >= 0 && head[n] != '\n' {
			return n
		}
		return -1
	}
	n := strings.IndexFunc(head, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(",;)\"'}]<>&|\\`", r) })
	if n < 0 && len(s) <= maxSecret {
		return len(s)
	}
	return n
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
