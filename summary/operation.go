package summary

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Operation is one change that a model proposes. It only adds: an update keeps the previous
// version in the journal, and a closed entry stays with its reason.
type Operation struct {
	// Op is add, update, close or remember.
	Op    string `json:"op"`
	Field string `json:"field"`
	// ID is the entry that is closed.
	ID     string `json:"id"`
	Text   string `json:"text"`
	Reason string `json:"reason"`
	// Version is the version that an update was made from.
	Version int `json:"version"`
	// Evidence is the label of the message that the operation rests on.
	Evidence string `json:"evidence"`
}

// Lengths of a model's texts, in runes, and how many facts one answer may propose.
const (
	noteRunes   = 220
	reasonRunes = 140
	factRunes   = 400
	maxFacts    = 3
)

// ParseOperations reads an answer, which must be one JSON object with the list ops, in a fenced
// block or bare. For prose, half a document, or text after the object, it returns
// [ReasonInvalid], and no operation of the answer counts.
func ParseOperations(answer string) ([]Operation, error) {
	text := strings.TrimSpace(answer)
	switch {
	case text == "":
		return nil, &ModelError{Reason: ReasonEmpty, Err: errors.New("the answer has no text")}
	case len(text) > maxAnswerBytes:
		return nil, &ModelError{Reason: ReasonTooLarge, Err: fmt.Errorf("the answer has %d bytes, at most %d are read", len(text), maxAnswerBytes)}
	}
	var doc struct {
		Ops *[]Operation `json:"ops"`
	}
	err := json.Unmarshal([]byte(unfenced(text)), &doc)
	switch {
	case err != nil:
		return nil, &ModelError{Reason: ReasonInvalid, Err: fmt.Errorf("the answer is not the JSON that was asked for: %w", err)}
	case doc.Ops == nil:
		return nil, &ModelError{Reason: ReasonInvalid, Err: errors.New("the answer has no list ops")}
	case len(*doc.Ops) > maxOperations:
		return nil, &ModelError{Reason: ReasonTooLarge, Err: fmt.Errorf("the answer has %d operations, at most %d are taken", len(*doc.Ops), maxOperations)}
	}
	return *doc.Ops, nil
}

// unfenced returns a trimmed answer without the block of code that models like to put round it.
func unfenced(text string) string {
	rest, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	_, rest, _ = strings.Cut(rest, "\n")
	return strings.TrimSuffix(strings.TrimSpace(rest), "```")
}

// Fact is something that a model proposes to remember beyond the session.
type Fact struct {
	// ID names the operation. Text is one line. Evidence is the evidence of the fact, as in an
	// update.
	ID, Text, Evidence string
}

// Answered is an answer that is not yet in the journal.
type Answered struct {
	State State
	Notes Notes
	// Page is the key of the notes page. Session is the evidence for the mark.
	Page, Session string
	Sources       []source
	Mark          Mark
	Mask          func(string) string
}

// MarkID is the update by which a delta counts as read. An answer without it is ignored.
const MarkID = "mark"

// Updates returns the mark and the operations as typed updates, and the facts. A malformed
// operation becomes an update that the journal refuses, so that the refusal has a code. A
// repetition of an open entry is left out.
func (a *Answered) Updates(ops []Operation) ([]journal.Update, []Fact, error) {
	a.Mark.Operations = len(ops)
	value, err := textutil.JSON(a.Mark)
	if err != nil {
		return nil, nil, err
	}
	out := []journal.Update{{ID: MarkID, Key: a.Page, Type: NotesType, Field: fieldOffset, Op: journal.OpSetWithVersion, Value: value,
		Version: a.Notes.Version, Scope: memkernel.ScopeSession, EvidenceRef: a.Session}}
	var facts []Fact
	b := builder{Answered: a, next: a.Notes.nextNote(), seen: a.texts()}
	for i, op := range ops {
		id := fmt.Sprint("op", i+1)
		if op.Op == "remember" {
			if text := b.clean(op.Text, factRunes); text != "" && len(facts) < maxFacts {
				facts = append(facts, Fact{ID: id, Text: text, Evidence: b.evidence(op)})
			}
			continue
		}
		u, ok, err := b.update(op)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			u.ID, u.Key, u.Type, u.Scope, u.EvidenceRef = id, a.Page, NotesType, memkernel.ScopeSession, a.evidence(op)
			out = append(out, u)
		}
	}
	return out, facts, nil
}

// builder makes the updates of one answer.
type builder struct {
	*Answered
	next int
	seen map[string]bool // the open entries, by kind and folded text
}

// texts returns the texts that the lists already have.
func (a *Answered) texts() map[string]bool {
	seen := map[string]bool{}
	for _, kind := range noteLists {
		for _, e := range a.Notes.allOpen(a.State, kind) {
			seen[folded(kind, e.Text)] = true
		}
	}
	return seen
}

func folded(kind, text string) string {
	return kind + " " + strings.ToLower(strings.TrimRight(text, ".! "))
}

