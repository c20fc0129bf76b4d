package workstate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/ledger"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/transcript"
)

// A flush writes a session's results into the day's log, before a compaction, a reset or the
// session's end removes the conversation. The mechanical flush needs no model: it writes the
// decisions and learnings of the newest checkpoint that no flush has written yet, and, if a
// session ends, its open items and the user's rules. The agentic flush hands the host a silent
// turn for its model, and writes the answer. Both flushes go through the journal, like everything
// that is remembered.

// dayLog writes a session's entries to the day's log.
type dayLog struct {
	*Keeper
	off bool // except for a model's answers
}

// Log returns the session's log.
func (k *Keeper) Log() *dayLog {
	return &dayLog{k, k.Options.FlushOff || k.Options.Off || k.Shared == nil}
}

// flush writes the entries of the newest checkpoint that no flush has written yet, and returns
// their number. It writes open items only if the session has ended.
func (k *Keeper) flush(ctx context.Context, ended bool, now time.Time) ([]fault.Fault, int) {
	log := k.Log()
	if log.off || k.life == nil {
		return nil, 0
	}
	c := k.life.Written()
	if c == nil {
		return nil, 0
	}
	var lines, items []string
	before := sync.OnceValue(func() map[string]bool { return saidBefore(k.Shared, now) })
	add := func(tag, text string, calls int) {
		item := ingest.PageID("fi", tag, text)
		if text = oneLine(text); text == "" || k.Session.Has(item) || k.Session.Has(wordsItem(text)) || slices.Contains(items, item) {
			return
		}
		lines, items = append(lines, consolidation.Captured(tag, text, calls, before())), append(items, item)
	}
	for _, d := range c.Decisions {
		add("decision", string(d.What), 0)
	}
	for _, learned := range c.Learnings {
		add("lesson", string(learned), k.life.State.Thread.CallsOf(string(learned)))
	}
	for _, f := range c.Resources.FilesModified {
		if consolidation.IsIdentity(string(f)) {
			add("identity", "changed "+string(f), 0)
		}
	}
	if ended {
		for _, o := range c.Open() {
			add("open", o, 0) // once, even if it stays open
		}
	}
	if len(items) == 0 {
		return nil, 0
	}
	name := string(c.Meta.CheckpointID)
	text := fmt.Sprintf("Session %s, %s:\n%s", oneLine(k.Session.Key()), name, strings.Join(lines, "\n"))
	if err := log.write(ctx, byUs, text, items, now); err != nil {
		return []fault.Fault{{Code: fault.FlushSkipped, Cause: name, Detail: err.Error()}}, 0
	}
	return nil, len(items)
}

// reuseDays is how many past days' logs are searched for repetitions.
const reuseDays = 7

// saidBefore returns the keys of the entries of the past days' logs. It skips a log that can't be
// read, because a flush must not wait for a log.
func saidBefore(shared *markdownstore.Store, now time.Time) map[string]bool {
	out := map[string]bool{}
	for n := 1; n <= reuseDays; n++ {
		l, err := shared.ReadFile(shared.DailyPath(now.AddDate(0, 0, -n)))
		if err != nil {
			continue
		}
		for _, e := range consolidation.Entries(l.Path, l.Text) {
			out[consolidation.Key(e.Plain)] = true
		}
	}
	return out
}

// The prefixes of entries' ids, which are also in the marks that follow the entries in the log.
// byUs is for entries that the kernel read from the session. byAgent is for entries that the
// session's model wrote.
const byUs, byAgent = "fl", "fa"

// WrittenBy reports whether an entry of memory was written by a flush, and whether by the
// session's model.
func WrittenBy(id string) (flush, agent bool) {
	agent = strings.HasPrefix(id, byAgent+"-")
	return agent || strings.HasPrefix(id, byUs+"-"), agent
}

// write appends a text to the day's log. The same items are appended only once.
func (l *dayLog) write(ctx context.Context, by, text string, items []string, now time.Time) error {
	masked, _ := l.Mask.Mask(strings.ToValidUTF8(text, "\uFFFD"))
	id := ingest.PageID(by, append([]string{l.Session.Name()}, items...)...)
	promised, err := l.Session.Append(ctx, id, Entry{Path: l.Shared.DailyPath(now), Text: masked, Items: items}, now)
	if err == nil || promised {
		l.Session.Keep(items)
	}
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Statements writes a person's statements to the day's log, in the turn in which they are made, and
// the points of the host's own summaries. It reads the persons' messages from start on. Each
// sentence and each summary is written once.
func (l *dayLog) Statements(ctx context.Context, msgs []memkernel.Message, start int, now time.Time) []fault.Fault {
	if l.off {
		return nil
	}
	var said, items []string
	var out []fault.Fault
	for i := range msgs {
		m := &msgs[i]
		if m.Origin == memkernel.OriginSummary {
			out = append(out, l.summarized(ctx, m, now)...)
			continue
		}
		read := ingest.PageID("fi", "human", m.Key)
		if i < start || l.Session.Has(read) {
			continue
		}
		for _, st := range ledger.Read(l.Mask.Text(personal(m))) {
			item := wordsItem(st.Text)
			if !l.Session.Has(item) && !slices.Contains(items, item) {
				said, items = append(said, consolidation.Stated(st)), append(items, item)
			}
		}
		if len(said) > 0 {
			items = append(items, read)
		}
	}
	if len(said) == 0 {
		return out
	}
	if err := l.write(ctx, byUs, strings.Join(said, "\n"), items, now); err != nil {
		out = append(out, fault.Fault{Code: fault.FlushSkipped, Cause: "said", Detail: err.Error()})
	}
	return out
}

// wordsItem returns the item of a sentence that a person stated. It does not depend on the place of
// the sentence.
func wordsItem(text string) string {
	return ingest.PageID("fi", "human-words", strings.TrimRight(oneLine(text), " .!。！"))
}

// Repeats reports whether every statement in a passage of a day's log is one of items. Headings and
// marks in the passage do not count.
func Repeats(passage string, items map[string]bool) bool {
	repeats := false
	for line := range strings.Lines(passage) {
		switch line = strings.TrimSpace(line); {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "<!--"):
		case !items[wordsItem(consolidation.StatedIn(line))]:
			return false
		default:
			repeats = true
		}
	}
	return repeats
}

// personal returns the person's own words in a message. If a message only asks to remember a quoted
// text, this text is included.
func personal(m *memkernel.Message) string {
	own, quoted := transcript.Typed(*m)
	if quoted != "" && len(own)+len(quoted) <= maxItemBytes && ledger.AsksToRemember(own) {
		return strings.TrimRight(own, " :：.。\n") + ": " + oneLine(quoted)
	}
	return own
}

// summarized writes the points of a summary to the day's log. A host's compaction made the summary.
func (l *dayLog) summarized(ctx context.Context, m *memkernel.Message, now time.Time) []fault.Fault {
	item := ingest.PageID("fi", "summary", m.Key)
	if l.Session.Has(item) {
		return nil
	}
	points := ledger.ReadSummary(l.Mask.Text(transcript.Words(*m)))
	if len(points) == 0 {
		return nil
	}
	text := fmt.Sprintf("Session %s, by its host's summary:\n- %s", oneLine(l.Session.Key()), strings.Join(points, "\n- "))
	if err := l.write(ctx, byAgent, text, []string{item}, now); err != nil {
		return []fault.Fault{{Code: fault.FlushSkipped, Key: m.Key, Cause: "summary", Detail: err.Error()}}
	}
	return nil
}
