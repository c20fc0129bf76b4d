package mask

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

var (
	// separator matches the lines between YAML documents, also in a listing with line numbers.
	separator = textutil.LazyRegexp(`(?m)^ *(?:\d{1,7}[→\t])?[ \t]*---.*\n?`)
	// secretKind matches the kind of a Secret in YAML, in JSON, and in JSON in a string.
	secretKind = textutil.LazyRegexp(`kind["'\\ ]*:["'\\ ]*Secret["'\\ ]*(?:[^\w"'\\ ]|$)`)
	// dataKey matches a line that only has the key of a Secret's values.
	dataKey = textutil.LazyRegexp(`^(?:- )?["']*(?:d|stringD)ata["']*:$`)
	// flowData matches an object of a Secret's values, and flowValue a value in it.
	flowData  = textutil.LazyRegexp(`(?:d|stringD)ata\\*["']?[ ]*:\s*\{([^{}]*)\}`)
	flowValue = textutil.LazyRegexp(`:\s*\\*["']?([^\s"'\\,{}]+)`)
)

// kubeSecrets finds the values of Kubernetes Secrets in a stretch of text: the values under data
// and stringData of every YAML document and every JSON object that says that it is a Secret.
func kubeSecrets(s string) (out [][2]int) {
	from := 0
	for _, sep := range append(separator.FindAllStringSubmatchIndex(s, -1), []int{len(s), len(s)}) {
		if doc := s[from:sep[0]]; secretKind.MatchString(doc) {
			out = append(out, blockValues(doc, from)...)
			for _, at := range flowData.FindAllStringSubmatchIndex(doc, -1) {
				for _, v := range flowValue.FindAllStringSubmatchIndex(doc[at[2]:at[3]], -1) {
					out = append(out, [2]int{from + at[2] + v[2], from + at[2] + v[3]})
				}
			}
		}
		from = sep[1]
	}
	return out
}

// blockValues returns the values in lines that are indented more deeply than the dataKey line
// before them. at is the offset of doc in the text.
func blockValues(doc string, at int) (out [][2]int) {
	data, block := -1, -1 // the indentation of the dataKey, and of a key whose value is a block of lines
	for line := range strings.Lines(doc) {
		plain := lex.Unnumbered(line)
		rest := strings.TrimLeft(plain, " \t")
		indent, from := len(plain)-len(rest), at+len(line)-len(rest)
		text := strings.TrimSpace(rest)
		to := from + len(text)
		at += len(line)
		if text == "" {
			continue
		}
		if indent <= data || strings.HasPrefix(text, "```") {
			data, block = -1, -1
		}
		_, value, ok := strings.Cut(text, ":")
		value = strings.TrimLeft(value, " ")
		switch {
		case data < 0:
			if dataKey.MatchString(text) {
				data = indent
			}
		case block >= 0 && indent > block:
			out = append(out, [2]int{from, to})
		case !ok || text[0] == '#':
			block = -1
		case value == "" || value[0] == '|' || value[0] == '>':
			block = indent
		default:
			block = -1
			first, last := unquote(value, 0, len(value))
			out = append(out, [2]int{to - len(value) + first, to - len(value) + last})
		}
	}
	return out
}
