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
	about
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

	flags []flags                 // parallel to Messages
	lines map[string]*sessionLine // by branch id, "" is the main line
	names []string                // branch ids but "" in order of appearance
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
	s := newSession(src.row.Name)
	add, finish := src.row.Assemble(s)
	unknown, read, fields := map[string]unknownType{}, false, false
	src.each(func(rec Record, e error) bool {
		switch {
		case e == nil && rec.Kind == kindTorn:
			s.Torn = rec.Err
			return true
		case e != nil:
			err = e
			return false
		case rec.Err != nil:
			s.Skipped = append(s.Skipped, rec.Err)
		case rec.Kind == kindUnknown:
			s.unknown(unknown, &rec)
		}
		if n := strings.Count(rec.Lead, "\x00") + strings.Count(rec.Tail, "\x00"); n > 0 {
			s.note("padding", &Record{Line: rec.Line}, "%d zero bytes around the record were passed over, a crash may have left them", n)
		}
		fields = fields || rec.Kind == kindField
		read = read || rec.Kind != kindBlank && rec.Kind != kindBroken && rec.Kind != kindUnknown && rec.Kind != kindField
		if rec.read {
			if rec.unread != nil {
				s.note("unread-usage", &rec, "what the call was billed is not known: %v", rec.unread)
			}
			add(&rec)
			s.end(&rec, src.row)
		}
		return true
	})
	if err == nil && !read && (!fields || len(s.Skipped) > 0) {
		err = o.failed(s.unread())
	}
	if err != nil {
		return nil, err
	}
	if finish != nil {
		finish()
	}
	return s, nil
}

// halfLine is the reason for a file that holds less than a line.
const halfLine = "its first line is not whole; it is cut off, or still being written"

// unread returns why no record of a file was read.
func (s *Session) unread() error {
	switch {
	case len(s.Skipped) > 0:
		return fmt.Errorf("%w: no line is a record of %s, the first: %w", ErrUnread, s.Dialect, s.Skipped[0])
	case s.Torn != nil:
		return fmt.Errorf("%w: %s", ErrUnread, halfLine)
	}
	return fmt.Errorf("%w: no line is a record of %s that is known", ErrUnread, s.Dialect)
}

// end updates Ended by a record.
func (s *Session) end(e *Record, d *dialectRow) {
	switch {
	case d.Document():
		s.Ended = true
	case e.Message != nil && e.Message.Branch != "":
	case e.Kind == kindMessage, e.ends:
		s.Ended = e.ends
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
	for rec, err := range Stream(r, &Options{SkipBroken: true, MaxLineBytes: 64 << 20}) {
		if err == nil && rec.read {
			return strings.Clone(rec.about.ID)
		}
	}
	return ""
}

// unknownType is where the note about an unknown type of records is, and how many there were.
type unknownType struct{ note, n int }

// unknown notes each unknown record type once, with its count.
func (s *Session) unknown(seen map[string]unknownType, rec *Record) {
	u, ok := seen[rec.Type]
	if !ok {
		u.note = len(s.Notes)
		s.Notes = append(s.Notes, Note{Rule: "unknown-record", Line: rec.Line, Message: -1})
	}
	u.n++
	seen[strings.Clone(rec.Type)] = u
	s.Notes[u.note].Text = fmt.Sprintf("record type %q is unknown and was left out of the messages, %d times", rec.Type, u.n)
}
