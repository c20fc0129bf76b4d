package recall

import (
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// file records the events of one file. read, edited and replaced are numbers of results, counted
// from 1, or 0 for an event that did not happen.
type file struct {
	path string
	// read and edited are the newest results of a read and of an edit.
	read, edited int
	// replaced is the newest result after which no earlier text of the file is needed: the file
	// was deleted, written over, or read whole.
	replaced int
	// touched is the message of the newest of all these results.
	touched int
}

// changed reports whether the file was edited after the agent last read it.
func (f *file) changed() bool { return f.edited > f.read }

// leastShown is the least number of line breaks of an edit's result that shows text of the file.
// Our choice: agents confirm an edit in one or two lines.
const leastShown = 3

// fileResult is a result of a call that reads or edits files.
type fileResult struct {
	Place Place
	Text  string
	// Dead reports whether the result shows text of files and all of them were deleted, written
	// over or read whole since.
	Dead bool
	// Finished reports whether a task or a commit was completed after the last touch of all the
	// files, and none of them was named since.
	Finished bool

	seq   int
	shows bool
	files []*file
}

// fileHistory follows the files of a session.
type fileHistory struct {
	known   []*file
	calls   map[string]*memkernel.ToolCall
	results []fileResult
	seq     int
	// finished is the message of the newest call that finished a task.
	tasks    toolcall.Tasks
	finished int
}

// FileResults returns the results of the history that concern files, oldest first.
func (t *Tracker) FileResults() []fileResult {
	out := slices.Clone(t.files.results)
	for i := range out {
		r := &out[i]
		r.Dead, r.Finished = r.shows, true
		for _, f := range r.files {
			r.Dead = r.Dead && f.replaced > r.seq
			r.Finished = r.Finished && t.files.finished > f.touched && t.files.finished >= t.named(f.path)
		}
	}
	return out
}

// named returns the message that last names a file by its base name.
func (t *Tracker) named(name string) (at int) {
	t.hist.each(path.Base(name), func(pos int) bool { at = t.place(pos).Message; return false })
	return at
}

// note follows the calls of a message, and the results of calls. message is the message's index.
func (s *fileHistory) note(message int, m *memkernel.Message) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == memkernel.PartToolUse && p.Call != nil:
			s.calls[p.Call.ID] = p.Call
		case p.Kind == memkernel.PartToolResult && p.Result != nil:
			if c := s.calls[p.Result.CallID]; c != nil && !p.Result.IsError && !p.Result.Synthetic {
				s.result(Place{message, m.Key, c.ID}, c, TextOf(memkernel.Message{Parts: m.Parts[i : i+1]}))
			}
		}
	}
}

func (s *fileHistory) result(at Place, c *memkernel.ToolCall, text string) {
	s.seq++
	call := toolcall.Read(c.Name, c.Input)
	if s.tasks.Finish(call) {
		s.finished = at.Message
	}
	r := fileResult{Place: at, Text: text, seq: s.seq}
	for _, p := range call.Paths {
		f := s.file(p)
		switch call.Kind {
		case toolcall.CallRead:
			if strings.HasPrefix(text, "File unchanged since") { // what Claude Code says instead of the text
				return
			}
			f.read, r.shows = s.seq, true
		case toolcall.CallEdit:
			f.edited, r.shows = s.seq, strings.Count(text, "\n") >= leastShown
		default:
			return
		}
		f.touched = at.Message
		if slices.Contains(call.Replaces, p) && (call.Kind == toolcall.CallEdit || !strings.Contains(text, "truncated")) {
			f.replaced = s.seq
		}
		r.files = append(r.files, f)
	}
	if len(r.files) > 0 && (call.Kind == toolcall.CallRead || !toolcall.IsShell(c.Name)) {
		s.results = append(s.results, r)
	}
}

// file returns the file of a path. A relative path means the only known file whose path ends with
// it, if there is one.
func (s *fileHistory) file(name string) *file {
	var like []*file
	for _, f := range s.known {
		switch {
		case f.path == name:
			return f
		case strings.HasSuffix(f.path, "/"+name), strings.HasSuffix(name, "/"+f.path):
			like = append(like, f)
		}
	}
	if len(like) == 1 {
		return like[0]
	}
	s.known = append(s.known, &file{path: name})
	return s.known[len(s.known)-1]
}
