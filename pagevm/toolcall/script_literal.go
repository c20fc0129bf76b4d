package toolcall

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

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
