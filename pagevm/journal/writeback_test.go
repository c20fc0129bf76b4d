package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"

	"github.com/memkernel/memkernel/internal/store"
)

// testEvidence resolves "call:1" to "call:3".
func testEvidence(ref string) bool { return ref == "call:1" || ref == "call:2" || ref == "call:3" }

// testSchema has short limits beside the default types.
func testSchema() Schema {
	s := DefaultSchema()
	s["note"] = TypeSpec{Scopes: []memkernel.Scope{memkernel.ScopeSession, memkernel.ScopeProject}, Fields: map[string]FieldSpec{
		"lines": {Kind: KindList, Value: "string", MaxBytes: 12, MaxEntries: 3},
		"facts": {Kind: KindMap, Value: "any", Guarded: true},
		"state": {Kind: KindScalar, Value: "string"},
		"count": {Kind: KindScalar, Value: "integer"},
		"size":  {Kind: KindScalar, Value: "number"},
		"level": {Kind: KindScalar, Value: "string", Ranks: []string{"low", "high"}},
		"pin":   {Kind: KindScalar, Value: "string", Ranks: []string{"none", "hard"}},
	}}
	return s
}

// failer is a test, or a property's.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func testRules(t failer) *Rules {
	noX := Policy{Name: "no-x", Refuse: func(p Proposal) string {
		for id, v := range p.Values {
			if string(v) == `"x"` {
				return fmt.Sprintf("%q is an x", id)
			}
		}
		return ""
	}}
	return &Rules{testSchema(), testEvidence, []Policy{noX}}
}

var alice = Principal{Name: "alice", Session: "A", Project: true}

func note(field string, op UpdateOp, value string) Update {
	return Update{Key: "k", Type: "note", Field: field, Op: op, Value: json.RawMessage(value), Scope: memkernel.ScopeSession, EvidenceRef: "call:1"}
}

func with(u Update, change func(*Update)) Update { change(&u); return u }

func set(field, value string, version int) Update {
	return with(note(field, OpSetWithVersion, value), func(u *Update) { u.Version = version })
}

func tx(key string, us ...Update) Transaction {
	return Transaction{Key: key, Point: PointFlush, By: alice, Updates: us, Time: time.Unix(1000, 0)}
}

