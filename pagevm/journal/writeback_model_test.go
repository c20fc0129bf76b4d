package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"

	"github.com/memkernel/memkernel"

	"github.com/memkernel/memkernel/internal/store"
)

// model is the contract in its plainest form: for every place the list of values
// that it ever had, copied whole before each transaction.
type model struct {
	values  map[string][]string // "scope/session/key/field/id" to values, oldest first
	pages   map[string]bool     // "scope/session/key" of those that exist
	updates map[string]string   // update reference to the page that it changed
	done    map[string]Receipt
	asked   map[string]string
}

func newModel() *model {
	return &model{map[string][]string{}, map[string]bool{}, map[string]string{}, map[string]Receipt{}, map[string]string{}}
}

func (m *model) copy() *model {
	c := *m
	c.values, c.pages, c.updates = maps.Clone(m.values), maps.Clone(m.pages), maps.Clone(m.updates)
	return &c
}

// The fields of a "note" in the model: kind, limit of entries, guarded.
var modelFields = map[string]struct {
	op      UpdateOp
	max     int
	guarded bool
}{"lines": {OpAppend, 3, false}, "facts": {OpMerge, defaultMaxEntries, true}, "state": {OpSetWithVersion, 1, false}, "pin": {OpSetWithVersion, 1, false}}

func (m *model) commit(t Transaction) Receipt {
	asked := fmt.Sprintf("%+v %v %+v", t.By, t.AllOrNothing, t.Updates)
	if before, ok := m.asked[t.Key]; ok {
		if before != asked {
			return Receipt{Outcome: Conflict}
		}
		r := m.done[t.Key]
		r.Outcome = Duplicate
		return r
	}
	n, r := m.copy(), Receipt{Outcome: Committed, Point: t.Point, Seq: len(m.done) + 1}
	for i, u := range t.Updates {
		id := fmt.Sprint("u", i+1)
		if code := n.apply(t, id, u); code != "" {
			r.Rejected = append(r.Rejected, Rejection{ID: id, Code: code})
		} else {
			r.Accepted = append(r.Accepted, id)
		}
	}
	if len(r.Accepted) == 0 || t.AllOrNothing && len(r.Rejected) > 0 {
		return Receipt{Outcome: refused, Rejected: r.Rejected}
	}
	*m = *n
	m.done[t.Key], m.asked[t.Key] = r, asked
	return r
}

func (m *model) apply(t Transaction, id string, u Update) (code string) {
	owner := u.Session
	if owner == "" {
		owner = t.By.Session
	}
	if u.Scope == memkernel.ScopeProject {
		owner = ""
	}
	page := fmt.Sprintf("%s/%s/%s", u.Scope, owner, u.Key)
	f, ok := modelFields[u.Field]
	var items []item
	if u.Op == OpSetWithVersion {
		items = []item{{"", u.Version, u.Value}}
	} else if json.Unmarshal(u.Value, &items) != nil || len(items) == 0 {
		return CodeSchema
	}
	size := 0
	for at := range m.values {
		if strings.HasPrefix(at, page+"/"+u.Field+"/") {
			size++
		}
	}
	for _, it := range items {
		if m.values[page+"/"+u.Field+"/"+it.ID] == nil {
			size++
		}
		if it.Value[0] != '"' && u.Field != "facts" || u.Field == "pin" && string(it.Value) != `"hard"` && string(it.Value) != `"none"` || u.Field == "lines" && len(it.Value) > 12 {
			return CodeSchema
		}
	}
	if !ok || f.op != u.Op || u.Type == "dream" || u.Type == "" && !m.pages[page] || size > f.max {
		return CodeSchema
	}
	cited, update := m.updates[u.EvidenceRef]
	if strings.HasPrefix(u.EvidenceRef, "update:") && (!update || !strings.HasPrefix(cited, "project/") && !strings.HasPrefix(cited, "session/"+t.By.Session+"/")) ||
		slices.Contains([]string{"", "call:9"}, u.EvidenceRef) {
		return CodeProvenance
	}
	if u.Scope == memkernel.ScopeProject && !t.By.Project || u.Scope == memkernel.ScopeSession && owner != t.By.Session || u.Scope != memkernel.ScopeProject && owner == "" {
		return CodeScope
	}
	pins := m.values[page+"/pin/"]
	pinned := len(pins) > 0 && pins[len(pins)-1] == `"hard"`
	weak := false
	changed := map[string]string{}
	for _, it := range items {
		at := page + "/" + u.Field + "/" + it.ID
		had := m.values[at]
		if u.Op != OpSetWithVersion && len(had) > 0 && had[len(had)-1] == string(it.Value) {
			continue
		}
		if it.Version != len(had) {
			return CodeDestructive
		}
		changed[at] = string(it.Value)
		weak = weak || string(it.Value) == `"x"` || pinned && len(had) > 0 && had[len(had)-1] != string(it.Value) && (f.guarded || u.Field == "pin")
	}
	if weak {
		return CodePolicy
	}
	for at, v := range changed {
		m.values[at] = append(slices.Clip(m.values[at]), v)
		m.updates[updateRef(t.Key, id)], m.pages[page] = page, true
	}
	return ""
}

