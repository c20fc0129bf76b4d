package recall

import (
	"unicode/utf8"
)

// Character classes of the token grammars. Text is scanned as bytes: every
// byte of a character beyond ASCII is outside all classes.
const (
	cWord  = 1 << iota // [A-Za-z0-9_]
	cLower             // [a-z]
	cUpper             // [A-Z]
	cDigit             // [0-9]
	cHex               // [0-9A-Fa-f]
	cPath              // [\w.@+-]
	cDash              // [\w-]
)

var class = func() (t [256]uint8) {
	for c := range 256 {
		b := byte(c)
		lower, upper, digit := b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9'
		word := lower || upper || digit || b == '_'
		set := func(ok bool, bit uint8) {
			if ok {
				t[c] |= bit
			}
		}
		set(lower, cLower)
		set(upper, cUpper)
		set(digit, cDigit)
		set(digit || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F', cHex)
		set(word, cWord)
		set(word || b == '.' || b == '@' || b == '+' || b == '-', cPath)
		set(word || b == '-', cDash)
	}
	return t
}()

// tokens calls f with the bounds of every token of s except the quoted strings. A stretch of text
// can be several tokens, and can be the same token twice.
func tokens(s string, f func(start, end int)) {
	words(s, f)
	paths(s, f)
	files(s, f)
}

// words finds identifiers, numbers and hashes. Each of them lies in a run of word characters. An
// identifier is the run from its first letter or underscore on. A number or a hash is the whole
// run.
//
//	identifier  [A-Za-z_]\w{4,} with an inner _, an inner digit or a hump
//	number      \b[0-9]{3,}\b
//	hash        \b[0-9A-Fa-f]{7,40}\b
func words(s string, f func(start, end int)) {
	for i := 0; i < len(s); {
		if class[s[i]]&cWord == 0 {
			i++
			continue
		}
		start, digits, hex := i, true, true
		first := -1
		for ; i < len(s) && class[s[i]]&cWord != 0; i++ {
			c := class[s[i]]
			digits = digits && c&cDigit != 0
			hex = hex && c&cHex != 0
			if first < 0 && c&cDigit == 0 {
				first = i
			}
		}
		if n := i - start; digits && n >= 3 || hex && n >= 7 && n <= 40 {
			f(start, i)
		}
		if first >= 0 && i-first >= 5 && marked(s[first:i]) {
			f(first, i)
		}
	}
}

// marked reports whether a word is an identifier and not a plain word. An identifier has an
// underscore or digit that is neither first nor last, or a capital after a small letter.
func marked(w string) bool {
	for i := 1; i < len(w); i++ {
		c := class[w[i]]
		if c&cUpper != 0 && class[w[i-1]]&cLower != 0 {
			return true
		}
		if i < len(w)-1 && (w[i] == '_' || c&cDigit != 0) {
			return true
		}
	}
	return false
}

// minPath is the length from which a path counts, in bytes.
const minPath = 5

// paths finds (?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]+: runs of path
// characters joined by single slashes, with one slash and a tilde before the
// first if they are there. Leading dots are path characters already.
func paths(s string, f func(start, end int)) {
	for i := 0; i < len(s); {
		if class[s[i]]&cPath == 0 {
			i++
			continue
		}
		start, runs := i, 0
		end := i
		for {
			for i < len(s) && class[s[i]]&cPath != 0 {
				i++
			}
			end = i
			runs++
			if i+1 >= len(s) || s[i] != '/' || class[s[i+1]]&cPath == 0 {
				break
			}
			i++
		}
		if runs < 2 {
			continue
		}
		if start > 0 && s[start-1] == '/' {
			start--
		}
		if start > 0 && s[start-1] == '~' {
			start--
		}
		if end-start >= minPath {
			f(start, end)
		}
	}
}

// files finds \b[\w-]+\.[A-Za-z][A-Za-z0-9]{0,7}\b.
func files(s string, f func(start, end int)) {
	for i := 0; i < len(s); {
		if class[s[i]]&cDash == 0 {
			i++
			continue
		}
		start := -1
		j := i
		for ; j < len(s) && class[s[j]]&cDash != 0; j++ {
			if start < 0 && boundary(s, j) {
				start = j
			}
		}
		end := extension(s, j)
		if start < 0 || end < 0 {
			i = j
			continue
		}
		f(start, end)
		i = end
	}
}

// boundary reports whether \b matches before position i.
func boundary(s string, i int) bool {
	before := i > 0 && class[s[i-1]]&cWord != 0
	after := i < len(s) && class[s[i]]&cWord != 0
	return before != after
}

// extension returns the end of the extension whose dot is at i, -1 if there is no extension. An
// extension is a letter and at most seven more letters or digits, with no word character after
// them.
func extension(s string, i int) int {
	if i+1 >= len(s) || s[i] != '.' || class[s[i+1]]&(cLower|cUpper) == 0 {
		return -1
	}
	end := i + 2
	for end < len(s) && class[s[end]]&(cLower|cUpper|cDigit) != 0 {
		end++
	}
	if end-i-1 > 8 || end < len(s) && s[end] == '_' {
		return -1
	}
	return end
}

// quotes calls f with the bounds of every string of 4 to 80 characters between two double quotes,
// single quotes or backticks on one line, without the quotes. A quotation mark without a partner
// in reach is ignored.
func quotes(s string, f func(start, end int)) {
	for i := 0; i < len(s); i++ {
		q := s[i]
		if q != '"' && q != '\'' && q != '`' {
			continue
		}
		n, j := 0, i+1
		for j < len(s) && s[j] != q && s[j] != '\n' && n <= 80 {
			_, w := utf8.DecodeRuneInString(s[j:])
			j += w
			n++
		}
		if j < len(s) && s[j] == q && n >= 4 && n <= 80 {
			f(i+1, j)
			i = j
		}
	}
}
