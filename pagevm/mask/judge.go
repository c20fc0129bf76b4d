package mask

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// A judge reports whether a value that a row of this package's table found is a secret. name is
// the text of the match before the value, up to the value's quote if it has one.
type judge func(name, v string) bool

// shape accepts every value. Rules use it if a match of their expression is proof enough.
func shape(_, _ string) bool { return true }

// given accepts values in places that hold only secrets. It rejects placeholders, references such
// as variables, and values that everybody uses.
func given(_, v string) bool {
	return len(v) >= 4 && len(v) <= maxSecret && !strings.HasPrefix(v, "--") && !placeholder(v) && !code(v) && !sample(v)
}

// option is the judge given for a value after a long option. It also rejects words of a sentence,
// which follow options in help texts.
func option(name, v string) bool {
	if c := name[len(name)-1]; (c == ' ' || c == '\t') && helpWords[strings.ToLower(strings.Trim(v, ".,:"))] {
		return false
	}
	return given(name, v)
}

// word is the judge given for a value that may be an identifier of code. It also rejects values of
// letters alone, and chains of names.
func word(name, v string) bool {
	return given(name, v) && (passphrase(v, 4) || !chain(v) && digitOrSign(v) && !sentence(v))
}

// sentence reports whether v is prose.
func sentence(v string) bool {
	words := strings.Fields(strings.ToLower(v))
	return len(words) > 6 || len(words) > 1 && strings.HasSuffix(v, "?") || slices.ContainsFunc(words, func(w string) bool { return len(words) > 1 && (helpWords[w] || phraseWords[w]) })
}

// generated accepts values that look random.
func generated(_, v string) bool {
	return !placeholder(v) && !code(v) && varied(v) && (random(v) || jumpy(v))
}

// jumpy reports whether letters of both cases and digits change as often as in generated values.
// In names they change less often.
func jumpy(v string) bool { return len(v) >= 12 && 5*changes(v) >= 2*len(v) && entropy(v) >= 3 }

// handed accepts tokens and keys in a sentence, an option or a table.
func handed(_, v string) bool {
	return len(v) >= 16 && given("", v) && v[0] != '/' && (digits(v) > 1 && varied(v) || jumpy(v) || passphrase(v, 4))
}

// credential accepts base64 of a name and a password, and values that look random.
func credential(name, v string) bool { return pair(v) || len(v) >= 16 && generated(name, v) }

// pair reports whether v is base64 of "name:password", as HTTP and Docker write it.
func pair(v string) bool {
	_, pw, ok := basicPair(v)
	return ok && given("", pw)
}

// basicPair decodes v as base64 of "name:password", and returns the two parts.
func basicPair(v string) (user, pw string, ok bool) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	user, pw, ok = strings.Cut(string(raw), ":")
	return user, pw, ok && err == nil && user != "" && utf8.Valid(raw) && strings.IndexFunc(user+pw, unicode.IsControl) < 0
}

// encoded accepts values of a Kubernetes Secret.
func encoded(_, v string) bool { return len(v) >= 4 && !placeholder(v) && !code(v) && !sample(v) }

var callChain = textutil.LazyRegexp(`^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+$`)

// chain reports whether v is a chain of names, as code has them.
func chain(v string) bool {
	return callChain.MatchString(v) && (digits(v) < 2 || strings.ToLower(v) == v)
}

// code reports whether v is an expression or a template.
func code(v string) bool {
	if strings.Contains(v, "[masked:") || strings.Contains(v, "...") || strings.Contains(v, "…") {
		return true
	}
	if t := strings.Trim(v, " \t,;"); strings.HasPrefix(t, "+ ") || strings.HasSuffix(t, " +") || t == "+" {
		return true // between two strings that are put together
	}
	return slices.ContainsFunc(codeSigns, func(sign string) bool {
		return strings.Contains(v, sign) && (sign != ".*" || digits(v) == 0)
	})
}

// codeSigns are parts of expressions, templates, patterns and addresses.
var codeSigns = strings.Fields(`${ $( {{ #{ %s %v %q %d {} {0} (? [^ \s \w \d .* => :// () ?. urn:`)

// sampleWords are values of examples and defaults.
var sampleWords = textutil.Set(`admin administrator any anon anonymous bool boolean bar basic baz bearer blank changeit char cisco default demo disabled
	elastic else email empty enabled env false file foo foobar foobarbaz guest hash hidden hunter incorrect input int integer
	invalid key keycloak login manager mariadb masked minio missing mongo mongodb mypass mysql nil none null number obfuscated object optional
	oracle pass phrase pin plain postgres postgresql prefix private prompt public pw pwd qwerty rabbitmq redis required root sa select
	stdin str string system tbd temp text token true type undefined unknown unset user username userpass value var varchar void wrong
	letmein welcome monkey dragon abc abcd abcdef asdf hello whatever opensesame world pswd mot wachtwoord kennwort parola senha clave lozinka heslo salasana`)

// usedWords are the sampleWords with which people begin passwords of their own.
var usedWords = textutil.Set(`welcome monkey dragon letmein qwerty hunter hello`)

// sampleParts mark a value made of words as a value to be filled in, or as a name.
var sampleParts = spaced("passw pass_ _pass -pass pass- _pw -pw passphrase your example change placeholder redact xxx dummy insert replace todo" +
	" secret sample fake test mock credential token contrase kennwort mot·de username -here _here user_ process. config getenv self.")

// helpWords follow an option in a sentence.
var helpWords = textutil.Set(`a an and are argument arguments as at but by can cannot for flag flags from given has if in instead into is may must not of on
	only option options or param parameter parameters prompt rather set should string than that the then this to use used using value via was when
	which while will with without would`)

