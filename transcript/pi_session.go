package transcript

import (
	"github.com/memkernel/memkernel"
)

// piAssembler builds the tree of a Pi session. Entries without ids (version 1)
// form a chain in file order.
type piAssembler struct {
	s       *Session
	entries []piEntry
	byID    map[string]int
}

type piEntry struct {
	parent    int // index, -1 at a root
	message   int // index into Session.Messages, -1 if none
	compacts  bool
	keep      int // index of the first kept entry, -1 if none
	hasChild  bool
	armNumber int // which arm covers it, 0 if none
	header    bool
	id        string
}

func (a *piAssembler) add(rec *Record) {
	if rec.Kind == KindBlank || rec.Kind == KindBroken {
		return
	}
	if rec.Type == "session" {
		a.s.adopt(rec.x)
		// Version 1 counts the header as an entry.
		a.entries = append(a.entries, piEntry{parent: -1, message: -1, keep: -1, header: true})
		return
	}
	if _, dup := a.byID[rec.ID]; dup && rec.ID != "" {
		a.s.note("duplicate-record", rec, "entry %s is in the file twice, the first one counts", rec.ID)
		return
	}
	if rec.x.model != "" {
		a.s.Model = rec.x.model
	}
	e := piEntry{parent: a.parent(rec), message: -1, compacts: rec.Kind == KindCompaction, keep: rec.x.keepIndex, id: rec.ID}
	if i, ok := a.byID[rec.x.keepHead]; ok && rec.x.keepHead != "" {
		e.keep = i
	}
	if m := rec.Message; m != nil {
		if m.Role == memkernel.RoleAssistant && m.Model != "" {
			a.s.Model = m.Model
		}
		adopt(a.s.Messages, m)
		e.message = len(a.s.Messages)
		a.s.Messages = append(a.s.Messages, *m)
		a.s.flags = append(a.s.flags, flags{unsent: rec.x.unsent, hostSkip: rec.x.hostSkip})
	}
	if rec.ID != "" {
		a.byID[rec.ID] = len(a.entries)
	}
	a.entries = append(a.entries, e)
}

// parent finds the entry before. An entry whose parent is not in the file
// follows the one before it in the file, so that a lost line costs no history.
func (a *piAssembler) parent(rec *Record) int {
	prev := len(a.entries) - 1
	for prev >= 0 && a.entries[prev].header {
		prev--
	}
	if rec.ID == "" {
		return prev
	}
	if rec.Parent == "" {
		return -1
	}
	if i, ok := a.byID[rec.Parent]; ok {
		return i
	}
	a.s.note("lost-parent", rec, "parent %s is not in the file, the entry before it stands in", rec.Parent)
	return prev
}

// finish walks from the last entry to the root for the main line, then from
// every other leaf to what is covered already, latest first.
func (a *piAssembler) finish() {
	leaf := -1
	for i := range a.entries {
		if p := a.entries[i].parent; p >= 0 {
			a.entries[p].hasChild = true
		}
		if !a.entries[i].header {
			leaf = i
		}
	}
	if leaf < 0 {
		return
	}
	arms := 1
	a.s.lines[""] = a.walk(leaf, arms, "")
	for i := leaf - 1; i >= 0; i-- {
		if e := a.entries[i]; e.header || e.hasChild || e.armNumber != 0 {
			continue
		}
		arms++
		root := i
		for p := a.entries[root].parent; p >= 0 && a.entries[p].armNumber == 0; p = a.entries[p].parent {
			root = p
		}
		branch := "fork:" + a.entries[root].id
		if l := a.walk(i, arms, branch); a.speaks(i, arms) {
			a.s.lines[branch] = l
			a.s.names = append(a.s.names, branch)
		}
	}
}

// speaks tells whether an arm has a message of its own.
func (a *piAssembler) speaks(leaf, arm int) bool {
	for i := leaf; i >= 0 && a.entries[i].armNumber == arm; i = a.entries[i].parent {
		if a.entries[i].message >= 0 {
			return true
		}
	}
	return false
}

// walk makes the line from the root to a leaf and marks what it is the first
// to cover as its own.
func (a *piAssembler) walk(leaf, arm int, branch string) *line {
	var path []int
	for i := leaf; i >= 0; i = a.entries[i].parent {
		path = append(path, i)
		if e := &a.entries[i]; e.armNumber == 0 {
			e.armNumber = arm
			if e.message >= 0 {
				a.s.Messages[e.message].Branch = branch
			}
		}
	}
	l := &line{}
	at := make(map[int]int, len(path)) // entry to position in order
	for k := len(path) - 1; k >= 0; k-- {
		i := path[k]
		e := a.entries[i]
		at[i] = len(l.order)
		if e.compacts {
			l.bounds = append(l.bounds, bound{pos: len(l.order), keep: keepFrom(at, e.keep, len(l.order), a.s, l)})
		}
		if e.message >= 0 {
			l.order = append(l.order, e.message)
		}
	}
	return l
}

// keepFrom lists the positions from the first kept entry up to a compaction,
// without the summaries of earlier ones.
func keepFrom(at map[int]int, first, end int, s *Session, l *line) (keep []int) {
	from, ok := at[first]
	if !ok {
		return nil
	}
	for ; from < end; from++ {
		if s.Messages[l.order[from]].Origin != memkernel.OriginSummary {
			keep = append(keep, from)
		}
	}
	return keep
}
