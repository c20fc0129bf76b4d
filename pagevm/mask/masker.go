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

// Secrets counts the masked secrets by rule. Nil means that there were none.
type Secrets map[string]int

// Total returns how many secrets were masked.
func (s Secrets) Total() int {
	n := 0
	for _, c := range s {
		n += c
	}
	return n
}

// Add adds the counts of o.
func (s *Secrets) Add(o Secrets) {
	for rule, n := range o {
		if *s == nil {
			*s = Secrets{}
		}
		(*s)[rule] += n
	}
}

func (s *Secrets) add(rule string) { s.Add(Secrets{rule: 1}) }

// Options name the values and rules to leave alone.
type Options struct {
	// Allow lists values that are never masked. Each is a literal, which must equal a found
	// secret, or an /expression/ between slashes, which must match a part of a found secret.
	Allow []string
	// Disable names the rules that are not used. [Rules] lists all rules.
	Disable []string
}

// Masker replaces secrets by "[masked:<rule>]". It applies the rules of this package and those of
// gitleaks. A Masker is safe for concurrent use and never changes. A nil Masker has all rules and
// no exceptions.
type Masker struct {
	literals map[string]bool
	allow    []*regexp.Regexp
	disabled map[string]bool
	lines    bool      // a mark has as many line breaks as its secret
	known    *findings // nil to remember none
}

// findings has the result of each search, by its text.
type findings struct {
	sync.RWMutex
	of map[string]finding
}

// finding is the result of a search in a text.
type finding struct {
	masked string
	found  Secrets
}

// knownFrom is the length in bytes from which a text is remembered.
const knownFrom = 128

// Remembering returns a masker that examines equal texts only once, for work that meets the same
// texts several times. It holds all these texts in memory, so callers must drop it after the
// work.
func (m *Masker) Remembering() *Masker {
	out := m.copy()
	out.known = &findings{of: map[string]finding{}}
	return out
}

// copy returns a masker with the same rules and exceptions.
func (m *Masker) copy() *Masker {
	if m == nil {
		return &Masker{}
	}
	out := *m
	return &out
}

// NewMasker makes a masker. It returns an error for an invalid expression or an unknown rule.
func NewMasker(o Options) (*Masker, error) {
	m := &Masker{literals: map[string]bool{}, disabled: map[string]bool{}}
	for _, a := range o.Allow {
		if len(a) < 3 || a[0] != '/' || a[len(a)-1] != '/' {
			m.literals[a] = true
			continue
		}
		re, err := regexp.Compile(a[1 : len(a)-1])
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

// maskRounds bounds the passes over one text. Every pass but the last masks a secret, which
// seldom uncovers another one.
const maskRounds = 16

// Mask replaces the secrets in s and returns their number. Callers must call it before they hash
// or write a text. If s has no secrets, Mask returns s itself, and allocates only for JSON
// strings with escapes. Masking twice changes nothing.
func (m *Masker) Mask(s string) (string, int) {
	s, found := m.Find(s)
	return s, found.Total()
}

// Find masks as [Masker.Mask] does, and counts the secrets by rule. In a text that begins as
// JSON, and in lines that are JSON objects, it also looks at the decoded strings.
func (m *Masker) Find(s string) (string, Secrets) {
	if m == nil || m.known == nil || len(s) < knownFrom {
		return m.find(s, maskDepth)
	}
	m.known.RLock()
	f, ok := m.known.of[s]
	m.known.RUnlock()
	if !ok {
		f.masked, f.found = m.find(s, maskDepth)
		m.known.Lock()
		m.known.of[s] = f
		m.known.Unlock()
	}
	return f.masked, f.found
}

func (m *Masker) find(s string, depth int) (string, Secrets) {
	var found Secrets
	begin := strings.TrimLeft(s, " \t\r\n")
	switch {
	case depth == 0:
	case begin != "" && strings.IndexByte("{[\"", begin[0]) >= 0: // as JSON does
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

// maskEscaped masks the lines with escaped line breaks, such as a file in a string in a line of a
// log, in their decoded form, where keys and values end with their lines. Neighbouring lines of
// this kind are decoded together.
func (m *Masker) maskEscaped(s string, found *Secrets) string {
	return rewriteLines(s, true, func(line string) bool { return strings.Contains(line, `\n`) }, func(run string) string {
		return m.maskUnescaped(run, found)
	})
}

// rewriteLines returns a text with the lines of a kind rewritten, each by itself or as runs of
// neighbours.
func rewriteLines(s string, runs bool, kind func(line string) bool, rewrite func(string) string) string {
	e := edit{s: s}
	from, to := 0, 0 // a run that is not rewritten yet
	flush := func() {
		if out := rewrite(s[from:to]); out != s[from:to] {
			e.replace(from, to, out)
		}
		from = to
	}
	for line := range strings.Lines(s) {
		is := kind(line)
		if from < to && !(is && runs) {
			flush()
		}
		if to += len(line); !is {
			from = to
		}
	}
	if from < to {
		flush()
	}
	return e.text()
}

// maskUnescaped masks a text with its escaped line breaks decoded. Marks have as many line breaks
// as the secrets that they replace, so that each break gets its own form back.
func (m *Masker) maskUnescaped(s string, found *Secrets) string {
	var escaped []bool // by line break
	decoded := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if i++; s[i] == 'n' {
				escaped, decoded = append(escaped, true), append(decoded, '\n')
				continue
			}
			decoded = append(decoded, '\\')
		}
		if decoded = append(decoded, s[i]); s[i] == '\n' {
			escaped = append(escaped, false)
		}
	}
	text := string(decoded)
	keep := m.copy()
	keep.lines = true
	masked := keep.maskText(text, found)
	if masked == text {
		return s
	}
	lines := strings.Split(masked, "\n")
	for k := range lines[1:] {
		if k < len(escaped) && escaped[k] {
			lines[k] += `\n`
		} else {
			lines[k] += "\n"
		}
	}
	return strings.Join(lines, "")
}

// spares reports whether s[from:to], which a rule found, stays unmasked.
func (m *Masker) spares(rule, s string, from, to int) bool {
	secret := s[from:to]
	return harmless(rule, s, from, to) || m != nil && (m.disabled[rule] || m.literals[secret] || slices.ContainsFunc(m.allow, func(re *regexp.Regexp) bool { return re.MatchString(secret) }))
}

// Marks counts the marks for secrets in a text.
func Marks(s string) int { return strings.Count(s, "[masked:") }

// Lines is like [Masker.Text], but keeps the number of every line, for texts that are cited by
// line.
func (m *Masker) Lines(s string) string {
	keep := m.copy()
	keep.lines, keep.known = true, nil
	return keep.Text(s)
}

// Text returns s without secrets and as valid UTF-8, so that it can be written as JSON.
func (m *Masker) Text(s string) string {
	s, _ = m.Find(s)
	if utf8.ValidString(s) {
		return s // far sooner known than ToValidUTF8 finds it
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
