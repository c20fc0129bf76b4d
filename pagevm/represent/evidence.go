package represent

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// maxArgs bounds the arguments that the fields of a result hold, in bytes.
const maxArgs = 240

// evidenceFields fills in the typed fields of a result from its scan: the call, how it ended, and
// its most telling lines.
func evidenceFields(in *EvidenceInput, args string, s *scan, p *picker) *pagevm.EvidenceFields {
	f := &pagevm.EvidenceFields{Page: in.PageID, Tool: in.Tool, Args: clip(args, maxArgs), Status: "ok", Kind: s.kind.String(),
		Lines: s.lines, Bytes: in.Bytes, PathCount: s.paths, ErrorCount: s.errs, Masked: in.Masked, Numbered: s.numbered}
	if in.IsError {
		f.Status = "error"
	}
	if code, ok := exitCode(in.Text); ok {
		f.ExitCode = &code
	}
	if in.PageID != "" {
		f.Resolver = in.Resolver
	}
	room := min(quoteBytes, len(in.Text)/6+120)
	if s.kind == kindJSON {
		f.Shape = jsonShape(in.Text, room/3)
		room -= len(f.Shape)
	}
	lines := quoteLines
	if s.kind == kindMarkdown {
		lines, room = outlineLines, min(structuredMessage, len(in.Text)/6+120)
	}
	keep := p.head(lines, room)
	f.Paths = s.names(keep, worthPath, 5, room/4)
	placeQuotes(f, s, keep)
	return f
}

// placeQuotes sorts the kept units into the fields that hold quotes.
func placeQuotes(f *pagevm.EvidenceFields, s *scan, keep []bool) {
	for i, k := range keep {
		if !k {
			continue
		}
		switch {
		case i == 0:
			f.First = new(s.quote(i))
		case i == len(keep)-1:
			f.Last = new(s.quote(i))
		case s.units[i].err:
			f.Errors = append(f.Errors, s.quote(i))
		default:
			f.Telling = append(f.Telling, s.quote(i))
		}
	}
}

func (s *scan) quote(i int) pagevm.Quote {
	u := &s.units[i]
	q := pagevm.Quote{Line: int(u.line), Text: s.text[u.start:u.end]}
	if i > 0 && s.units[i-1].line == u.line {
		q.At = u.start - strings.LastIndexByte(s.text[:u.start], '\n') - 1
	}
	return q
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

// canonicalArgs returns a call's arguments on one line: the string of a call that has
// only one, else canonical JSON. Of long arguments only the head matters, and it
// is kept as it came. A script that makes one call has that call's arguments.
func canonicalArgs(tool, input string) string {
	if calls, whole := toolcall.Unwrap(tool, input); whole && len(calls) == 1 {
		tool, input = calls[0].Name, calls[0].Input
	}
	input = input[:min(len(input), 4096)]
	if v := lex.SoleString(input); v != "" {
		input = v
	} else if len(input) <= 1024 {
		input = toolcall.Canonical(tool, input)[len(tool)+1:]
	}
	if strings.IndexByte(input, '\n') >= 0 {
		input = strings.Join(strings.Fields(input), " ")
	}
	return input
}
