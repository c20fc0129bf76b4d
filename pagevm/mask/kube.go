package mask

import (
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// kubeSecrets finds the values of Kubernetes Secrets in a stretch of text: the values under data
// and stringData of every YAML document and every JSON object that says that it is a Secret.
func kubeSecrets(s string) (out [][2]int) {
	for _, doc := range documents(s) {
		text := s[doc[0]:doc[1]]
		if !secretKind(text) {
			continue
		}
		lines := linesOf(s, doc[0], doc[1])
		for i := range lines {
			head := strings.TrimSpace(s[lines[i].from:lines[i].to])
			name, rest, ok := strings.Cut(strings.TrimPrefix(head, "- "), ":")
			if name = strings.Trim(name, `"'`); ok && (name == "data" || name == "stringData") && strings.TrimSpace(rest) == "" {
				out = append(out, entries(s, lines[i+1:], lines[i].indent)...)
			}
		}
		out = append(out, flowEntries(s, doc[0], doc[1])...)
	}
	return out
}

// documents splits a stretch of YAML at its "---" lines and its list items.
func documents(s string) (out [][2]int) {
	from := 0
	for _, l := range linesOf(s, 0, len(s)) {
		if strings.HasPrefix(s[l.from:l.to], "---") {
			out = append(out, [2]int{from, l.from})
			from = l.to
		}
	}
	return append(out, [2]int{from, len(s)})
}

func secretKind(doc string) bool {
	doc = strings.NewReplacer(`"`, "", `'`, "", `\`, "", " ", "").Replace(doc)
	for {
		_, rest, ok := strings.Cut(doc, "kind:Secret")
		if !ok || rest == "" || !wordByte(rest[0]) {
			return ok
		}
		doc = rest
	}
}

// yamlLine is s[from:to], without the prefix of a listing, and its indentation.
type yamlLine struct{ from, to, indent int }

func linesOf(s string, from, to int) (out []yamlLine) {
	for from < to {
		end := to
		if n := strings.IndexByte(s[from:to], '\n'); n >= 0 {
			end = from + n
		}
		l := yamlLine{from: end - len(lex.Unnumbered(s[from:end])), to: end}
		for l.indent = 0; l.from < end && (s[l.from] == ' ' || s[l.from] == '\t'); l.from++ {
			l.indent++
		}
		out = append(out, l)
		from = end + 1
	}
	return out
}

// entries returns the values of lines that are indented by more than indent, up to the first line
// that is not.
func entries(s string, lines []yamlLine, indent int) (out [][2]int) {
	block := -1 // the indentation of the key whose value is a block of lines
	for _, l := range lines {
		text := strings.TrimRight(s[l.from:l.to], " \t\r")
		if text == "" {
			continue
		}
		if l.indent <= indent || strings.HasPrefix(text, "```") {
			break
		}
		if block >= 0 && l.indent > block {
			out = append(out, [2]int{l.from, l.from + len(text)})
			continue
		}
		block = -1
		colon := strings.Index(text, ":")
		if colon < 0 || strings.HasPrefix(text, "#") {
			continue
		}
		value := strings.TrimLeft(text[colon+1:], " ")
		switch from := l.from + len(text) - len(value); {
		case value == "" || strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">"):
			block = l.indent
		default:
			from, to := unquote(s, from, from+len(value))
			out = append(out, [2]int{from, to})
		}
	}
	return out
}

// flowEntries returns the values of data: {...}.
func flowEntries(s string, from, to int) (out [][2]int) {
	for _, at := range flowData.FindAllStringSubmatchIndex(s[from:to], -1) {
		for _, v := range flowValue.FindAllStringSubmatchIndex(s[from+at[2]:from+at[3]], -1) {
			out = append(out, [2]int{from + at[2] + v[2], from + at[2] + v[3]})
		}
	}
	return out
}

var (
	flowData  = textutil.LazyRegexp(`(?:d|stringD)ata\\*["']?[ ]*:\s*\{([^{}]*)\}`)
	flowValue = textutil.LazyRegexp(`:\s*\\*["']?([^\s"'\\,{}]+)`)
)
