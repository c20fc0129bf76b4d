package represent

import (
	"strings"

	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// doorBytes is the size below which a result is shown whole: some 2,000 tokens.
const doorBytes = 8000

// Door returns the kind of content, as of [ContentKind], for which a result is shortened before the
// model sees it for the first time, "" if the result is shown whole. The text to show is the
// compressed representation that [Evidence] makes. Door shortens only JSON. In recorded sessions no
// action lacked its input and no edit its lines because of shortened JSON, but some did because of
// shortened logs and test output.
//
// Door returns "" if in.Whole is set, and for a result that the model can't read whole, because in
// has no Resolver or no PageID. It also returns "" for errors, for results of less than 8,000
// bytes, for JSON that consists of long texts, and for the results of calls that read or edit files
// or call the resolver.
func Door(in EvidenceInput) string {
	if in.Whole || len(in.Text) < doorBytes || in.IsError || in.Message || in.Resolver == "" || in.PageID == "" ||
		Resolves(in.Resolver, in.Tool, in.Input) {
		return ""
	}
	k, _ := detectKind(in.Text)
	if k != kindJSON || 3*inLongStrings(in.Text) > len(in.Text) {
		return ""
	}
	if does, _ := toolcall.Classify(in.Tool, in.Input); does != toolcall.CallOther {
		return ""
	}
	return k.String()
}

// Resolves reports whether a call is made to read a page: its tool is the resolver, or its
// command runs the resolver's.
func Resolves(resolver, tool, input string) bool {
	if tool == resolver || !strings.Contains(resolver, " ") {
		return tool == resolver
	}
	words := strings.Fields(resolver)
	return len(words) > 1 && strings.Contains(input, words[0]+" "+words[1])
}

// tellsError reports whether a line has a word for an error or failure other than a warning.
func tellsError(line string) bool {
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' }) {
		if strong, _ := errorWord(word); strong && !strings.EqualFold(word[:min(len(word), 4)], "warn") {
			return true
		}
	}
	return false
}

// unlabelled cuts off the name of the job that a runner writes before each line, as in
// "web test: (pass) shows the page".
func unlabelled(line string) string {
	if i := strings.Index(line[:min(len(line), 80)], ": "); i > 0 && strings.IndexByte(line[:i], ' ') > 0 {
		return line[i+2:]
	}
	return line
}
