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
		return run(s, i+w, isLetter)
	}
	next, n := byte(classNewline), 0 // matches nothing below
	if i+w < len(s) {
		next, n = classAt(s, i+w)
	}
	switch {
	case isLead(c) && isLetter(next):
		return run(s, i+w+n, isLetter)
	case c&classNumber != 0:
		return numberRun(s, i+w)
	case isSymbol(c):
		return symbolRun(s, i+w, false)
	case s[i] == ' ' && isSymbol(next):
		return symbolRun(s, i+1+n, false)
	}
	return spaceRun(s, i)
}
