package transcript

import (
	"github.com/memkernel/memkernel"
)

// piAssembler builds the tree of a Pi session. Entries without ids (version 1)
// form a chain in file order.
type piAssembler struct {
	session *Session
	entries []piEntry
	byID    map[string]int
}

type piEntry struct {
	parent   int // index, -1 at a root
	message  int // index into Session.Messages, -1 if none
	compacts bool
	keep     int // index of the first kept entry, -1 if none
	hasChild bool
	covered  bool // by an arm
	header   bool
	id       string
}

func piAssemble(l *Session) (add func(*Record), finish func()) {
	a := piAssembler{session: l, byID: map[string]int{}}
	return a.add, a.finish
}

func (a *piAssembler) add(e *Record) {
	if e.Type == "session" {
		a.session.adopt(&e.about)
		// Version 1 counts the header as an entry.
		a.entries = append(a.entries, piEntry{parent: -1, message: -1, keep: -1, header: true})
		return
	}
	if i, dup := a.byID[e.ID]; dup && e.ID != "" {
		if at := a.entries[i].message; a.session.again(e, at, "entry") {
			a.session.flags[at] = e.flags
		}
		return
	}
	a.session.adopt(&e.about)
	own := e.own.(*piExtra)
	n := piEntry{parent: a.parent(e), message: -1, compacts: e.Kind == kindCompaction, keep: own.keepIndex, id: e.ID}
	if i, ok := a.byID[own.keepHead]; ok && own.keepHead != "" {
		n.keep = i
	}
	if m := e.Message; m != nil {
		if m.Role == memkernel.RoleAssistant && m.Model != "" {
			a.session.Model = m.Model
		}
		n.message = a.session.add(*m, e.flags)
	}
	if e.ID != "" {
		a.byID[e.ID] = len(a.entries)
	}
	a.entries = append(a.entries, n)
}

// parent finds the preceding entry. An entry whose parent is not in the file follows the previous
// entry of the file, so that a lost line costs no history.
func (a *piAssembler) parent(e *Record) int {
	prev := len(a.entries) - 1
	for prev >= 0 && a.entries[prev].header {
		prev--
	}
	if e.ID == "" {
		return prev
	}
	if e.Parent == "" {
		return -1
	}
	if i, ok := a.byID[e.Parent]; ok {
		return i
	}
	a.session.note("lost-parent", e, "parent %s is not in the file, the entry before it stands in", e.Parent)
	return prev
}

// finish walks from the last entry to the root to make the main line. Then it walks from every
// other leaf, latest first, up to an entry that already belongs to a line.
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
	a.session.lines[""], _ = a.walk(leaf, "")
	for i := leaf - 1; i >= 0; i-- {
		if e := a.entries[i]; e.header || e.hasChild || e.covered {
			continue
		}
		root := i
		for p := a.entries[root].parent; p >= 0 && !a.entries[p].covered; p = a.entries[p].parent {
			root = p
		}
		branch := "fork:" + a.entries[root].id
		if l, speaks := a.walk(i, branch); speaks {
			a.session.arm(branch, l)
		}
	}
}

// walk makes the line from the root to a leaf. It assigns to this line all its entries that are on
// no other line. speaks reports whether one of these has a message.
func (a *piAssembler) walk(leaf int, branch string) (l *sessionLine, speaks bool) {
	var path []int
	for i := leaf; i >= 0; i = a.entries[i].parent {
		path = append(path, i)
		if e := &a.entries[i]; !e.covered {
			e.covered = true
			if e.message >= 0 {
				speaks = true
				a.session.Messages[e.message].Branch = branch
			}
		}
	}
	l = &sessionLine{}
	at := make(map[int]int, len(path)) // entry to position in order
	for k := len(path) - 1; k >= 0; k-- {
		i := path[k]
		e := a.entries[i]
		at[i] = len(l.Order)
		if e.compacts {
			l.Bounds = append(l.Bounds, boundary{Pos: len(l.Order), Keep: piKeepFrom(at, e.keep, len(l.Order), a.session, l)})
		}
		if e.message >= 0 {
			l.Order = append(l.Order, e.message)
		}
	}
	return l, speaks
}

// piKeepFrom lists the positions from the first kept entry up to a compaction,
// without the summaries of earlier ones.
func piKeepFrom(at map[int]int, first, end int, log *Session, l *sessionLine) (keep []int) {
	from, ok := at[first]
	if !ok {
		return nil
	}
	for ; from < end; from++ {
		if log.Messages[l.Order[from]].Origin != memkernel.OriginSummary {
			keep = append(keep, from)
		}
	}
	return keep
}
