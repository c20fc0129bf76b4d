package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// Inner is a call of a tool, as a model makes it or as a script makes it for the model.
type Inner struct{ Name, Input string }

// Unwrap returns the calls that a call makes. Codex's tool exec runs a script in JavaScript, which
// calls other tools as functions of an object named tools. For any other tool Unwrap returns the
// call itself.
//
// whole reports whether Unwrap understood the arguments of all the calls in the script. A call
// with an argument that is not a literal lacks this argument. A patch, or a command, that is not
// a literal is left out together with its call.
func Unwrap(tool, input string) (calls []Inner, whole bool) {
	if !isScript(tool, input) {
		return []Inner{{tool, input}}, true
	}
	s := script{rest: input[:min(len(input), scriptBytes)], vars: map[string]variable{}}
	s.run()
	return s.calls, !s.lost && len(s.calls) > 0 && len(input) <= scriptBytes
}

// isScript reports whether a call runs a script. Other hosts have a tool exec with JSON arguments.
func isScript(tool, input string) bool {
	return strings.TrimPrefix(tool, "functions.") == "exec" && !strings.HasPrefix(strings.TrimLeft(input, " \t\r\n"), "{")
}

// scriptBytes is the number of bytes of a script that are read. scriptCalls is the number of calls
// that are read, scriptDepth the number of literals in each other. All are our choice.
const (
	scriptBytes = 256 << 10
	scriptCalls = 64
	scriptDepth = 16
)

// script reads the literals of a script. It is no interpreter: it assumes that every call in the
// text is made, and that a call in a loop over a list is made once for each element.
type script struct {
	rest  string // that is not read yet
	vars  map[string]variable
	calls []Inner
	lost  bool // a call's argument is no literal
	turn  int  // the element of a loop's list that its variable has
	turns int  // the length of the longest list of the loops that the value depends on
	depth int  // the number of literals around the value
}

// variable is a variable's value, or its values in a loop, as JSON.
type variable struct {
	value string
	turns []string
}

// pattern matches a regular expression.
var pattern = textutil.LazyRegexp(`^/(?:\\[\s\S]?|[^/\n\\])*[/\n]?`)

// run reads the script to its end, or to a quotation without an end.
func (s *script) run() {
	for before := byte(';'); s.goesOn(); {
		c := s.rest[0]
		switch {
		case strings.IndexByte(quotes, c) >= 0:
			if _, _, end := s.quoted(); !end {
				s.lost = true
				return
			}
		case c == '/' && strings.IndexByte("(,=:[!&|?{};", before) >= 0:
			s.rest = s.rest[len(pattern.FindString(s.rest)):]
		case c == '[':
			from := s.rest
			if list, ok := s.value(); !ok || !s.loop(list) {
				s.rest = from[1:]
			}
		case nameByte(c):
			s.word(s.name())
			c = 'a'
		default:
			s.rest = s.rest[1:]
		}
		before = c
	}
}

// word reads the statement or the call that a name begins.
func (s *script) word(name string) {
	switch {
	case name == "const", name == "let", name == "var":
		v := s.spacedName()
		if delete(s.vars, v); s.take("=") {
			from := s.rest
			if value, ok := s.value(); ok && s.ends() {
				s.vars[v] = variable{value: value}
			} else {
				s.rest = from // the calls in the value count
			}
		} else if s.spacedName() == "of" {
			if list, ok := s.value(); ok {
				s.each(v, list)
			}
		}
	case name == "tools" && s.take("."):
		if tool := s.spacedName(); s.take("(") {
			s.call(tool)
		}
	default:
		switch v, ok := s.vars[name]; {
		case !ok:
		case s.peek("+="), s.peek("=") && !s.peek("==") && !s.peek("=>"): // it has another value from here on
			delete(s.vars, name)
		default:
			s.loop(v.value)
		}
	}
}

// loop reads ".map(x =>" or ".forEach(x =>" after a list.
func (s *script) loop(list string) bool {
	from := s.rest
	if s.take(".") {
		if f := s.spacedName(); (f == "map" || f == "flatMap" || f == "forEach") && s.take("(") {
			v := s.spacedName()
			if v == "async" {
				v = s.spacedName()
			}
			if v == "" && s.take("(") {
				v = s.spacedName()
			}
			if v != "" {
				s.each(v, list)
				return true
			}
		}
	}
	s.rest = from
	return false
}

// each sets the values that a loop's variable takes.
func (s *script) each(name, list string) {
	var values []json.RawMessage
	if json.Unmarshal([]byte(list), &values) != nil || len(values) == 0 {
		return
	}
	v := variable{}
	for _, e := range values[:min(len(values), scriptCalls)] {
		v.turns = append(v.turns, string(e))
	}
	s.vars[name] = v
}

// call reads the argument of a call and adds the call, once for each turn of the loop that the
// argument depends on.
func (s *script) call(tool string) {
	from, lost := s.rest, s.lost
	for s.turn, s.turns = 0, 1; s.turn < s.turns && len(s.calls) < scriptCalls; s.turn++ {
		s.rest = from
		arg, ok := s.value()
		if !ok || !s.take(")") {
			s.lost, s.rest = true, from
			break
		}
		if arg[0] == '"' {
			arg = lex.RawString(arg)
		}
		cmd, _ := shellCommand(arg)
		switch {
		case cmd == "" && among(shellTools, tool):
			s.lost = true
		case tool == "write_stdin" && ArgsOf(arg).Get("session_id") == "":
			s.lost = lost // it waits for a command that the script has started
		default:
			s.calls = append(s.calls, Inner{tool, arg})
		}
	}
	s.turn, s.turns = 0, 0
}
