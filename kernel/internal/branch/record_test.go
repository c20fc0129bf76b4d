package branch

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// fill sets every field of a struct, however deep, to something that is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(1.25)
	}
}

// shown is a projection of so many messages, each its own item.
func shown(n int) *pagevm.Projection {
	p := *New("s", "b", "m").Proj
	for i := range n {
		key := string(rune('a' + i))
		p.Seen = append(p.Seen, pagevm.Seen{Key: key, Hash: key})
		p.Items = append(p.Items, pagevm.Item{Kind: pagevm.ItemHost, Key: key, Page: key, Hash: key, Tokens: 10, Positions: 1, Level: pagevm.Full})
	}
	return &p
}

// What a record keeps of a state comes back from it, field by field, whatever fields there
// are; and a call that stayed is not written again, and stays known with its tools.
func TestRecordKeepsAllOfAState(t *testing.T) {
	on := New("s", "b", "m")
	next := *on
	fill(reflect.ValueOf(&next.carried).Elem())
	fill(reflect.ValueOf(&next.sent).Elem())
	next.Plan, next.Proj, next.Spans = "pl-1", shown(3), []Span{{ID: "sp-1", Keys: []string{"a"}, Pages: []string{"a"}}}
	next.Tools = []memkernel.Tool{{Raw: "{}"}}
	after := func(before, next *State) *State {
		t.Helper()
		raw, err := json.Marshal(next.Diff(before, 1, nil, true))
		if err != nil {
			t.Fatal(err)
		}
		var b Record
		if err := json.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		return before.Apply("s", &b)
	}
	got := after(on, &next)
	if d := cmp.Diff([]any{next.Plan, next.carried, next.sent, next.Spans, next.Proj}, []any{got.Plan, got.carried, got.sent, got.Spans, got.Proj}); d != "" {
		t.Errorf("read back (-written +read):\n%s", d)
	}
	later := next
	later.Plan, later.Proj, later.Pace = "pl-2", shown(5), next.Pace.Add(time.Hour)
	if b := later.Diff(&next, 1, nil, false); b.Call != nil || b.KeepSeen != 3 || len(b.Seen) != 2 || b.NewCarry || len(b.Pace.Idle) != 1 {
		t.Errorf("what stayed is written again: %+v", b)
	}
	if d := cmp.Diff(later.sent, after(&next, &later).sent); d != "" {
		t.Errorf("read back (-written +read):\n%s", d)
	}
	if got := after(&next, &later); got.Call == nil || *got.Call != *next.Call || len(got.Tools) != 1 {
		t.Errorf("the call is %+v with %d tools, want what it was", got.Call, len(got.Tools))
	}
	other := *later.Call
	other.ContextWindow++
	later.Call = &other
	if got := after(&next, &later); got.Call == nil || got.Tools != nil {
		t.Error("another call is taken for the one with the tools")
	}
}

// A record that goes on from more than there is begins anew.
func TestRecordThatDoesNotFit(t *testing.T) {
	s := New("s", "b", "m")
	s.Proj = shown(2)
	for _, b := range []*Record{{Branch: "b", Model: "m", KeepSeen: 3}, {Branch: "b", Model: "m", KeepIdle: 1}} {
		b.Plan = "pl-1"
		if got := s.Apply("s", b); len(got.Proj.Seen) != 0 || got.Plan != "" {
			t.Errorf("%+v: %d messages are taken for seen", b, len(got.Proj.Seen))
		}
	}
}
