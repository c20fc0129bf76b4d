package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
)

// plain makes lines of version 1 of lines, as journals had them before heads.
func plain(t *testing.T, lines []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for line := range bytes.Lines(lines) {
		rec, err := store.DecodeLine(bytes.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `{"v":1,"n":%d,"crc":"%08x","rec":%s}`+"\n", len(rec), crc32.Checksum(rec, crc32.MakeTable(crc32.Castagnoli)), rec)
	}
	return b.Bytes()
}

// vouchedJournal has three units that were synced, and one of three lines that was
// not.
func vouchedJournal(t *testing.T) (synced, tail []byte, m store.HeadMark) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	for i := range 3 {
		if _, err := j.Append(true, testRecord(i)); err != nil {
			t.Fatal(err)
		}
	}
	m = store.MarkNow(j.Log)
	synced, _ = os.ReadFile(path)
	if _, err := j.Append(false, testRecord(3), testRecord(4), testRecord(5)); err != nil {
		t.Fatal(err)
	}
	whole, _ := os.ReadFile(path)
	return synced, whole[len(synced):], m
}

// Whatever happens to bytes that were synced is reported, and nothing is written over
// them.
func TestJournalVouched(t *testing.T) {
	synced, tail, m := vouchedJournal(t)
	lines := bytes.SplitAfter(synced, []byte("\n"))[:3]
	r := rand.New(rand.NewPCG(1, 2))
	damaged := map[string][]byte{
		"gone":            nil,
		"zeroed":          make([]byte, len(synced)),
		"a line is gone":  bytes.Join([][]byte{lines[0], lines[2]}, nil),
		"moved":           bytes.Join([][]byte{lines[1], lines[0], lines[2]}, nil),
		"doubled":         bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2]}, nil),
		"another's":       reframe(t, bytes.ReplaceAll(synced, []byte("k1"), []byte("k7"))),
		"another's, more": append(reframe(t, bytes.ReplaceAll(synced, []byte("k1"), []byte("k7"))), tail...),
		"plain lines":     plain(t, synced),
	}
	for cut := 1; cut < len(synced)-1; cut += suite.Pick(7, 1) {
		damaged[fmt.Sprint("cut at ", cut)] = synced[:cut]
		damaged[fmt.Sprint("zeroed from ", cut)] = append(bytes.Clone(synced[:cut]), make([]byte, len(synced)-cut)...)
	}
	for bit := 0; bit < len(synced)*8; bit += suite.Pick(11, 1) {
		b := bytes.Clone(synced)
		b[bit/8] ^= 1 << (bit % 8)
		damaged[fmt.Sprint("bit ", bit)] = b
		if r.IntN(10) == 0 {
			damaged[fmt.Sprint("bit, and a tail ", bit)] = append(bytes.Clone(b), tail...)
		}
	}
	path := filepath.Join(memoryDir(t), "journal.jsonl")
	for name, content := range damaged {
		lay(t, path, content, store.HeadMark{}, m)
		for _, ro := range []bool{true, false} {
			_, err := openPath(path, &store.LogOptions{ReadOnly: ro})
			var d *store.LogError
			if !errors.As(err, &d) && !errors.Is(err, store.ErrNewer) {
				t.Fatalf("%s: %v", name, err)
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "line ") {
				t.Fatalf("%s: the error names no place: %v", name, err)
			}
			if b := readPath(path); !bytes.Equal(b, content) {
				t.Fatalf("%s: the file was changed", name)
			}
		}
	}
}

