package tools

import (
	"context"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// standing is the answer of context_status.
type standing struct {
	said
	// Session is the state of this session, and never of another session.
	Session *sessionStanding `json:"session,omitempty"`
	Memory  *memoryStanding  `json:"memory,omitempty"`
}

type sessionStanding struct {
	Key     string `json:"key"`
	Private bool   `json:"private"`
	Turns   int    `json:"turns"`
	// Pages is the number of pages that can be expanded. Spans is the number of runs of messages
	// that left the prompt.
	Pages int            `json:"pages"`
	Spans int            `json:"spans"`
	Lines []lineStanding `json:"lines"`
}

type lineStanding struct {
	Branch   string `json:"branch,omitempty"`
	Model    string `json:"model"`
	Messages int    `json:"messages"`
	// Tokens is the size of the conversation in its last plan.
	Tokens int `json:"tokens"`
	Cuts   int `json:"cuts"`
}

type memoryStanding struct {
	Enabled  bool      `json:"enabled"`
	Index    string    `json:"index"`
	Files    int64     `json:"files"`
	Chunks   int64     `json:"chunks"`
	Behind   index.Lag `json:"behind"`
	Model    string    `json:"model,omitempty"`
	Sessions bool      `json:"sessions"`
	Watching bool      `json:"watching"`
	// LastSync is the time at which the index was last updated in the background.
	LastSync string `json:"lastSync,omitempty"`
}

func (s *Set) status(ctx context.Context, _ args) (answer, error) {
	se, m, err := s.k.SessionStatus(ctx, s.opts.SessionKey)
	if err != nil {
		return &standing{}, err
	}
	out := &standing{said: said{Reason: reasonOK}, Session: &sessionStanding{Key: s.opts.SessionKey, Private: s.opts.Private, Turns: se.Turns, Pages: se.Pages, Spans: se.Spans, Lines: []lineStanding{}}}
	for _, l := range se.Lines {
		out.Session.Lines = append(out.Session.Lines, lineStanding{l.Branch, l.Model, l.Messages, l.Tokens, l.Cuts})
	}
	out.memory(s, &m)
	return out, nil
}

// memory reports the state of memory. If the state needs attention, it also sets the reason.
func (st *standing) memory(s *Set, m *api.MemoryStatus) {
	ms := &memoryStanding{Enabled: m.Enabled && s.opts.Disabled == "", Index: string(m.Index.State), Files: m.Index.Files, Chunks: m.Index.Chunks,
		Behind: m.Index.Lag, Model: m.Index.Model, Sessions: m.Sessions.Enabled && s.opts.Private, Watching: m.Sync.Watch.On}
	if m.Sync.Last != nil {
		ms.LastSync = m.Sync.Last.Time.UTC().Format("2006-01-02T15:04:05Z")
	}
	st.Memory = ms
	switch {
	case s.opts.Disabled != "":
		st.Reason, st.Detail = reasonDisabled, s.opts.Disabled
	case !m.Enabled:
		st.Reason, st.Detail = reasonDisabled, "memory is switched off"
	case m.Index.State == api.IndexMissing:
		st.Detail = "nothing is indexed yet: the first memory_search does it"
	case m.Index.State != api.IndexOK:
		st.Reason, st.Detail = reasonBackend, "the index is "+string(m.Index.State)
	case m.Index.Behind:
		st.Reason, st.Detail = string(retrieval.StaleIndex), "the index is behind the files"
	}
}
