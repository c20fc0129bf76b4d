package workstate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// desk is a session whose promises stand in memory.
type desk struct {
	md       *markdownstore.Store
	progress workstate.Progress
	items    map[string]bool
	promised map[string]workstate.Entry
	written  map[string]bool
	readOnly bool
}

func (d *desk) Key() string                  { return "agent:main:desk" }
func (d *desk) Name() string                 { return "desk" }
func (d *desk) Progress() workstate.Progress { return d.progress }
func (d *desk) Stored() []journal.StoredPage { return nil }
func (d *desk) Window(string) int            { return 0 }
func (d *desk) Has(item string) bool         { return d.items[item] }
func (d *desk) Keep(items []string) {
	for _, i := range items {
		d.items[i] = true
	}
}

func (d *desk) Promised(id string) (e workstate.Entry, written, ok bool) {
	e, ok = d.promised[id]
	return e, d.written[id], ok
}

func (d *desk) Append(ctx context.Context, id string, e workstate.Entry, _ time.Time) (bool, error) {
	d.promised[id] = e
	if d.readOnly {
		return true, fmt.Errorf("append to %s: %w", e.Path, markdownstore.ErrReadOnly)
	}
	_, err := d.md.Append(ctx, e.Path, id, e.Text)
	d.written[id] = err == nil
	return err == nil, err
}

// keeper keeps a session in a new workspace, its folder in memory.
func keeper(t *testing.T) (*workstate.Keeper, *desk, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "memory"), 0o755); err != nil {
		t.Fatal(err)
	}
	md, err := markdownstore.Open(dir, &markdownstore.Options{Private: true, Now: func() time.Time { return noon }, Timezone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { md.Close() })
	d := &desk{md: md, items: map[string]bool{}, promised: map[string]workstate.Entry{}, written: map[string]bool{}}
	masker, err := mask.NewMasker(mask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := workstate.Options{Thresholds: func(int, int) checkpoint.Thresholds { return checkpoint.DefaultThresholds() },
		BufferAt: .6}
	return &workstate.Keeper{Options: o, Session: d, Files: storetest.New(), Private: md, Shared: md.Shared(), Mask: masker}, d, dir
}

func says(role memkernel.Role, key, text string) memkernel.Message {
	return memkernel.Message{Role: role, Key: key, Time: noon, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text, Typed: role == memkernel.RoleUser}}}
}

// talk decides something.
var talk = []memkernel.Message{
	says(memkernel.RoleUser, "m1", "Move the shop to the new store by Friday."),
	says(memkernel.RoleAssistant, "m2", "Shall I go with Postgres and keep the queue as it is?"),
	says(memkernel.RoleUser, "m3", "Yes please."),
	says(memkernel.RoleAssistant, "m4", "Then I begin with the schema."),
}

// after observes the talk at so many tokens of a window of 100,000.
func after(t *testing.T, k *workstate.Keeper, tokens int) {
	t.Helper()
	if err := k.Capture(talk, checkpoint.Source{}, nil); err != nil {
		t.Fatal(err)
	}
	faults := k.AfterTurn(context.Background(), &workstate.Turn{Key: "t1", Msgs: talk, From: 2, To: 4, Ended: true, Now: noon,
		Reading: checkpoint.Reading{Tokens: tokens, Window: 100_000}})
	if len(faults) > 0 {
		t.Fatalf("%d tokens: %+v", tokens, faults)
	}
}

