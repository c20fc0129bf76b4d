package erasure

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
)

// Censor removes quotes from the records of a journal, except from pages. clean returns a text
// without its quotes. Data that derives from the changed records is removed, too. It reports
// whether it found a quote. [Ledger.Erase] removes pages, whose tombstones stay.
func Censor(ctx context.Context, from Session, q Quoting, clean func(string) string) (bool, error) {
	found := false
	for r, err := range from.Journal.Records() {
		if err != nil {
			return false, err
		}
		if _, changed := censored(&r, clean); changed {
			found = true
			break
		}
	}
	if !found {
		return false, ctx.Err()
	}
	_, err := from.Journal.Rewrite(func(r *store.Record) (bool, error) {
		body, changed := censored(r, clean)
		if !changed {
			return true, nil
		}
		r.Body = body
		if r.Op != branch.OpCut {
			return true, nil
		}
		var b branch.Cut // the texts of blocks are named by the hashes of their bytes
		if err := decode(*r, &b); err != nil {
			return false, err
		}
		b.Texts = nil
		raw, err := json.Marshal(b)
		r.Body = raw
		return true, err
	})
	if err != nil {
		return true, err
	}
	q.Derived()
	if err := removeFiles(&from, &Promise{Prompts: true}, true); err != nil {
		return true, err
	}
	if err := from.Sync(); err != nil {
		return true, err
	}
	return true, q.Nets(ctx)
}

// censored returns a record's body with all its texts cleaned, and reports whether the body
// changed. Pages and promises are left as they are.
func censored(r *store.Record, clean func(string) string) (json.RawMessage, bool) {
	switch r.Op {
	case ingest.Op, OpForget, OpForgotten:
		return r.Body, false
	}
	dec := json.NewDecoder(bytes.NewReader(r.Body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return r.Body, false
	}
	changed := false
	v = cleaned(v, clean, &changed)
	if !changed {
		return r.Body, false
	}
	out, err := json.Marshal(v)
	return out, err == nil
}

func cleaned(v any, clean func(string) string, changed *bool) any {
	switch v := v.(type) {
	case string:
		c := clean(v)
		*changed = *changed || c != v
		return c
	case []any:
		for i := range v {
			v[i] = cleaned(v[i], clean, changed)
		}
	case map[string]any:
		for k := range v {
			v[k] = cleaned(v[k], clean, changed)
		}
	}
	return v
}
