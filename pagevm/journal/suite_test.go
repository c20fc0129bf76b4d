package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(10) }

// place is the store of a file's folder, and the file's name in it. One behind memory:
// is kept in memory.
func place(path string) (store.Store, string) {
	dir, name := filepath.Split(path)
	if in, ok := strings.CutPrefix(dir, "memory:"); ok {
		return inMemory.In(in), name
	}
	return store.Files(dir), name
}

var inMemory = storetest.New()

// memoryDir is a folder in memory for tests of what is above the disk.
func memoryDir(t *testing.T) string {
	t.Cleanup(func() { inMemory.Remove(store.Unsynced, t.Name()) })
	return "memory:" + t.Name()
}

// readPath is what is at a path, nothing if nothing does.
func readPath(path string) []byte {
	in, name := place(path)
	b, _ := in.Get(name)
	return b
}

// openPath opens the journal at a path.
func openPath(path string, opt *Options) (*Journal, error) {
	in, name := place(path)
	return OpenJournalIn(in, name, opt)
}

// headMark is a place in the file of a journal, as its head records it.
type headMark struct {
	Off   int64  `json:"off"`
	Lines int    `json:"lines"`
	Sum   string `json:"sum"`
}

// headPath is the file of a journal's head.
func headPath(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".head" }

// hasHead reports whether a path is a head that is there.
func hasHead(path string) bool {
	_, err := os.Stat(path)
	return err == nil && strings.HasSuffix(path, ".head")
}

// markNow is the newest mark of a journal's head.
func markNow(t *testing.T, path string) headMark {
	t.Helper()
	type state struct {
		Seq int64 `json:"seq"`
		headMark
	}
	var newest state
	for line := range bytes.Lines(readPath(headPath(path))) {
		var slot struct{ Head state }
		if err := json.Unmarshal(line, &slot); err != nil {
			t.Fatal(err)
		}
		if slot.Head.Seq > newest.Seq {
			newest = slot.Head
		}
	}
	return newest.headMark
}

// lay writes a journal as it is after a crash: its bytes, and a head that records m.
func lay(t *testing.T, path string, content []byte, m headMark) {
	t.Helper()
	var head []byte
	for seq := range 2 {
		state := fmt.Appendf(nil, `{"v":1,"seq":%d,"off":%d,"lines":%d,"sum":%q}`, seq+2, m.Off, m.Lines, m.Sum)
		slot := fmt.Sprintf(`{"crc":"%08x","head":%s}`, crc32.Checksum(state, crc32.MakeTable(crc32.Castagnoli)), state)
		head = fmt.Appendf(head, "%-255s\n", slot)
	}
	in, name := place(path)
	if _, err := in.Put(store.Unsynced, store.Doc{Name: name, Data: content}, store.Doc{Name: headPath(name), Data: head}); err != nil {
		t.Fatal(err)
	}
}

// upTo is the mark of what was synced when the file had n bytes.
func upTo(marks []headMark, n int) headMark {
	last := headMark{}
	for _, m := range marks {
		if m.Off <= int64(n) {
			last = m
		}
	}
	return last
}

// reframe gives lines whose records were changed the lengths and sums that fit.
func reframe(t *testing.T, lines []byte) []byte {
	t.Helper()
	var out []byte
	sum := ""
	for line := range bytes.Lines(lines) {
		_, rec, ok := bytes.Cut(bytes.TrimSpace(line), []byte(`"rec":`))
		if !ok {
			t.Fatalf("no line of ours: %s", line)
		}
		rec = rec[:len(rec)-1]
		hash := sha256.Sum256(append([]byte(sum), rec...))
		sum = hex.EncodeToString(hash[:8])
		out = fmt.Appendf(out, `{"v":2,"n":%d,"crc":"%08x","sum":"%s","rec":%s}`+"\n", len(rec), crc32.Checksum(rec, crc32.MakeTable(crc32.Castagnoli)), sum, rec)
	}
	return out
}

// refreshed is what others appended to a journal since.
func refreshed(j *Journal) (recs []store.Record, err error) {
	err = j.Refresh(func(r store.Record) error { recs = append(recs, r); return nil })
	return recs, err
}