// valuesOf is the store as the model spells it.
func valuesOf(s *State) map[string][]string {
	out := map[string][]string{}
	for _, p := range s.list(func(Address) bool { return true }) {
		for _, f := range p.Fields {
			for _, e := range f.Entries {
				at := fmt.Sprintf("%s/%s/%s/%s/%s", p.Scope, p.Session, p.Key, f.Name, e.ID)
				for _, v := range e.Versions {
					out[at] = append(out[at], string(v.Value))
				}
			}
		}
	}
	return out
}

// drawUpdate leans towards what is valid: noise is drawn one time in eight.
func drawUpdate(t *rapid.T, keys []string) Update {
	some := func(label, usual string, others ...string) string {
		if rapid.IntRange(0, 7).Draw(t, label+"?") < 7 {
			return usual
		}
		return rapid.SampledFrom(others).Draw(t, label)
	}
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	u := Update{Key: pick("key", "k", "l"), Type: pagevm.Type(some("type", "note", "dream", "")), Field: pick("field", "lines", "facts", "state", "pin")}
	u.Op = UpdateOp(some("op", string(modelFields[u.Field].op), "append", "merge", "set_with_version"))
	u.Field = some("no field", u.Field, "colour")
	u.Scope = memkernel.Scope(pick("scope", "session", "project"))
	u.Session = some("session", "", "A", "B")
	refs := []string{"call:9", "", updateRef("none", "u1")}
	for _, k := range keys {
		refs = append(refs, updateRef(k, "u1"), updateRef(k, "u2"))
	}
	u.EvidenceRef = some("evidence", pick("sound", "call:1", "call:2"), refs...)
	value := func() json.RawMessage {
		v := pick("value", "a", "b", "hard")
		if u.Field == "pin" {
			v = pick("pin", "none", "hard")
		}
		b, _ := json.Marshal(some("odd value", v, "x", "far too long a line"))
		return json.RawMessage(some("no string", string(b), "1"))
	}
	version := rapid.IntRange(0, 2)
	if u.Op == OpSetWithVersion {
		u.Value, u.Version = value(), version.Draw(t, "version")
		return u
	}
	var items []item
	for i := range rapid.IntRange(1, 2).Draw(t, "items") {
		it := item{ID: fmt.Sprint(i, pick("id", "a", "b")), Value: value()}
		if u.Op == OpMerge {
			it.Version = version.Draw(t, "version")
		}
		items = append(items, it)
	}
	u.Value, _ = textutil.JSON(items)
	if u.Op == OpAppend {
		u.Value = json.RawMessage(strings.ReplaceAll(string(u.Value), `"version":0,`, ""))
	}
	return u
}

func drawTransaction(t *rapid.T, key string, keys []string) Transaction {
	x := Transaction{Key: key, Point: rapid.SampledFrom([]CommitPoint{PointEviction, PointDowngrade, PointFlush, PointCompaction, PointReset, PointSessionEnd, pointClose}).Draw(t, "point")}
	x.By = Principal{Session: rapid.SampledFrom([]string{"A", "B", ""}).Draw(t, "by"), Project: rapid.IntRange(0, 3).Draw(t, "project") > 0}
	x.AllOrNothing = rapid.IntRange(0, 3).Draw(t, "whole") == 0
	for range rapid.IntRange(1, 4).Draw(t, "updates") {
		x.Updates = append(x.Updates, drawUpdate(t, append(keys, key)))
	}
	return x
}

// machine drives two open journals of one file, as two processes have, and the
// model beside them.
type machine struct {
	rules *Rules
	path  string
	j     [2]*Journal
	model *model
	txs   []Transaction
	// stood holds every value that was ever seen committed.
	stood map[string][]string
}

