package budget

// nextCl100k returns the end of the piece that starts at s[i], i < len(s), by
// the split pattern of cl100k_base:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func nextCl100k(s string, i int) int {
	if n := contraction(s, i); n > 0 {
		return i + n
	}
	c, w := classAt(s, i)
	if isLetter(c) {
		return letterRun(s, i+w)
	}
	next, n := byte(classNewline), 0 // matches nothing below
	if i+w < len(s) {
		next, n = classAt(s, i+w)
	}
	switch {
	case isLead(c) && isLetter(next):
		return letterRun(s, i+w+n)
	case c&classNumber != 0:
		return numberRun(s, i+w, 2)
	case isSymbol(c):
		return symbolRun(s, i+w, false)
	case s[i] == ' ' && isSymbol(next):
		return symbolRun(s, i+1+n, false)
	}
	return spaceRun(s, i)
}

// nextP50k is nextCl100k for p50k_base and r50k_base:
//
//	's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
func nextP50k(s string, i int) int {
	if n := contraction(s, i); n > 0 && !hasUpper(s[i:i+n]) {
		return i + n
	}
	j := i
	if s[j] == ' ' && j+1 < len(s) {
		j++
	}
	c, w := classAt(s, j)
	switch {
	case isLetter(c):
		return letterRun(s, j+w)
	case c&classNumber != 0:
		return numberRun(s, j+w, -1)
	case isSymbol(c):
		return symbolsP50k(s, j+w)
	}
	return plainSpaceRun(s, i)
}

// letterRun skips \p{L}*.
func letterRun(s string, i int) int {
	for i < len(s) {
		c, n := classAt(s, i)
		if !isLetter(c) {
			break
		}
		i += n
	}
	return i
}

// symbolsP50k skips [^\s\p{L}\p{N}]*.
func symbolsP50k(s string, i int) int {
	for i < len(s) {
		c, n := classAt(s, i)
		if !isSymbol(c) {
			break
		}
		i += n
	}
	return i
}

// plainSpaceRun matches \s+(?!\S)|\s+ at s[i], which is white space.
func plainSpaceRun(s string, i int) int {
	j, last := i, i
	for j < len(s) {
		c, n := classAt(s, j)
		if c&classSpace == 0 {
			break
		}
		last = j
		j += n
	}
	if j == len(s) || last == i {
		return j
	}
	return last
}

// hasUpper reports whether s has an upper-case ASCII letter.
func hasUpper(s string) bool {
	for _, b := range []byte(s) {
		if 'A' <= b && b <= 'Z' {
			return true
		}
	}
	return false
}
