package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/internal/store"
)

var noon = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

// piLine is a line of a Pi transcript.
func piLine(n int, role, text string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"message","id":"m%d","parentId":"m%d","timestamp":%q,"message":{"role":%q,"content":[{"type":"text","text":%s}]}}`+"\n",
		n, n-1, noon.Add(time.Duration(n)*time.Minute).Format(time.RFC3339), role, quoted)
}

const header = `{"type":"session","version":3,"id":"s1","timestamp":"2026-03-09T12:00:00Z","cwd":"/x"}` + "\n"

type fixture struct {
	*testing.T
	store *Store
	dir   string
	file  string
	far   bool // transcripts are far away
	read  int  // how often one was read
}

func newFixture(t *testing.T, o *Options) *fixture {
	f := &fixture{T: t, dir: t.TempDir()}
	if o == nil {
		o = &Options{}
	}
	o.Location = time.UTC
	f.store, f.file = Open(store.Files(filepath.Join(f.dir, "state")), o), filepath.Join(f.dir, "host", "talk.jsonl")
	f.write(header + piLine(1, "user", "Where do herons nest in the delta this spring?") + piLine(2, "assistant", "In the reeds."))
	return f
}

func (f *fixture) write(text string) {
	f.Helper()
	if err := os.MkdirAll(filepath.Dir(f.file), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.WriteFile(f.file, []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) grow(text string) {
	f.Helper()
	data, err := os.ReadFile(f.file)
	if err != nil {
		f.Fatal(err)
	}
	f.write(string(data) + text)
}

// readFar reads a transcript and tells by a sum whether the beginning is another.
func (f *fixture) readFar(ctx context.Context, c *Conversation, from Position, turn func(Turn) error) (Position, error) {
	f.read++
	data, err := os.ReadFile(c.Path)
	sum := func(n int64) string { return fmt.Sprintf("%x", sha256.Sum256(data[:n])) }
	if err == nil && from.Offset > 0 && (from.Offset > int64(len(data)) || sum(from.Offset) != from.Sum) {
		err = ErrRewritten
	}
	if err != nil {
		return from, err
	}
	at, err := readTranscript(ctx, c, from, turn)
	at.Sum = sum(at.Offset)
	return at, err
}

func (f *fixture) update(o UpdateOptions) Report {
	f.Helper()
	if o.Now.IsZero() {
		o.Now = time.Now() // the files were just written
	}
	find := Source{Path: filepath.Join(f.dir, "host")}.Find
	r, err := f.store.Update(context.Background(), o, func(ctx context.Context, yield func(Conversation) bool, failed func(string, error)) {
		find(ctx, func(c Conversation) bool {
			if c.Far = f.far; f.far {
				c.Open = func() (Bytes, error) { f.Error("opened from far"); return os.Open(c.Path) }
				c.Read = f.readFar
			}
			return yield(c)
		}, failed)
	})
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// all is the text of all documents.
func (f *fixture) all() string {
	f.Helper()
	var b strings.Builder
	for file, err := range f.store.Files() {
		if err != nil {
			f.Fatal(err)
		}
		text, err := f.store.Read(file.Path)
		if err != nil {
			f.Fatal(err)
		}
		b.WriteString(text)
	}
	return b.String()
}

func (f *fixture) has(want ...string) {
	f.Helper()
	for _, w := range want {
		if text := f.all(); !strings.Contains(text, w) {
			f.Errorf("%q is not in\n%s", w, text)
		}
	}
}

func (f *fixture) lacks(text string) {
	f.Helper()
	if all := f.all(); strings.Contains(all, text) {
		f.Errorf("%q is in\n%s", text, all)
	}
}

func TestTurns(t *testing.T) {
	f := newFixture(t, &Options{Mask: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[masked]") }})
	f.grow(piLine(3, "user", "My password is hunter2, keep it."))
	if r := f.update(UpdateOptions{}); r.Read != 1 || r.Turns != 3 || len(r.Failed) != 0 {
		t.Fatalf("%+v", r)
	}
	f.has("# Session talk of main, 2026-03-09\n", "## 12:01, line 2, user\nuser: Where do herons nest", "## 12:02, line 3, assistant\nassistant: In the reeds.", "[masked]")
	f.lacks("hunter2")
	for file := range f.store.Files() {
		if !strings.HasPrefix(file.Path, "sessions/main/talk-") || Date(file.Path) != "2026-03-09" || !Of(file.Path, "main", "talk") || Of(file.Path, "main", "tal") {
			t.Errorf("path %s", file.Path)
		}
	}
}

// What a host put into a user's message is not what the user said.
func TestOnlyWhatWasTyped(t *testing.T) {
	f := newFixture(t, &Options{})
	f.grow(piLine(3, "user", "Where is the heron?\n<system-reminder>\nCalled the Read tool: otters everywhere\n</system-reminder>") +
		piLine(4, "user", "<hook_context>otters again</hook_context>") + piLine(5, "assistant", "In the reeds, still."))
	f.update(UpdateOptions{})
	f.has("user: Where is the heron?\n", "In the reeds, still.")
	f.lacks("otters")
}

// What grew is read on from where the last look ended, and not before enough is new.
func TestDeltas(t *testing.T) {
	f := newFixture(t, &Options{DeltaMessages: 3, DeltaBytes: 1 << 20})
	f.update(UpdateOptions{})
	f.grow(piLine(3, "user", "Third: what do they eat?") + piLine(4, "assistant", "Fourth: fish."))
	if r := f.update(UpdateOptions{}); r.Waiting != 1 || r.Read != 0 {
		t.Fatalf("two lines: %+v", r)
	}
	f.lacks("Third")
	f.grow(piLine(5, "user", "Fifth."))
	r := f.update(UpdateOptions{})
	if r.Read != 1 || r.Renewed != 0 || r.Turns != 3 {
		t.Fatalf("three lines: %+v", r)
	}
	f.has("line 4, user\nuser: Third", "line 6, user\nuser: Fifth.")
	f.grow(piLine(6, "assistant", "Sixth."))
	if r := f.update(UpdateOptions{Now: time.Now().Add(2 * time.Hour)}); r.Read != 1 || r.Turns != 1 {
		t.Errorf("it has rested: %+v", r)
	}
	f.grow(piLine(7, "assistant", "Seventh."))
	if r := f.update(UpdateOptions{All: true}); r.Read != 1 || r.Turns != 1 {
		t.Errorf("all is asked for: %+v", r)
	}
	if r := f.update(UpdateOptions{All: true}); r.Read != 0 {
		t.Errorf("nothing is new: %+v", r)
	}
	big := newFixture(t, &Options{DeltaMessages: 1000, DeltaBytes: 500})
	big.update(UpdateOptions{})
	big.grow(piLine(3, "user", strings.Repeat("long ", 200)))
	if r := big.update(UpdateOptions{}); r.Read != 1 || r.Turns != 1 {
		t.Errorf("a kilobyte: %+v", r)
	}
}

// A transcript that is far away is read again, once, when it has doubled or rests, however many
// lines are new, and never opened. It is read twice if it was rewritten.
func TestFar(t *testing.T) {
	f := newFixture(t, &Options{DeltaMessages: 1, DeltaBytes: 1})
	f.far = true
	update := func(o UpdateOptions, reads int) Report {
		f.read = 0
		r := f.update(o)
		if f.read != reads {
			t.Errorf("it was read %d times, want %d: %+v", f.read, reads, r)
		}
		return r
	}
	update(UpdateOptions{}, 1)
	f.grow(piLine(3, "user", "Third."))
	if r := update(UpdateOptions{}, 0); r.Waiting != 1 || r.Read != 0 {
		t.Errorf("a line: %+v", r)
	}
	f.grow(piLine(4, "user", strings.Repeat("long ", 400)))
	if r := update(UpdateOptions{}, 1); r.Read != 1 || r.Turns != 2 {
		t.Errorf("it has doubled: %+v", r)
	}
	f.grow(piLine(5, "user", "Fifth."))
	if r := update(UpdateOptions{Now: time.Now().Add(2 * time.Hour)}, 1); r.Read != 1 || r.Turns != 1 {
		t.Errorf("it has rested: %+v", r)
	}
	f.write(header + piLine(1, "user", "Cut short."))
	if r := update(UpdateOptions{}, 2); r.Renewed != 1 || r.Turns != 1 || len(r.Failed) != 0 {
		t.Errorf("truncated: %+v", r)
	}
	f.has("Cut short.")
	f.lacks("Fifth")
}

// A transcript that was rewritten or cut is read from its beginning, however little
// has changed.
func TestRewritten(t *testing.T) {
	f := newFixture(t, nil)
	f.update(UpdateOptions{})
	f.write(header + piLine(1, "user", "Where do storks nest in the delta this spring?") + piLine(2, "assistant", "In the reeds.") + piLine(3, "user", "And then?"))
	if r := f.update(UpdateOptions{}); r.Renewed != 1 || r.Turns != 3 {
		t.Fatalf("rewritten: %+v", r)
	}
	f.has("storks", "And then?")
	f.lacks("heron")
	f.write(header + piLine(1, "user", "Cut short."))
	if r := f.update(UpdateOptions{}); r.Renewed != 1 || r.Turns != 1 {
		t.Fatalf("truncated: %+v", r)
	}
	f.lacks("storks")
}

// A last line that is still being written waits.
func TestTornLine(t *testing.T) {
	f := newFixture(t, nil)
	whole := piLine(3, "user", "The third line, whole by now.")
	f.grow(whole[:40])
	f.update(UpdateOptions{})
	f.grow(whole[40:])
	if r := f.update(UpdateOptions{All: true}); r.Turns != 1 || r.Renewed != 0 {
		t.Fatalf("%+v", r)
	}
	f.has("line 4, user\nuser: The third line, whole by now.")
}

// A part is a day's, or about PartBytes; what has come before stays as it is.
func TestParts(t *testing.T) {
	f := newFixture(t, nil)
	f.update(UpdateOptions{})
	before := f.all()
	f.grow(piLine(3+24*60, "user", "The next day.") + piLine(4+24*60, "assistant", strings.Repeat("very long. ", partBytes/10)) + piLine(5+24*60, "user", "Behind it."))
	f.update(UpdateOptions{All: true})
	var names []string
	for file := range f.store.Files() {
		names = append(names, filepath.Base(file.Path))
	}
	if fmt.Sprint(names) != "[0001-2026-03-09.md 0002-2026-03-10.md 0003-2026-03-10.md]" {
		t.Errorf("parts %v", names)
	}
	if all := f.all(); !strings.HasPrefix(all, before) {
		t.Error("the first part was changed")
	}
}

func TestTextStaysInItsTurn(t *testing.T) {
	f := newFixture(t, nil)
	f.grow(piLine(3, "user", "# Title\ntext\n---\n```go\n# in code\n~~~") + piLine(4, "assistant", "after\x00"))
	f.update(UpdateOptions{All: true})
	f.has("user: \\# Title\ntext\n\\---\n```go\n# in code\n~~~\n```\n\n## 12:04", "assistant: after�")
}

