package textutil

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// Sentences yields the sentences of a line with the marks that end them, without spaces around them.
// In a script with spaces, a mark ends a sentence only before a space or at the end of the line. A
// full stop does not end a sentence if [Abbreviated] holds for the text before it, and a semicolon
// does not end one within parentheses.
func Sentences(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i < len(line); {
			r, size := utf8.DecodeRuneInString(line[i:])
			at := i
			i += size
			wide := strings.ContainsRune("。！？；؟।", r)
			if !wide && (!strings.ContainsRune(".!?;", r) || i < len(line) && line[i] != ' ' || r == '.' && Abbreviated(line[start:at]) || r == ';' && strings.Count(line[start:at], "(") > strings.Count(line[start:at], ")")) {
				continue
			}
			if s := strings.TrimSpace(line[start:i]); s != "" && !yield(s) {
				return
			}
			start = i
		}
		if s := strings.TrimSpace(line[start:]); s != "" {
			yield(s)
		}
	}
}

// shortened are the words that mostly end with a full stop within a sentence.
const shortened = " mr mrs ms dr prof st vs etc fig figs sec vol pp ed eds inc ltd co corp jr sr cf approx al resp incl ca bzw usw evtl ggf inkl vgl nr str ing sra "

// Abbreviated reports whether the last word of a text is a letter, the number of an item, an
// abbreviation, or a short word that holds a full stop.
func Abbreviated(text string) bool {
	w := text[strings.LastIndexByte(text, ' ')+1:]
	w = strings.TrimLeft(w, "([\"'")
	return utf8.RuneCountInString(w) < 2 || strings.Contains(w, ".") && len(w) < 6 || len(w) == len(text) && strings.Trim(w, "0123456789") == "" ||
		strings.Contains(shortened, " "+strings.ToLower(w)+" ")
}
