// Package storetest tests that a keeper of a workspace's files behaves as package markdownstore
// requires. It is for tests only, and never reads meaning into a file.
package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memkernel/memkernel/markdownstore"
)

// ErrKilled is returned to a writer that was killed before its write was synced.
var ErrKilled = errors.New("killed before the write was synced")

// Fault is the failure of one write.
type Fault struct {
	// Refuse is the error that the write returns without writing.
	Refuse error
	// Meanwhile is called between the reading of a file and its writing. It stands for another
	// program that takes no lock.
	Meanwhile func()
	// Lose kills the writer before the write is synced. The first Torn bytes of an append are kept.
	// Any other write is lost as a whole.
	Lose bool
	Torn int
}

// Place gives tests access to the place in which a keeper has its files.
type Place struct {
	Files markdownstore.Files
	// Put writes a file as another program does. Text returns a file's current text.
	Put  func(name, text string)
	Text func(name string) (text string, there bool)
	// Next sets the fault of the next write. Restart opens the place again after a lost write.
	Next    func(f Fault)
	Restart func()
}

// now is the time of the contract's writes.
var now = time.Date(2026, 3, 21, 12, 0, 0, 0, time.UTC)

func (p *Place) store(private bool) *markdownstore.Store {
	return markdownstore.New(p.Files, &markdownstore.Options{Private: private, Timezone: time.UTC, Now: func() time.Time { return now }})
}

func (p *Place) wants(t *testing.T, name, want string) {
	t.Helper()
	if got, there := p.Text(name); !there || got != want {
		t.Errorf("%s holds %q (there: %v), want %q", name, got, there, want)
	}
}

