package proxy

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// keep copies a message with all its texts. Without the copy the texts would keep the whole
// request in memory.
func keep(m *memkernel.Message) *memkernel.Message {
	return &memkernel.Message{Key: strings.Clone(m.Key), Role: memkernel.Role(strings.Clone(string(m.Role))), Model: strings.Clone(m.Model), Raw: strings.Clone(m.Raw), Parts: keepParts(m.Parts)}
}

func keepParts(parts []memkernel.Part) []memkernel.Part {
	out := make([]memkernel.Part, len(parts))
	for i, p := range parts {
		p.Text, p.Signature, p.Raw = strings.Clone(p.Text), strings.Clone(p.Signature), strings.Clone(p.Raw)
		if p.Call != nil {
			c := *p.Call
			c.ID, c.Name, c.Input = strings.Clone(c.ID), strings.Clone(c.Name), strings.Clone(c.Input)
			p.Call = &c
		}
		if p.Result != nil {
			r := *p.Result
			r.CallID, r.Name, r.Content = strings.Clone(r.CallID), strings.Clone(r.Name), keepParts(r.Content)
			p.Result = &r
		}
		if p.Media != nil {
			m := *p.Media
			m.Type, m.Data, m.URL = strings.Clone(m.Type), strings.Clone(m.Data), strings.Clone(m.URL)
			p.Media = &m
		}
		out[i] = p
	}
	return out
}