func (m *machine) reopen(t failer, i int) {
	j, err := openPath(m.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.j[i] = j
}

func (m *machine) write(t failer, j *Journal, x Transaction) {
	want := m.model.commit(x)
	got := mustWriteback(t, j, m.rules, x)
	got.Stats = store.Stats{}
	if got.Outcome == Duplicate {
		want.Point = got.Point // the first delivery's
	}
	for i := range got.Rejected {
		got.Rejected[i].Detail = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: %s\n%s\n%v", x.Key, diff, x.describe(), m.model.values)
	}
}

func (m *machine) check(t *rapid.T) {
	for i := range m.j {
		if _, err := refreshed(m.j[i]); err != nil {
			t.Fatal(err)
		}
		got := valuesOf(m.j[i].Store())
		if diff := cmp.Diff(m.model.values, got); diff != "" {
			t.Fatalf("journal %d: %s", i, diff)
		}
		for at, before := range m.stood {
			if len(got[at]) < len(before) || !slices.Equal(got[at][:len(before)], before) {
				t.Fatalf("%s was %v and is %v", at, before, got[at])
			}
		}
		m.stood = got
	}
	if diff := cmp.Diff(snapshotOf(t, m.j[0]), snapshotOf(t, m.j[1])); diff != "" {
		t.Fatalf("the two see different states: %s", diff)
	}
	if ro, err := openPath(m.path, &Options{ReadOnly: true}); err != nil || snapshotOf(t, ro) != snapshotOf(t, m.j[0]) {
		t.Fatalf("replay differs: %v", err)
	}
}

func (m *machine) actions() map[string]func(*rapid.T) {
	either := func(t *rapid.T) int { return rapid.IntRange(0, 1).Draw(t, "journal") }
	write := func(t *rapid.T) {
		var keys []string
		for _, x := range m.txs {
			keys = append(keys, x.Key)
		}
		x := drawTransaction(t, fmt.Sprint("t", len(m.txs)), keys)
		m.txs = append(m.txs, x)
		m.write(t, m.j[either(t)], x)
	}
	return map[string]func(*rapid.T){
		"write": write, "write more": write, "write yet more": write,
		"deliver again": func(t *rapid.T) {
			if len(m.txs) == 0 {
				t.Skip("nothing was delivered")
			}
			x := rapid.SampledFrom(m.txs).Draw(t, "again")
			if rapid.Bool().Draw(t, "changed") {
				x.Updates = append(slices.Clip(x.Updates), x.Updates[0])
			}
			x.Point = pointClose
			m.write(t, m.j[either(t)], x)
		},
		"reopen": func(t *rapid.T) { m.reopen(t, either(t)) },
		"compact": func(t *rapid.T) {
			i := either(t)
			before := snapshotOf(t, m.j[i])
			if err := m.j[i].Compact(); err != nil {
				t.Fatal(err)
			}
			if snapshotOf(t, m.j[i]) != before {
				t.Fatal("a compaction changed the store")
			}
			m.reopen(t, 1-i)
		},
		"torn": func(t *rapid.T) {
			f, _ := os.OpenFile(m.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			f.WriteString(`{"v":1,"n":99,"crc":"00000000","rec":{"op":"stag`)
			f.Close()
		},
		"": m.check,
	}
}

// Random transactions, redeliveries, reopenings, compactions and torn tails leave
// what the model holds: codes, versions, histories. No value that was committed is
// lost or changed later, and replay equals the live state.
func TestWritebackModel(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		m := &machine{rules: testRules(t), model: newModel(), path: filepath.Join(dir, fmt.Sprint(n), "journal.jsonl")}
		for i := range m.j {
			m.j[i], _ = openPath(m.path, nil)
			m.reopen(t, i)
		}
		t.Repeat(m.actions())
	})
}

// Equal transactions make equal bytes, whatever journal they go to.
func TestWritebackDeterministic(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		var txs []Transaction
		for i := range rapid.IntRange(1, 6).Draw(t, "transactions") {
			txs = append(txs, drawTransaction(t, fmt.Sprint("t", i), []string{"t0", "t1"}))
		}
		var files [2]string
		for i := range files {
			path := filepath.Join(dir, fmt.Sprint(n, i))
			j, err := openPath(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range txs {
				mustWriteback(t, j, testRules(t), x)
			}
			b, _ := os.ReadFile(path)
			files[i] = string(b) + snapshotOf(t, j)
		}
		if files[0] != files[1] {
			t.Fatalf("%s\n%s", files[0], files[1])
		}
	})
}

func (t Transaction) describe() string {
	b, _, _ := t.stage()
	return string(b)
}