// Contract tests the duties of every Files. open must return an empty one.
func Contract(t *testing.T, open func(t *testing.T) *Place) {
	for name, test := range map[string]func(*testing.T, *Place){
		"lists": lists, "reads": reads, "appends": appends, "swaps": swaps, "removes": removes, "keeps private": keepsPrivate,
		"refused": refused, "changed meanwhile": changedMeanwhile, "lost": lost, "many writers": manyWriters, "waits": waits,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

const entry = "\n<!-- mk:e1 -->\n"

func lists(t *testing.T, p *Place) {
	for _, name := range []string{"memory/b.md", "MEMORY.md", "memory/2026-03-20.md", "memory/sub/deep/c.md", "notes.md", "memory/x.txt", "memory/a.b.md", "AGENTS.md"} {
		p.Put(name, name+"\n")
	}
	var got []string
	for f, err := range p.store(true).Walk(context.Background()) {
		if err != nil || f.Size != int64(len(f.Path))+1 || f.ModTime.IsZero() {
			t.Errorf("%+v, %v", f, err)
		}
		got = append(got, f.Path)
	}
	want := []string{"AGENTS.md", "MEMORY.md", "memory/2026-03-20.md", "memory/a.b.md", "memory/b.md", "memory/sub/deep/c.md"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = nil
	err := fs.WalkDir(p.store(true).FS(), "memory", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got = append(got, name)
		}
		return err
	})
	want = []string{"memory/2026-03-20.md", "memory/a.b.md", "memory/b.md", "memory/sub/deep/c.md", "memory/x.txt"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("as a file system: %q, %v; want %q", got, err, want)
	}
}

func reads(t *testing.T, p *Place) {
	p.Put("memory/a.md", "one\ntwo\n")
	s := p.store(true)
	l, err := s.ReadFile("memory/a.md")
	if err != nil || l.Text != "one\ntwo\n" || l.Hash != hash(l.Text) || l.Unsettled {
		t.Errorf("%+v, %v", l, err)
	}
	c, err := s.Read("memory/a.md", 2, 1)
	if err != nil || c.Text != "two\n" || c.StartLine != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := s.ReadFile("memory/none.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if f, err := s.Stat("memory/none.md"); err != nil || !f.ModTime.IsZero() {
		t.Errorf("a file that is not there: %+v, %v", f, err)
	}
	b, err := fs.ReadFile(s.FS(), "memory/a.md")
	if err != nil || string(b) != l.Text {
		t.Errorf("%q, %v", b, err)
	}
	for _, name := range []string{"../x.md", "/etc/passwd", "src/x.go", "memory"} {
		if _, err := s.ReadFile(name); !errors.Is(err, markdownstore.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func appends(t *testing.T, p *Place) {
	ctx, s := context.Background(), p.store(true)
	for i := range 2 {
		a, err := s.Append(ctx, "memory/new/t.md", "e1", "said\nso")
		if err != nil || a.Existed != (i == 1) || a.Ref.StartLine != 1 || a.Ref.EndLine != 2 {
			t.Errorf("%d: %+v, %v", i, a, err)
		}
		p.wants(t, "memory/new/t.md", "said\nso"+entry)
	}
	if _, err := s.Append(ctx, "memory/2026-03-21.md", "e1", "today"); err != nil {
		t.Error(err)
	}
	p.wants(t, "memory/2026-03-21.md", "# 2026-03-21\n\ntoday"+entry)
	a, err := s.Append(ctx, "memory/2026-03-20.md", "e2", "late")
	if err != nil || a.Late != "memory/2026-03-20.md" || a.Ref.Path != "memory/2026-03-21.md" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := s.Append(ctx, "AGENTS.md", "e1", "x"); !errors.Is(err, markdownstore.ErrDenied) {
		t.Errorf("standing instructions: %v", err)
	}
}

func swaps(t *testing.T, p *Place) {
	ctx, s := context.Background(), p.store(true)
	made, err := s.Replace(ctx, "memory/sub/t.md", "", "one\n")
	if err != nil || made != hash("one\n") {
		t.Fatal(made, err)
	}
	swapped, err := s.Replace(ctx, "memory/sub/t.md", made, "two\n")
	if err != nil || swapped != hash("two\n") {
		t.Fatal(swapped, err)
	}
	for _, seen := range []string{made, ""} {
		var c *markdownstore.ConflictError
		if _, err := s.Replace(ctx, "memory/sub/t.md", seen, "three\n"); !errors.As(err, &c) || c.Have != swapped || c.Want != seen || c.Path != "memory/sub/t.md" {
			t.Errorf("seen %q: %v", seen, err)
		}
	}
	if _, err := s.Replace(ctx, "memory/none.md", made, "x\n"); !errors.Is(err, markdownstore.ErrConflict) {
		t.Errorf("a file that is not there: %v", err)
	}
	p.wants(t, "memory/sub/t.md", "two\n")
	p.Put("memory/2026-03-20.md", "over\n")
	if _, err := s.Replace(ctx, "memory/2026-03-20.md", hash("over\n"), "x\n"); !errors.Is(err, markdownstore.ErrDenied) {
		t.Errorf("a past day: %v", err)
	}
	if _, err := s.Redact(ctx, "memory/2026-03-20.md", hash("over\n"), "x\n"); err != nil {
		t.Error(err)
	}
	p.wants(t, "memory/2026-03-20.md", "x\n")
}

func removes(t *testing.T, p *Place) {
	ctx, s := context.Background(), p.store(true)
	p.Put("memory/sub/deep/t.md", "one\n")
	p.Put("memory/sub/other.md", "two\n")
	for _, seen := range []string{"", hash("else\n")} {
		if err := s.Remove(ctx, "memory/sub/deep/t.md", seen); !errors.Is(err, markdownstore.ErrConflict) {
			t.Errorf("seen %q: %v", seen, err)
		}
	}
	p.Next(Fault{Meanwhile: func() { p.Put("memory/sub/deep/t.md", "human\n") }})
	if err := s.Remove(ctx, "memory/sub/deep/t.md", hash("one\n")); !errors.Is(err, markdownstore.ErrConflict) {
		t.Errorf("changed meanwhile: %v", err)
	}
	p.wants(t, "memory/sub/deep/t.md", "human\n")
	full := errors.New("no room")
	p.Next(Fault{Refuse: full})
	if err := s.Remove(ctx, "memory/sub/deep/t.md", hash("human\n")); !errors.Is(err, full) {
		t.Error(err)
	}
	p.wants(t, "memory/sub/deep/t.md", "human\n")
	if err := s.Remove(ctx, "memory/sub/deep/t.md", hash("human\n")); err != nil {
		t.Fatal(err)
	}
	if _, there := p.Text("memory/sub/deep/t.md"); there {
		t.Error("a removed file is there")
	}
	if err := s.Remove(ctx, "memory/sub/deep/t.md", hash("human\n")); !errors.Is(err, markdownstore.ErrConflict) {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := p.Files.Lstat("memory/sub/deep"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
	p.wants(t, "memory/sub/other.md", "two\n")
	p.Put("memory/2026-03-20.md", "over\n")
	p.Put("AGENTS.md", "do\n")
	for _, name := range []string{"memory/2026-03-20.md", "AGENTS.md", "../x.md"} {
		if err := s.Remove(ctx, name, hash("over\n")); !errors.Is(err, markdownstore.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Put("MEMORY.md", "mine\n")
	if err := s.Shared().Remove(ctx, "MEMORY.md", hash("mine\n")); !errors.Is(err, markdownstore.ErrDenied) {
		t.Errorf("private: %v", err)
	}
	p.wants(t, "MEMORY.md", "mine\n")
}

func keepsPrivate(t *testing.T, p *Place) {
	ctx, s := context.Background(), p.store(true).Shared()
	p.Put("MEMORY.md", "mine\n")
	p.Put("memory/a.md", "ours\n")
	for f, err := range s.Walk(ctx) {
		if err != nil || f.Path != "memory/a.md" {
			t.Errorf("%+v, %v", f, err)
		}
	}
	_, read := s.ReadFile("MEMORY.md")
	_, added := s.Append(ctx, "MEMORY.md", "e1", "x")
	_, swapped := s.Replace(ctx, "MEMORY.md", hash("mine\n"), "x\n")
	for _, err := range []error{read, added, swapped} {
		if !errors.Is(err, markdownstore.ErrDenied) {
			t.Error(err)
		}
	}
	p.wants(t, "MEMORY.md", "mine\n")
}

// A refused write leaves the file as it was, and can be made later.
func refused(t *testing.T, p *Place) {
	ctx, s, full := context.Background(), p.store(true), errors.New("no room")
	p.Put("memory/t.md", "old\n")
	p.Next(Fault{Refuse: full})
	if _, err := s.Append(ctx, "memory/t.md", "e1", "new"); !errors.Is(err, full) {
		t.Error(err)
	}
	p.Next(Fault{Refuse: full})
	if _, err := s.Replace(ctx, "memory/t.md", hash("old\n"), "new\n"); !errors.Is(err, full) {
		t.Error(err)
	}
	p.Next(Fault{Refuse: full})
	if _, err := s.Replace(ctx, "memory/made.md", "", "new\n"); !errors.Is(err, full) {
		t.Error(err)
	}
	p.wants(t, "memory/t.md", "old\n")
	if text, there := p.Text("memory/made.md"); there {
		t.Errorf("a file that was refused holds %q", text)
	}
	for range 2 {
		if _, err := s.Append(ctx, "memory/t.md", "e1", "new"); err != nil {
			t.Error(err)
		}
	}
	p.wants(t, "memory/t.md", "old\n\nnew"+entry)
}

// The text that another program writes between the read and the write is kept: a replacement is a
// conflict, and an append goes to the file that is there then.
func changedMeanwhile(t *testing.T, p *Place) {
	ctx, s := context.Background(), p.store(true)
	p.Put("memory/t.md", "old\n")
	human := func(text string) Fault { return Fault{Meanwhile: func() { p.Put("memory/t.md", text) }} }
	p.Next(human("human\n"))
	if _, err := s.Replace(ctx, "memory/t.md", hash("old\n"), "new\n"); !errors.Is(err, markdownstore.ErrConflict) {
		t.Error(err)
	}
	p.wants(t, "memory/t.md", "human\n")
	p.Next(human("again\n"))
	a, err := s.Append(ctx, "memory/t.md", "e1", "new")
	if err != nil || a.Existed {
		t.Errorf("%+v, %v", a, err)
	}
	p.wants(t, "memory/t.md", "again\n\nnew"+entry)
}

// After a lost write a file is unchanged, or has a prefix of the appended text. After the same write is
// repeated, the file has the text once.
func lost(t *testing.T, p *Place) {
	ctx := context.Background()
	const block = "\nfirst line\nsecond line" + entry
	for torn := range len(block) {
		name := fmt.Sprintf("memory/%d.md", torn)
		p.Put(name, "old\n")
		p.Next(Fault{Lose: true, Torn: torn})
		if _, err := p.store(true).Append(ctx, name, "e1", "first line\nsecond line"); err == nil {
			t.Fatal("a lost write was told to stand")
		}
		p.Restart()
		if got, _ := p.Text(name); !strings.HasPrefix("old\n"+block, got) || !strings.HasPrefix(got, "old\n") {
			t.Errorf("torn after %d: %q", torn, got)
		}
		for range 2 {
			if _, err := p.store(true).Append(ctx, name, "e1", "first line\nsecond line"); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := p.Text(name); strings.Count(got, "<!-- mk:e1 -->") != 1 || !strings.HasPrefix(got, "old\n") || !strings.HasSuffix(strings.TrimRight(got, "\n")+"\n", "first line\nsecond line"+entry) {
			t.Errorf("torn after %d, written again: %q", torn, got)
		}
	}
	p.Put("memory/t.md", "old\n")
	p.Next(Fault{Lose: true})
	if _, err := p.store(true).Replace(ctx, "memory/t.md", hash("old\n"), "new\n"); err == nil {
		t.Fatal("a lost write was told to stand")
	}
	p.Restart()
	if got, _ := p.Text("memory/t.md"); got != "old\n" && got != "new\n" {
		t.Errorf("after a lost replacement: %q", got)
	}
}

// Each of many concurrent replacements gets a conflict or builds on the text before it. No entry
// of many concurrent appends is lost.
func manyWriters(t *testing.T, p *Place) {
	ctx := context.Background()
	const writers, each = 4, 5
	p.Put("memory/count.md", "")
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			s := p.store(true)
			for j := range each {
				if _, err := s.Append(ctx, "memory/t.md", fmt.Sprintf("e%d-%d", i, j), "x"); err != nil {
					t.Error(err)
				}
				for {
					l, err := s.ReadFile("memory/count.md")
					if err != nil {
						t.Error(err)
						return
					}
					if _, err = s.Replace(ctx, "memory/count.md", l.Hash, l.Text+"x"); err == nil {
						break
					}
					if !errors.Is(err, markdownstore.ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	p.wants(t, "memory/count.md", strings.Repeat("x", writers*each))
	text, _ := p.Text("memory/t.md")
	for i := range writers {
		for j := range each {
			if marker := fmt.Sprintf("<!-- mk:e%d-%d -->", i, j); strings.Count(text, marker) != 1 {
				t.Errorf("%s stands %d times", marker, strings.Count(text, marker))
			}
		}
	}
}

// A wait for another writer ends with its context.
func waits(t *testing.T, p *Place) {
	err := p.Files.Write(context.Background(), func(markdownstore.Writer) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := p.store(true).Append(ctx, "memory/t.md", "e1", "x")
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if text, there := p.Text("memory/t.md"); there {
		t.Errorf("written without the lock: %q", text)
	}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
