package session

import (
	"encoding/json"
	"fmt"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// Masked assigns each update an id and masks its secrets. It first checks that all updates have
// one scope and that no update has one of the kernel's own types.
func Masked(m *mask.Masker, in []journal.Update) ([]journal.Update, memkernel.Scope, error) {
	var scope memkernel.Scope
	out := make([]journal.Update, len(in))
	for i, u := range in {
		if u.ID == "" {
			u.ID = fmt.Sprint("u", i+1)
		}
		if bookkeeping(u.Type) {
			return nil, scope, fmt.Errorf("update %q: pages of type %q are the kernel's own", u.ID, u.Type)
		}
		if i > 0 && u.Scope != scope {
			return nil, scope, fmt.Errorf("update %q is of scope %q and those before it of %q: write them one after the other", u.ID, u.Scope, scope)
		}
		scope = u.Scope
		u.Value = maskJSON(m, u.Value)
		out[i] = u
	}
	return out, scope, nil
}

// maskJSON masks the secrets in a JSON value. It begins with the secrets that the value's names
// reveal. Invalid JSON is masked as text, and the journal refuses it.
func maskJSON(m *mask.Masker, raw json.RawMessage) json.RawMessage {
	masked, n := m.Mask(string(raw))
	if n == 0 {
		return raw
	}
	if !json.Valid([]byte(masked)) && json.Valid(raw) {
		out, changed := editJSON(raw, func(map[string]any) bool { return false }, func(_, t string) string { return m.Text(t) })
		if changed {
			return out
		}
	}
	return json.RawMessage(masked)
}
