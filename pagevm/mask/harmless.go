package mask

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// harmless reports whether s[from:to], which a rule found, is no secret after all, because of its
// form or the text before it. It is the last check of every rule.
func harmless(rule, s string, from, to int) bool {
	v, before := s[from:to], s[max(0, from-120):from]
	if parts := strings.Split(v, "."); len(parts) == 3 && strings.HasPrefix(v, "eyJ") {
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		return samplePayload.MatchString(string(payload))
	}
	switch rule {
	case "basic":
		return samplePair(v)
	case "url-password":
		words := strings.Fields(nonLetters.ReplaceAllString(strings.ToLower(v), " "))
		return to-from < 2 || defaultPassword(strings.Join(words, "")) ||
			len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return len(w) > 2 && !sampleWords[w] })
	case "secret", "named-secret":
		if publicName.MatchString(before) || rule == "secret" && (strings.HasSuffix(before, "::") && 2*spelt(v) > len(v) || chain(v) && strings.Contains(v, "::")) {
			return true
		}
	case "near-password", "stated-password":
		if userLabel.MatchString(before) || otherCode.MatchString(before) || samplePair(v) {
			return true
		}
	case "snmp-community":
		return strings.HasSuffix(v, ",") // prose
	case "private-key", "kubernetes-secret", "recovery-phrase":
		return false
	}
	return len(v) < 120 && (expression.MatchString(v) || testName.MatchString(v) || resource.MatchString(before) || labelled.MatchString(v) ||
		(len(v) == 40 || len(v) == 64 || len(v) == 128) && strings.Trim(v, "0123456789abcdef") == "" && digestName.MatchString(before) || // a hash
		filler(v) || sequence(v) || repeatsName(before, v) || repeatsUser(rule, before, v))
}

var (
	nonLetters = textutil.LazyRegexp(`(?:%[0-9a-f]{2}|[^a-z0-9])+`)
	// publicName finds the name of a key that its issuer calls public.
	publicName = textutil.LazyRegexp(`(?i)(?:publishable|anon)(?:_default)?[_-]?(?:api[_-]?)?key["'` + "`" + `]?\)?\s*(?:\|\||\?\?|[:=,])?\s*["'` + "`" + `]?$`)
	userLabel  = textutil.LazyRegexp(`(?i)(?::user:|\buser[_-]?name["'` + "`" + `]?[ ]?[:=]|\buser=)[ ]?["'` + "`" + `]?$`)
	// otherCode finds the name of a code that is no secret, such as a zip code.
	otherCode = textutil.LazyRegexp(`(?i)\b(?:zip|postal|post|status|error|exit|country|area|currency|colou?r)[ _-]?code["']?[ ]?[:=][ ]?["']?$`)
	// resource matches the begin of an address that ends with the name or the hash of its target.
	resource = textutil.LazyRegexp(`\barn:[\w-]+:[\w-]*:[\w-]*:\w*:[^\s"']*$|\.(?:tgz|git)#$|\bmagnet:\?xt=$|\?alt=media&(?:amp;)?token=$`)
	// labelled matches a time, the name of a file, a path in Rust or C++, and the key of a
	// build's cache.
	labelled = textutil.LazyRegexp(`^(?:20\d\d-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|[A-Za-z][\w-]*\.(?:md|json|ya?ml|toml|html|css|png|svg)|\w+(?:::\w+)+|(?:\w+-)+(?i:linux|macos|darwin|windows|ubuntu)-\w+(?:-[\w.]+)*)$`)
	// digestName finds the text before a hash: a name that says so, or a sentence about a commit.
	digestName = textutil.LazyRegexp(`(?i)(?:(?:sha(?:-?(?:1|256|512))?|digest|checksum|fingerprint|revision|commit)["'` + "`" + `]?\s*[:=]+\s*["'` + "`" + `]?|\b(?:commit|branch|revision|sha|head|pinned|v\d+\.\d+)\b[^\n]{0,40}\n?[^\n]{0,10}` + "`" + `)$`)
	// samplePayload finds the payload of two well-known signed tokens: a database's public "anon"
	// key, and the example token of many manuals.
	samplePayload = textutil.LazyRegexp(`"role":"anon"|"sub":"1234567890"`)
	// expression matches a call with one name, a name before a comma of code, a number with a
	// method, a path, an address, a name of a variable, a declaration of CSS, and the rest of a
	// line of code.
	expression = textutil.LazyRegexp(`^(?:[a-z_.]+\(["']?(?:[A-Z][A-Z0-9_]*|[a-z][a-z/_.:-]*)["']?\)|(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|\w+(?:\.[A-Za-z_]\w*)+|\w*[pP]assw(?:or)?d)[,;]|\d+\.[a-z_]+|/?(?:[\w-]+/)+[*\w-]*(?:\.[a-z]{2,4})+|(?:/[a-z]+){2,}|localhost:\d{2,5}\S*|\d{2,5}(?:/[a-z]+)+|==.*|\).*\(.*|\{"\w+":.*|#\{.*|[a-z_]\w*(?:\.\w+)+(?:\(| :).*|passw(?:or)?d(?:_[a-z]+)+\d?|[a-z]+(?:-[a-z]+)*: ?[a-z]+(?:-[a-z]+)*;?)$`)
	// testName matches the names of tests in Go, and in languages that write test_it.
	testName = textutil.LazyRegexp(`^(?:Test[A-Z][A-Za-z]{4,}[a-z][A-Z][A-Za-z]{3,}\d?|Test[A-Z]\w*[a-z](?:[_/][A-Za-z]\w*)+(?:#\d+)?|(?:test|it|should)(?:_[a-z]+){3,}\d?)$`)
)