// A power cut loses, zeroes or tears what was not synced, and nothing else: the rest
// opens, whole lines behind a gap are put aside, and the journal goes on.
func TestJournalPowerCut(t *testing.T) {
	synced, tail, m := vouchedJournal(t)
	for cut := 0; cut <= len(tail); cut += suite.Pick(5, 1) {
		for i, rest := range [][]byte{nil, make([]byte, len(tail)-cut), append(make([]byte, min(40, len(tail)-cut)), tail[min(cut+40, len(tail)):]...)} {
			path := filepath.Join(memoryDir(t), fmt.Sprint(cut, "-", i), "journal.jsonl")
			content := bytes.Join([][]byte{synced, tail[:cut], rest}, nil)
			lay(t, path, content, store.HeadMark{}, m)
			ro, err := openPath(path, &store.LogOptions{ReadOnly: true})
			if err != nil || ro.Len() < 3 {
				t.Fatalf("cut %d: %v", cut, err)
			}
			j, err := openPath(path, nil)
			if err != nil || j.Len() != ro.Len() || j.Torn() != ro.Torn() {
				t.Fatalf("cut %d: %v", cut, err)
			}
			if lost := content[j.Size():]; bytes.IndexByte(lost, '\n') >= 0 && j.Torn() > 0 {
				if aside := readPath(path + ".damaged-1"); !bytes.Equal(aside, lost) {
					t.Fatalf("cut %d: %d bytes are gone, %d were put aside", cut, len(lost), len(aside))
				}
			}
			if _, err := j.Append(true, testRecord(9)); err != nil {
				t.Fatal(err)
			}
			if again := openTestJournal(t, path); again.Len() != ro.Len()+1 || again.Torn() != 0 || again.Fault() != nil {
				t.Fatalf("cut %d: %d records, torn %d, %v", cut, again.Len(), again.Torn(), again.Fault())
			}
		}
	}
}

