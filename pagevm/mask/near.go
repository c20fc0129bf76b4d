package mask

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// nearBytes and nearLines bound the distance from the name of a secret to its value.
const nearBytes, nearLines = 120, 3

// minValue is the least length of a generated value in bytes.
const minValue = 16

var (
	// secretName finds names of secrets, in the middle of longer ones too.
	secretName = textutil.LazyRegexp(`(?i)token|secret|credential|passw(?:or)?d|passphrase|(?:api|access|secret|private|auth|licen[cs]e|app|application|admin|account|storage|server|service|bus|signing|encryption|master|session|setup|shared|webhook|deploy|write|management|integration|rest|client|host|root)[ .]?key|[a-z0-9][_-]key|(?-i:[A-Z][A-Za-z0-9]+ key)|invalid key|(?-i:[a-z0-9]Keys?\b)|[ _-]pat|密钥|密鑰|令牌|トークン|シークレット|キー|키[를는가: ]|schlüssel|geheimnis|jeton|pepper|토큰|klucz|anahtar|nyckel|nøgle|nøkkel|klíč|kulcs|مفتاح|[a-z0-9]+ key(?:s? (?:is|are|was|for)\b|["'”]?[ ]?[:=])|\bauth["']?[:=]|clave|llave|clé|chave|chiave|sleutel|ключ|токен`)
	// otherName matches names that contain a word of secretName and don't name a secret.
	otherName = textutil.LazyRegexp(`(?i)public|publishable|websocket|blob|cache|sort|primary|foreign|partition|hash|digest|tokeni[sz]|next|page|cursor|csrf|xsrf|idempot|object|prefix|suffix|(?:name|path|file|url|uri|len|length|count|limit|type|id|ids|arn|version|regex|usage|max|min|cost|price|keyboard|keyword|keys?et|monkey|turkey|hotkey|keyof|keydown|keypress|keycode|tokens)$`)
	// otherValue matches the text between the name of a secret and a value that is not a secret.
	otherValue = textutil.LazyRegexp(`(?i)hash|sha-?\d|md5|digest|checksum|integrity|h1:|fingerprint|commit|public|etag|uuid|\bids?\b|_id\b|revision|trace|\brequest=|encrypted|blob|image|version|count|usage|(?-i:[a-z]Id\b)`)
	// identifier matches the prefixes of ids that services assign.
	identifier = textutil.LazyRegexp(`^(?:h\d:|sha\d+[-:]|(?:toolu|call|msg|req|resp|rs|fc|run|thread|asst|chatcmpl|file|price|prod|cus|sub|pi|pk|acct|evt|ws|item|srvtoolu|batch|cmpl|conv|org|proj|user|usr|team|session|sess|build|dpl|prj|img|i|vpc|subnet|sg|ami|vol|snap|eni|rtb|igw)[_-])|\.\w{1,5}:\d`)
)

// nearSecrets finds generated values after the name of a secret, whatever the syntax: a quote, a
// comma, "value", "is set to" or a line break may come between them.
func nearSecrets(s string) (out [][2]int) {
	done := 0 // where the last generated value ends: a name gives one
	for i := nextRun(s, 0, minValue, &valueSet); i < len(s); i = nextRun(s, i, minValue, &valueSet) {
		from := i
		for i < len(s) && valueSet[s[i]] {
			i++
		}
		to := i
		if to == len(s) && to-from > nearBytes {
			break // cut off
		}
		for to > from && strings.IndexByte(".:,-%", s[to-1]) >= 0 {
			to--
		}
		if from > 0 && s[from-1] == '\\' && strings.IndexByte("nrt", s[from]) >= 0 {
			from++ // an escaped line break
		}
		for from < to && strings.IndexByte(".:=-~", s[from]) >= 0 {
			from++
		}
		if j := strings.IndexByte(s[from:to], '='); j >= 0 && j < to-from-2 && strings.Trim(s[from+j:to], "=") != "" {
			from += j + 1 // NAME=value
		} else if j := strings.LastIndexByte(s[from:to], ':'); j > 0 && lettersAt(s[from:]) == j {
			from += j + 1
		}
		plain := unguessable(s[from:to])
		if (plain || to-from >= 36 && to-from < 40 && uuid.MatchString(s[from:to])) && from > 0 && s[from-1] != '@' {
			if !listed(s, from, to) && named(s[done:from], plain) {
				out = append(out, [2]int{from, to})
			}
			done = to
		}
	}
	return out
}