// fillerWords occur in values made of words that describe the value to fill in, or the case of a
// test.
var fillerWords = textutil.Set(`your example sample dummy fake mock placeholder bogus demo change replace insert generate token key
	expired invalid character characters chars`)

// filler reports whether v consists of lower-case words and one or two numbers. One of the words
// must be in fillerWords.
func filler(v string) bool {
	v = strings.TrimRight(v, "!.")
	words := strings.FieldsFunc(v, func(r rune) bool { return r < 'a' || r > 'z' })
	found := false
	for _, w := range words {
		if len(w) > 3 && !strings.ContainsAny(w, "aeiouy") {
			return false
		}
		found = found || fillerWords[w] || len(words) > 3 && w == "password"
	}
	numbers := len(strings.FieldsFunc(v, func(r rune) bool { return r < '0' || r > '9' }))
	return found && (numbers == 1 || numbers == 2) && digits(v) <= 5 && strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789-_ ") == ""
}

// sequence reports whether v consists only of runs such as abc, 123 and 321.
func sequence(v string) bool {
	v = strings.ToLower(v)
	run, step := 1, 0
	for i := 1; i <= len(v); i++ {
		d := 0
		if i < len(v) {
			if d = int(v[i]) - int(v[i-1]); v[i-1] == '9' && v[i] == '0' {
				d = 1
			}
		}
		switch {
		case (d == 1 || d == -1) && (run == 1 || d == step):
			run, step = run+1, d
		case run < 3:
			return false
		default:
			run, step = 1, 0
		}
	}
	return len(v) > 5 && classOf(v[0]) != 0
}

// repeatsName reports whether v repeats the name before it, as constants for "no password" do.
func repeatsName(before, v string) bool {
	before = strings.TrimRight(before, " :=\"'`")
	name := before[len(strings.TrimRightFunc(before, func(r rune) bool { return r < 0x80 && nameByte(byte(r)) })):]
	letters := func(s string) string {
		return strings.ToLower(strings.Map(func(r rune) rune {
			if r < 0x80 && classOf(byte(r))|0x20 == 'a' {
				return r
			}
			return -1
		}, s))
	}
	return digits(v) < 2 && len(letters(v)) > 7 && letters(name) == letters(v)
}

// repeatsUser reports whether v equals the user name before it. The user name stays in the text
// anyway.
func repeatsUser(rule, before, v string) bool {
	if digits(v) > 0 || lettersAt(v) < len(v) {
		return false
	}
	if rule == "password-table" {
		before = before[lineStart(before, len(before)):]
	}
	for i := strings.Index(before, v); i >= 0; i = strings.LastIndex(before[:i], v) {
		end := i + len(v)
		if end < len(before) && !wordByte(before[end]) && (rule == "password-table" || userStart.MatchString(before[:i])) {
			return true
		}
	}
	return false
}

var userStart = textutil.LazyRegexp(`(?i)(?:user(?:[_-]?name)?|login|uid)[^\w\n]{1,6}$`)

// samplePair reports whether v is base64 of a name and a password that everybody uses.
func samplePair(v string) bool {
	user, pw, ok := basicPair(v)
	return ok && (sample(pw) || defaultPassword(strings.ReplaceAll(pw, " ", "")) || user == pw)
}