// update returns the update for one operation. ok is false if it would add nothing new.
func (b *builder) update(op Operation) (u journal.Update, ok bool, err error) {
	text := b.clean(op.Text, noteRunes)
	key := b.source(op.Evidence).Key
	switch {
	case op.Op == "add" && slices.Contains(noteLists[:], op.Field):
		if b.seen[folded(op.Field, text)] {
			return u, false, nil
		}
		b.seen[folded(op.Field, text)] = true
		u, err = listItem(op.Field, journal.OpAppend, fmt.Sprint("n", b.next), 0, note{Text: text, Key: key})
		b.next++
	case op.Op == "update" && slices.Contains(noteScalars[:], op.Field):
		u = journal.Update{Field: op.Field, Op: journal.OpSetWithVersion, Version: op.Version}
		u.Value, err = textutil.JSON(note{Text: text, Key: key})
	case op.Op == "close":
		id := oneLine(op.ID, nameRunes)
		_, of, _ := b.entry(id) // the message that it rests on
		c := closing{Reason: b.clean(op.Reason, reasonRunes), Key: key, Of: of}
		u, err = listItem(fieldClosed, journal.OpMerge, id, b.Notes.Closed[id].version, c)
	default: // the page has no such field: the journal will say so
		u = journal.Update{Field: "proposed " + oneLine(op.Field, nameRunes), Op: journal.UpdateOp(oneLine(op.Op, nameRunes))}
		u.Value, err = textutil.JSON(op.Text)
	}
	return u, true, err
}

func listItem(field string, op journal.UpdateOp, id string, version int, v any) (journal.Update, error) {
	type item struct {
		ID      string `json:"id"`
		Version int    `json:"version,omitempty"`
		Value   any    `json:"value"`
	}
	value, err := textutil.JSON([]item{{id, version, v}})
	return journal.Update{Field: field, Op: op, Value: value}, err
}

// clean returns a text as one line of bounded length with its secrets masked.
func (a *Answered) clean(s string, runes int) string {
	return oneLine(a.Mask(textutil.Head(strings.ToValidUTF8(s, "\uFFFD"), userWindow)), runes)
}

// source returns the message of a label.
func (a *Answered) source(label string) source {
	for _, s := range a.Sources {
		if s.Label == label {
			return s
		}
	}
	return source{}
}

// evidence returns the page that an operation rests on. It returns an unknown label unchanged, and
// the journal refuses that label.
func (a *Answered) evidence(op Operation) string {
	page := a.source(op.Evidence).Page
	if page == "" && op.Evidence != "" {
		page = "message:" + oneLine(op.Evidence, nameRunes)
	}
	return page
}

// entry finds an open entry by its id, either a model's note or a mechanical entry.
func (a *Answered) entry(id string) (kind, key string, ok bool) {
	for _, kind := range noteLists {
		for _, e := range a.Notes.allOpen(a.State, kind) {
			if e.ID == id {
				return kind, e.Key, true
			}
		}
	}
	return "", "", false
}

// Policy returns the journal's checks of an answer's updates in addition to its own. A note must
// have content. A constraint or a goal must be a person's words. Only an open entry may be
// closed, and a closing must have a reason. A constraint may be closed only on a person's later
// words.
func (a *Answered) Policy() journal.Policy { return journal.Policy{Name: "notes", Refuse: a.refuse} }

func (a *Answered) refuse(p journal.Proposal) string {
	if p.Type != NotesType || p.Update.Field == fieldOffset {
		return ""
	}
	for id, raw := range p.Values {
		if p.Update.Field == fieldClosed {
			return a.refuseClosing(id, raw, p.Update.EvidenceRef)
		}
		var n note
		if json.Unmarshal(raw, &n) != nil || utf8.RuneCountInString(n.Text) < 2 {
			return "the note says nothing"
		}
	}
	spoken := func(s source) bool { return s.Page == p.Update.EvidenceRef && s.Spoken }
	if f := p.Update.Field; (f == kindConstraints || f == fieldGoal) && !slices.ContainsFunc(a.Sources, spoken) {
		return "a constraint or a goal rests on what a person said"
	}
	return ""
}

func (a *Answered) refuseClosing(id string, raw json.RawMessage, evidence string) string {
	var c closing
	if json.Unmarshal(raw, &c) != nil || utf8.RuneCountInString(c.Reason) < 3 {
		return "an entry is closed with a reason, and none is given"
	}
	kind, key, ok := a.entry(id)
	if !ok {
		return fmt.Sprintf("no open entry has the id %.40q", id)
	}
	if kind != kindConstraints {
		return ""
	}
	said := slices.IndexFunc(a.Sources, func(s source) bool { return s.Page == evidence })
	made := slices.IndexFunc(a.Sources, func(s source) bool { return s.Key == key })
	if said < 0 || !a.Sources[said].Spoken || made >= said {
		return "a constraint is closed only on what a person said after it"
	}
	return ""
}
