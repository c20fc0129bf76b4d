package summary

import (
	"fmt"
	"slices"
	"strings"
)

// kindNotes is the name of the list of notes in a pointer.
const kindNotes = "notes"

// notesIntro names the author of the notes.
const notesIntro = "notes: (by a model that read the same messages; where they differ, the lines before hold)\n"

// noteShare sets the least room for notes: 1/noteShare of the cap. Notes also get the room that the
// mechanical summary does not use.
const noteShare = 3

// RenderNoted renders the summary with a model's notes after the mechanical text, all in at most
// capTokens and a person's words. Closed mechanical entries are last in their list and marked so. If there is only room
// for the bare keys, notes are left out. The function more returns the ID under which the omitted
// entries of a list can be fetched. It may be nil. The function count returns the tokens of a text.
// Both must be pure functions.
func RenderNoted(s State, n Notes, beside Beside, capTokens int, count func(string) int, more func(kind string, n int) string) string {
	s.Constraints, s.Decisions = n.marked(s.Constraints), n.marked(s.Decisions)
	alone := render(s, beside, capTokens, count, more)
	bare := newRenderer(s, beside, more)
	all := capTokens + bare.saidTokens(count)
	room := max(capTokens/noteShare, all-count(alone))
	notes := n.render(room, count, more)
	if notes == "" || count(bare.text())+count(notes) > all {
		return alone
	}
	text := render(s, beside, capTokens-count(notes), count, more) + notes
	if count(text) > all { // a counter by which parts add up to less than the whole
		return alone
	}
	return text
}

// all returns all notes and closings, in the form of [List].
func (n Notes) all() string {
	items := append(n.items(), n.closedItems()...)
	if len(items) == 0 {
		return kindNotes + ": " + noneYet + "\n"
	}
	return notesIntro + strings.Join(items, "")
}

// render returns the section of the open notes within room tokens, "" if no note fits.
func (n Notes) render(room int, count func(string) int, more func(kind string, n int) string) string {
	items := n.items()
	for shown := len(items); shown > 0; shown-- {
		text := notesIntro + strings.Join(items[:shown], "")
		if left := len(items) - shown; left > 0 {
			text += older(kindNotes, left, more)
		}
		if count(text) <= room {
			return text
		}
	}
	return ""
}

// items returns the notes as lines. Goal and step come first. Then the lists take turns, each
// newest first, beginning with constraints.
func (n Notes) items() []string {
	var out []string
	for i, v := range [...]note{n.Goal, n.Step} {
		if v.Text != "" {
			out = append(out, fmt.Sprintf("  %s: %s\n", noteScalars[i], v.Text))
		}
	}
	var lists [len(noteLists)][]string
	for i, kind := range noteLists {
		for _, e := range slices.Backward(n.open(n.Lists[kind])) {
			lists[i] = append(lists[i], "  - "+noteNames[i]+": "+e.Text+"\n")
		}
	}
	for row := 0; row < max(len(lists[0]), len(lists[1]), len(lists[2])); row++ {
		for i := range lists {
			if row < len(lists[i]) {
				out = append(out, lists[i][row])
			}
		}
	}
	return out
}

// noteNames are the words with which the lines of each list begin.
var noteNames = [len(noteLists)]string{"constraint", "decision", "open"}

func (n Notes) closedItems() []string {
	var out []string
	for i, kind := range noteLists {
		for _, e := range slices.Backward(n.Lists[kind]) {
			if c, ok := n.closing(e.ID, e.Key); ok {
				out = append(out, "  - "+noteNames[i]+", closed ("+c.Reason+"): "+e.Text+"\n")
			}
		}
	}
	return out
}

// marked marks the closed entries of a list as closed, and puts them last in the shown order. It
// drops no entry.
func (n Notes) marked(entries []Entry) []Entry {
	var open, closed []Entry
	for _, e := range entries {
		if c, ok := n.closing(e.ID, e.Key); ok {
			e.Text = "closed (" + c.Reason + "): " + e.Text
			closed = append(closed, e)
			continue
		}
		open = append(open, e)
	}
	if closed == nil {
		return entries
	}
	return append(closed, open...) // shown newest, which is last, first
}