// A head that lags, as after a power cut, keeps everything; one that is
// damaged or gone is reported, and made again by the next write.
func TestJournalHeadItself(t *testing.T) {
	synced, tail, m := vouchedJournal(t)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	whole := bytes.Join([][]byte{synced, tail}, nil)
	lay(t, path, whole, store.HeadMark{}, m)
	head := filepath.Join(filepath.Dir(path), "journal.head")
	good, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(slot int) []byte {
		b := bytes.Clone(good)
		b[slot*store.HeadSlot+20] ^= 4
		return b
	}
	for name, tc := range map[string]struct {
		content []byte
		told    bool
	}{
		"as it was":     {good, false},
		"one slot":      {flip(0), true},
		"other slot":    {flip(1), true},
		"torn":          {good[:store.HeadSlot+30], true},
		"empty":         {[]byte{}, true},
		"zeroed":        {make([]byte, len(good)), true},
		"another thing": {[]byte("hello\n"), true},
		"gone":          {nil, true},
	} {
		os.WriteFile(path, whole, 0o600)
		os.Remove(head)
		if tc.content != nil {
			os.WriteFile(head, tc.content, 0o600)
		}
		j, err := openPath(path, nil)
		if err != nil || j.Len() != 6 || (j.Fault() != nil) != tc.told {
			t.Errorf("%s: %v, %v", name, err, j.Fault())
			continue
		}
		if !store.HasHead(j.Log) { // then a tail is no tail
			os.WriteFile(path, whole[:len(whole)-9], 0o600)
			var d *store.LogError
			if _, err := openPath(path, nil); !errors.As(err, &d) {
				t.Errorf("%s: a tail was dropped: %v", name, err)
			}
			os.WriteFile(path, whole, 0o600)
		}
		if _, err := j.Append(true, testRecord(9)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := openPath(path, nil); err != nil || again.Len() != 7 || again.Fault() != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A journal of before there were heads gets one with the next write, and may end in
// the beginning of a line, but in nothing else.
func TestJournalWithoutHead(t *testing.T) {
	synced, _, _ := vouchedJournal(t)
	old := plain(t, synced)
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	for cut := 1; cut <= len(old); cut += suite.Pick(5, 1) {
		lay(t, path, old[:cut])
		j, err := openPath(path, nil)
		if err != nil {
			t.Fatalf("cut %d: %v", cut, err)
		}
		if _, err := j.Append(true, testRecord(9)); err != nil {
			t.Fatal(err)
		}
		n := j.Len()
		now, _ := os.ReadFile(path)
		if again := openTestJournal(t, path); again.Len() != n || again.Fault() != nil {
			t.Fatalf("cut %d: %d records of %d, %v", cut, again.Len(), n, again.Fault())
		}
		os.WriteFile(path, now[:len(now)-5], 0o600) // from now on it is reported
		var d *store.LogError
		if _, err := openPath(path, nil); !errors.As(err, &d) {
			t.Fatalf("cut %d: %v", cut, err)
		}
	}
	for name, content := range map[string][]byte{
		"zeroed": make([]byte, len(old)), "zeroed in part": append(bytes.Clone(old[:50]), make([]byte, 200)...),
		"bit in the last line": append(bytes.Clone(old[:len(old)-20]), append([]byte{old[len(old)-20] ^ 2}, old[len(old)-19:]...)...),
	} {
		lay(t, path, content)
		var d *store.LogError
		if _, err := openPath(path, nil); !errors.As(err, &d) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A crash at any write of a rewrite leaves the old journal or the new one, and a head
// that fits; so does one at the head's own writes.
func TestJournalHeadNeverAhead(t *testing.T) {
	for op := 1; ; op++ {
		path := filepath.Join(t.TempDir(), "journal.jsonl")
		j := openTestJournal(t, path)
		j.Append(true, testRecord(1), testRecord(2))
		n, failed := 0, false
		restore := atomicfile.SetHook(func(string, string) error {
			if n++; n < op {
				return nil
			}
			failed = true // from here on nothing reaches the disk
			return &atomicfile.PartialWrite{N: 11, Err: errors.New("power cut")}
		})
		err := j.Rewrite(func(r *store.Record) (bool, error) { return r.ID != "k1", nil })
		restore()
		again, oops := openPath(path, nil)
		if oops != nil {
			t.Fatalf("operation %d (%v): %v", op, err, oops)
		}
		if n := again.Len(); n != 1 && n != 2 || err == nil && n != 1 {
			t.Fatalf("operation %d: %d records, %v", op, n, err)
		}
		if _, err := again.Append(true, testRecord(3)); err != nil {
			t.Fatal(err)
		}
		if !failed {
			return
		}
	}
}

// Nothing is reached through a link, and a file of two names is changed under ours
// only.
func TestJournalLinks(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "precious.txt")
	path := filepath.Join(dir, "s", "journal.jsonl")
	lay := func() {
		os.RemoveAll(filepath.Join(dir, "s"))
		os.MkdirAll(filepath.Join(dir, "s"), 0o700)
		os.WriteFile(target, []byte("precious"), 0o600)
	}
	for _, name := range []string{"journal.jsonl", "journal.head"} {
		lay()
		if err := os.Symlink(target, filepath.Join(dir, "s", name)); err != nil {
			t.Skip("no symbolic links here")
		}
		j, err := openPath(path, nil)
		if err == nil {
			_, err = j.Append(true, testRecord(1))
		}
		if !store.Foreign(err) {
			t.Errorf("%s: %v", name, err)
		}
		if b, _ := os.ReadFile(target); string(b) != "precious" {
			t.Errorf("%s: the target says %q", name, b)
		}
	}
	lay()
	os.WriteFile(target, nil, 0o600)
	if err := os.Link(target, path); err != nil {
		t.Skip("no hard links here")
	}
	if _, err := openTestJournal(t, path).Append(true, testRecord(1)); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(target); len(b) > 0 {
		t.Errorf("the other name says %q", b)
	}
}

// Who reads without a lock while the journal is appended to and rewritten never gets a report
// of damage.
func TestJournalReadWhileRewritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openTestJournal(t, path)
	j.Append(true, testRecord(0))
	done := make(chan error)
	go func() {
		var err error
		for i := range 300 {
			if _, e := j.Append(true, testRecord(i), testRecord(i+1)); e != nil {
				err = e
			}
			if i%3 == 0 {
				n := 0
				if e := j.Rewrite(func(*store.Record) (bool, error) { n++; return n%2 == 1, nil }); e != nil {
					err = e
				}
			}
		}
		done <- err
	}()
	for {
		if _, err := openPath(path, &store.LogOptions{ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

// An empty line behind the last record is no damage, though the head says that the journal was
// synced behind it; and a record behind a torn one begins no line of its own.
func TestHeadBehindAnEmptyLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(text)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	j := openTestJournal(t, path)
	if _, err := j.Append(true, store.Record{Op: "turn", ID: "1"}); err != nil {
		t.Fatal(err)
	}
	write("\n")
	j = openTestJournal(t, path)
	if err := j.Sync(j.Len()); err != nil {
		t.Fatal(err)
	}
	write(`{"v":`)
	j = openTestJournal(t, path)
	if _, err := j.Append(true, store.Record{Op: "turn", ID: "2"}); err != nil {
		t.Fatal(err)
	}
	if got := openTestJournal(t, path).Len(); got != 2 {
		t.Errorf("%d records", got)
	}
	if text := readPath(path); bytes.Count(text, []byte("\n\n")) != 1 {
		t.Errorf("%q", text)
	}
}
