package main

// estimate guesses how many tokens a provider would count: short words are one
// token, long ones more, figures and hex are dense, a line's indentation is one.
func estimate(s string) int {
	tokens, run, class := 0.0, 0, -1
	flush := func() {
		if run > 0 {
			tokens += cost(class, run)
		}
		run = 0
	}
	for i := 0; i < len(s); i++ {
		if c := classOf(s[i]); c != class {
			flush()
			class = c
		}
		run++
	}
	flush()
	return int(tokens) + 1
}

const (
	classLetter = iota
	classDigit
	classSpace
	classBreak
	classSign
	classWide
)

func classOf(b byte) int {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z':
		return classLetter
	case b >= '0' && b <= '9':
		return classDigit
	case b == ' ' || b == '\t':
		return classSpace
	case b == '\n' || b == '\r':
		return classBreak
	case b >= 0x80:
		return classWide
	}
	return classSign
}

func cost(class, n int) float64 {
	switch class {
	case classLetter:
		return max(1, float64(n)/5.4)
	case classDigit:
		return max(0.8, float64(n)/2.4)
	case classSpace:
		if n == 1 {
			return 0.1
		}
		return 0.8
	case classBreak:
		return 0.6
	case classWide:
		return max(0.5, float64(n)/3)
	}
	return max(0.7, float64(n)/1.9)
}