func text(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// TestTheFullerTheMoreIsWritten: each share of the window adds a record, and delivered
// again a turn adds nothing, nor when the buffer was curated since.
func TestTheFullerTheMoreIsWritten(t *testing.T) {
	for _, tt := range []struct {
		tokens           int
		turns, dumps, cp int
	}{{10_000, 0, 0, 0}, {59_999, 0, 0, 0}, {60_000, 1, 0, 0}, {79_999, 1, 0, 0}, {80_000, 1, 1, 1}} {
		k, _, dir := keeper(t)
		after(t, k, tt.tokens)
		buffer, state := text(t, dir, workstate.BufferPath), text(t, dir, workstate.StatePath)
		after(t, k, tt.tokens)
		if text(t, dir, workstate.BufferPath) != buffer || text(t, dir, workstate.StatePath) != state {
			t.Errorf("%d tokens: delivered again it was written again", tt.tokens)
		}
		if buffer != "" {
			if err := workstate.ClearBuffer(context.Background(), k.Private, len(buffer), ingest.Hash(buffer)); err != nil {
				t.Fatal(err)
			}
			after(t, k, tt.tokens)
			if left := text(t, dir, workstate.BufferPath); left != "" {
				t.Errorf("%d tokens: what was cleared is written again:\n%s", tt.tokens, left)
			}
		}
		turns, dumps := 0, 0
		for _, e := range workstate.Buffered(buffer) {
			if e.What == workstate.BufferDump {
				dumps++
			} else {
				turns++
			}
		}
		kept, err := checkpoint.NewStore(k.Files).List()
		if err != nil || turns != tt.turns || dumps != tt.dumps || len(kept) != tt.cp {
			t.Errorf("%d tokens: %d turns and %d dumps in the buffer, checkpoints %v, %v", tt.tokens, turns, dumps, kept, err)
		}
		if f := workstate.ParseStateFile(state); f.Section == nil || f.Section.Edited || f.Section.Owner != "desk" || f.Section.Captured != len(talk) {
			t.Errorf("%d tokens: the section is %+v", tt.tokens, f.Section)
		}
	}
}

// TestWhatIsLeftIsGoneOnFrom takes the records away one by one.
func TestWhatIsLeftIsGoneOnFrom(t *testing.T) {
	k, _, dir := keeper(t)
	after(t, k, 90_000)
	observed := summary.UpdateMasked(summary.State{}, talk, k.Mask.Text)
	for _, step := range []struct {
		lose func()
		from api.Net
	}{
		{func() {}, api.NetCheckpoint},
		{func() { k.Files = storetest.New() }, api.NetSessionState},
		{func() { os.Remove(filepath.Join(dir, workstate.StatePath)) }, api.NetBuffer},
		{func() { os.Remove(filepath.Join(dir, workstate.BufferPath)) }, api.NetJournal},
		{func() { observed = summary.State{} }, ""},
	} {
		step.lose()
		r, err := k.Restore(observed, &checkpoint.RestoreOptions{Occasion: checkpoint.NewSession})
		if err != nil || r.Net != step.from || strings.Contains(r.Text, "Postgres") != (step.from != "") {
			t.Errorf("want %q: restored from %q, %v:\n%s", step.from, r.Net, err, r.Text)
		}
	}
}

// TestWhatIsPromisedIsNotFlushedAgain: a log that can't be written has it later, once.
func TestWhatIsPromisedIsNotFlushedAgain(t *testing.T) {
	k, d, _ := keeper(t)
	d.readOnly = true
	wish := []memkernel.Message{says(memkernel.RoleUser, "m1", "Remember that the tide turns at six.")}
	if faults := k.Log().Statements(context.Background(), wish, 0, noon); len(faults) != 1 || faults[0].Code != fault.FlushSkipped {
		t.Errorf("a log that can't be written: %+v", faults)
	}
	if faults := k.Log().Statements(context.Background(), wish, 0, noon); len(faults) != 0 || len(d.promised) != 1 {
		t.Errorf("asked again: %+v, %d promises", faults, len(d.promised))
	}
}

// TestSectionStandsAmongOtherText: what others wrote stays, whatever it looks like.
func TestSectionStandsAmongOtherText(t *testing.T) {
	for _, other := range []string{"", "# Mine\n", "# Mine", "\r\n# Mine\r\n\r\n", "<!-- memkernel:state session=x -->\n", "<!-- /memkernel:state -->" + "\n", "日本語\n\n\n", "<!-- memkernel:state session=desk epoch=0 captured=1 through= at=x before= sum=0 -->\nopen\n"} {
		k, _, dir := keeper(t)
		if err := os.WriteFile(filepath.Join(dir, workstate.StatePath), []byte(other), 0o644); err != nil {
			t.Fatal(err)
		}
		after(t, k, 10_000)
		f := workstate.ParseStateFile(text(t, dir, workstate.StatePath))
		if f.Section == nil || f.Section.Edited || f.Section.Owner != "desk" || f.Others() != strings.TrimSpace(other) {
			t.Errorf("%q: the section is %+v, beside %q", other, f.Section, f.Others())
		}
		if err := k.ForgetMarkdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		if left := text(t, dir, workstate.StatePath); strings.TrimSpace(left) != strings.TrimSpace(other) {
			t.Errorf("%q: forgotten, it is %q", other, left)
		}
	}
}
