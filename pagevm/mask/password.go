package mask

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// minPassword and maxPassword bound the length in bytes of a password that is known by its looks.
const minPassword, maxPassword = 8, 40

// passwordWords are the words for a password and for a login, in the languages of the index.
const passwordWords = "passw passord sblocc passphrase passcode pass pwd pw· pw= pw: auth( auth:·[ connect( connection( log·in login log-in logged·in logging·in sign·in sign-in creds cred· credential unlock·it unlocks·it unlocks·the unlock·with " +
	"kennwort kennwört zugang entsperr anmeld einlogg contrase clave senha palavra credencia mot·de·passe mots·de·passe mot_de_passe mdp· identifiant parol accedi credenzial wachtwoord inlog " +
	"lösenord adgangskode kodeord salasana hasł haslo heslo hesla jelsz şifre sifre lozink zapork парол логин доступ κωδικ συνθηματικ كلمة رمز पासवर्ड khẩu sandi รหัส " +
	"密码 密碼 口令 登录 パス 暗証 ログイン 비밀번호 비번 암호 패스워드 로그인 wifi wi-fi wlan 와이파이 无线"

var passwordNames = indexWords(passwordWords)

// nearPasswords finds values that look like a password near one of passwordWords, whatever the
// syntax: up to 90 bytes after it within two lines, or up to 60 bytes before it on its line.
func nearPasswords(s string) (out [][2]int) {
	var names [][2]int
	passwordNames.find(s, func(from, to int, _ []int) {
		if n := len(names); (n == 0 || names[n-1][0] < from) && isPasswordName(s, from, to) {
			names = append(names, [2]int{from, to})
		}
	})
	k := 0 // of the first name that ends after the value begins
	for i := nextRun(s, 0, minPassword, &passwordSet); i < len(s); i = nextRun(s, i, minPassword, &passwordSet) {
		from := i
		for i < len(s) && passwordSet[s[i]] {
			i++
		}
		to := from + len(strings.TrimRight(s[from:i], ".:-"))
		for k < len(names) && names[k][1] <= from {
			k++
		}
		next := k
		for next < len(names) && names[next][0] < to {
			next++
		}
		near := k > 0 && from-names[k-1][1] <= 90 && strings.Count(s[names[k-1][1]:from], "\n") <= 2
		if near && s[names[k-1][1]-1] == '(' && strings.IndexByte(quoteMarks, s[from-1]) < 0 {
			near = false // an argument that is a name
		}
		ahead := !near && next < len(names) && names[next][0]-to <= 60 && strings.IndexByte(s[to:names[next][0]], '\n') < 0
		if !near && !ahead && !userBefore.MatchString(s[max(0, from-20):from]) || from > 0 && (strings.IndexByte("/+", s[from-1]) >= 0 || s[from-1] == ':' && !wordBefore(s[:from-1])) || i < len(s) && s[i] == '/' || !chosen(s[from:to]) && !(near && set(s[names[k-1][0]:from]) && unspoken(s[from:to])) {
			continue
		}
		gap := s[max(0, from-20):from]
		if near {
			gap = s[names[k-1][1]:from]
		}
		if !otherValue.MatchString(gap) {
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// set reports whether gap, the text between a word for a password and a value, is an assignment on
// one line.
func set(gap string) bool {
	return len(gap) < 60 && gap[0]|0x20 == 'p' && strings.IndexAny(gap, "\n,`") < 0 && strings.ContainsAny(gap, ":=\"'>")
}

// unspoken reports whether v is a passphrase of words, or letters that are no word.
func unspoken(v string) bool {
	upper, lower, digit, other := classes(v)
	letters := digit == 0 && upper > 1 && lower > 1 && varied(v) && 2*spelt(v) < len(v)
	sign := other == 1 && 2*changes(v) >= len(v) && strings.IndexByte(passwordSigns, v[len(v)-1]) >= 0
	return diced(v) || letters && !sample(v) && (sign || other == 0 && len(v) > 9 && jumpyBy(v, 3))
}

// isPasswordName reports whether the word that s[from:to] begins is a name of a password there.
func isPasswordName(s string, from, to int) bool {
	word, before, after := s[from:to], byte(' '), byte(' ')
	if from > 0 {
		before = s[from-1]
	}
	rest := strings.TrimLeft(s[to:], "\\\"'`])*")
	if rest != "" {
		after = rest[0]
	}
	letter := func(c byte) bool { return classOf(c) != 0 }
	is := func(name string) bool { return strings.EqualFold(word, name) }
	switch {
	case word[0] >= 0x80, len(word) > 4 && strings.EqualFold(word[:4], "pass") && strings.IndexByte("wWpP", word[4]) >= 0:
		return true
	case letter(before) && (s[from] >= 'a' || before < 'a'):
		return false
	case before == '.' && (is("pass") || is("pwd")):
		rest = strings.TrimLeft(rest, " ")
		return rest != "" && strings.IndexByte(":=", rest[0]) >= 0
	case is("pass"), is("pwd"):
		return strings.IndexByte(" \t\n:=,|", after) >= 0
	case is("login"):
		return !letter(after) && strings.IndexByte(":=[", after) < 0
	}
	return true
}

var passwordSet = setOf(func(c byte) bool { return c > ' ' && c < 0x7f && strings.IndexByte("\"'`()[]{}<>,;|\\/:=", c) < 0 })

var (
	// wordsAndDigits matches a common form of passwords: joined words, digits, and perhaps a
	// sign.
	wordsAndDigits = textutil.LazyRegexp(`^[A-Za-z]{4,}\.?\d{3,6}[!*#?$%&+^~@._x-]{0,2}$`)
	size           = textutil.LazyRegexp(`^(?i:ubuntu|debian|fedora|windows|server|office|release|build|issue|ticket|port|error|localhost|january|february|march|april|june|july|august|september|october|november|december)\d+$|\D(?:128|192|224|256|384|512|1024|2048|4096)$`)
	// userBefore finds a user's name that a password follows at once.
	userBefore = textutil.LazyRegexp(`(?:^|[^\w.-])(?:root|admin|administrator|postgres)["'` + "`" + `*]*(?:\s+(?:with|con|avec|mit|com|is|ist|es|est|è))?\s*[\s/|:,][\s|]*["'` + "`" + `*]*$`)
	// twoWords matches another form: two words, one of them with a capital, and a number.
	twoWords    = textutil.LazyRegexp(`^(?:[a-z]{4,}[-_.][A-Z][a-z]{3,}|[A-Z][a-z]{3,}[-_][A-Z]?[a-z]{3,})\d{2,4}[!*#?$%&+^~@]?$`)
	duration    = textutil.LazyRegexp(`^(?:\d+[a-z]{1,2})+$`)
	digitGroups = textutil.LazyRegexp(`\d[A-Za-z]+\d`)
	// operator finds expressions of code, and numbers of issues.
	operator    = textutil.LazyRegexp(`^[a-z\d_.-]+(?:[&^%*#@?]|&&)[a-z\d_.-]+$|&0x|^[A-Za-z_]{8,}[+-]1$|_.*\*|\*.*_|%[0-9A-F]{2}|[a-z0-9]-[a-z0-9]\+|\+[a-z]+\d+$`)
	dicedDigits = textutil.LazyRegexp(`^[a-z]{3,10}(?:-[a-z]{3,10}){2,4}-\d{1,4}$`)
)

const passwordSigns = "!*#?$%&^~@+"

// wordBefore reports whether s ends with a letter, a quote or a space.
func wordBefore(s string) bool {
	if s == "" {
		return false
	}
	last := s[len(s)-1]
	return last >= 0x80 || classOf(last)|0x20 == 'a' || strings.IndexByte("\"' ", last) >= 0
}

// chosen reports whether v looks like a password by itself.
func chosen(v string) bool {
	upper, lower, digit, other := classes(v)
	if digit == 0 || upper+lower < 2 || len(v) > maxPassword || plainID(v) {
		return false
	}
	signs := 0
	for i := range len(v) {
		signs += btoi(strings.IndexByte(passwordSigns, v[i]) >= 0)
	}
	looks := false
	switch {
	case signs > 0 && strings.IndexByte(passwordSigns, v[0]) < 0 && strings.IndexByte(v, '.') < 0:
		looks = lower > 0 && (upper > 0 || signs > 1 || digit > 1) && !operator.MatchString(v)
	case other == 0 && (changes(v) >= 4 && 3*changes(v) >= len(v) || lower > 0 && digitGroups.MatchString(v)) && 2*spelt(v) < len(v) && !plainID(strings.TrimPrefix(v[1:], "x")):
		looks = true
	default:
		looks = twoWords.MatchString(v) && !size.MatchString(v) || lower > 0 && digit > 2 && other < 4 && wordsAndDigits.MatchString(v) && !size.MatchString(v) || other > 2 && upper == 0 && dicedDigits.MatchString(v)
	}
	return looks && varied(v) && !placeholder(v) && (other == 0 && changes(v) >= 4 && !duration.MatchString(v) || !terms.MatchString(v)) && !chain(v) && !code(v) && !sample(v)
}