// sample reports whether v is a value that everybody uses, or that names the value to fill in.
func sample(v string) bool {
	distinct := map[rune]bool{}
	words, letters := true, 0
	for _, r := range v {
		distinct[r] = true
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case !strings.ContainsRune("_-. ", r):
			words = false
		}
	}
	if len(distinct) < 4 || letters == 0 && (len(v) < 6 || len(v) < 8 && len(distinct) < 6 || strings.HasPrefix(v, "123456")) {
		return true
	}
	low := strings.ToLower(v)
	if core := strings.TrimRight(low, "0123456789!.*_-@#$"); sampleWords[core] && !(usedWords[core] && len(low)-len(core) > 1 && !strings.HasPrefix(low[len(core):], "12")) || low == "correct-horse-battery-staple" || core == "password" || core == "p@ssw0rd" || core == "passw0rd" || core == "secret" || core == "test" || core == "example" || core == "changeme" {
		return true
	}
	if !words {
		return strings.HasSuffix(low, "_password") || strings.Contains(low, "yourpassw") || strings.Contains(low, "your_") || strings.Contains(low, "your-") || strings.Contains(low, "xxxx") || strings.Contains(low, "****")
	}
	return strings.HasSuffix(low, "pass") || slices.ContainsFunc(sampleParts, func(p string) bool { return strings.Contains(low, p) })
}

func digitOrSign(v string) bool {
	return strings.IndexFunc(v, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune("_-. ", r)
	}) >= 0
}

// terms matches words with digits that occur in texts about passwords, such as names of algorithms.
var terms = textutil.LazyRegexp(`(?i)^(?:sha|md|hs|rs|ps|es|rsa|dsa|ecdsa|ed|aes|des|base|pbkdf|argon|bcrypt|scrypt|crypt|utf|latin|oauth|http|tls|ssl|ssh|ntlm|id|user|line|step|page|section|chapter|test|node|python|java|php|ascii|uuid|rfc|cve|col|varchar|byte|char)[-_.]?v?\d|^(?:x509|p12|k8s|i18n|l10n|a11y|pkcs)|^\d[\d.,:/-]*\w{0,12}$|^v?\d+(?:\.\d+)+`)

// spoken accepts values in a sentence. A value in quotes may be a word. Any other value must
// differ from words and names by digits among letters, signs, or capitals inside.
func spoken(name, v string) bool {
	if placeholder(v) || code(v) || sample(v) || chain(v) && !passphrase(v, 3) || terms.MatchString(v) || strings.ContainsAny(v, "()=<>|/\\{}") {
		return false
	}
	if r, _ := utf8.DecodeLastRuneInString(name); strings.ContainsRune(quoteMarks, r) || strings.HasSuffix(name, "« ") || strings.HasSuffix(name, "«\u00a0") {
		return utf8.RuneCountInString(v) >= 5 && strings.IndexByte(" ,;", v[0]) < 0 && !sentence(v)
	}
	var upper, lower, other, digit, sign, trailing, inner int
	rs := []rune(v)
	for i, r := range rs {
		switch {
		case unicode.IsDigit(r):
			digit++
			trailing++
			continue
		case unicode.IsUpper(r):
			upper++
			if i > 0 && unicode.IsLower(rs[i-1]) {
				inner++
			}
		case unicode.IsLower(r):
			lower++
		case unicode.IsLetter(r) || unicode.IsMark(r):
			other++
		case strings.ContainsRune("!@#$%^&*+~?_", r):
			sign++
		}
		trailing = 0
	}
	letters := upper + lower + other
	switch {
	case len(rs) < 6 || letters < 2:
		return false
	case digit > 0 && digit > trailing, digit > 1: // among the letters, or a few after them
		return lower > 0 || sign > 0
	case digit > 0:
		return upper > 0 && lower > 0 || sign > 0
	case passphrase(v, 3):
		return true
	}
	return sign > 0 && upper > 0 && !strings.Contains(v, "_") || strings.Count(v, "-") > 1 && upper > 0 && lower > 0 && inner == 0 && rs[0] >= 'a'
}

// diced reports whether v is a passphrase of words, as password managers make them.
func diced(v string) bool { return passphrase(v, 4) && strings.IndexByte(v, '.') < 0 }

// passphrase reports whether v is at least n words, with one kind of sign between them.
func passphrase(v string, n int) bool {
	words := strings.FieldsFunc(v, func(r rune) bool { return r == '-' || r == '.' })
	for _, w := range words {
		if len(w) < 3 || len(w) < 4 && n < 4 || len(w) > 9 || helpWords[w] || phraseWords[w] || fillerWords[w] || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return len(words) >= n && (strings.Count(v, "-") == len(words)-1 || strings.Count(v, ".") == len(words)-1) && !sample(v)
}

// strict is the judge spoken for a value without a verb or a colon before it.
func strict(name, v string) bool {
	classes := 0
	for _, is := range [...]func(rune) bool{unicode.IsUpper, unicode.IsLower, unicode.IsDigit, func(r rune) bool { return strings.ContainsRune("!@#$%^&*+~?_", r) }} {
		classes += btoi(strings.IndexFunc(v, is) >= 0)
	}
	return (classes >= 3 && len(v) >= 7 || digits(v) >= 4 && len(v) >= 9 || diced(v)) && spoken(name+" ", v)
}

// digitsOnly accepts the digits of a PIN, except a PIN that nobody would use.
func digitsOnly(_, v string) bool { return v[0] != v[1] || v[1] != v[2] }

// lockCode accepts the digits that open a door or a safe.
func lockCode(name, v string) bool {
	return digitsOnly(name, v) && !strings.HasPrefix(v, "19") && !strings.HasPrefix(v, "20") && !strings.ContainsAny(name, "(){}[]<>_#/\\") && !strings.HasSuffix(name, "-")
}
