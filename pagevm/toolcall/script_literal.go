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
	if s.depth++; s.depth <= scriptDepth && s.goesOn() {
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
	switch c := s.rest[0]; {
	case strings.IndexByte(quotes, c) >= 0:
		text, known, end := s.quoted()
		raw, ok = jsonString(text), known && end
	case c == '(':
		s.rest = s.rest[1:]
		raw, ok = s.value()
		ok = ok && s.take(")")
	case c == '{':
		raw, ok = s.object()
	case c == '[':
		raw, ok = s.list()
	case c == '-' || c >= '0' && c <= '9':
		n := 1
		for n < len(s.rest) && (nameByte(s.rest[n]) || s.rest[n] == '.') {
			n++
		}
		raw, s.rest = strings.ReplaceAll(s.rest[:n], "_", ""), s.rest[n:]
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
		if s.take(".raw") && strings.HasPrefix(s.rest, "`") {
			if text, after, ok := strings.Cut(s.rest[1:], "`"); ok && !strings.Contains(text, "${") {
				s.rest = after
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
	s.rest = s.rest[1:]
	for !s.take("}") {
		key := s.spacedName()
		if key == "" && (s.peek("'") || s.peek(`"`)) {
			key, _, _ = s.quoted()
		}
		if key == "" {
			return "", false
		}
		from := s.rest
		value, known := "", false
		if s.take(":") {
			from = s.rest
			value, known = s.value()
		} else {
			value, known = s.named(key)
		}
		if !known || !s.ends() {
			s.lost, known, s.rest = true, false, from
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
	for s.rest = s.rest[1:]; !s.take("]"); s.take(",") {
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
	from := s.rest
	more := s.goesOn()
	line := strings.Contains(from[:len(from)-len(s.rest)], "\n")
	return !more || strings.IndexByte(",;)]}", s.rest[0]) >= 0 || line && strings.IndexByte(".+?[(`", s.rest[0]) < 0
}

// skip goes to the end of an expression that is no literal.
func (s *script) skip() {
	for depth := 0; s.goesOn(); {
		switch c := s.rest[0]; c {
		case '"', '\'', '`':
			s.quoted()
			continue
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
		s.rest = s.rest[1:]
	}
}

// quotes are the marks of strings.
const quotes = "\"'`"

// quoted reads a string. known reports whether every part of it is a literal, end whether it has
// an end.
func (s *script) quoted() (text string, known, end bool) {
	var b strings.Builder
	q := s.rest[0]
	known = true
	for s.rest = s.rest[1:]; s.rest != ""; {
		c, after := s.rest[0], s.rest[1:]
		switch {
		case c == q:
			s.rest = after
			return b.String(), known, true
		case c == '\\' && after != "":
			s.rest = escape(&b, s.rest)
		case c == '$' && q == '`' && strings.HasPrefix(after, "{"):
			s.rest = after[1:]
			v, ok := s.named(s.spacedName())
			if !ok || v[0] != '"' || !s.take("}") {
				known, s.rest = false, after[1:]
				if s.skip(); !s.take("}") {
					return "", false, false
				}
			}
			b.WriteString(lex.RawString(v))
		default:
			b.WriteByte(c)
			s.rest = after
		}
	}
	return "", false, false
}

// escape writes the character that a backslash at the start of src spells. It returns the rest of
// src.
func escape(b *strings.Builder, src string) string {
	switch c := src[1]; c {
	case '\n': // the line continues
	case 'u':
		if n := strings.IndexByte(src, '}'); n > 0 && strings.HasPrefix(src, `\u{`) {
			r, _ := strconv.ParseUint(src[3:n], 16, 21)
			b.WriteRune(rune(r))
			return src[n+1:]
		}
		n := min(6, len(src))
		if strings.HasPrefix(src[n:], `\u`) { // the other half of a pair
			n = min(12, len(src))
		}
		text, _ := lex.Unquote(`"` + src[:n] + `"`)
		b.WriteString(text)
		return src[n:]
	case 'b', 'f', 'n', 'r', 't', 'v', 'x':
		if r, _, tail, err := strconv.UnquoteChar(src, 0); err == nil {
			b.WriteRune(r)
			return tail
		}
	default:
		b.WriteByte(c)
	}
	return src[2:]
}

// code returns src without the white space and the comments that it begins with.
func code(src string) string {
	for {
		src = strings.TrimLeft(src, " \t\r\n")
		mark, end := "//", "\n"
		if strings.HasPrefix(src, "/*") {
			mark, end = "/*", "*/"
		}
		after, ok := strings.CutPrefix(src, mark)
		if !ok {
			return src
		}
		_, src, _ = strings.Cut(after, end)
	}
}

// goesOn skips white space and comments. It reports whether anything of the script is left.
func (s *script) goesOn() bool {
	s.rest = code(s.rest)
	return s.rest != ""
}

// peek reports whether the script goes on with a token. take takes the token, too.
func (s *script) peek(token string) bool { return strings.HasPrefix(code(s.rest), token) }

func (s *script) take(token string) bool {
	after, found := strings.CutPrefix(code(s.rest), token)
	if found {
		s.rest = after
	}
	return found
}

// name reads a name, "" if there is none. spacedName skips white space first.
func (s *script) name() (name string) {
	n := 0
	for n < len(s.rest) && nameByte(s.rest[n]) {
		n++
	}
	name, s.rest = s.rest[:n], s.rest[n:]
	return name
}

func (s *script) spacedName() string {
	s.goesOn()
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
