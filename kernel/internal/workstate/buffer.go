package workstate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// memory/working-buffer.md is the last resort for a session's working state: from a share of the
// window on, every turn is appended to it, and the whole state at a dump. An entry is first
// promised in the journal and then appended to the file under an id. After a kill in between, the
// entry is completed and never doubled. The file is not indexed and not shown. It is read only
// when a session has neither a checkpoint nor SESSION-STATE.md. Only [ClearBuffer] removes text
// from the file, and only text that a curation has read.
//
//	# Working buffer of session KEY, 2026-11-03          the first of a compaction cycle
//
//	## 2026-11-03T09:12:05Z, turn 12 of session NAME, 63 % full, message 34
//
//	- [user] …                                           the turn
//	- [goal] … [step] … [constraint] … [decision] …      where it left the work
//	<!-- mk:ID -->
//
// An entry holds only the list items that the buffer does not have yet in this cycle. The first
// entry of a cycle has all items.

// The bounds of an entry, in bytes. A dump is longer.
const maxTurnBytes, maxDumpBytes = 4 << 10, 16 << 10

var errBufferFull = errors.New("the working buffer is full")

// buffer writes a session's entries to the working buffer.
type buffer struct {
	*Keeper
	Progress
	name string // of the session's folder
	now  time.Time
}

func (k *Keeper) buffer(now time.Time) *buffer {
	return &buffer{k, k.Session.Progress(), k.Session.Name(), now}
}

// turn appends a turn, once.
func (b *buffer) turn(ctx context.Context, t *Turn) []fault.Fault {
	c := b.standing(b.now)
	if b.Options.BufferOff || c == nil {
		return nil
	}
	id := ingest.PageID("wb", b.name, "turn", t.Key)
	msgs := t.Msgs[t.From:t.To]
	lines := turnLines(msgs, b.Mask)
	touched := checkpoint.Update(checkpoint.State{}, msgs, b.Mask.Text)
	c.Resources = checkpoint.Build(touched, nil, checkpoint.Input{}).Resources
	state, items := b.news(checkpoint.RecordOf(c, maxTurnBytes))
	return b.write(ctx, id, bufferHead{What: fmt.Sprintf("turn %d", b.Turns), full: t.Reading.Utilization()}, append(lines, state...), items)
}

// state appends all of the working state, once per cycle and content.
func (b *buffer) state(ctx context.Context, r checkpoint.Reading) []fault.Fault {
	c := b.standing(b.now)
	if b.Options.BufferOff || c == nil {
		return nil
	}
	lines := checkpoint.RecordOf(c, maxDumpBytes)
	id := ingest.PageID("wb", append([]string{b.name, b.cycle(), "dump"}, lines.Matter()...)...)
	_, items := b.news(lines)
	if b.Cut != "" {
		items = append(items, b.cutItem())
	}
	return b.write(ctx, id, bufferHead{What: BufferDump, full: r.Utilization()}, lines, items)
}

// cutItem returns the item that records that the buffer has a dump after the kernel's newest cut.
func (b *buffer) cutItem() string { return ingest.PageID("bi", b.name, "cut", b.Cut) }

// cutSince reports whether the kernel has made a cut and no dump followed yet. A plan writes no
// Markdown, so the dump that the thresholds require follows later.
func (b *buffer) cutSince() bool {
	return b.Cut != "" && !b.Options.BufferOff && !b.Session.Has(b.cutItem())
}

// turnLines returns the user's words and the agent's last words of a turn.
func turnLines(msgs []memkernel.Message, masker *mask.Masker) checkpoint.Record {
	var user, agent string
	for i := range msgs {
		m := &msgs[i]
		if own, _ := transcript.Typed(*m); user == "" {
			user = own
		}
		if text := strings.TrimSpace(plan.Utterance(m).Text); m.Role == memkernel.RoleAssistant && text != "" {
			agent = text
		}
	}
	return checkpoint.Record{}.Said(summary.Excerpt(masker.Text(user), 400), summary.Excerpt(masker.Text(agent), 400))
}

// news returns the lines without the list items that the buffer already has in this cycle. It also
// returns the hashes of the list items to record.
func (b *buffer) news(lines checkpoint.Record) (fresh checkpoint.Record, items []string) {
	cycle := b.cycle()
	empty := b.empty()
	for _, l := range lines {
		if l.Settled() {
			item := ingest.PageID("bi", b.name, cycle, l.Tag, l.Text)
			if b.Session.Has(item) && !empty {
				continue
			}
			items = append(items, item)
		}
		fresh = append(fresh, l)
	}
	return fresh, items
}

// empty reports whether the buffer holds no entry. If it holds other text, the entries were
// cleared, and the text belongs to somebody else.
func (b *buffer) empty() bool {
	f, err := b.Private.Stat(BufferPath)
	if err != nil || f.Size == 0 {
		return err == nil
	}
	text, err := ReadBuffer(b.Private)
	return err == nil && len(Buffered(text)) == 0
}

// cycle returns the name of the time between two compactions, made by the host or by the kernel.
func (b *buffer) cycle() string { return fmt.Sprint(b.Epoch, " ", b.Compactions, " ", b.Cut) }

// write promises an entry in the journal and appends the entry to the buffer.
func (b *buffer) write(ctx context.Context, id string, h bufferHead, lines checkpoint.Record, items []string) []fault.Fault {
	h.At, h.session, h.captured = b.now, b.name, b.life.State.Thread.Captured
	var text strings.Builder
	first := ingest.PageID("bi", b.name, b.cycle(), "begun")
	if !b.Session.Has(first) || b.empty() {
		items = append(items, first)
		fmt.Fprintf(&text, "# Working buffer of session %s, %s\n\n", oneLine(b.Mask.Text(b.Session.Key())), b.Private.Today(h.At))
	}
	text.WriteString(h.String() + "\n\n")
	for _, l := range lines {
		text.WriteString(l.String() + "\n")
	}
	return b.faults(api.NetBuffer, b.append(ctx, id, Entry{Path: BufferPath, Text: text.String(), Private: true, Items: items}))
}

func (b *buffer) append(ctx context.Context, id string, e Entry) error {
	before, written, ok := b.Session.Promised(id)
	if written {
		return nil
	}
	if ok {
		e = before // the turn was delivered again, so the promised entry is completed
	}
	f, err := b.Private.Stat(BufferPath)
	if err != nil {
		return err
	}
	if limit := int64(bufferBytes); f.Size+int64(len(e.Text)) > limit {
		return fmt.Errorf("append to %s: %w: it may have %d bytes; curate it, and clear what was read", BufferPath, errBufferFull, limit)
	}
	if _, err := b.Session.Append(ctx, id, e, b.now); err != nil {
		return err
	}
	b.Session.Keep(e.Items)
	return nil
}