func TestGoneAndUnreadable(t *testing.T) {
	f := newFixture(t, nil)
	if err := os.WriteFile(filepath.Join(f.dir, "host", "odd.jsonl"), []byte("no transcript\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := f.update(UpdateOptions{}); len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Err.Error(), "odd.jsonl") {
		t.Fatalf("%+v", r.Failed)
	}
	gone := Source{Path: filepath.Join(f.dir, "elsewhere")}
	r, err := f.store.Update(context.Background(), UpdateOptions{}, gone.Find, Source{Path: f.file}.Find)
	if err != nil || len(r.Failed) != 1 || r.Conversations != 1 {
		t.Fatalf("%v %+v", err, r)
	}
	// The folder can't be listed: what is known of it stays.
	if err := os.Rename(filepath.Dir(f.file), filepath.Join(f.dir, "away")); err != nil {
		t.Fatal(err)
	}
	f.update(UpdateOptions{})
	f.has("heron")
	if err := os.Mkdir(filepath.Dir(f.file), 0o700); err != nil {
		t.Fatal(err)
	}
	if r := f.update(UpdateOptions{}); r.Removed == 0 {
		t.Errorf("%+v", r)
	}
	f.lacks("heron")
}

// A forgotten session doesn't come back: not when it grows, not as a copy, and not
// after the documents' folder but the tombstones is lost.
func TestForget(t *testing.T) {
	f := newFixture(t, nil)
	f.update(UpdateOptions{})
	if m, err := f.store.Matching("talk"); err != nil || len(m) != 1 || m[0].Turns != 2 {
		t.Fatalf("%v %+v", err, m)
	}
	var path string
	for file := range f.store.Files() {
		path = file.Path
	}
	if out, err := f.store.Forget(context.Background(), "talk", "", "asked", noon); err != nil || len(out) != 1 {
		t.Fatalf("%v %+v", err, out)
	}
	if hidden, err := f.store.Hidden(); err != nil || !hidden(path) {
		t.Errorf("%s is still to be seen: %v", path, err)
	}
	if _, err := f.store.Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it can still be read: %v", err)
	}
	f.grow(piLine(3, "user", "Did you forget about the birds?"))
	data, err := os.ReadFile(f.file)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(f.dir, "host", "copy.jsonl")
	if err := os.WriteFile(copied, append(data, piLine(9, "user", "Something new in the copy, which is long.")...), 0o600); err != nil {
		t.Fatal(err)
	}
	again := Open(store.Files(filepath.Join(f.dir, "state")), &Options{Location: time.UTC})
	f.store = again
	if r := f.update(UpdateOptions{All: true}); r.Forgotten != 1 {
		t.Errorf("%+v", r)
	}
	f.lacks("heron")
	f.lacks("reeds")
	f.has("Something new in the copy")
}

