package turn

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
)

// habits keep the pauses of each agent's newest sessions, which the agent's next session may
// repeat. They only help to choose cache lifetimes. A file that can't be read is replaced by a new
// one, and of two concurrent writes one may be lost.
type habits struct {
	state store.Store
	// slot admits one writer of this process at a time. It is a channel, so that tests with their
	// own clock see the goroutines that wait for it.
	slot chan struct{}
}

// HabitsIn returns the habits of the agents of a state directory.
func HabitsIn(state store.Store) *habits { return &habits{state: state, slot: make(chan struct{}, 1)} }

const (
	// HabitsFile is the name of the document.
	HabitsFile = "habits.json"
	// The habits of at most habitAgents agents are kept. Each has at most its newest habitSessions
	// sessions, and each session its newest habitPauses pauses.
	habitSessions = 8
	habitAgents   = 64
	habitPauses   = 32
	// leastPause is the shortest pause that is kept. No provider's cache is known to expire sooner.
	leastPause = 5 * time.Minute
)

// storedHabits is the stored form of the habits, newest session last.
type storedHabits struct {
	Version int           `json:"version"`
	Agents  []agentHabits `json:"agents"`
}

type agentHabits struct {
	Agent    string          `json:"agent"`
	Sessions []sessionHabits `json:"sessions"`
}

type sessionHabits struct {
	// ID is the hash of a session's name, so that the name itself is not kept.
	ID string `json:"id"`
	// Pauses are the long gaps between the session's calls, in order, in seconds.
	Pauses []int `json:"pauses,omitempty"`
}

// habitID returns a session's id among the habits.
func habitID(session string) string { return ingest.Hash(session)[:16] }

// read returns the file, or an empty one if the file is missing or damaged. It returns an error
// if the file can't be read now.
func (b *habits) read() (f storedHabits, newer bool, err error) {
	raw, err := b.state.Get(HabitsFile)
	if store.OutOfReach(err) {
		return storedHabits{}, false, err
	}
	if err != nil || json.Unmarshal(raw, &f) != nil {
		return storedHabits{}, false, nil
	}
	if f.Version > 1 {
		return storedHabits{}, true, nil
	}
	return f, false, nil
}

// Earlier returns the paces of an agent's newest other sessions. It returns nothing if the records
// can't be read. The plan is then made as for the agent's first session.
func (b *habits) Earlier(of, except string) (out []cachelayout.Pace) {
	f, _, _ := b.read()
	for _, a := range f.Agents {
		for _, s := range a.Sessions {
			if a.Agent != of || s.ID == habitID(except) {
				continue
			}
			p := cachelayout.Pace{Calls: len(s.Pauses)}
			for _, n := range s.Pauses {
				p.Idle = append(p.Idle, time.Duration(n)*time.Second)
			}
			out = append(out, p)
		}
	}
	return out
}

// Note stores a session's pauses so far.
func (b *habits) Note(of, name string, pauses []int) error {
	b.slot <- struct{}{}
	defer func() { <-b.slot }()
	f, newer, err := b.read()
	if newer || err != nil {
		return err // a newer version wrote the file, which is left alone
	}
	i := slices.IndexFunc(f.Agents, func(a agentHabits) bool { return a.Agent == of })
	a := agentHabits{Agent: of}
	if i >= 0 {
		a = f.Agents[i]
		f.Agents = slices.Delete(f.Agents, i, i+1)
	}
	id := habitID(name)
	if j := slices.IndexFunc(a.Sessions, func(s sessionHabits) bool { return s.ID == id }); j >= 0 {
		if slices.Equal(a.Sessions[j].Pauses, pauses) {
			return nil
		}
		a.Sessions = slices.Delete(a.Sessions, j, j+1)
	}
	a.Sessions = newest(append(a.Sessions, sessionHabits{id, pauses}), habitSessions)
	f.Version, f.Agents = 1, newest(append(f.Agents, a), habitAgents)
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = b.state.Put(store.Unsynced, store.Doc{Name: HabitsFile, Data: append(raw, '\n')})
	return err
}

// newest returns the last n elements of all.
func newest[T any](all []T, n int) []T { return all[max(0, len(all)-n):] }

// pausesOf returns the newest pauses of a pace, in seconds.
func pausesOf(p cachelayout.Pace) []int {
	var out []int
	for _, g := range p.Idle {
		if g >= leastPause {
			out = append(out, int(g/time.Second))
		}
	}
	return newest(out, habitPauses)
}
