package mask

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Secrets counts what was masked, by rule. Nil is none.
type Secrets map[string]int

// Total returns how many secrets were masked.
func (s Secrets) Total() int {
	n := 0
	for _, c := range s {
		n += c
	}
	return n
}

// Add counts what o counted.
func (s *Secrets) Add(o Secrets) {
	for rule, n := range o {
		if *s == nil {
			*s = Secrets{}
		}
		(*s)[rule] += n
	}
}

func (s *Secrets) add(rule string) { s.Add(Secrets{rule: 1}) }

// Options set what is no secret here.
type Options struct {
	// Allow are values that are never masked: each a literal, which must be all of
	// what a rule found, or /an expression/ between slashes, which must match some
	// of it.
	Allow []string
	// Disable names rules that are not used; [MaskRules] lists them.
	Disable []string
}

// Masker replaces secrets by "[masked:<rule>]". It has two sets of rules: this
// package's own, and gitleaks' as data. It is safe for concurrent use, and never
// changed once made; nil has all rules and no exceptions.
type Masker struct {
	literals map[string]bool
	allow    []*regexp.Regexp
	disabled map[string]bool
	lines    bool // a mark has as many line breaks as what it replaces
	known    *known
}

// known is what was found in texts, by the text.
type known struct {
	mu    sync.Mutex
	texts map[string]finding
}

type finding struct {
	masked string
	found  Secrets
}

// knownFrom is the length in bytes from which a text is worth remembering.
const knownFrom = 128

// Remembering returns a masker that finds the same and looks at the same text once, for
// work that comes upon texts several times. It holds on to all of them and is to go with
// that work.
func (m *Masker) Remembering() *Masker {
	out := Masker{}
	if m != nil {
		out = *m
	}
	out.known = &known{texts: map[string]finding{}}
	return &out
}

// NewMasker makes a masker. An expression that does not compile, and a rule that
// there is none of, are errors.
func NewMasker(o Options) (*Masker, error) {
	m := &Masker{literals: map[string]bool{}, disabled: map[string]bool{}}
	for _, a := range o.Allow {
		expr, ok := strings.CutPrefix(a, "/")
		if expr, ok = cutSlash(expr, ok); !ok {
			m.literals[a] = true
			continue
		}
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, fmt.Errorf("allow %s: %w", a, err)
		}
		m.allow = append(m.allow, re)
	}
	known := Rules()
	for _, id := range o.Disable {
		if !slices.Contains(known, id) {
			return nil, fmt.Errorf("there is no rule %q; the rules are %s", id, strings.Join(known, ", "))
		}
		m.disabled[id] = true
	}
	return m, nil
}

func cutSlash(expr string, ok bool) (string, bool) {
	rest, end := strings.CutSuffix(expr, "/")
	return rest, ok && end && rest != ""
}