// listed reports whether a value is a hash in a list of commits or checksums. Such a hash begins
// its line, apart from a commit graph, and a description follows it. The previous line must not end
// with a colon.
func listed(s string, from, to int) bool {
	if s[from] == '+' { // of another commit than is recorded
		from++
	}
	if to-from != 40 && to-from != 64 || strings.Trim(s[from:to], "0123456789abcdef") != "" {
		return false
	}
	before := s[max(0, from-nearBytes):from]
	at := max(strings.LastIndexByte(before, '\n')+1, strings.LastIndex(before, `\n`)+2)
	begins := (at > 1 || from < nearBytes) && strings.Trim(before[at:], ` *|/\+-_`) == "" && !strings.HasSuffix(strings.TrimRight(before[:at], `\n`), ":")
	goesOn := to+1 < len(s) && (s[to] == ' ' || s[to] == '\t') && s[to+1] > ' '
	return begins && (goesOn || strings.HasPrefix(s[to:], "  "))
}

// named reports whether the name of a secret is near the end of the text before a value. Before a
// UUID it has to be right at the end.
func named(before string, plain bool) bool {
	before = before[max(0, len(before)-nearBytes-60):]
	if !plain && secretID.MatchString(before) {
		return true
	}
	start, end := nameRegion(before)
	at := secretName.FindAllStringSubmatchIndex(before[start:end], -1)
	for _, at := range slices.Backward(at) {
		from, to := start+at[0], start+at[1]
		for from > 0 && nameByte(before[from-1]) {
			from--
		}
		for to < len(before) && nameByte(before[to]) {
			to++
		}
		name, gap := before[from:to], before[to:]
		if len(gap) > nearBytes || strings.Count(gap, "\n") > nearLines || otherValue.MatchString(gap) {
			return false
		}
		isUUID := (len(gap) < 10 || len(gap) < 40 && strings.Contains(gap, " is ")) && (uuidName.MatchString(name) || strings.ContainsAny(gap, `=:"'`) && keyName.MatchString(name) && !otherName.MatchString(name))
		if len(name) <= 60 && (isUUID || !otherName.MatchString(name) && (plain || len(gap) < 40 && apiName.MatchString(name+gap))) &&
			!strings.HasSuffix(before[:from], "[masked:") && !inBase64Word(name) {
			return true
		}
	}
	return false
}

// nameWords finds a word in every ASCII match of secretName.
var nameWords = indexWords("token secret credential passw passphrase key ·pat _pat -pat geheimnis jeton pepper klucz anahtar nyckel kulcs auth " +
	"clave llave chave chiave sleutel")

// nameRegion returns a part of a text that contains all matches of secretName. It saves time, since
// the part is usually much shorter than the text. A match begins at most one run of letters, a
// separator and another run before its word. It ends at most a few bytes after its word.
func nameRegion(s string) (from, to int) {
	from, to = len(s), len(s)
	nameWords.find(s, func(at, end int, _ []int) {
		from, to = min(from, at), min(end+len("s which:"), len(s))
	})
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return 0, len(s)
		}
	}
	for from > 0 && setAlnum.has(s[from-1]) {
		from--
	}
	if from > 0 && strings.IndexByte(" ._-", s[from-1]) >= 0 {
		from--
	}
	for from > 0 && setAlnum.has(s[from-1]) {
		from--
	}
	return from, to
}

// inBase64Word reports whether a name is a part of base64.
func inBase64Word(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return len(name) > 8 && strings.ToUpper(name) != name && strings.ToLower(name) != name && 2*spelt(name) < len(name) && jumpyBy(name, 4)
}

func nameByte(c byte) bool { return setURL.has(c) || c == '.' }

