package transcript

import (
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// requestAssembler collects the values of a request body.
type requestAssembler struct {
	s         *Session
	functions map[string]int // calls of the protocol without ids, by name
}

func (a *requestAssembler) add(rec *Record) {
	a.s.adopt(rec.x)
	if rec.Kind != KindMessage {
		return
	}
	m := rec.Message
	// What opens a chat completions request is its system prompt.
	if m.Role == memkernel.RoleSystem || m.Role == memkernel.RoleDeveloper {
		if len(a.s.Messages) == 0 && a.s.Dialect == OpenAI {
			a.s.System = append(a.s.System, m.Parts...)
			return
		}
	}
	if m.Role == memkernel.RoleAssistant && m.Model != "" {
		a.s.Model = m.Model
	}
	a.number(m)
	a.s.push(*m, flags{})
}

// number tells calls of one function apart where the protocol has no ids: a
// result answers the newest call of its name.
func (a *requestAssembler) number(m *memkernel.Message) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case isCall(p) && strings.HasPrefix(p.Call.ID, functionPrefix):
			if a.functions == nil {
				a.functions = map[string]int{}
			}
			a.functions[p.Call.ID]++
			p.Call.ID += "-" + strconv.Itoa(a.functions[p.Call.ID])
		case isResult(p) && strings.HasPrefix(p.Result.CallID, functionPrefix):
			p.Result.CallID += "-" + strconv.Itoa(a.functions[p.Result.CallID])
		}
	}
}

// finish gives the request's model to the answers in it.
func (a *requestAssembler) finish() {
	for i := range a.s.Messages {
		if m := &a.s.Messages[i]; m.Role == memkernel.RoleAssistant && m.Model == "" {
			m.Model = a.s.Model
		}
	}
}