func mustWriteback(t failer, j *Journal, r *Rules, x Transaction) Receipt {
	t.Helper()
	out, err := j.Writeback(x, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func snapshotOf(t failer, j *Journal) string {
	b, err := j.Store().Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Each update meets a store that already holds a few things, and is judged alone.
func TestWritebackCodes(t *testing.T) {
	r := testRules(t)
	long := `"` + strings.Repeat("a", 11) + `"`
	other := func(u *Update) { u.Session = "B" }
	for _, tc := range []struct {
		name string
		u    Update
		code string // "" is accepted
		say  string
	}{
		{"append", note("lines", OpAppend, `[{"id":"2","value":"b"}]`), "", ""},
		{"append again", note("lines", OpAppend, `[{"id":"1","value":"a"}]`), "", ""},
		{"append, type left out", with(note("lines", OpAppend, `[{"id":"2","value":"b"}]`), func(u *Update) { u.Type = "" }), "", ""},
		{"merge new", note("facts", OpMerge, `[{"id":"os","value":"linux"}]`), "", ""},
		{"merge next version", note("facts", OpMerge, `[{"id":"lang","version":1,"value":"rust"}]`), "", ""},
		{"merge same value, no version", note("facts", OpMerge, `[{"id":"lang","value":"go"}]`), "", ""},
		{"set next", set("state", `"done"`, 1), "", ""},
		{"integer is a number", set("size", `3`, 0), "", ""},
		{"committed update as evidence", with(set("state", `"s"`, 1), func(u *Update) { u.EvidenceRef = updateRef("setup", "u1") }), "", ""},

		{"unknown type", with(set("state", `"s"`, 0), func(u *Update) { u.Type, u.Key = "dream", "new" }), CodeSchema, `type "dream"`},
		{"new page, no type", with(set("state", `"s"`, 0), func(u *Update) { u.Type, u.Key = "", "new" }), CodeSchema, "no field"},
		{"other type", with(set("goal", `"s"`, 0), func(u *Update) { u.Type = pagevm.Plan }), CodeSchema, "is a note page"},
		{"unknown field", set("colour", `"red"`, 0), CodeSchema, `no field "colour"`},
		{"unknown operation", note("lines", "delete", `[{"id":"1"}]`), CodeSchema, "delete"},
		{"operation of another kind", set("lines", `[]`, 0), CodeSchema, "list"},
		{"no value", set("state", ``, 1), CodeSchema, "needs a value"},
		{"null", set("state", `null`, 1), CodeSchema, "needs a value"},
		{"wrong type of value", set("count", `1.5`, 0), CodeSchema, "type integer"},
		{"no JSON", set("state", `{"a":`, 1), CodeSchema, "not JSON"},
		{"no JSON, any value", note("facts", OpMerge, "\xff"), CodeSchema, "not JSON"},
		{"null among any", note("facts", OpMerge, `[{"id":"a","value":null}]`), CodeSchema, "no value"},
		{"too long", note("lines", OpAppend, `[{"id":"2","value":`+long+`}]`), CodeSchema, "13 bytes"},
		{"too many", note("lines", OpAppend, `[{"id":"2","value":"b"},{"id":"3","value":"c"},{"id":"4","value":"d"}]`), CodeSchema, "4 entries"},
		{"entries are no list", note("lines", OpAppend, `{"id":"2"}`), CodeSchema, "list of entries"},
		{"no entries", note("lines", OpAppend, `[]`), CodeSchema, "at least one"},
		{"entry without id", note("lines", OpAppend, `[{"value":"b"}]`), CodeSchema, "id has 1 to"},
		{"entry twice", note("lines", OpAppend, `[{"id":"2","value":"b"},{"id":"2","value":"b"}]`), CodeSchema, "two entries"},
		{"entry with more", note("lines", OpAppend, `[{"id":"2","value":"b","delete":true}]`), CodeSchema, "delete"},
		{"version of an append", note("lines", OpAppend, `[{"id":"2","version":1,"value":"b"}]`), CodeSchema, "means nothing"},
		{"version of a list", with(note("lines", OpAppend, `[{"id":"2","value":"b"}]`), func(u *Update) { u.Version = 1 }), CodeSchema, "no version"},
		{"negative version", set("state", `"s"`, -1), CodeSchema, "from 0 on"},
		{"none of the ranks", set("level", `"highest"`, 0), CodeSchema, "low, high"},
		{"no key", with(set("state", `"s"`, 0), func(u *Update) { u.Key = "" }), CodeSchema, "key"},

		{"no evidence", with(set("state", `"s"`, 1), func(u *Update) { u.EvidenceRef = "" }), CodeProvenance, "no evidence"},
		{"dangling", with(set("state", `"s"`, 1), func(u *Update) { u.EvidenceRef = "call:9" }), CodeProvenance, "names nothing"},
		{"itself as evidence", with(set("state", `"s"`, 1), func(u *Update) { u.EvidenceRef = updateRef("x", "u1") }), CodeProvenance, "was committed before"},

		{"another session's", with(set("state", `"s"`, 0), other), CodeScope, `session "B"`},
		{"scope of the type", with(set("goal", `"s"`, 0), func(u *Update) { u.Key, u.Type, u.Scope = "p", pagevm.Plan, "project" }), CodeScope, "may not stand"},
		{"unknown scope", with(set("state", `"s"`, 0), func(u *Update) { u.Scope = "world" }), CodeScope, "world"},

		{"append over another value", note("lines", OpAppend, `[{"id":"1","value":"z"}]`), CodeDestructive, "another value"},
		{"merge without version", note("facts", OpMerge, `[{"id":"lang","value":"rust"}]`), CodeDestructive, "version 0, the last committed is 1"},
		{"set, stale", set("state", `"s"`, 0), CodeDestructive, "version 0, the last committed is 1"},
		{"set, from the future", set("state", `"s"`, 7), CodeDestructive, "version 7"},
		{"set same value, stale", set("state", `"begun"`, 0), CodeDestructive, ""},

		{"host's policy", set("state", `"x"`, 1), CodePolicy, `policy "no-x"`},
		{"guarded field of a pinned page", with(note("facts", OpMerge, `[{"id":"a","version":1,"value":2}]`), func(u *Update) { u.Key = "pinned" }), CodePolicy, "hard-pinned"},
		{"more on a pinned page", with(note("facts", OpMerge, `[{"id":"b","value":2}]`), func(u *Update) { u.Key = "pinned" }), "", ""},
		{"unpin", with(set("pin", `"none"`, 1), func(u *Update) { u.Key = "pinned" }), CodePolicy, "pin can't be taken back"},
		{"lower rank", with(set("level", `"low"`, 1), func(u *Update) { u.Key = "pinned" }), CodePolicy, "level"},
		{"constraint's text", with(set("text", `"Maybe."`, 1), func(u *Update) { u.Key, u.Type = "rule", pagevm.Constraint }), CodePolicy, "hard-pinned"},
		{"constraint's reason", with(set("reason", `"Because."`, 0), func(u *Update) { u.Key, u.Type = "rule", pagevm.Constraint }), "", ""},
		{"constraint weakened by its pin", with(set("pin", `"soft"`, 1), func(u *Update) { u.Key, u.Type = "rule", pagevm.Constraint }), CodePolicy, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			j := openTestJournal(t, path)
			setup := tx("setup", note("lines", OpAppend, `[{"id":"1","value":"a"}]`), note("facts", OpMerge, `[{"id":"lang","value":"go"}]`), set("state", `"begun"`, 0))
			for _, u := range []Update{note("facts", OpMerge, `[{"id":"a","value":1}]`), set("pin", `"hard"`, 0), set("level", `"high"`, 0)} {
				u.Key = "pinned"
				setup.Updates = append(setup.Updates, u)
			}
			for _, u := range []Update{set("text", `"Never."`, 0), set("pin", `"hard"`, 0)} {
				u.Key, u.Type = "rule", pagevm.Constraint
				setup.Updates = append(setup.Updates, u)
			}
			if out := mustWriteback(t, j, r, setup); len(out.Rejected) > 0 {
				t.Fatalf("%+v", out)
			}
			before := snapshotOf(t, j)
			out := mustWriteback(t, j, r, tx("x", tc.u))
			switch {
			case tc.code == "":
				if out.Outcome != Committed || len(out.Rejected) > 0 {
					t.Errorf("%+v", out)
				}
			case out.Outcome != refused || len(out.Rejected) != 1 || out.Rejected[0].Code != tc.code || !strings.Contains(out.Rejected[0].Detail, tc.say):
				t.Errorf("%+v, want %s: %s", out, tc.code, tc.say)
			case snapshotOf(t, j) != before:
				t.Error("a rejected update changed the store")
			default:
				last := readAll(t, j)[j.Len()-1]
				var kept Rejection
				if json.Unmarshal(last.Body, &kept); last.Op != OpRejected || last.ID != "x" || kept.Code != tc.code || len(kept.Body) == 0 {
					t.Errorf("the journal ends with %+v", last)
				}
			}
			if again := openTestJournal(t, path); snapshotOf(t, again) != snapshotOf(t, j) {
				t.Error("replay differs")
			}
		})
	}
}

// The first check that fails names the code.
func TestWritebackOrderOfChecks(t *testing.T) {
	j, r := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl")), testRules(t)
	mustWriteback(t, j, r, tx("setup", with(set("text", `"Never."`, 0), func(u *Update) { u.Key, u.Type = "rule", pagevm.Constraint })))
	u := set("txt", `"x"`, 9)
	u.Key, u.Type, u.EvidenceRef = "rule", pagevm.Constraint, "call:9"
	by := Principal{Name: "mallory", Session: "A"}
	mend := []struct {
		code string
		do   func()
	}{
		{CodeSchema, func() { u.Field = "text" }},
		{CodeProvenance, func() { u.EvidenceRef = "call:1" }},
		{CodeScope, func() { u.Session = "" }},
		{CodeDestructive, func() { u.Version = 1 }},
		{CodePolicy, func() { u.Field, u.Version, u.Value = "reason", 0, json.RawMessage(`"fine"`) }},
	}
	for i, m := range mend {
		if i == 2 {
			// A private page of another session holds nothing for this one.
			u.Session = "B"
		}
		out := mustWriteback(t, j, r, Transaction{Key: fmt.Sprint(i), Point: pointClose, By: by, Updates: []Update{u}})
		if len(out.Rejected) != 1 || out.Rejected[0].Code != m.code {
			t.Errorf("want %s, got %+v", m.code, out)
		}
		m.do()
	}
	if out := mustWriteback(t, j, r, Transaction{Key: "last", Point: pointClose, By: by, Updates: []Update{u}}); out.Outcome != Committed {
		t.Errorf("%+v", out)
	}
}

func TestWritebackPrincipals(t *testing.T) {
	j, r := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl")), testRules(t)
	shared := with(set("state", `"s"`, 0), func(u *Update) { u.Scope = memkernel.ScopeProject })
	private := set("state", `"p"`, 0)
	for i, tc := range []struct {
		by   Principal
		u    Update
		want Outcome
	}{
		{Principal{}, private, refused},
		{Principal{Session: "A"}, shared, refused},
		{Principal{Project: true}, private, refused},
		{Principal{Project: true}, shared, Committed},
		{Principal{Session: "A"}, private, Committed},
		{Principal{Session: "B"}, private, Committed}, // a page of its own
		{Principal{Session: "B"}, with(note("lines", OpAppend, `[{"id":"1","value":"b"}]`), func(u *Update) { u.EvidenceRef = updateRef("t4", "u1") }), refused},
		{Principal{Session: "B"}, with(note("lines", OpAppend, `[{"id":"1","value":"b"}]`), func(u *Update) { u.EvidenceRef = updateRef("t3", "u1") }), Committed},
	} {
		out := mustWriteback(t, j, r, Transaction{Key: fmt.Sprint("t", i), Point: PointFlush, By: tc.by, Updates: []Update{tc.u}})
		if out.Outcome != tc.want {
			t.Errorf("%d: %+v", i, out)
		}
	}
	count := func(session string) int { return len(j.Store().Pages(session)) }
	if count("") != 1 || count("A") != 2 || count("B") != 2 {
		t.Errorf("seen: %d, %d, %d", count(""), count("A"), count("B"))
	}
}

func TestWritebackPartialAndWhole(t *testing.T) {
	j, r := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl")), testRules(t)
	mixed := tx("mixed", set("state", `"one"`, 0), set("state", `"stale"`, 0), set("state", `"two"`, 1), set("colour", `1`, 0),
		with(note("lines", OpAppend, `[{"id":"1","value":"a"}]`), func(u *Update) { u.EvidenceRef = updateRef("mixed", "u3") }),
		with(note("lines", OpAppend, `[{"id":"2","value":"b"}]`), func(u *Update) { u.EvidenceRef = updateRef("mixed", "u2") }),
		with(note("lines", OpAppend, `[{"id":"3","value":"c"}]`), func(u *Update) { u.EvidenceRef = updateRef("mixed", "u8") }))
	whole := mixed
	whole.Key, whole.AllOrNothing = "whole", true
	out := mustWriteback(t, j, r, whole)
	if out.Outcome != refused || out.Seq != 0 || len(j.Store().Pages("A")) != 0 {
		t.Errorf("all or nothing: %+v", out)
	}
	want := Receipt{Outcome: Committed, Seq: 1, Point: PointFlush, Accepted: []string{"u1", "u3", "u5"}}
	out = mustWriteback(t, j, r, mixed)
	codes := map[string]string{}
	for _, x := range out.Rejected {
		codes[x.ID] = x.Code
	}
	if diff := cmp.Diff(map[string]string{"u2": CodeDestructive, "u4": CodeSchema, "u6": CodeProvenance, "u7": CodeProvenance}, codes); diff != "" {
		t.Error(diff)
	}
	rejected := out.Rejected
	out.Rejected, out.Stats = nil, store.Stats{}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Error(diff)
	}
	p, _ := j.Store().Page(Address{memkernel.ScopeSession, "A", "k"})
	f, _ := p.Field("state")
	if len(f.Entries) != 1 || string(f.Entries[0].Current().Value) != `"two"` || len(f.Entries[0].Versions) != 2 || p.Version != 3 {
		t.Errorf("%+v", p)
	}
	// The second delivery, at another boundary, is answered like the first.
	mixed.Point = pointClose
	out = mustWriteback(t, j, r, mixed)
	if out.Outcome != Duplicate || out.Seq != 1 || out.Point != PointFlush || !cmp.Equal(out.Rejected, rejected) {
		t.Errorf("%+v", out)
	}
	two := func(a, b string) Update {
		return note("lines", OpAppend, fmt.Sprintf(`[{"id":%q,"value":"v"},{"id":%q,"value":"v"}]`, a, b))
	}
	out = mustWriteback(t, j, r, tx("limit", two("5", "6"), two("7", "8")))
	if len(out.Accepted) != 1 || len(out.Rejected) != 1 || out.Rejected[0].Code != CodeSchema {
		t.Errorf("a limit that two updates of a transaction reach together: %+v", out)
	}
	if out = mustWriteback(t, j, r, tx("mixed", set("state", `"three"`, 2))); out.Outcome != Conflict {
		t.Errorf("%+v", out)
	}
}

func TestWritebackBadTransactions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, r := openTestJournal(t, path), testRules(t)
	good := set("state", `"s"`, 0)
	named := func(id string) Update { return with(good, func(u *Update) { u.ID = id }) }
	for name, x := range map[string]Transaction{
		"no key": tx("", good), "no updates": tx("k"), "ids twice": tx("k", named("a"), named("a")), "id taken": tx("k", named("u2"), good), "mark in an id": tx("k", named("a#b")),
		"no point": {Key: "k", By: alice, Updates: []Update{good}}, "unknown point": {Key: "k", Point: "lunch", By: alice, Updates: []Update{good}},
		"time that can't be written": {Key: "k", Time: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), Point: PointFlush, By: alice, Updates: []Update{good}},
	} {
		if out, err := j.Writeback(x, r); err == nil {
			t.Errorf("%s: %+v", name, out)
		}
	}
	mark := tx("k", good)
	body, _, _ := mark.stage()
	for _, op := range []string{OpStaged, opValidated, OpRejected, OpCommitted, OpSnapshot} {
		if _, err := j.Append(true, store.Record{Op: op, ID: "k", Body: body}); err == nil {
			t.Errorf("%s was appended past the checks", op)
		}
	}
	if fi, err := os.Stat(path); err == nil && fi.Size() > 0 {
		t.Error("the journal grew")
	}
	ro, _ := openPath(path, &Options{ReadOnly: true})
	if _, err := ro.Writeback(tx("k", good), r); err == nil {
		t.Error("a read-only journal was written")
	}
}

