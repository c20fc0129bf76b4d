package session

import (
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
)

// branches are the conversations of a session.
type branches struct {
	// All are the conversations that were planned. The holder of the session may replace a
	// conversation.
	All map[branch.Key]*branch.State

	session string                       // the session's key
	heard   map[branch.Key]*ingest.Heard // the observed part of conversations that are not planned here
	// cut has the conversations that were cut.
	cut map[branch.Key]bool
	// lost is the reason why no projection could be read.
	lost error
}

// drop forgets all states.
func (b *branches) drop() {
	b.All, b.heard = map[branch.Key]*branch.State{}, map[branch.Key]*ingest.Heard{}
}

// Of returns the state of a conversation. It returns a new state if the conversation has none
// yet.
func (b *branches) Of(name, model string) *branch.State {
	if l := b.All[branch.Key{Branch: name, Model: model}]; l != nil {
		return l
	}
	return branch.New(b.session, name, model)
}

// Switched returns the conversation of a branch that had the newest request, if that request went
// to another model and model has had no request. Otherwise it returns nil.
func (b *branches) Switched(name, model string) *branch.State {
	if b.All[branch.Key{Branch: name, Model: model}] != nil {
		return nil
	}
	var last *branch.State
	for key, l := range b.All {
		if key.Branch == name && !l.Ledger.LastStart.IsZero() && (last == nil || l.Ledger.LastStart.After(last.Ledger.LastStart)) {
			last = l
		}
	}
	return last
}

// Newest returns the conversation of a branch with a model. If model is "", it returns the
// branch's most advanced conversation.
func (b *branches) Newest(name, model string) *branch.State {
	if model != "" {
		return b.Of(name, model)
	}
	best := b.Of(name, "")
	for key, l := range b.All {
		if key.Branch == name && (len(l.Proj.Seen) > len(best.Proj.Seen) || len(l.Proj.Seen) == len(best.Proj.Seen) && key.Model < best.Model) {
			best = l
		}
	}
	return best
}

// Hearing returns the conversation that a turn continues: a planned conversation, or the observed
// part of a conversation that is not planned here. It removes the observed part from the session.
// The caller must put it back by Hear after the turn was ingested.
func (b *branches) Hearing(name, model string) (*branch.State, *ingest.Heard) {
	key := branch.Key{Branch: name, Model: model}
	on, h := b.All[key], b.heard[key]
	delete(b.heard, key)
	switch {
	case on != nil && len(on.Raw) > 0:
		return on, nil // this process planned the conversation
	case h == nil || h.On != on:
		h = &ingest.Heard{On: on, State: b.Of(name, model)}
	}
	return nil, h
}

// Hear puts the heard part of a conversation back.
func (b *branches) Hear(name, model string, h *ingest.Heard) {
	b.heard[branch.Key{Branch: name, Model: model}] = h
}

// Lost returns why a conversation lacks a projection that it should have, or "" if none is missing.
func (b *branches) Lost(key branch.Key) string {
	switch {
	case b.lost != nil:
		return b.lost.Error()
	case b.cut[key] && b.All[key] == nil:
		return folder.RecordsFile + " does not hold a conversation that was cut"
	}
	return ""
}
