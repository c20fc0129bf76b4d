package transcript

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript/internal/dialect"
)

// Session is a whole transcript in canonical form.
type Session struct {
	Dialect Dialect
	// ID is the host's session id. Cwd is the working directory. Model is the model of the last
	// answer. Each is "" if the file does not name it.
	ID, Cwd, Model string
	// Tools and System are the fixed part of the prompt, if the file holds it. Requests hold
	// both. Of the session logs only Codex's hold a part of it, the instructions.
	Tools  []memkernel.Tool
	System []memkernel.Part
	// Messages is everything that was ever said or summarised, in file order, on all branches,
	// each message once. To plan, use View.
	Messages []memkernel.Message
	// Skipped are the records that could not be read.
	Skipped []*LineError
	// Torn is the last line if it is incomplete, nil if it is whole. All earlier lines were read.
	Torn *LineError
	// Ended reports whether the host recorded the end of the main line's newest turn. Logs record
	// it in their own ways, or not at all. A document has always ended.
	Ended bool
	// Notes report duplicates, forks, unknown records and the like.
	Notes []Note

	log *dialect.Log
}

// Load reads a whole transcript. name is used in errors and may be "". Load refuses broken
// records unless opt says to skip them. Skipped records are listed in the session.
func Load(r io.Reader, name string, opt *Options) (*Session, error) {
	o := opt.orDefault()
	if name != "" {
		o.Name = name
	}
	src, err := open(r, o)
	if err != nil {
		return nil, err
	}
	s := &Session{Dialect: Dialect(src.row.Name), log: dialect.NewLog()}
	add, finish := src.row.Assemble(s.log)
	unknown, read, fields := unknownTypes{log: s.log}, false, false
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
		case rec.Kind == dialect.KindUnknown:
			unknown.add(&rec)
		}
		if n := strings.Count(rec.Lead, "\x00") + strings.Count(rec.Tail, "\x00"); n > 0 {
			s.log.Note("padding", &dialect.Entry{Line: rec.Line}, "%d zero bytes around the record were passed over, a crash may have left them", n)
		}
		fields = fields || rec.Kind == dialect.KindField
		read = read || rec.Kind != dialect.KindBlank && rec.Kind != dialect.KindBroken && rec.Kind != dialect.KindUnknown && rec.Kind != dialect.KindField
		if e := rec.entry; e != nil {
			if e.Unread != nil {
				s.log.Note("unread-usage", e, "what the call was billed is not known: %v", e.Unread)
			}
			add(e)
			s.end(e, src.row)
		}
		return true
	})
	if err == nil && !read && (!fields || len(s.Skipped) > 0) {
		err = s.unread(nameOr(o.Name))
	}
	if err != nil {
		return nil, err
	}
	if finish != nil {
		finish()
	}
	s.ID, s.Cwd, s.Model, s.Tools, s.System = s.log.ID, s.log.Cwd, s.log.Model, s.log.Tools, s.log.System
	s.Messages, s.Notes = s.log.Messages, s.log.Notes
	return s, nil
}

// halfLine is the reason for a file that holds less than a line.
const halfLine = "its first line is not whole; it is cut off, or still being written"

// unread returns why no record of a file was read.
func (s *Session) unread(name string) error {
	switch {
	case len(s.Skipped) > 0:
		return fmt.Errorf("read %s: %w: no line is a record of %s, the first: %w", name, ErrUnread, s.Dialect, s.Skipped[0])
	case s.Torn != nil:
		return fmt.Errorf("read %s: %w: %s", name, ErrUnread, halfLine)
	}
	return fmt.Errorf("read %s: %w: no line is a record of %s that is known", name, ErrUnread, s.Dialect)
}

// end updates Ended by an entry.
func (s *Session) end(e *dialect.Entry, d *dialect.Dialect) {
	switch {
	case d.Document():
		s.Ended = true
	case e.Message != nil && e.Message.Branch != "":
	case e.Kind == dialect.KindMessage, e.Ends:
		s.Ended = e.Ends
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

// SessionID returns the host's id of the session of a transcript, "" if its first record names none.
func SessionID(r io.Reader) string {
	for rec, err := range Stream(r, &Options{OnBroken: Skip, MaxLineBytes: 64 << 20}) {
		if err == nil && rec.entry != nil {
			return strings.Clone(rec.entry.About.ID)
		}
	}
	return ""
}

// unknownTypes notes each unknown record type once, with its count.
type unknownTypes struct {
	log  *dialect.Log
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
		i, typ = len(u.log.Notes), strings.Clone(rec.Type)
		u.seen[typ] = i
		u.log.Notes = append(u.log.Notes, Note{Rule: "unknown-record", Line: rec.Line, Message: -1})
	}
	u.n[typ]++
	u.log.Notes[i].Text = fmt.Sprintf("record type %q is unknown and was left out of the messages, %d times", typ, u.n[typ])
}