// A field that has become a list since stays a scalar where it was committed.
func TestFieldOfAnotherKind(t *testing.T) {
	rules := func(f FieldSpec) *Rules {
		return &Rules{Schema: Schema{"t": {Scopes: []memkernel.Scope{memkernel.ScopeSession}, Fields: map[string]FieldSpec{"f": f}}}, Resolves: testEvidence}
	}
	j := openTestJournal(t, filepath.Join(t.TempDir(), "journal.jsonl"))
	if out := mustWriteback(t, j, rules(FieldSpec{Kind: KindScalar, Value: "string"}), tx("x", with(set("f", `"v"`, 0), func(u *Update) { u.Type = "t" }))); out.Outcome != Committed {
		t.Errorf("%+v", out)
	}
	u := note("f", OpAppend, `[{"id":"1","value":"a"}]`)
	u.Type = "t"
	if out := mustWriteback(t, j, rules(FieldSpec{Kind: KindList, Value: "any"}), tx("y", u)); len(out.Rejected) != 1 || out.Rejected[0].Code != CodeSchema {
		t.Errorf("%+v", out)
	}
}

// Two sessions write one shared page through journals of their own on one file:
// what was made from a stale version is rejected, what only adds is kept, in the
// order of the commits.
func TestWritebackTwoSessions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	a, b, r := openTestJournal(t, path), openTestJournal(t, path), testRules(t)
	shared := func(u Update) Update { u.Scope = memkernel.ScopeProject; return u }
	write := func(j *Journal, session, key string, u Update) Receipt {
		x := tx(key, shared(u))
		x.By = Principal{Name: session, Session: session, Project: true}
		return mustWriteback(t, j, r, x)
	}
	if out := write(a, "A", "a1", set("state", `"mine"`, 0)); out.Outcome != Committed {
		t.Errorf("%+v", out)
	}
	out := write(b, "B", "b1", set("state", `"no, mine"`, 0))
	if out.Outcome != refused || out.Rejected[0].Code != CodeDestructive {
		t.Errorf("stale: %+v", out)
	}
	for i, out := range []Receipt{
		write(b, "B", "b2", set("state", `"ours"`, 1)),
		write(a, "A", "a2", note("lines", OpAppend, `[{"id":"a","value":"from A"}]`)),
		write(b, "B", "b3", note("lines", OpAppend, `[{"id":"b","value":"from B"}]`)),
		write(a, "A", "a3", note("facts", OpMerge, `[{"id":"a","value":1}]`)),
		write(b, "B", "b4", note("facts", OpMerge, `[{"id":"b","value":2},{"id":"a","value":1}]`)),
	} {
		if out.Outcome != Committed || out.Seq != i+2 {
			t.Errorf("%d: %+v", i, out)
		}
	}
	if _, err := refreshed(a); err != nil {
		t.Fatal(err)
	}
	if snapshotOf(t, a) != snapshotOf(t, b) {
		t.Error("the two see different states")
	}
	p, _ := a.Store().Page(Address{Scope: memkernel.ScopeProject, Key: "k"})
	var got []string
	for _, f := range p.Fields {
		for _, e := range f.Entries {
			for _, v := range e.Versions {
				got = append(got, fmt.Sprintf("%s %s %d %s %s %d", f.Name, e.ID, v.Version, v.Value, v.By, v.Seq))
			}
		}
	}
	want := []string{`facts a 1 1 A 5`, `facts b 1 2 B 6`, `lines a 1 "from A" A 3`, `lines b 1 "from B" B 4`, `state  1 "mine" A 1`, `state  2 "ours" B 2`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A journal whose writebacks contradict each other is refused with file and line,
// and so are newer ones.
func TestWritebackDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.jsonl")
	j, r := openTestJournal(t, path), testRules(t)
	mustWriteback(t, j, r, tx("a", set("state", `"s"`, 0)))
	mustWriteback(t, j, r, tx("b", set("state", `"t"`, 1)))
	whole, _ := os.ReadFile(path)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	edit := func(line []byte, old, new string) []byte {
		return bytes.Replace(line, []byte(old), []byte(new), 1)
	}
	for name, content := range map[string][]byte{
		"versions out of order": bytes.Join([][]byte{lines[3], lines[4], lines[5]}, nil),
		"a commit is missing":   bytes.Join([][]byte{lines[0], lines[1], edit(lines[2], `"seq":1`, `"seq":2`)}, nil),
		"validated, not staged": bytes.Join([][]byte{lines[0], edit(lines[1], `["u1"]`, `["u2"]`), lines[2]}, nil),
		"newer":                 bytes.Join([][]byte{edit(lines[0], `{"writeback":1`, `{"writeback":2`), lines[1], lines[2]}, nil),
	} {
		p := filepath.Join(dir, "bad.jsonl")
		content = reframe(t, content)
		os.WriteFile(p, content, 0o600)
		_, err := openPath(p, nil)
		if err == nil || !strings.Contains(err.Error(), p) || !strings.Contains(err.Error(), "line ") || errors.Is(err, store.ErrNewer) != (name == "newer") {
			t.Errorf("%s: %v", name, err)
		}
		if b, _ := os.ReadFile(p); !bytes.Equal(b, content) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}