// Rules lists the names of all rules, in order.
func Rules() []string {
	names := map[string]bool{"jwt": true, "private-key": true, "url-password": true, "bearer": true, "basic": true, "secret": true}
	for i := range maskPrefixes {
		names[maskPrefixes[i].kind] = true
	}
	for i := range allRules().Rules {
		names[allRules().Rules[i].ID] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// maskRounds bounds the passes over one text. Every pass but the last masks
// something, which seldom uncovers more.
const maskRounds = 16

// Mask replaces the secrets in s and returns how many it found. It runs before
// anything is hashed or written. When nothing is found s itself comes back and
// nothing is allocated but for strings of JSON that have escapes. Masking twice changes nothing.
func (m *Masker) Mask(s string) (string, int) {
	s, found := m.Find(s)
	return s, found.Total()
}

// Find is Mask that also returns which rules found what. Of a text that begins as JSON, and
// of lines that are objects, the strings are looked at decoded, too.
func (m *Masker) Find(s string) (string, Secrets) {
	if m == nil || m.known == nil || len(s) < knownFrom {
		return m.find(s, maskDepth)
	}
	m.known.mu.Lock()
	f, ok := m.known.texts[s]
	m.known.mu.Unlock()
	if !ok {
		f.masked, f.found = m.find(s, maskDepth)
		m.known.mu.Lock()
		m.known.texts[s] = f
		m.known.mu.Unlock()
	}
	return f.masked, f.found
}

func (m *Masker) find(s string, depth int) (string, Secrets) {
	var found Secrets
	switch {
	case depth == 0:
	case looksJSON(s):
		s = m.maskStrings(s, &found, depth-1)
	case strings.Contains(s, "\n{"):
		s = m.maskRecords(s, &found, depth-1)
	}
	s = m.maskText(s, &found)
	if strings.Contains(s, `\n`) {
		s = m.maskEscaped(s, &found)
	}
	return s, found
}

func (m *Masker) maskText(s string, found *Secrets) string {
	for range maskRounds {
		masked := m.maskRules(m.maskOwn(s, found), found)
		if masked == s {
			break
		}
		s = masked
	}
	return s
}

// maskEscaped masks the lines whose breaks are escaped, such as a file in a string in a line
// of a log, decoded: keys and values end where its lines do. Lines that follow each other are
// looked at together, and a line without an escaped break not again.
func (m *Masker) maskEscaped(s string, found *Secrets) string {
	e := edit{s: s}
	from := -1
	flush := func(to int) {
		if from >= 0 {
			if masked := m.maskUnescaped(s[from:to], found); masked != s[from:to] {
				e.replace(from, to, masked)
			}
		}
		from = -1
	}
	at := 0
	for line := range strings.Lines(s) {
		if !strings.Contains(line, `\n`) {
			flush(at)
		} else if from < 0 {
			from = at
		}
		at += len(line)
	}
	flush(at)
	return e.text()
}

// maskUnescaped masks a text with its escaped line breaks decoded. Marks have as many line
// breaks as what they replace, so that each gets its own form back.
func (m *Masker) maskUnescaped(s string, found *Secrets) string {
	var escaped []bool // by line break
	lines := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\n':
			escaped = append(escaped, false)
		case s[i] == '\\' && i+1 < len(s):
			if i++; s[i] == 'n' {
				escaped = append(escaped, true)
				lines = append(lines, '\n')
				continue
			}
			lines = append(lines, '\\')
			if s[i] == '\n' {
				escaped = append(escaped, false)
			}
		}
		lines = append(lines, s[i])
	}
	keep := Masker{}
	if m != nil {
		keep = *m
	}
	keep.lines = true
	text := string(lines)
	masked := keep.maskText(text, found)
	if masked == text {
		return s
	}
	var out strings.Builder
	for k := 0; ; k++ {
		line, rest, more := strings.Cut(masked, "\n")
		out.WriteString(line)
		if !more {
			return out.String()
		}
		if masked = rest; k < len(escaped) && escaped[k] {
			out.WriteString(`\n`)
		} else {
			out.WriteByte('\n')
		}
	}
}

// spares reports whether s[from:to], which a rule found, is left unmasked.
func (m *Masker) spares(rule, s string, from, to int) bool {
	if m == nil {
		return harmless(rule, s, from, to)
	}
	secret := s[from:to]
	return m.disabled[rule] || m.literals[secret] || harmless(rule, s, from, to) || slices.ContainsFunc(m.allow, func(re *regexp.Regexp) bool { return re.MatchString(secret) })
}

// Marks counts the marks in a text that stand for secrets.
func Marks(s string) int { return strings.Count(s, "[masked:") }

// Mask is [Masker.Mask] with all rules and no exceptions.
func Mask(s string) (string, int) { return (*Masker)(nil).Mask(s) }

// Lines is [Masker.Text] that keeps every line at its number, for what is cited by
// lines.
func (m *Masker) Lines(s string) string {
	keep := Masker{lines: true}
	if m != nil {
		keep = *m
		keep.lines, keep.known = true, nil
	}
	return keep.Text(s)
}

// Text makes a text fit to be kept in JSON: no secrets, nothing but UTF-8.
func (m *Masker) Text(s string) string {
	s, _ = m.Find(s)
	if utf8.ValidString(s) {
		return s // far sooner known than ToValidUTF8 finds it
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
