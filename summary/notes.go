package summary

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// NotesType is the type of the page that holds a model's notes on a conversation, one page per
// branch.
const NotesType pagevm.Type = "notes"

// The fields of a notes page except the lists, which have the names of the summary's own:
// constraints, decisions, open_threads.
const (
	fieldOffset = "offset" // how far a model has read
	fieldGoal   = "goal"
	fieldStep   = "step"
	fieldClosed = "closed" // the closed entries, by id, with the reason
)

var (
	noteLists   = [...]string{kindConstraints, kindDecisions, kindThreads}
	noteScalars = [...]string{fieldGoal, fieldStep}
)

// The limits of a notes page are the most entries of a list and the most bytes of one value.
const (
	maxNotes     = 2000
	maxNoteBytes = 4 << 10
)

// NotesSpec returns the definition of a notes page. The page has lists that only grow, scalars
// with a version, and a map of the closed entries. Nothing on the page can be taken back. The
// journal enforces this rule and does not rely on the model.
func NotesSpec() journal.TypeSpec {
	object := journal.FieldSpec{Value: "object", MaxBytes: maxNoteBytes, MaxEntries: maxNotes}
	of := func(k journal.FieldKind) journal.FieldSpec { object.Kind = k; return object }
	fields := map[string]journal.FieldSpec{fieldOffset: of(journal.KindScalar), fieldClosed: of(journal.KindMap)}
	for _, f := range noteScalars {
		fields[f] = of(journal.KindScalar)
	}
	for _, f := range noteLists {
		fields[f] = of(journal.KindList)
	}
	return journal.TypeSpec{Scopes: []memkernel.Scope{memkernel.ScopeSession}, Fields: fields}
}

// Note is one line by a model, with its provenance.
type note struct {
	// ID is the note's id on its page, "" for a scalar.
	ID string `json:"-"`
	// Text is one line of bounded length.
	Text string `json:"text"`
	// Key is the message that the note rests on.
	Key string `json:"key"`
	// Version is the committed version, which an update must name.
	Version int `json:"-"`
}

// Closing records that an entry no longer holds, and why. The entry stays.
type closing struct {
	Reason string `json:"reason"`
	// Key is the message that the closing rests on.
	Key string `json:"key"`
	// Of is the message that the entry rested on when it was closed. If the entry is said again
	// later, it is open again.
	Of string `json:"of"`

	version int
}

// Mark records how far a model has read, and the outcome.
type Mark struct {
	// Key is the last message of the delta.
	Key string `json:"key"`
	// Messages is the number of the delta's messages.
	Messages int `json:"messages"`
	// Model is the model that was asked.
	Model string `json:"model"`
	// Reason is OK, or why the delta has no notes and the mechanical summary is alone.
	Reason Reason `json:"reason"`
	// Operations is how many operations the model proposed.
	Operations int       `json:"operations"`
	Time       time.Time `json:"-"`
}

// Notes are a model's additions to the mechanical summary of a branch. They are read from a page
// and never changed.
type Notes struct {
	// Marks has one mark for each delta that was read, oldest first.
	Marks []Mark
	// Version is the version of the newest mark. The next mark must name it.
	Version int
	// Goal and Step are scalars. Lists hold open and closed notes, oldest first.
	Goal, Step note
	Lists      map[string][]note
	// Closed has the closings of notes and of entries of the mechanical summary, by the entry's
	// id.
	Closed map[string]closing
}

// ReadNotes reads a notes page. A missing page has no notes.
func ReadNotes(p journal.StoredPage) (Notes, error) {
	n := Notes{Lists: map[string][]note{}, Closed: map[string]closing{}}
	for _, f := range p.Fields {
		for _, e := range f.Entries {
			if err := n.read(f.Name, e); err != nil {
				return Notes{}, fmt.Errorf("read %s of %s: %w", f.Name, p.Address, err)
			}
		}
	}
	return n, nil
}

