package represent

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// maxArgs bounds the arguments in a structured representation, in bytes.
const maxArgs = 240

// structured returns the structured representation of a result: the call, how it ended, and its
// most telling lines.
func structured(in *EvidenceInput, args string, s *scan, p *picker) string {
	room := min(quoteBytes, len(in.Text)/6+120)
	shape, lines := "", quoteLines
	if s.kind == kindJSON {
		shape = jsonShape(in.Text, room/3)
		room -= len(shape)
	}
	if s.kind == kindMarkdown {
		lines, room = outlineLines, min(structuredMessage, len(in.Text)/6+120)
	}
	keep := p.head(lines, room)
	b := append(make([]byte, 0, room+600), "[extract of "+cmp.Or(in.Tool, "unknown")...)
	if in.PageID != "" {
		b = append(append(b, ", page "...), in.PageID...)
	}
	b = append(b, "]\n"...)
	if args = clip(args, maxArgs); args != "" {
		b = append(append(append(b, "call: "...), args...), '\n')
	}
	b = append(append(b, statusLine(in, s)...), '\n')
	if shape != "" {
		b = append(append(append(b, "shape: "...), shape...), '\n')
	}
	if paths := s.names(keep, worthPath, 5, room/4); len(paths) > 0 {
		b = append(append(append(b, "also names: "...), strings.Join(paths, ", ")...), '\n')
	}
	b = appendQuotes(append(b, "lines:\n"...), s.quotes(keep, 0, len(keep)), !s.numbered)
	return wholeMark(b, in.Resolver, in.PageID)
}

func statusLine(in *EvidenceInput, s *scan) string {
	st := "status: ok"
	if in.IsError {
		st = "status: error"
	}
	if code, ok := exitCode(in.Text); ok {
		st += ", exit code " + strconv.Itoa(code)
	}
	st += ", " + s.kind.String() + ", " + plural(s.lines, "line") + ", " + sizeText(in.Bytes)
	for _, c := range [...]struct {
		n    int
		noun string
	}{{s.paths, "path"}, {s.errs, "error line"}, {in.Masked, "masked secret"}} {
		if c.n > 0 {
			st += ", " + plural(c.n, c.noun)
		}
	}
	return st
}

// exitCode finds the exit code that a host writes into the head of a shell
// result.
func exitCode(text string) (int, bool) {
	head := text[:min(len(text), 400)]
	for _, mark := range [...]string{"Exit code ", "Exit code: ", "exited with code ", "exit code: ", `"exit_code":`, `exit status `} {
		_, rest, ok := strings.Cut(head, mark)
		if !ok {
			continue
		}
		n := 0
		for n < len(rest) && n < 11 && (rest[n] >= '0' && rest[n] <= '9' || n == 0 && rest[n] == '-') {
			n++
		}
		if code, err := strconv.Atoi(rest[:n]); err == nil {
			return code, true
		}
	}
	return 0, false
}

// canonicalArgs returns a call's arguments on one line. If the only argument is a string, it
// returns the string, otherwise canonical JSON. It returns only the beginning of long arguments,
// unchanged. For a script that makes a single call it returns the arguments of that call.
func canonicalArgs(tool, input string) string {
	if calls, whole := toolcall.Unwrap(tool, input); whole && len(calls) == 1 {
		tool, input = calls[0].Name, calls[0].Input
	}
	input = input[:min(len(input), 4096)]
	if v := soleString(input); v != "" {
		input = v
	} else if len(input) <= 1024 {
		input = toolcall.Canonical(tool, input)[len(tool)+1:]
	}
	if strings.IndexByte(input, '\n') >= 0 {
		input = strings.Join(strings.Fields(input), " ")
	}
	return input
}

// soleString returns the value of a JSON object whose only member, except for a description, is a
// string, "" otherwise.
func soleString(input string) string {
	n, val := 0, ""
	for k, raw := range lex.Members(input) {
		if k == "description" || k == "timeout" {
			continue
		}
		if n++; n > 1 {
			return ""
		}
		val = lex.RawString(raw)
	}
	return val
}
