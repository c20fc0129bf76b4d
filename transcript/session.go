package transcript

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/memkernel/memkernel"
)

// Session is a whole transcript in canonical form.
type Session struct {
	Dialect Dialect
	// ID is the host's session id, Cwd its working directory, Model the last
	// model that spoke; each "" if the file does not say.
	ID, Cwd, Model string
	// Tools and System are the fixed part of the prompt where the file holds
	// it: requests do, of the session logs only Codex has its instructions.
	Tools  []memkernel.Tool
	System []memkernel.Part
	// Messages is everything that was ever said or summarised, in file order,
	// on all branches, each message once. Use View for something to plan on.
	Messages []memkernel.Message
	// Skipped are the records that could not be read.
	Skipped []*LineError
	// Torn is the last line where it is not whole yet, nil if it is: all before it was
	// read.
	Torn *LineError
	// Ended: the host says that the newest turn of the main line has ended. Session logs
	// say so in their own ways, or not at all; what is one document is whole.
	Ended bool
	// Notes report duplicates, forks, unknown records and the like.
	Notes []Note

	flags []flags          // parallel to Messages
	lines map[string]*line // by branch id, "" is the main line
	names []string         // branch ids but "" in order of appearance
}

// flags say which views leave a message out.
type flags struct {
	unsent   bool // was never part of a prompt
	hostSkip bool // the host leaves it out of later prompts
}

// assembler turns the records of one dialect into a session.
type assembler interface {
	add(*Record)
	finish()
}

// Load reads a whole transcript. name stands in errors and may be "". Broken
// records are refused unless opt says to skip them; skipped ones are listed.
func Load(r io.Reader, name string, opt *Options) (*Session, error) {
	o := opt.orDefault()
	if name != "" {
		o.Name = name
	}
	src, err := open(r, o)
	if err != nil {
		return nil, err
	}
	s := &Session{Dialect: src.dialect, lines: map[string]*line{"": {}}}
	asm := newAssembler(s)
	unknown, read, fields := unknownTypes{s: s}, false, false
	src.each(func(rec Record, e error) bool {
		switch {
		case e == nil && rec.Kind == KindTorn:
			s.Torn = rec.Err
			return true
		case e != nil:
			err = e
			return false
		case rec.Err != nil:
			s.Skipped = append(s.Skipped, rec.Err)
		case rec.Kind == KindUnknown:
			unknown.add(&rec)
		}
		fields = fields || rec.Kind == KindField
		read = read || rec.Kind != KindBlank && rec.Kind != KindBroken && rec.Kind != KindUnknown && rec.Kind != KindField
		if rec.x != nil && rec.x.unread != nil {
			s.note("unread-usage", &rec, "what the call was billed is not known: %v", rec.x.unread)
		}
		asm.add(&rec)
		s.end(&rec)
		return true
	})
	if err == nil && !read && (!fields || len(s.Skipped) > 0) {
		err = s.unread(nameOr(o.Name))
	}
	if err != nil {
		return nil, err
	}
	asm.finish()
	return s, nil
}

// halfLine is what is the matter with a file that holds less than a line.
const halfLine = "its first line is not whole; it is cut off, or still being written"

// unread says why nothing of a file was read.
func (s *Session) unread(name string) error {
	switch {
	case len(s.Skipped) > 0:
		return fmt.Errorf("read %s: %w: no line is a record of %s, the first: %w", name, ErrUnread, s.Dialect, s.Skipped[0])
	case s.Torn != nil:
		return fmt.Errorf("read %s: %w: %s", name, ErrUnread, halfLine)
	}
	return fmt.Errorf("read %s: %w: no line is a record of %s that is known", name, ErrUnread, s.Dialect)
}

// end takes note of what a record says of the turn.
func (s *Session) end(rec *Record) {
	switch {
	case s.Dialect == Anthropic || s.Dialect == OpenAI:
		s.Ended = true
	case rec.Message != nil && rec.Message.Branch != "":
	case rec.Kind == KindMessage, rec.ends:
		s.Ended = rec.ends
	}
}

// LoadFile reads the transcript at path.
func LoadFile(path string, opt *Options) (*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	defer f.Close()
	return Load(f, path, opt)
}

func newAssembler(s *Session) assembler {
	switch s.Dialect {
	case ClaudeCode:
		return &claudeAssembler{s: s, byID: map[string]int{}, groups: map[string]int{},
			calls: map[string]bool{}, sides: map[string]string{}, askers: map[string]int{}}
	case Pi:
		return &piAssembler{s: s, byID: map[string]int{}}
	case Codex:
		return &codexAssembler{s: s, open: -1, last: -1}
	}
	return &requestAssembler{s: s}
}

// unknownTypes notes each unknown record type once, with its count.
type unknownTypes struct {
	s    *Session
	seen map[string]int // type to index in Notes
	n    map[string]int
}

func (u *unknownTypes) add(rec *Record) {
	if u.seen == nil {
		u.seen, u.n = map[string]int{}, map[string]int{}
	}
	i, ok := u.seen[rec.Type]
	typ := rec.Type
	if !ok {
		i, typ = len(u.s.Notes), strings.Clone(rec.Type)
		u.seen[typ] = i
		u.s.Notes = append(u.s.Notes, Note{Rule: "unknown-record", Line: rec.Line, Message: -1})
	}
	u.n[typ]++
	u.s.Notes[i].Text = fmt.Sprintf("record type %q is unknown and was left out of the messages, %d times", typ, u.n[typ])
}

// note records what happened to a record.
func (s *Session) note(rule string, rec *Record, format string, args ...any) {
	s.Notes = append(s.Notes, Note{Rule: rule, Line: rec.Line, Message: -1, Key: rec.ID, Text: fmt.Sprintf(format, args...)})
}

// push appends a message to the session and to the line of its branch.
func (s *Session) push(m memkernel.Message, f flags) int {
	adopt(s.Messages, &m)
	i := len(s.Messages)
	s.Messages = append(s.Messages, m)
	s.flags = append(s.flags, f)
	l := s.line(m.Branch)
	l.order = append(l.order, i)
	return i
}

// line returns the line of a branch, made when first named.
func (s *Session) line(branch string) *line {
	l := s.lines[branch]
	if l == nil {
		l = &line{}
		s.lines[branch] = l
		s.names = append(s.names, branch)
	}
	return l
}

// adopt takes over what a record says about the session.
func (s *Session) adopt(x *extra) {
	if x == nil {
		return
	}
	if x.session != "" && x.session != s.ID {
		s.ID = strings.Clone(x.session)
	}
	if x.cwd != "" && x.cwd != s.Cwd {
		s.Cwd = strings.Clone(x.cwd)
	}
	if x.model != "" && x.model != s.Model {
		s.Model = strings.Clone(x.model)
	}
	if len(x.system) > 0 {
		s.System = x.system
	}
	if len(x.tools) > 0 {
		s.Tools = x.tools
	}
}
