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
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// A flush writes a session's results into the day's log, before a compaction, a reset or the
// session's end removes the conversation. The mechanical flush needs no model: it writes the
// decisions and learnings of the newest checkpoint that no flush has written yet, and, if a
// session ends, its open items and the user's rules. The agentic flush hands the host a silent
// turn for its model, and writes the answer. Both flushes go through the journal, like everything
// that is remembered.

// DayLog writes a session's entries to the day's log.
type DayLog struct {
	*Keeper
	off bool // except for a model's answers
}

// Log returns the session's log.
func (k *Keeper) Log() *DayLog {
	return &DayLog{k, k.Options.FlushOff || k.Options.Off || k.Shared == nil}
}

// Flush writes the entries of the newest checkpoint that no flush has written yet, and returns
// their number. It writes open items only if the session has ended.
func (k *Keeper) Flush(ctx context.Context, ended bool, now time.Time) ([]fault.Fault, int) {
	log := k.Log()
	if log.off || k.life == nil {
		return nil, 0
	}
	c := k.life.Written()
	if c == nil {
		return nil, 0
	}
	var lines, items []string
	before := sync.OnceValue(func() *before { return saidBefore(k.Shared, now) })
	add := func(tag, text string, calls int) {
		item := ids.Page("fi", tag, text)
		if text = oneLine(text); text == "" || k.Session.Has(item) || slices.Contains(items, item) {
			return
		}
		if calls >= consolidation.CostlyCalls {
			text += fmt.Sprintf(" (%d calls later)", calls)
		}
		mark := Judge(tag, text, before()).String()
		if tag == "open" || tag == "identity" {
			mark = strings.TrimSpace("[" + tag + "] " + mark)
		}
		lines, items = append(lines, "- "+strings.TrimSpace(mark+" "+text)), append(items, item)
	}
	for _, d := range c.Decisions {
		add("decision", string(d.What), 0)
	}
	for _, learned := range c.Learnings {
		add("lesson", string(learned), k.life.State.Thread.CallsOf(string(learned)))
	}
	for _, changed := range identityTouched(c) {
		add("identity", changed, 0)
	}
	if ended {
		for _, o := range c.OpenItems {
			add("open", string(o), 0)
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

// The prefixes of the ids of entries, and so of the marks that follow entries in the log. byUs is
// for entries that the kernel read off the session. byAgent is for entries that the session's
// model wrote.
const byUs, byAgent = "fl", "fa"

// WrittenBy reports whether an entry of memory was written by a flush, and whether by the
// session's model.
func WrittenBy(id string) (flush, agent bool) {
	agent = strings.HasPrefix(id, byAgent+"-")
	return agent || strings.HasPrefix(id, byUs+"-"), agent
}

// write appends a text to the day's log, once for its items.
func (l *DayLog) write(ctx context.Context, by, text string, items []string, now time.Time) error {
	masked, _ := l.Mask.Mask(strings.ToValidUTF8(text, "\uFFFD"))
	id := ids.Page(by, append([]string{l.Session.Name()}, items...)...)
	promised, err := l.Session.Append(ctx, id, Entry{Path: l.Shared.DailyPath(now), Text: masked, Items: items}, now)
	if err == nil || promised {
		l.Session.Keep(items)
	}
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// asksToRemember are the words by which users ask for a memory, in the languages that we were
// sure of. The words must begin a line or a sentence, because other talk about remembering is not
// a request.
var asksToRemember = textutil.LazyRegexp(`(?im)(?:^|[.!?。！？]\s*)(?:please |bitte |por favor,? |s'il te pla[iî]t,? |请|請)?(?:` +
	`remember (?:this|that|to|:)|don'?t forget (?:this|that|to)|keep in mind that|make a note (?:that|of)|` +
	`merk(?:e)? dir|vergiss nicht|denk daran|` +
	`recuerda que|acu[eé]rdate de|no olvides|ten en cuenta que|anota que|` +
	`souviens-toi|n'oublie pas|retiens que|note que|` +
	`ricorda(?:ti)? che|non dimenticare|lembre-se|n[aã]o esque[cç]a|` +
	`запомни|не забудь|` +
	`记住|記住|记得|記得|请记|別忘|别忘|覚えて|忘れないで|기억해)`)

// Asked writes down, in the same turn, the entries that the user asked in plain words to
// remember. It writes the same words only once.
func (l *DayLog) Asked(ctx context.Context, msgs []memkernel.Message, now time.Time) []fault.Fault {
	if l.off {
		return nil
	}
	var out []fault.Fault
	for i := range msgs {
		text := l.Mask.Text(wished(&msgs[i]))
		item, words := ids.Page("fi", "human", msgs[i].Key), ids.Page("fi", "human-words", oneLine(text))
		if text == "" || len(text) > maxItemBytes || l.Session.Has(item) || l.Session.Has(words) {
			continue
		}
		if err := l.write(ctx, byUs, "- [human] "+oneLine(text), []string{item, words}, now); err != nil {
			out = append(out, fault.Fault{Code: fault.FlushSkipped, Key: msgs[i].Key, Detail: err.Error()})
		}
	}
	return out
}

// wished returns the text that a person asked to remember in a message. This is the person's own
// words, or a quotation if the message has no other words. It returns "" if the person asked for
// nothing.
func wished(m *memkernel.Message) string {
	own, quoted := transcript.Typed(*m)
	if len(own) > maxItemBytes {
		return ""
	}
	means := transcript.Unquoted(own)
	at := asksToRemember.FindStringIndex(means)
	if at == nil {
		return ""
	}
	if strings.Trim(own[at[1]:], " \t\n:.!,，：。！") == "" {
		own += "\n" + quoted
	}
	return own
}

// rules writes the rules that were stated in conversation to the day's log, each rule once. Only
// the summary knows these rules, and a new summary begins when a session ends. They would then be
// lost.
func (l *DayLog) rules(ctx context.Context, rules []summary.Entry, now time.Time) []fault.Fault {
	if l.off {
		return nil
	}
	var lines, items []string
	for _, e := range rules {
		text := oneLine(e.Text)
		item := ids.Page("fi", "rule", text)
		if text == "" || l.Session.Has(item) || asksToRemember.MatchString(text) {
			continue // or remembered by itself
		}
		lines, items = append(lines, "- [rule] "+text), append(items, item)
	}
	if len(items) == 0 {
		return nil
	}
	text := fmt.Sprintf("Session %s, rules told in it:\n%s", oneLine(l.Session.Key()), strings.Join(lines, "\n"))
	if err := l.write(ctx, byUs, text, items, now); err != nil {
		return []fault.Fault{{Code: fault.FlushSkipped, Cause: "rules", Detail: err.Error()}}
	}
	return nil
}
