package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"

	"github.com/memkernel/memkernel/internal/store"
)

// Rewriting drops and changes what it is asked to and nothing else; writebacks are
// one snapshot, and the journal goes on.
func TestJournalRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j, r := openTestJournal(t, path), testRules(t)
	note := func(id, body string) {
		if _, err := j.Append(true, store.Record{Op: "note", ID: id, Body: []byte(body)}); err != nil {
			t.Fatal(err)
		}
	}
	note("1", `{"text":"stays"}`)
	mustWriteback(t, j, r, tx("a", set("state", `"the word"`, 0)))
	note("2", `{"text":"goes"}`)
	note("3", `{"text":"the word"}`)
	var seen []string
	size := j.Size()
	err := j.Rewrite(func(rec *store.Record) (bool, error) {
		seen = append(seen, rec.Op+rec.ID)
		rec.Body = bytes.ReplaceAll(rec.Body, []byte("the word"), []byte("[gone]"))
		return rec.ID != "2", nil
	})
	if err != nil || j.Size() >= size+400 || strings.Join(seen, " ") != "snapshotstore note1 note2 note3" {
		t.Fatalf("%d bytes, then %d, %v, %v", size, j.Size(), err, seen)
	}
	for _, again := range []*Journal{j, openTestJournal(t, path)} {
		p, _ := again.Store().Page(Address{"session", "A", "k"})
		f, _ := p.Field("state")
		if len(f.Entries) != 1 || string(f.Entries[0].Current().Value) != `"[gone]"` || again.Len() != 3 {
			t.Errorf("%d records, %+v", again.Len(), p)
		}
	}
	if raw, _ := os.ReadFile(path); bytes.Contains(raw, []byte("the word")) || bytes.Contains(raw, []byte("goes")) {
		t.Errorf("%s", raw)
	}
	if out := mustWriteback(t, j, r, tx("a", set("state", `"the word"`, 0))); out.Outcome != Duplicate {
		t.Errorf("a second delivery: %+v", out)
	}
	if out := mustWriteback(t, j, r, tx("b", set("state", `"more"`, 1))); out.Outcome != Committed {
		t.Errorf("%+v", out)
	}
}

// A rewrite that fails leaves the old file, and one that would not read is refused.
func TestJournalRewriteFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	j.Append(true, store.Record{Op: "note", ID: "1", Body: []byte(`{}`)})
	before, _ := os.ReadFile(path)
	stop := errors.New("stop")
	if err := j.Rewrite(func(*store.Record) (bool, error) { return true, stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if err := j.Rewrite(func(r *store.Record) (bool, error) {
		r.Op, r.Body = OpSnapshot, []byte(`{"writeback":99}`)
		return true, nil
	}); !errors.Is(err, store.ErrNewer) {
		t.Error(err)
	}
	restore := atomicfile.SetHook(func(op, _ string) error {
		if op == "rename" {
			return stop
		}
		return nil
	})
	if err := j.Rewrite(func(*store.Record) (bool, error) { return false, nil }); !errors.Is(err, stop) {
		t.Error(err)
	}
	restore()
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Errorf("%s", after)
	}
	if _, err := j.Append(true, store.Record{Op: "note", ID: "2"}); err == nil {
		t.Error("a journal that may have been replaced takes another record")
	}
	ro, _ := openPath(path, &Options{ReadOnly: true})
	if err := ro.Rewrite(func(*store.Record) (bool, error) { return true, nil }); err == nil {
		t.Error("a read-only journal was rewritten")
	}
}
