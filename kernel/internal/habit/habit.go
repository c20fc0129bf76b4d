// Package habit keeps the recent actions of each agent's newest sessions, which the agent's next
// session may repeat. The record only helps to choose. A file that can't be read is replaced by a
// new one, and of two concurrent writes one may be lost.
package habit

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// Book holds the habits of the agents of a state directory.
type Book struct {
	state store.Store
	// One writer of this process at a time. The slot is a channel, so that tests with their own
	// clock see the goroutines that wait for a writer.
	slot chan struct{}
}

// In returns the book of a state directory.
func In(state store.Store) *Book { return &Book{state: state, slot: make(chan struct{}, 1)} }

// Did is a session's record so far.
type Did struct {
	// Pauses are the long gaps between the session's calls, in order, in seconds.
	Pauses []int `json:"pauses,omitempty"`
}

const (
	// Name is the name of the document.
	Name = "habits.json"
	// most sessions of an agent, and most agents, the newest, and most pauses of a session.
	most       = 8
	mostAgents = 64
	mostPauses = 32
	// least is the shortest pause that is kept. No provider's cache is known to live shorter.
	least = 5 * time.Minute
)

// file is the stored form of the book, newest session last.
type file struct {
	Version int     `json:"version"`
	Agents  []agent `json:"agents"`
}

type agent struct {
	Agent    string    `json:"agent"`
	Sessions []session `json:"sessions"`
}

type session struct {
	// ID is the hash of a session's name, so that the name itself is not kept.
	ID string `json:"id"`
	Did
}

// idOf returns a session's id in the book.
func idOf(session string) string { return ids.Hash(session)[:16] }

// read returns the file, or an empty one if the file is missing or damaged. It returns an error
// if the file can't be read now.
func (b *Book) read() (f file, newer bool, err error) {
	raw, err := b.state.Get(Name)
	if store.OutOfReach(err) {
		return file{}, false, err
	}
	if err != nil || json.Unmarshal(raw, &f) != nil {
		return file{}, false, nil
	}
	if f.Version > 1 {
		return file{}, true, nil
	}
	return f, false, nil
}

// Earlier returns the records of an agent's newest other sessions. It returns nothing if the
// records can't be read. The plan is then made as for the agent's first session.
func (b *Book) Earlier(of, except string) []Did {
	f, _, _ := b.read()
	i := slices.IndexFunc(f.Agents, func(a agent) bool { return a.Agent == of })
	if i < 0 {
		return nil
	}
	var out []Did
	for _, s := range f.Agents[i].Sessions {
		if s.ID != idOf(except) {
			out = append(out, s.Did)
		}
	}
	return out
}

// Note keeps a session's record so far.
func (b *Book) Note(of, name string, did Did) error {
	b.slot <- struct{}{}
	defer func() { <-b.slot }()
	f, newer, err := b.read()
	if newer || err != nil {
		return err // a newer version wrote the file, which is left alone
	}
	i := slices.IndexFunc(f.Agents, func(a agent) bool { return a.Agent == of })
	a := agent{Agent: of}
	if i >= 0 {
		a = f.Agents[i]
		f.Agents = slices.Delete(f.Agents, i, i+1)
	}
	id := idOf(name)
	if j := slices.IndexFunc(a.Sessions, func(s session) bool { return s.ID == id }); j >= 0 {
		if reflect.DeepEqual(a.Sessions[j].Did, did) {
			return nil
		}
		a.Sessions = slices.Delete(a.Sessions, j, j+1)
	}
	a.Sessions = newest(append(a.Sessions, session{id, did}), most)
	f.Version, f.Agents = 1, newest(append(f.Agents, a), mostAgents)
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = b.state.Put(store.Unsynced, store.Doc{Name: Name, Data: append(raw, '\n')})
	return err
}

// newest returns the last n.
func newest[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// PausesOf returns the pauses of a pace.
func PausesOf(p cachelayout.Pace) []int {
	var out []int
	for _, g := range p.Idle {
		if g >= least {
			out = append(out, int(g/time.Second))
		}
	}
	return newest(out, mostPauses)
}

// Pace returns the pauses of a session.
func (d Did) Pace() cachelayout.Pace {
	p := cachelayout.Pace{Calls: len(d.Pauses)}
	for _, s := range d.Pauses {
		p.Idle = append(p.Idle, time.Duration(s)*time.Second)
	}
	return p
}
