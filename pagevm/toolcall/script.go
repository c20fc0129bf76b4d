package toolcall

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

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
	s := script{src: input[:min(len(input), scriptBytes)], vars: map[string]variable{}}
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

// script reads the literals of a script. It is no interpreter: it takes every call that it finds
// for made, once for each element of a list that a loop goes through.
type script struct {
	src   string
	i     int
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

// run reads the script to its end, or to a quotation without an end.
func (s *script) run() {
	for before := byte(';'); s.space(); {
		switch c := s.src[s.i]; {
		case c == '"', c == '\'', c == '`':
			if _, _, end := s.quoted(); !end {
				s.lost = true
				return
			}
			before = c
		case c == '/' && strings.IndexByte("(,=:[!&|?{};", before) >= 0: // a regular expression
			for s.i++; s.i < len(s.src) && s.src[s.i] != '/' && s.src[s.i] != '\n'; s.i++ {
				if s.src[s.i] == '\\' {
					s.i++
				}
			}
			s.i, before = s.i+1, c
		case c == '[':
			from := s.i
			if list, ok := s.value(); !ok || !s.loop(list) {
				s.i = from + 1
			}
			before = c
		case nameByte(c):
			s.word(s.name())
			before = 'a'
		default:
			s.i, before = s.i+1, c
		}
	}
}

// word reads the statement or the call that a name begins.
func (s *script) word(name string) {
	switch {
	case name == "const", name == "let", name == "var":
		v := s.spacedName()
		if delete(s.vars, v); s.take("=") {
			from := s.i
			if value, ok := s.value(); ok && s.ends() {
				s.vars[v] = variable{value: value}
			} else {
				s.i = from // the calls in the value count
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
		if v, ok := s.vars[name]; ok {
			s.loop(v.value)
		}
	}
}

// loop reads ".map(x =>" or ".forEach(x =>" after a list.
func (s *script) loop(list string) bool {
	from := s.i
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
	s.i = from
	return false
}

// each sets the values of a loop's variable.
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

// call adds the calls of a tool with the argument at hand.
func (s *script) call(tool string) {
	from := s.i
	for s.turn, s.turns = 0, 1; s.turn < s.turns && len(s.calls) < scriptCalls; s.turn++ {
		s.i = from
		arg, ok := s.value()
		if !ok || !s.take(")") {
			s.lost, s.i = true, from
			break
		}
		if arg[0] == '"' {
			arg = lex.RawString(arg)
		}
		if cmd, _ := shellCommand(arg); cmd == "" && among(shellTools, tool) {
			s.lost = true
			continue
		}
		s.calls = append(s.calls, Inner{tool, arg})
	}
	s.turn, s.turns = 0, 0
}

// value reads an expression and returns its value as JSON. ok is false if it is no literal.
func (s *script) value() (raw string, ok bool) {
	if raw, ok = s.operand(); !ok || !s.take("+") {
		return raw, ok
	}
	text := lex.RawString(raw)
	for more := true; more; more = s.take("+") {
		next, known := s.operand()
		if !known || raw[0] != '"' || next[0] != '"' {
			return "", false
		}
		text += lex.RawString(next)
	}
	return jsonString(text), true
}

// operand reads a literal, a variable or a list with join.
func (s *script) operand() (raw string, ok bool) {
	if s.depth++; s.depth <= scriptDepth && s.space() {
		raw, ok = s.literal()
	}
	s.depth--
	if ok && raw[0] == '[' && s.take(".join(") {
		var parts []string
		sep, known := s.value()
		ok = known && s.take(")") && json.Unmarshal([]byte(raw), &parts) == nil
		raw = jsonString(strings.Join(parts, lex.RawString(sep)))
	}
	return raw, ok
}

func (s *script) literal() (raw string, ok bool) {
	switch c := s.src[s.i]; {
	case c == '"', c == '\'', c == '`':
		text, known, end := s.quoted()
		raw, ok = jsonString(text), known && end
	case c == '(':
		s.i++
		raw, ok = s.value()
		ok = ok && s.take(")")
	case c == '{':
		raw, ok = s.object()
	case c == '[':
		raw, ok = s.list()
	case c == '-' || c >= '0' && c <= '9':
		from := s.i
		for s.i++; s.i < len(s.src) && (nameByte(s.src[s.i]) || s.src[s.i] == '.'); s.i++ {
		}
		raw = strings.ReplaceAll(s.src[from:s.i], "_", "")
		ok = json.Valid([]byte(raw))
	case nameByte(c):
		raw, ok = s.named(s.name())
	}
	return raw, ok
}

// named returns the value of a name, or of a member of a variable.
func (s *script) named(name string) (raw string, ok bool) {
	switch name {
	case "true", "false", "null":
		return name, true
	case "undefined":
		return "null", true
	case "String":
		if s.take(".raw") && s.i < len(s.src) && s.src[s.i] == '`' {
			n := strings.IndexByte(s.src[s.i+1:], '`')
			if text := s.src[s.i+1 : s.i+1+max(n, 0)]; n >= 0 && !strings.Contains(text, "${") {
				s.i += n + 2
				return jsonString(text), true
			}
		}
		return "", false
	}
	v, ok := s.vars[name]
	if raw = v.value; ok && v.turns != nil {
		if s.turns = max(s.turns, len(v.turns)); s.turn >= len(v.turns) {
			return "", false
		}
		raw = v.turns[s.turn]
	}
	for ok && raw[0] == '{' && s.take(".") {
		raw = ArgsOf(raw).Get(s.spacedName())
		ok = raw != ""
	}
	return raw, ok
}

// object reads an object. A member without a literal value is left out.
func (s *script) object() (raw string, ok bool) {
	var b strings.Builder
	s.i++
	for !s.take("}") {
		key := s.spacedName()
		if key == "" && (s.peek("'") || s.peek(`"`)) {
			key, _, _ = s.quoted()
		}
		if key == "" {
			return "", false
		}
		from := s.i
		value, known := "", false
		if s.take(":") {
			from = s.i
			value, known = s.value()
		} else {
			value, known = s.named(key)
		}
		if !known || !s.ends() {
			s.lost, known, s.i = true, false, from
			s.skip()
		}
		if s.take(","); known {
			b.WriteString("," + jsonString(key) + ":" + value)
		}
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}", true
}

// list reads a list of literals.
func (s *script) list() (raw string, ok bool) {
	var all []string
	for s.i++; !s.take("]"); s.take(",") {
		v, ok := s.value()
		if !ok || !s.ends() {
			return "", false
		}
		all = append(all, v)
	}
	return "[" + strings.Join(all, ",") + "]", true
}

// ends reports whether an expression ends here.
func (s *script) ends() bool {
	from := s.i
	more := s.space()
	line := strings.Contains(s.src[from:s.i], "\n")
	return !more || strings.IndexByte(",;)]}", s.src[s.i]) >= 0 || line && strings.IndexByte(".+?[(`", s.src[s.i]) < 0
}

// skip goes to the end of an expression that is no literal.
func (s *script) skip() {
	for depth := 0; s.space(); s.i++ {
		switch c := s.src[s.i]; c {
		case '"', '\'', '`':
			s.quoted()
			s.i--
		case '(', '[', '{':
			depth++
		case ')', ']', '}', ',':
			if depth == 0 {
				return
			}
			if c != ',' {
				depth--
			}
		}
	}
}

// quoted reads a string in any of the three quotation marks. known reports whether every part of
// it is a literal, end whether it has an end.
func (s *script) quoted() (text string, known, end bool) {
	var b strings.Builder
	q := s.src[s.i]
	known = true
	for s.i++; s.i < len(s.src); {
		c := s.src[s.i]
		s.i++
		switch {
		case c == q:
			return b.String(), known, true
		case c == '\\' && s.i < len(s.src):
			s.escape(&b)
		case c == '$' && q == '`' && strings.HasPrefix(s.src[s.i:], "{"):
			s.i++
			from := s.i
			v, ok := s.named(s.spacedName())
			if !ok || v[0] != '"' || !s.take("}") {
				known, s.i = false, from
				if s.skip(); !s.take("}") {
					return "", false, false
				}
			}
			b.WriteString(lex.RawString(v))
		default:
			b.WriteByte(c)
		}
	}
	return "", false, false
}

// escape reads the characters after a backslash.
func (s *script) escape(b *strings.Builder) {
	rest := s.src[s.i-1:]
	s.i++
	switch c := rest[1]; c {
	case '\n': // the line continues
	case 'u':
		if n := strings.IndexByte(rest, '}'); n > 0 && strings.HasPrefix(rest, `\u{`) {
			r, _ := strconv.ParseUint(rest[3:n], 16, 21)
			b.WriteRune(rune(r))
			s.i += n - 1
			return
		}
		n := min(6, len(rest))
		if strings.HasPrefix(rest[n:], `\u`) { // the other half of a pair
			n = min(12, len(rest))
		}
		text, _ := lex.Unquote(`"` + rest[:n] + `"`)
		b.WriteString(text)
		s.i += n - 2
	case 'b', 'f', 'n', 'r', 't', 'v', 'x':
		if r, _, tail, err := strconv.UnquoteChar(rest, 0); err == nil {
			b.WriteRune(r)
			s.i += len(rest) - len(tail) - 2
		}
	default:
		b.WriteByte(c)
	}
}

// space skips white space and comments. It reports whether the script goes on.
func (s *script) space() bool {
	for s.i < len(s.src) {
		end := ""
		switch rest := s.src[s.i:]; {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.i++
			continue
		case strings.HasPrefix(rest, "//"):
			end = "\n"
		case strings.HasPrefix(rest, "/*"):
			end = "*/"
		default:
			return true
		}
		if n := strings.Index(s.src[s.i+2:], end); n >= 0 {
			s.i += 2 + n + len(end)
		} else {
			s.i = len(s.src)
		}
	}
	return false
}

// peek reports whether the script goes on with a token. take takes the token, too.
func (s *script) peek(token string) bool {
	from := s.i
	s.space()
	found := strings.HasPrefix(s.src[s.i:], token)
	s.i = from
	return found
}

func (s *script) take(token string) bool {
	found := s.peek(token)
	if found {
		s.space()
		s.i += len(token)
	}
	return found
}

// name reads a name, "" if there is none. spacedName skips white space first.
func (s *script) name() string {
	from := s.i
	for s.i < len(s.src) && nameByte(s.src[s.i]) {
		s.i++
	}
	return s.src[from:s.i]
}

func (s *script) spacedName() string {
	s.space()
	return s.name()
}

func nameByte(c byte) bool {
	return c == '_' || c == '$' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func jsonString(s string) string {
	var b strings.Builder
	writeCanonicalString(&b, s, false)
	return b.String()
}
