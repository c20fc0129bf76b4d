package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// phraseName finds the words that introduce the recovery phrase of a wallet.
var phraseName = textutil.LazyRegexp(`(?i)mnemo|mnémo|seed|recover|wallet|phrase|bip-?39|semilla|cartera|monedero|portefeuille|portafogli|brieftasche|recupera|récup|wiederherstell|助记|助記|復元|ニーモニック|シード|복구|시드|니모닉|сид|мнемони|фраз`)

// seedPhrases finds twelve words or more in a row that are numbered or follow a phraseName.
func seedPhrases(s string) (out [][2]int) {
	var starts []int // of the words in a row
	var end, numbered int
	number, foreign := false, false
	flush := func() {
		if n := len(starts); n >= 12 && (!foreign || n <= 24 && n%3 == 0) &&
			(numbered >= n-1 || phraseName.MatchString(s[max(0, starts[0]-100):starts[n-12]])) {
			out = append(out, [2]int{starts[0], end})
		}
		starts, numbered, number, foreign = starts[:0], 0, false, false
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		j := i + n
		switch {
		case unicode.IsLetter(r):
			j = i + lettersAt(s[i:])
			if w := s[i:j]; !phraseWord(w) || j < len(s) && wordByte(s[j]) {
				flush()
			} else {
				starts = append(starts, i)
				end, numbered, number = j, numbered+btoi(number), false
				foreign = foreign || len(w) > utf8.RuneCountInString(w)
			}
		case unicode.IsDigit(r):
			for j < len(s) && s[j] >= '0' && s[j] <= '9' {
				j++
			}
			if number = j-i <= 2; !number {
				flush()
			}
		case r == '-' && j < len(s) && s[j] != ' ', r == ':' && !number, !unicode.IsSpace(r) && !strings.ContainsRune(",.):\"'`*>-•、", r):
			flush()
		}
		i = j
	}
	flush()
	return out
}

// lettersAt returns the length of the letters that s begins with.
func lettersAt(s string) int {
	if n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }); n >= 0 {
		return n
	}
	return len(s)
}

// phraseWord reports whether a wallet's recovery phrase may contain the word.
func phraseWord(w string) bool {
	n, low := 0, 2
	for _, r := range w {
		n += btoi(!unicode.IsMark(r)) // an accent of its own counts for nothing
	}
	if w[0] < 0x80 {
		low = 3
	} else if unicode.Is(unicode.Han, []rune(w)[0]) {
		low = 1
	}
	return n >= low && n <= 8 && strings.IndexFunc(w, unicode.IsUpper) < 0 && (!phraseWords[w] || walletWords[w])
}

// phraseWords are words that are common in sentences.
var phraseWords = textutil.Set(`the and for are was were has had have not you your that this these those with from they their them will would can could should
	been being which when where while into than then its our out who whom what why how must may might does did but because here there every each
	und der die das den dem ein eine mit von ist une les des pour dans est que con los las por para del com uma een het van voor met nie`)

// walletWords are the phraseWords that may also occur in recovery phrases.
var walletWords = textutil.Set(`have you that this they will can when where into then what must because there`)