// One turn is forgotten wherever it is, and the rest stays.
func TestForgetTurns(t *testing.T) {
	f := newFixture(t, nil)
	f.update(UpdateOptions{})
	if err := f.store.ForgetTurns(context.Background(), []Turn{{Role: "user", Text: "Where do herons nest in the delta this spring?"}}); err != nil {
		t.Fatal(err)
	}
	f.lacks("heron")
	f.update(UpdateOptions{})
	f.lacks("heron")
	f.has("In the reeds.")
}

// A kill between the tombstone of a turn and the removal is made good by the next
// update.
func TestForgetTurnsKilled(t *testing.T) {
	f := newFixture(t, nil)
	f.update(UpdateOptions{})
	long := Turn{Role: "user", Text: "Where do herons nest in the delta this spring?"}
	if err := f.store.bury(func(b *tombs) error { b.turns[mark(&long)] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	f.update(UpdateOptions{})
	f.lacks("heron")
	f.has("In the reeds.")
	if r := f.update(UpdateOptions{}); r.Read != 0 {
		t.Errorf("it is read again and again: %+v", r)
	}
}

func TestDamagedTombstones(t *testing.T) {
	f := newFixture(t, nil)
	f.update(UpdateOptions{})
	for _, text := range []string{"{", `{"format":99}`} {
		if err := os.WriteFile(filepath.Join(f.dir, "state", tombName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.store.Hidden(); err == nil || !strings.Contains(err.Error(), tombName) {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := f.store.Update(context.Background(), UpdateOptions{}); err == nil {
			t.Errorf("%s: an update went on without them", text)
		}
	}
}

// Transcripts and folders whose names act where they are shown are reported, and not
// read.
func TestNames(t *testing.T) {
	f := newFixture(t, nil)
	planted := 0
	for _, name := range hostile.Names() {
		folder := filepath.Join(f.dir, "host", "agents", name, "sessions")
		file := filepath.Join(f.dir, "host", name+".jsonl")
		if os.MkdirAll(folder, 0o700) != nil || os.WriteFile(file, []byte(header+piLine(1, "user", "hostile words in a file")), 0o600) != nil {
			continue // the file system has no such name
		}
		if err := os.WriteFile(filepath.Join(folder, "x.jsonl"), []byte(header+piLine(1, "user", "hostile words in a folder")), 0o600); err != nil {
			t.Fatal(err)
		}
		planted += 2
	}
	r := f.update(UpdateOptions{All: true})
	if len(r.Failed) != planted {
		t.Errorf("%d are told, want %d: %v", len(r.Failed), planted, r.Failed)
	}
	f.has("herons")
	f.lacks("hostile")
}

func TestAgents(t *testing.T) {
	for key, want := range map[string]string{"agent:ops:main": "ops", "agent:ops": "", "": "", "build": "", "agent::x": ""} {
		if got := AgentOf(key); got != want {
			t.Errorf("%q: %q", key, got)
		}
	}
	if got := agentIn("/home/x/.openclaw/agents/work/sessions/a.jsonl"); got != "work" {
		t.Errorf("%q", got)
	}
	if a, b := Under("a/b"), Under("a_b"); a == b || strings.Count(a, "/") != 2 {
		t.Errorf("%q %q", a, b)
	}
	if Under("..") == Prefix+"../" {
		t.Error("an agent leads out")
	}
}

// TestAgentsShareNothing: no agent is shown what another's folder holds, whatever they
// are called and whatever the disk makes of names.
func TestAgentsShareNothing(t *testing.T) {
	agents := []string{"main", "Main", "MAIN", "a/b", "a_b", "a_b-c14cddc0", "a_b-c14cddc033f64b9d", "con", "NUL", "ops.", "ops", "caf\u00e9", "cafe\u0301", ".."}
	by := map[string]string{}
	for _, a := range agents {
		under := strings.ToLower(strings.TrimRight(strings.TrimSuffix(Under(a), "/"), "."))
		if other, ok := by[under]; ok {
			t.Errorf("%q and %q are both under %s", a, other, under)
		}
		by[under] = a
	}
}

// TestGrown: an answer that was written several times while it streamed is one turn.
func TestGrown(t *testing.T) {
	f := newFixture(t, nil)
	f.grow(piLine(3, "user", "And storks?") + piLine(4, "assistant", "On chim") + piLine(4, "assistant", "On chimneys of") + piLine(4, "assistant", "On chimneys of old farms.") + piLine(5, "user", "Thanks."))
	f.update(UpdateOptions{All: true})
	f.has("On chimneys of old farms.", "And storks?", "Thanks.")
	if all := f.all(); strings.Count(all, "On chim") != 1 {
		t.Error(all)
	}
}

// TestUTF16: a transcript in UTF-16 is read, and read on in where it grows.
func TestUTF16(t *testing.T) {
	f, text := newFixture(t, nil), ""
	for n, add := range []string{header + piLine(1, "user", "Where do herons nest?"), piLine(2, "assistant", "In the reeds."), piLine(3, "user", "And storks?")} {
		text += add
		wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		f.write(wide)
		f.update(UpdateOptions{All: true})
		for i, said := range []string{"Where do herons nest?", "In the reeds.", "And storks?"} {
			if got := strings.Count(f.all(), said); i <= n && got != 1 || i > n && got != 0 {
				t.Errorf("step %d: %q is there %d times in\n%s", n, said, got, f.all())
			}
		}
	}
}