var (
	uuid     = textutil.LazyRegexp(`^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?::fx)?$`)
	apiName  = textutil.LazyRegexp(`(?i)^[^\n]*\bapi\b[^\n]*$`)
	uuidName = textutil.LazyRegexp(`(?:[A-Z]_(?:TOKEN|SECRET|(?:API|AUTH|SDK|ACCESS|SECRET|LICENSE|INTEGRATION)_KEY)|[aA]piKey|[gG]enieKey)$`)
	keyName  = textutil.LazyRegexp(`(?i)(?:token|secret|(?:api|app|access|auth|admin|license|service)[_-]?key|invalid key)$`)
	secretID = textutil.LazyRegexp(`(?i)secret[_ ]?id["']?[ :=]+["']?$`)
)

func valueByte(c byte) bool { return setURL.has(c) || strings.IndexByte("+/=.:~%", c) >= 0 }

// unguessable reports whether a value looks generated: a long run of hexadecimal digits, or
// letters of both cases and digits in an order that nobody writes.
func unguessable(v string) bool {
	if len(v) < minValue || len(v) > 400 {
		return false
	}
	if h := affix.ReplaceAllString(v, ""); plainID(h) && strings.IndexByte(h, '-') < 0 {
		n := digits(h)
		return len(h) >= 30 && n >= 4 && len(h)-n >= 4 && varied(h)
	}
	upper, lower, digit, other := classes(v)
	jumps := 5
	if lower == 0 {
		upper, lower, jumps = lower, upper, 7
	}
	padded := strings.HasSuffix(v, "=")
	if raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "=")); padded && err == nil && utf8.Valid(raw) {
		return pair(v)
	}
	switch {
	case !padded && (digit == 0 || digit == 1 && (len(v) < 28 || upper < 6)) || lower < 2:
		return false
	case strings.IndexByte(v, '/') >= 0 && !padded && (len(v) < 30 || strings.ContainsAny(v, ".:_-")):
		return false // a path
	case other > 0 && upper == 0 && len(v) < 40:
		return bootToken.MatchString(v) // else words
	case upper == 0 && other == 0 && len(v) >= 40 && digit > 2 && changes(v) > 6 && entropy(v) >= 4:
		return !identifier.MatchString(v)
	case upper == 0 && (len(v) < 24 || digit < 4 || entropy(v) < 3.6 || other > 2 || !jumpyBy(v, jumps)),
		upper > 0 && (upper < 2 || entropy(v) < 3.4 || !jumpyBy(v, 3) || 2*spelt(v) > len(v)):
		return false
	}
	for _, w := range [...]string{"://", "..", "::", "env."} {
		if strings.Contains(v, w) {
			return false
		}
	}
	return !strings.HasPrefix(v, "SHA") && !identifier.MatchString(v) && (other == 0 || !slices.ContainsFunc(strings.Split(v, "+"), callChain.MatchString))
}

// affix matches the prefixes and suffixes that issuers add to hexadecimal digits.
var affix = textutil.LazyRegexp(`^(?:0x|c[ks]_|key-|[a-z]{2,5}_)|-[a-z]{2}\d{1,2}$|NRAL$`)

// bootToken matches a token with which a machine joins a Kubernetes cluster.
var bootToken = textutil.LazyRegexp(`^[a-z0-9]{6}\.[a-z0-9]{16}$`)

// classOf returns 'A' for a capital, 'a' for a small letter, '0' for a digit, and 0 for any other byte.
func classOf(c byte) byte {
	switch {
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= '0' && c <= '9':
		return '0'
	}
	return 0
}

// classes counts the bytes of v by their class.
func classes(v string) (upper, lower, digit, other int) {
	for i := range len(v) {
		switch classOf(v[i]) {
		case 'A':
			upper++
		case 'a':
			lower++
		case '0':
			digit++
		default:
			other++
		}
	}
	return upper, lower, digit, other
}

var words = textutil.LazyRegexp(`[A-Z]?[a-z]{2,}`)

// spelt counts the letters of v that make words.
func spelt(v string) (n int) {
	for _, w := range words.FindAllString(v, -1) {
		if strings.ContainsAny(w[1:], "aeiouy") {
			n += len(w)
		}
	}
	return n
}

// jumpyBy reports whether at least one character in n is of another class than the previous
// character.
func jumpyBy(v string, n int) bool { return n*changes(v) >= len(v) }

// changes counts the characters that are of another class than the previous character.
func changes(v string) (n int) {
	for i := 1; i < len(v); i++ {
		n += btoi(classOf(v[i]) != classOf(v[i-1]))
	}
	return n
}
