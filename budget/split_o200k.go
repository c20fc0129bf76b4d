package budget

// nextO200k returns the end of the piece that starts at s[i], i < len(s). It implements the split
// pattern of o200k_base. The first alternative that matches wins:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func nextO200k(s string, i int) int {
	// Nearly all text is words and spaces in ASCII.
	j := i
	c := asciiClass[s[j]]
	if c&^classSpace == 0 {
		if j++; j == len(s) {
			return j
		}
		c = asciiClass[s[j]]
	}
	if c&(classUpper|classLower) != 0 {
		for c == classUpper {
			if j++; j == len(s) {
				return j
			}
			c = asciiClass[s[j]]
		}
		for c == classLower {
			if j++; j == len(s) {
				return j
			}
			c = asciiClass[s[j]]
		}
		if c != classHigh {
			if s[j] == '\'' {
				return j + contraction(s, j)
			}
			return j
		}
	}
	return nextO200kSlow(s, i)
}

// nextO200kSlow is nextO200k for any text.
func nextO200kSlow(s string, i int) int {
	c, w := classAt(s, i)
	if end := wordO200k(s, i, c, w); end > i {
		return end + contraction(s, end)
	}
	switch {
	case c&classNumber != 0:
		return numberRun(s, i+w)
	case isSymbol(c):
		return symbolRun(s, i+w, true)
	case s[i] == ' ' && i+1 < len(s):
		if next, n := classAt(s, i+1); isSymbol(next) {
			return symbolRun(s, i+1+n, true)
		}
	}
	return spaceRun(s, i)
}

// wordO200k matches the first two alternatives without their contraction at
// s[i], whose class and width are c and w. It returns i if neither matches.
//
// The upper run takes as many characters as it can. If a lower-run character follows, the word
// continues with the lower run. Otherwise the upper run is shortened until it ends before a
// character that is in both runs, and the word ends after that character. A word of upper case
// alone is left to the second alternative.
func wordO200k(s string, i int, c byte, w int) int {
	start := i
	if isLead(c) {
		start += w
	}
	j, both := start, 0 // both is the end of the last character in both runs
	for j < len(s) {
		c, n := classAt(s, j)
		if c&classUpper == 0 {
			if c&classLower != 0 {
				return run(s, j+n, isLower)
			}
			break
		}
		j += n
		if c&classLower != 0 {
			both = j
		}
	}
	switch {
	case both > 0:
		return both
	case c&classMark != 0: // the lead is a mark and makes a word by itself
		return start
	case j > start: // the second alternative
		return j
	}
	return i
}

// run returns the end of the characters of a class from s[i] on.
func run(s string, i int, is func(class byte) bool) int {
	for i < len(s) {
		c, n := classAt(s, i)
		if !is(c) {
			break
		}
		i += n
	}
	return i
}

func isLower(class byte) bool { return class&classLower != 0 }

// contraction returns the length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at s[i], or
// 0.
func contraction(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return 0
	}
	switch s[i+1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if i+2 < len(s) && s[i+2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if i+2 < len(s) && s[i+2]|0x20 == 'l' {
			return 3
		}
	}
	return 0
}

// numberRun skips up to two numbers.
func numberRun(s string, i int) int {
	for k := 0; k < 2 && i < len(s); k++ {
		c, n := classAt(s, i)
		if c&classNumber == 0 {
			break
		}
		i += n
	}
	return i
}

// symbolRun skips [^\s\p{L}\p{N}]* and then [\r\n]*, or [\r\n/]* if slashes is set.
func symbolRun(s string, i int, slashes bool) int {
	i = run(s, i, isSymbol)
	for i < len(s) && (s[i] == '\n' || s[i] == '\r' || slashes && s[i] == '/') {
		i++
	}
	return i
}

// spaceRun matches \s*[\r\n]+|\s+(?!\S)|\s+ at s[i], which is white space. The match ends after
// the last line end of the run if it has one. Otherwise it is the whole run at the end of the
// text, or if the run is a single character. Otherwise it is the run without its last character.
func spaceRun(s string, i int) int {
	j, last, newline := i, i, 0
	for j < len(s) {
		c, n := classAt(s, j)
		if c&classSpace == 0 {
			break
		}
		last = j
		j += n
		if c&classNewline != 0 {
			newline = j
		}
	}
	switch {
	case newline > 0:
		return newline
	case j == len(s) || last == i:
		return j
	default:
		return last
	}
}
