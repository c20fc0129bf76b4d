package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// server is what the tests of this package share.
var server pgtest.Shared

func TestMain(m *testing.M) {
	rows.NoPauses()
	code := m.Run()
	server.Close()
	os.Exit(code)
}

var schemas atomic.Int64

// fresh gives a test a schema of its own on the server.
func fresh(t testing.TB) rows.Options {
	t.Helper()
	o := rows.Options{DSN: server.DSN(t), Schema: fmt.Sprintf("mkr_%d_%d", os.Getpid(), schemas.Add(1)), Root: "project"}
	t.Cleanup(func() {
		c, err := pgx.Connect(context.Background(), o.DSN)
		if err != nil {
			return
		}
		defer c.Close(context.Background())
		_, _ = c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+o.Schema+" CASCADE")
	})
	return o
}

func open(t testing.TB, o rows.Options) *rows.Store {
	t.Helper()
	s, err := rows.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func begin(t testing.TB, s *rows.Store, folder string, seen bool) store.Unit {
	t.Helper()
	u, err := s.Begin(context.Background(), folder, seen)
	must(t, err)
	return u
}

func openLog(t testing.TB, s *rows.Store, name string) store.Log {
	t.Helper()
	l, err := s.OpenLog(name, store.LogOptions{})
	must(t, err)
	return l
}

// read reads a log on, and gives the ids of the records.
func read(l store.Log) (ids []string, err error) {
	err = l.Read(func(r store.Record) error { ids = append(ids, r.ID); return nil })
	return ids, err
}

func rec(id string) store.Record {
	return store.Record{Op: "op", ID: id, Body: json.RawMessage(`{"id":"` + id + `"}`)}
}

// add appends records to a log in a unit of its own.
func add(t testing.TB, s *rows.Store, name string, ids ...string) {
	t.Helper()
	u := begin(t, s, name[:strings.LastIndex(name, "/")], false)
	l := openLog(t, s, name)
	_, err := read(l)
	must(t, err)
	for _, id := range ids {
		_, err := l.Append(true, rec(id))
		must(t, err)
	}
	must(t, u.End())
}

const journal = "sessions/x/journal.jsonl"

func TestDocuments(t *testing.T) {
	o := fresh(t)
	s, other := open(t, o), open(t, o)
	put := func(name, text string) {
		t.Helper()
		_, err := s.Put(store.Synced, store.Doc{Name: name, Data: []byte(text)})
		must(t, err)
	}
	names := func(s store.Store, folder string) string {
		t.Helper()
		entries, err := s.List(folder)
		must(t, err)
		var out []string
		for _, e := range entries {
			i, err := e.Info()
			must(t, err)
			if i.Folder != e.Folder {
				t.Errorf("%s: %+v", e.Name, i)
			}
			if e.Folder {
				e.Name += "/"
			}
			out = append(out, e.Name)
		}
		return strings.Join(out, " ")
	}
	hash := store.Sum([]byte("blob"))
	for name, text := range map[string]string{"calibration.json": "c", "sessions/x/session.json": `{"key":"chat-7"}`, "sessions/x/state/goal.json": "g", "sessions/y/a": "",
		"project/p": "p", "past/a/b": "b", "past/a/c": "c", "past/ab": "ab", "blobs/" + hash[:2] + "/" + hash: "blob", "sessions/x/statelier": "s"} {
		put(name, text)
		if got, err := other.Get(name); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if i, err := other.Stat(name); err != nil || i.Size != int64(len(text)) || i.Folder || time.Since(i.Time).Abs() > time.Hour {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
	add(t, s, journal, "one")
	for folder, want := range map[string]string{"": "blobs/ calibration.json past/ project/ sessions/", "sessions": "x/ y/", "sessions/x": "journal.jsonl session.json state/ statelier",
		"sessions/x/state": "goal.json", "past": "a/ ab", "past/a": "b c", "blobs": hash[:2] + "/", "blobs/" + hash[:2]: hash, "project": "p"} {
		if got := names(other, folder); got != want {
			t.Errorf("%s has %q, want %q", folder, got, want)
		}
		if i, err := other.Stat(folder); err != nil || !i.Folder {
			t.Errorf("%s: %+v, %v", folder, i, err)
		}
		if _, err := other.Get(folder); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read %s: %v", folder, err)
		}
	}
	for _, name := range []string{"none", "sessions/none", "sessions/x/none", "past/none/x", "sessions/y/journal.jsonl"} {
		_, err := other.Get(name)
		_, err2 := other.Stat(name)
		_, err3 := other.List(name)
		if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err2, fs.ErrNotExist) || !errors.Is(err3, fs.ErrNotExist) || !strings.Contains(err.Error(), s.Where(name)) {
			t.Errorf("%s: %v; %v; %v", name, err, err2, err3)
		}
	}
	for _, name := range []string{"../x", "/x", "a\x00b", "a\xff"} {
		if _, err := s.Get(name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", name, err)
		}
	}
	var key string
	must(t, s.Value(t.Context(), &key, `SELECT key FROM `+o.Schema+`.folders WHERE folder='sessions/x'`))
	if key != "chat-7" {
		t.Errorf("the session's key is %q", key)
	}
	for _, name := range []string{"b", "c"} {
		must(t, s.Move(store.Synced, "past/a/"+name, "past/z/"+name))
	}
	must(t, s.Move(store.Synced, "past/ab", "project/ab"))
	must(t, s.Move(store.Synced, "project/p", "project/ab"))
	must(t, s.Move(store.Synced, "sessions/x", "ended/x"))
	if err := s.Move(store.Synced, "none", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if got := names(other, "past") + "|" + names(other, "past/z") + "|" + names(other, "project") + "|" + names(other, "sessions") + "|" + names(other, "ended/x"); got != "z/|b c|ab|y/|journal.jsonl session.json state/ statelier" {
		t.Error(got)
	}
	if got, err := other.Get("project/ab"); err != nil || string(got) != "p" {
		t.Errorf("%q, %v", got, err)
	}
	if ids, err := read(openLog(t, other, "ended/x/journal.jsonl")); err != nil || !slices.Equal(ids, []string{"one"}) {
		t.Error(ids, err)
	}
	_, err := s.Remove(store.Synced, "ended/x/state", "past", "none", "blobs/"+hash[:2]+"/"+hash)
	must(t, err)
	if got := names(other, "ended/x") + "|" + names(other, ""); got != "journal.jsonl session.json statelier|calibration.json ended/ project/ sessions/" {
		t.Error(got)
	}
	_, err = s.Remove(store.Synced, "ended")
	must(t, err)
	_, err = s.Remove(store.Synced, "sessions/y/a")
	must(t, err)
	if got := names(other, ""); got != "calibration.json project/ sessions/" {
		t.Error(got)
	}
	var n int
	must(t, s.Value(t.Context(), &n, `SELECT (SELECT count(*) FROM `+o.Schema+`.log)+(SELECT count(*) FROM `+o.Schema+`.blobs)`))
	if n != 0 {
		t.Errorf("%d records and blobs are left", n)
	}
}

// What is written in a unit is seen in this process at once and elsewhere at its end, all together.
func TestUnit(t *testing.T) {
	o := fresh(t)
	s, other := open(t, o), open(t, o)
	_, err := s.Put(store.Synced, store.Doc{Name: "sessions/x/old", Data: []byte("old")}, store.Doc{Name: "sessions/x/gone", Data: []byte("gone")})
	must(t, err)
	u := begin(t, s, "sessions/x", false)
	j, p := openLog(t, s, journal), openLog(t, s, "sessions/x/projection.jsonl")
	_, err = j.Append(true, rec("a"), rec("b"))
	must(t, err)
	_, err = p.Append(false, rec("p"))
	must(t, err)
	_, err = s.Put(store.Synced, store.Doc{Name: "sessions/x/state/goal.json", Data: []byte("goal")})
	must(t, err)
	_, err = u.State().Put(store.Synced, store.Doc{Name: "calibration.json", Data: []byte("c")})
	must(t, err)
	_, err = s.Remove(store.Synced, "sessions/x/gone")
	must(t, err)
	must(t, s.Move(store.Synced, "sessions/x/old", "sessions/x/new"))
	b := store.BlobsIn(s.In("blobs")).NewBatch()
	hash := b.AddString("blob")
	_, err = u.PutBlobs(t.Context(), b)
	must(t, err)
	see := func(s *rows.Store) string {
		t.Helper()
		var out []string
		for _, name := range []string{"calibration.json", "sessions/x/gone", "sessions/x/new", "sessions/x/old", "sessions/x/state/goal.json", "blobs/" + hash[:2] + "/" + hash} {
			data, err := s.Get(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			i, err := s.Stat(name)
			if err == nil && i.Size != int64(len(data)) {
				t.Errorf("%s has %d bytes, want %d", name, i.Size, len(data))
			}
			out = append(out, string(data))
		}
		entries, err := s.List("sessions/x")
		must(t, err)
		for _, e := range entries {
			out = append(out, e.Name)
		}
		l, err := s.OpenLog(journal, store.LogOptions{ReadOnly: true})
		must(t, err)
		ids, err := read(l)
		must(t, err)
		return strings.Join(append(out, ids...), " ")
	}
	const before = " gone  old   gone old"
	if got := see(other); got != before {
		t.Errorf("before its end others see %q", got)
	}
	want := "c  old  goal blob journal.jsonl new projection.jsonl state a b"
	if got := see(u.State().(*rows.Store)); got != want {
		t.Errorf("the unit sees %q, want %q", got, want)
	}
	must(t, u.Sync())
	if got := see(other); got != want {
		t.Errorf("others see %q, want %q", got, want)
	}
	_, err = j.Append(false, rec("c"))
	must(t, err)
	must(t, u.End())
	must(t, u.End())
	if got := see(other); got != want+" c" {
		t.Errorf("others see %q, want %q", got, want+" c")
	}
	if n := j.Len(); n != 3 || j.Size() != 30 {
		t.Errorf("%d records of %d bytes", n, j.Size())
	}
	if got, err := other.Get(journal); err != nil || strings.Count(string(got), "\n") != 3 || !strings.HasPrefix(string(got), `{"op":"op","id":"a","body":{"id":"a"}}`) {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := j.Append(true, rec("d")); err == nil {
		t.Error("a record was appended without a unit")
	}
}

// A record comes back as it was appended.
func TestRecordsAreKept(t *testing.T) {
	o := fresh(t)
	s, other := open(t, o), open(t, o)
	at := time.Date(2026, 11, 29, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	big, err := json.Marshal(strings.Repeat("Ünïcödé \" \\ ", 5<<20/16))
	must(t, err)
	recs := []store.Record{
		{Op: "ingest", ID: "nul", Time: at, Body: json.RawMessage(`{"b":1.0e5,"a":"\u0000\ud800 <>&","a":2}`)},
		{Op: "x", ID: ""}, {Op: "x", ID: "null", Body: json.RawMessage(`null`)}, {Op: "x", ID: "spaced", Body: json.RawMessage("{ \"a\" :\t1 }")},
		{Op: "big", ID: "5 MB", Time: at.UTC(), Body: big},
	}
	for i := range 2000 {
		recs = append(recs, store.Record{Op: "many", ID: fmt.Sprint(i), Time: at.UTC(), Body: json.RawMessage(fmt.Sprint(i))})
	}
	u := begin(t, s, "sessions/x", false)
	l := openLog(t, s, journal)
	_, err = l.Append(true, recs...)
	must(t, err)
	must(t, u.End())
	same := func(what string, got []store.Record) {
		t.Helper()
		if len(got) != len(recs) {
			t.Fatalf("%s: %d records", what, len(got))
		}
		for i := range got {
			if got[i].Op != recs[i].Op || got[i].ID != recs[i].ID || !got[i].Time.Equal(recs[i].Time) || got[i].Time.Format(time.RFC3339Nano) != recs[i].Time.Format(time.RFC3339Nano) || !bytes.Equal(got[i].Body, recs[i].Body) {
				t.Fatalf("%s: %d is %.200v, want %.200v", what, i, got[i], recs[i])
			}
		}
	}
	collect := func(l store.Log) (out []store.Record) {
		t.Helper()
		must(t, l.Read(func(r store.Record) error { out = append(out, r); return nil }))
		return out
	}
	records := func(l store.Log) (out []store.Record) {
		t.Helper()
		for r, err := range l.Records() {
			must(t, err)
			out = append(out, r)
		}
		return out
	}
	ol := openLog(t, other, journal)
	same("without a unit", collect(ol))
	same("again", records(ol))
	same("by the writer", records(l))
	u = begin(t, other, "sessions/x", false)
	same("in a unit", collect(openLog(t, other, journal)))
	same("again in a unit", records(ol))
	must(t, u.End())
	for _, bad := range []store.Record{{}, {Op: "x\x00"}, {Op: "x", ID: "\xff"}, {Op: "x", Body: json.RawMessage(`{`)}, {Op: "x", Body: json.RawMessage("\"\xff\"")}} {
		u := begin(t, s, "sessions/x", false)
		if _, err := l.Append(true, rec("good"), bad); err == nil || store.OutOfReach(err) {
			t.Errorf("%v was appended: %v", bad, err)
		}
		must(t, u.End())
	}
	if ids, err := read(ol); err != nil || len(ids) > 0 {
		t.Errorf("after what was refused: %v, %v", ids, err)
	}
	// An operator sees the NUL as another character.
	c, err := pgx.Connect(t.Context(), o.DSN)
	must(t, err)
	defer c.Close(context.Background())
	var n int
	must(t, c.QueryRow(t.Context(), `SELECT count(body->>'a') FROM `+o.Schema+`.records WHERE session='sessions/x'`).Scan(&n))
}

// An operator reads what was said.
func TestReadByAnOperator(t *testing.T) {
	o := fresh(t)
	s := open(t, o)
	u := begin(t, s, "sessions/x", false)
	l := openLog(t, s, journal)
	body := func(s string) json.RawMessage { return json.RawMessage(s) }
	_, err := l.Append(true, store.Record{Op: "ingest", ID: "1", Body: body(`{"pages":[{"id":"a","type":"turn","role":"user","hash":"h","bytes":3},{"id":"b","role":"assistant","hash":"h","bytes":4},{"id":"c","type":"tool","hash":"cafe","blob":"cafe","bytes":70000}],"content":{"a":"when?\u0000","b":"now"}}`)},
		store.Record{Op: "staged", ID: "turn:1", Body: body(`{"x":1}`)}, store.Record{Op: "committed", ID: "turn:1"}, store.Record{Op: "ingest", ID: "2", Body: body(`{"pages":[{"id":"d","role":"user","bytes":2},{"id":"e","role":"assistant"},{"id":"f","role":"user"}],"content":{"d":"ok","e":"{\"type\":\"text\",\"text\":\"I read }{\\\"type\\\": it.\"}\n{\"type\":\"tool_use\",\"name\":\"Read\",\"input\":\"a.go\"}","f":"{\"type\": no JSON"}}`)})
	must(t, err)
	must(t, u.End())
	c, err := pgx.Connect(t.Context(), o.DSN)
	must(t, err)
	defer c.Close(context.Background())
	rs, err := c.Query(t.Context(), `SELECT turn, kind, body->>'text' FROM `+o.Schema+`.records WHERE session='sessions/x' ORDER BY seq`)
	must(t, err)
	var got []string
	for rs.Next() {
		var turn int
		var kind string
		var text *string
		must(t, rs.Scan(&turn, &kind, &text))
		if text == nil {
			text = new(string)
		}
		got = append(got, fmt.Sprint(turn, " ", kind, " ", *text))
	}
	want := []string{"0 ingest user: when?\ufffd\nassistant: now\ntool: [70000 bytes: blob cafe]", "0 staged ", "1 committed ", "1 ingest user: ok\nassistant: I read }{\"type\": it.\nRead a.go\nuser: {\"type\": no JSON"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A unit that was overtaken lists what the server has, and not what it knew or wrote.
func TestListedAfterOvertaken(t *testing.T) {
	o := fresh(t)
	a, b := open(t, o), open(t, o)
	add(t, a, journal, "1")
	_, err := a.Put(store.Synced, store.Doc{Name: "sessions/x/old", Data: []byte("old")})
	must(t, err)
	u := begin(t, a, "sessions/x", false)
	_, err = a.Put(store.Synced, store.Doc{Name: "sessions/x/new", Data: []byte("new")})
	must(t, err)
	_, err = b.Remove(store.Synced, journal, "sessions/x/old")
	must(t, err)
	_, err = b.Put(store.Synced, store.Doc{Name: "sessions/x/theirs", Data: []byte("theirs")})
	must(t, err)
	if err := u.Sync(); !store.Overtaken(err) {
		t.Errorf("it was not overtaken: %v", err)
	}
	entries, err := a.List("sessions/x")
	if err != nil || len(entries) != 1 || entries[0].Name != "theirs" {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := a.Stat(journal); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a log that is gone: %v", err)
	}
	if err := u.End(); !store.Overtaken(err) {
		t.Errorf("it ended with %v", err)
	}
}

// Two machines that take turns read what the other wrote, and one that is overtaken writes
// nothing.
func TestTwoMachines(t *testing.T) {
	o := fresh(t)
	a, b := open(t, o), open(t, o)
	add(t, a, journal, "a1")
	la, lb := openLog(t, a, journal), openLog(t, b, journal)
	step := func(s *rows.Store, l store.Log, want []string, id string) {
		t.Helper()
		u := begin(t, s, "sessions/x", false)
		if ids, err := read(l); err != nil || !slices.Equal(ids, want) {
			t.Errorf("read %v, %v; want %v", ids, err, want)
		}
		_, err := l.Append(true, rec(id))
		must(t, err)
		_, err = s.Put(store.Synced, store.Doc{Name: "sessions/x/d", Data: []byte(id)})
		must(t, err)
		must(t, u.End())
	}
	step(a, la, []string{"a1"}, "a2")
	step(b, lb, []string{"a1", "a2"}, "b1")
	step(b, lb, nil, "b2")
	step(a, la, []string{"b1", "b2"}, "a3")
	// a goes on without asking, and is overtaken.
	step(b, lb, []string{"a3"}, "b3")
	u := begin(t, a, "sessions/x", true)
	if !u.(interface{ Unchecked() bool }).Unchecked() {
		t.Error("it was asked")
	}
	if d, err := a.Get("sessions/x/d"); err != nil || string(d) != "a3" {
		t.Errorf("%q, %v", d, err)
	}
	_, err := la.Append(true, rec("late"))
	must(t, err)
	_, err = u.State().Put(store.Synced, store.Doc{Name: "calibration.json", Data: []byte("late")})
	must(t, err)
	b2 := store.BlobsIn(a.In("blobs")).NewBatch()
	b2.AddString("late")
	_, err = u.PutBlobs(t.Context(), b2)
	must(t, err)
	if err := u.Sync(); !store.Overtaken(err) || !store.Again(err) {
		t.Errorf("it was not overtaken: %v", err)
	}
	if _, err := la.Append(true, rec("later")); !store.Overtaken(err) {
		t.Errorf("it writes on: %v", err)
	}
	if err := u.End(); !store.Overtaken(err) {
		t.Errorf("it ended with %v", err)
	}
	if entries, err := b.List(""); err != nil || len(entries) != 1 {
		t.Errorf("a part of it was written: %v, %v", entries, err)
	}
	u = begin(t, a, "sessions/x", true)
	if u.(interface{ Unchecked() bool }).Unchecked() {
		t.Error("after it was overtaken it was not asked")
	}
	if _, err := read(la); !store.ReplacedLog(err) {
		t.Errorf("a log with records that were not written reads on: %v", err)
	}
	la = openLog(t, a, journal)
	if ids, err := read(la); err != nil || !slices.Equal(ids, []string{"a1", "a2", "b1", "b2", "a3", "b3"}) {
		t.Error(ids, err)
	}
	if d, err := a.Get("sessions/x/d"); err != nil || string(d) != "b3" {
		t.Errorf("%q, %v", d, err)
	}
	must(t, u.End())
	// A document that the other removed is gone.
	_, err = b.Remove(store.Synced, "sessions/x/d")
	must(t, err)
	u = begin(t, a, "sessions/x", false)
	if _, err := a.Get("sessions/x/d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a document that is gone: %v", err)
	}
	if _, err := a.Stat("sessions/x/d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a document that is gone: %v", err)
	}
	must(t, u.End())
	// One that only read learns of the other, too.
	step(b, lb, nil, "b4")
	u = begin(t, a, "sessions/x", true)
	if err := u.End(); !store.Overtaken(err) {
		t.Errorf("it answers from what is old: %v", err)
	}
	// One that has read but not its log may not append.
	u = begin(t, a, "sessions/x", false)
	if _, err := la.Append(true, rec("late")); !store.Overtaken(err) {
		t.Errorf("it appends behind what it did not read: %v", err)
	}
	must(t, u.End())
	// A reader has no unit.
	reader := openLog(t, a, journal)
	ids, err := read(reader)
	must(t, err)
	step(b, lb, nil, "b5")
	if more, err := read(reader); err != nil || !slices.Equal(more, []string{"b5"}) || len(ids) != 7 {
		t.Error(ids, more, err)
	}
	for i := range 80 { // more than a trail has marks
		step(b, lb, nil, fmt.Sprint("many", i))
	}
	if _, err := read(reader); !store.ReplacedLog(err) {
		t.Errorf("a reader without a mark: %v", err)
	}
}

func seq(recs ...store.Record) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Others learn that a log was replaced, removed, or made anew by a salvage.
func TestReplaced(t *testing.T) {
	o := fresh(t)
	a, b := open(t, o), open(t, o)
	add(t, a, journal, "1", "2", "3")
	lb, reader := openLog(t, b, journal), openLog(t, b, journal)
	_, err := read(reader)
	must(t, err)
	u := begin(t, b, "sessions/x", false)
	_, err = read(lb)
	must(t, err)
	must(t, u.End())
	la := openLog(t, a, journal)
	u = begin(t, a, "sessions/x", false)
	_, err = read(la)
	must(t, err)
	_, err = la.Append(true, rec("4"))
	must(t, err)
	must(t, la.Replace(seq(rec("1"), rec("3*"))))
	if la.Len() != 2 {
		t.Errorf("%d records", la.Len())
	}
	_, err = la.Append(true, rec("5"))
	must(t, err)
	if ids, err := read(openLog(t, a, journal)); err != nil || !slices.Equal(ids, []string{"1", "3*", "5"}) {
		t.Error(ids, err)
	}
	must(t, u.Sync())
	_, err = la.Append(true, rec("6"))
	must(t, err)
	if ids, err := read(openLog(t, a, journal)); err != nil || !slices.Equal(ids, []string{"1", "3*", "5", "6"}) {
		t.Error(ids, err)
	}
	must(t, u.End())
	if _, err := read(reader); !store.ReplacedLog(err) {
		t.Errorf("a reader: %v", err)
	}
	u = begin(t, b, "sessions/x", false)
	if _, err := read(lb); !store.ReplacedLog(err) {
		t.Errorf("a writer: %v", err)
	}
	lb = openLog(t, b, journal)
	if ids, err := read(lb); err != nil || !slices.Equal(ids, []string{"1", "3*", "5", "6"}) {
		t.Error(ids, err)
	}
	must(t, u.End())
	failed := errors.New("failed")
	u = begin(t, b, "sessions/x", false)
	if err := lb.Replace(func(yield func(store.Record, error) bool) { yield(rec("x"), nil); yield(store.Record{}, failed) }); !errors.Is(err, failed) {
		t.Error(err)
	}
	must(t, u.End())
	// Somebody removes records from the table.
	must(t, a.Exec(t.Context(), `DELETE FROM `+o.Schema+`.log WHERE id IN ('3*', '6')`))
	u = begin(t, b, "sessions/x", false)
	var bad *store.LogError
	if _, err := read(openLog(t, b, journal)); !errors.As(err, &bad) || bad.Replaced || bad.Line != 2 {
		t.Errorf("a hole: %v", err)
	}
	sound, lost, err := openLog(t, b, journal).Salvage(longwork.ProgressOf(t.Context()))
	if err != nil || len(sound) != 2 || len(lost) != 2 || lost[0].Line != 2 || lost[1].Line != 4 {
		t.Errorf("%v, %v, %v", sound, lost, err)
	}
	aside, err := openLog(t, b, journal).Reset(sound)
	if err != nil || len(aside) != 1 || aside[0] != b.Where(journal+".damaged-1") {
		t.Error(aside, err)
	}
	must(t, u.End())
	if ids, err := read(openLog(t, a, journal)); err != nil || !slices.Equal(ids, []string{"1", "5"}) {
		t.Error(ids, err)
	}
	if data, err := a.Get(journal + ".damaged-1"); err != nil || strings.Count(string(data), "\n") != 2 {
		t.Errorf("%s, %v", data, err)
	}
	_, err = a.Remove(store.Synced, journal)
	must(t, err)
	if _, err := a.Stat(journal); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	add(t, a, journal, "anew")
	// A session that is removed and begun anew is another.
	u = begin(t, b, "sessions/x", false)
	lb = openLog(t, b, journal)
	_, err = read(lb)
	must(t, err)
	must(t, u.End())
	_, err = a.Remove(store.Synced, "sessions/x")
	must(t, err)
	add(t, a, journal, "another")
	u = begin(t, b, "sessions/x", true)
	_, err = lb.Append(true, rec("late"))
	must(t, err)
	if err := u.End(); !store.Overtaken(err) {
		t.Errorf("it wrote into another session: %v", err)
	}
	u = begin(t, b, "sessions/x", false)
	if _, err := read(lb); !store.ReplacedLog(err) {
		t.Error(err)
	}
	must(t, u.End())
}

// A session that stays costs one statement a unit, and one that moved at most three.
func TestStatements(t *testing.T) {
	o := fresh(t)
	other := open(t, o)
	c := &rows.Counter{}
	o.Tracer = c
	s := open(t, o)
	l := openLog(t, s, journal)
	turn := func(seen bool, most int) {
		t.Helper()
		begun := c.N
		u := begin(t, s, "sessions/x", seen)
		_, err := read(l)
		must(t, err)
		must(t, l.Sync(l.Len()))
		_, err = s.Get("sessions/x/d")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		_, err = l.Append(true, rec("r"))
		must(t, err)
		_, err = s.Put(store.Synced, store.Doc{Name: "sessions/x/d", Data: []byte("d")}, store.Doc{Name: "sessions/x/state/e", Data: []byte("d")})
		must(t, err)
		_, err = s.Get("sessions/x/d")
		must(t, err)
		_, err = s.List("sessions/x")
		must(t, err)
		b := store.BlobsIn(s.In("blobs")).NewBatch()
		b.AddString(fmt.Sprint(begun))
		_, err = u.PutBlobs(t.Context(), b)
		must(t, err)
		must(t, u.End())
		if c.N-begun > most {
			t.Errorf("%d statements, want %d at most", c.N-begun, most)
		}
	}
	turn(false, 2)
	for range 3 {
		turn(true, 1)
	}
	add(t, other, journal, "theirs")
	turn(false, 2)
	turn(true, 1)
	begun := c.N
	u := begin(t, s, "sessions/x", true)
	must(t, u.End())
	if c.N-begun != 1 {
		t.Errorf("a unit that finds out nothing: %d statements", c.N-begun)
	}
	begun = c.N
	u = begin(t, s, "sessions/x", false)
	must(t, u.End())
	if c.N-begun != 1 {
		t.Errorf("a unit that writes nothing: %d statements", c.N-begun)
	}
}

// A new connection for each statement, without anything of the one before, does for a store.
func TestPooler(t *testing.T) {
	o := fresh(t)
	s, err := rows.OpenAlone(t.Context(), o)
	must(t, err)
	defer s.Close()
	l := openLog(t, s, journal)
	for i := range 5 {
		release, err := s.Lock("nightly.lock", store.Alone)
		must(t, err)
		u := begin(t, s, "sessions/x", i > 2)
		_, err = read(l)
		must(t, err)
		_, err = l.Append(true, rec(fmt.Sprint(i)))
		must(t, err)
		_, err = s.Put(store.Synced, store.Doc{Name: "d", Data: []byte{byte(i)}})
		must(t, err)
		must(t, u.End())
		s.Renew()
		release()
	}
	if ids, err := read(openLog(t, s, journal)); err != nil || len(ids) != 5 {
		t.Error(ids, err)
	}
}

// death is what befalls a store at the n-th moment: its connection dies before a statement or
// after its answer, and stays dead if the process is.
type death struct {
	n, at int
	once  bool
}

func (d *death) befalls(string, bool) error {
	if d.at++; d.at == d.n || d.at > d.n && !d.once {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// A kill at any statement, before it or with its answer lost, loses nothing that was acknowledged,
// and leaves either all of a unit or nothing.
func TestKilledAtAnyStatement(t *testing.T) {
	for _, once := range []bool{false, true} {
		for n, came := 1, true; came; n++ {
			o := fresh(t)
			s, watch := open(t, o), open(t, o)
			d := &death{n: n, once: once}
			s.SetFault(d.befalls)
			var acked []string
			l := openLog(t, s, journal)
			for i := range 4 {
				id := fmt.Sprint(i)
				err := func() error {
					u, err := s.Begin(t.Context(), "sessions/x", i%2 == 1)
					if err != nil {
						return err
					}
					_, err = read(l)
					if err == nil {
						_, err = l.Append(true, rec(id))
					}
					if err == nil {
						_, err = u.State().Put(store.Synced, store.Doc{Name: "sessions/x/d", Data: []byte(id)}, store.Doc{Name: "calibration.json", Data: []byte(id)})
					}
					if err == nil && i == 2 {
						err = u.Sync()
					}
					return errors.Join(err, u.End())
				}()
				if err == nil {
					acked = append(acked, id)
				} else if !store.Again(err) && !store.ReplacedLog(err) {
					t.Fatal(err)
				}
				if once && err != nil {
					t.Errorf("death %d: a lost answer costs a unit: %v", n, err)
				}
			}
			came = d.at >= n
			ids, err := read(openLog(t, watch, journal))
			must(t, err)
			if len(ids) < len(acked) || !slices.Equal(ids[:len(acked)], acked) || len(ids) > len(acked)+1 {
				t.Errorf("death %d: %v is there, and %v was acknowledged", n, ids, acked)
			}
			if len(ids) > 0 {
				for _, name := range []string{"sessions/x/d", "calibration.json"} {
					if data, err := watch.Get(name); err != nil || string(data) != ids[len(ids)-1] {
						t.Errorf("death %d: %s has %q, %v; the log %v", n, name, data, err, ids)
					}
				}
			}
		}
	}
}

// Of many folders some documents are forgotten; they are read again.
func TestManyFolders(t *testing.T) {
	o := fresh(t)
	s := open(t, o)
	for i := range 300 {
		u := begin(t, s, fmt.Sprint("sessions/", i), false)
		_, err := s.Put(store.Unsynced, store.Doc{Name: fmt.Sprintf("sessions/%d/d", i), Data: []byte(fmt.Sprint(i))})
		must(t, err)
		must(t, u.End())
	}
	asked := 0
	for i := range 300 {
		u := begin(t, s, fmt.Sprint("sessions/", i), true)
		if !u.(interface{ Unchecked() bool }).Unchecked() {
			asked++
		}
		if data, err := s.Get(fmt.Sprintf("sessions/%d/d", i)); err != nil || string(data) != fmt.Sprint(i) {
			t.Fatalf("%d: %q, %v", i, data, err)
		}
		must(t, u.End())
	}
	if asked == 0 {
		t.Error("nothing was forgotten")
	}
}