func (n *Notes) read(field string, e journal.Entry) error {
	v := e.Current()
	switch field {
	case fieldOffset:
		n.Version = v.Version
		for _, v := range e.Versions {
			m := Mark{Time: v.Time}
			if err := json.Unmarshal(v.Value, &m); err != nil {
				return err
			}
			n.Marks = append(n.Marks, m)
		}
		return nil
	case fieldGoal:
		n.Goal.Version = v.Version
		return json.Unmarshal(v.Value, &n.Goal)
	case fieldStep:
		n.Step.Version = v.Version
		return json.Unmarshal(v.Value, &n.Step)
	case fieldClosed:
		c := closing{version: v.Version}
		err := json.Unmarshal(v.Value, &c)
		n.Closed[e.ID] = c
		return err
	}
	note := note{ID: e.ID, Version: v.Version}
	err := json.Unmarshal(v.Value, &note)
	n.Lists[field] = append(n.Lists[field], note)
	return err
}

// Last returns the newest mark, the zero Mark if no delta was read.
func (n Notes) Last() Mark {
	if len(n.Marks) == 0 {
		return Mark{}
	}
	return n.Marks[len(n.Marks)-1]
}

// Rooted returns the notes and closings that rest on messages which are still in the
// conversation. Notes on rewound messages are dropped. The marks stay.
func (n Notes) Rooted(known func(key string) bool) Notes {
	out := Notes{Marks: n.Marks, Version: n.Version, Lists: map[string][]note{}, Closed: map[string]closing{}}
	// A scalar keeps its version, so that an update can be made from it.
	keep := func(s note) note {
		if !known(s.Key) {
			s = note{Version: s.Version}
		}
		return s
	}
	out.Goal, out.Step = keep(n.Goal), keep(n.Step)
	for kind, list := range n.Lists {
		for _, e := range list {
			if known(e.Key) {
				out.Lists[kind] = append(out.Lists[kind], e)
			}
		}
	}
	for id, c := range n.Closed {
		if !known(c.Key) {
			c = closing{version: c.version}
		}
		out.Closed[id] = c
	}
	return out
}

// open returns the notes of a list that were not closed, oldest first.
func (n Notes) open(list []note) []note {
	return slices.DeleteFunc(slices.Clone(list), func(e note) bool { _, closed := n.closing(e.ID, e.Key); return closed })
}

// allOpen returns the entries of a list that were not closed, oldest first: those of the mechanical
// summary that a model may close, then a model's own.
func (n Notes) allOpen(s State, kind string) []note {
	var entries []Entry
	switch kind {
	case kindConstraints:
		entries = s.Constraints
	case kindDecisions:
		entries = s.Decisions
	}
	var out []note
	for _, e := range entries {
		out = append(out, note{ID: e.ID, Text: e.Text, Key: e.Key})
	}
	return n.open(append(out, n.Lists[kind]...))
}

// Count returns the number of open and closed notes together, and the number of closed entries.
func (n Notes) Count() (notes, closed int) {
	for _, list := range n.Lists {
		notes += len(list)
	}
	for _, c := range n.Closed {
		if c.Reason != "" {
			closed++
		}
	}
	for _, s := range [...]note{n.Goal, n.Step} {
		if s.Text != "" {
			notes++
		}
	}
	return notes, closed
}

// closing returns the closing of the entry with this id that rests on the message key, and
// whether there is one.
func (n Notes) closing(id, key string) (closing, bool) {
	c, ok := n.Closed[id]
	return c, ok && c.Reason != "" && c.Of == key
}

// nextNote returns the number of the next note's id.
func (n Notes) nextNote() int {
	next := 1
	for _, kind := range slices.Sorted(maps.Keys(n.Lists)) {
		for _, e := range n.Lists[kind] {
			if i, err := strconv.Atoi(strings.TrimPrefix(e.ID, "n")); err == nil {
				next = max(next, i+1)
			}
		}
	}
	return next
}
