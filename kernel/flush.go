package kernel

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/transcript"
)

// A flush brings what a session came to into the day's log, before a compaction, a
// reset or the session's end takes the conversation away. The mechanical flush needs
// nobody's goodwill: it writes the decisions and learnings of the newest checkpoint
// that no flush has written yet, and, where a session ends, what is left open and
// the rules that were told. The agentic one hands the host a silent turn for its model, and writes what comes back.
// Both go through the journal like everything that is remembered.

// FlushOptions say when memory is written by itself.
type FlushOptions struct {
	// Off writes nothing but what is remembered by [Kernel.Remember].
	Off bool
	// AtCuts flushes before the kernel's own cuts, too, so that a plan may write to
	// the workspace. Without it only the host's boundaries flush.
	AtCuts bool
	// SoftTokens is how far before the reserve begins, or a cut of the kernel's own is
	// due, the host is asked for a flush turn; 0 takes 5 % of the window, at most
	// 10,000.
	SoftTokens int
	// SoftShare is the same as a share of the window, where SoftTokens is 0.
	SoftShare float64
	// TranscriptBytes asks for one as well, whenever the conversation has grown by
	// so much since the last; 0 takes 2 MB, negative never.
	TranscriptBytes int
}

// softTokens is the soft threshold of a window.
func (o *FlushOptions) softTokens(window int) int {
	if o.SoftTokens > 0 {
		return o.SoftTokens
	}
	if o.SoftShare > 0 {
		return int(o.SoftShare * float64(window))
	}
	return min(window/20, 10_000)
}

// flushMechanically writes what the newest checkpoint holds and no flush has
// written, and counts it. Open items are written where a session ends.
func (s *session) flushMechanically(ctx context.Context, m *memory, ended bool, now time.Time) ([]Fault, int) {
	if s.lifeOpt.Flush.Off || s.lifeOpt.Off || m == nil || s.life == nil {
		return nil, 0
	}
	c := s.life.written()
	if c == nil && s.lifeOpt.NoCheckpoints {
		c = s.standing(now)
	}
	if c == nil {
		return nil, 0
	}
	name := string(c.Meta.CheckpointID)
	if s.lifeOpt.NoCheckpoints {
		name = "by what was captured of it"
	}
	var lines, items []string
	before := sync.OnceValue(func() map[string]bool { return m.saidBefore(now) })
	add := func(tag, text string) {
		item := ids.Page("fi", tag, text)
		if text = oneLine(text); text == "" || s.flushed[item] || slices.Contains(items, item) {
			return
		}
		mark := judge(tag, text, before()).String()
		if tag == "open" || tag == "identity" {
			mark = strings.TrimSpace("[" + tag + "] " + mark)
		}
		lines, items = append(lines, "- "+mark+" "+text), append(items, item)
	}
	for _, d := range c.Decisions {
		add("decision", string(d.What))
	}
	for _, l := range c.Learnings {
		add("lesson", string(l))
	}
	for _, l := range identityTouched(c) {
		add("identity", l)
	}
	for _, o := range c.OpenItems {
		if ended {
			add("open", string(o))
		}
	}
	if len(items) == 0 {
		return nil, 0
	}
	text := fmt.Sprintf("Session %s, %s:\n%s", oneLine(s.key), name, strings.Join(lines, "\n"))
	if err := s.flushText(ctx, m, text, items, now); err != nil {
		return []Fault{{Code: FaultFlushSkipped, Cause: name, Detail: err.Error()}}, 0
	}
	return nil, len(items)
}

// flushText appends a text to the day's log, once for its items.
func (s *session) flushText(ctx context.Context, m *memory, text string, items []string, now time.Time) error {
	masked, _ := s.masker.Mask(strings.ToValidUTF8(text, "\uFFFD"))
	body := rememberBody{Path: m.shared.DailyPath(now), Text: masked, Items: items}
	if err := appendable(m.shared, body.Path); err != nil {
		return err
	}
	id := ids.Page("fl", append([]string{s.name}, items...)...)
	_, err := s.remember(ctx, m, body, RememberRequest{ID: id, Now: now})
	if kept := (*UnwrittenError)(nil); err != nil && !errors.As(err, &kept) {
		return err
	}
	s.keepFlushed(items)
	if err != nil {
		return err
	}
	m.Sync.Written()
	return nil
}

func (s *session) keepFlushed(items []string) {
	for _, i := range items {
		s.flushed[i] = true
	}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// The reasons of [ContextPlan.FlushDue].
const (
	FlushTokens = plan.FlushTokens
	FlushBytes  = plan.FlushBytes
)

// FlushTurn is a silent turn for the host's model, to write down what should outlive
// a compaction.
type FlushTurn struct {
	System string `json:"system"`
	Prompt string `json:"prompt"`
	// Path is the file that the answer will be appended to.
	Path string `json:"path"`
}

// NoReply is what a model answers that has nothing to write down.
const NoReply = "NO_REPLY"

// The safety hints stand below a host's own prompts, too.
const flushHints = `Answer with a Markdown list, one memory a line; it is appended to %s for you.
Begin each with why it matters, in brackets: [decision] a decision or plan changed, [surprise] it was not
expected, [human] the user cares about it, [lesson] it can be used again, [identity] it changed who you are.
Do not rewrite or repeat what stands there. MEMORY.md, SOUL.md, TOOLS.md and AGENTS.md are read-only now.
If there is nothing to keep, answer ` + NoReply + ` and nothing else.`

// FlushTurn makes the prompts. Own ones may be handed in; the hints are appended to
// them. The date is that of the user's time zone.
func (k *Kernel) FlushTurn(now time.Time, system, prompt string) (*FlushTurn, error) {
	if k.memory == nil {
		return nil, errors.New("flush: memory is switched off")
	}
	if now.IsZero() {
		now = k.now()
	}
	f := &FlushTurn{System: system, Prompt: prompt, Path: k.memory.shared.DailyPath(now)}
	if f.System == "" {
		f.System = "The session will be compacted soon. Write down what has to outlive it: decisions with their reasons, what was learned, what the user asked to be remembered."
	}
	if f.Prompt == "" {
		f.Prompt = "What of this session should be remembered?"
	}
	hints := fmt.Sprintf(flushHints, f.Path)
	f.System, f.Prompt = f.System+"\n"+hints, f.Prompt+"\n"+hints
	return f, nil
}

// FlushReply is what a model answered to a [FlushTurn].
type FlushReply struct {
	SessionKey string
	Text       string
	Now        time.Time
}

// Flushed tells what was made of it.
type Flushed struct {
	// Reason is OK, NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE.
	Reason string `json:"reason"`
	// Items counts the memories that were new.
	Items int    `json:"items"`
	Path  string `json:"path,omitempty"`
	// Unwritten says why the file does not have them yet, "" if it has; see [Remembered].
	Unwritten string `json:"unwritten,omitempty"`
}

// An answer is at most so long, and so is each of its items. More is no list of
// memories.
const maxFlushBytes, maxFlushItems, maxItemBytes = 32 << 10, 50, 2000

// ObserveFlush appends what a model wrote down to the day's log, by the rules of the
// journal: secrets masked, every item once, nothing that stands changed.
func (k *Kernel) ObserveFlush(ctx context.Context, r FlushReply) (*Flushed, error) {
	if k.memory == nil {
		return nil, errors.New("flush: memory is switched off")
	}
	s, unlock, err := k.open(ctx, r.SessionKey, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if r.Now.IsZero() {
		r.Now = k.now()
	}
	out, err := s.observeFlush(ctx, k.memory, r)
	if err != nil {
		s.invalidate()
		return nil, fmt.Errorf("flush session %s: %w", s.key, err)
	}
	return out, nil
}

func (s *session) observeFlush(ctx context.Context, m *memory, r FlushReply) (*Flushed, error) {
	text := strings.TrimSpace(s.masker.Text(r.Text)) // as a whole: lines are looked at one by one below
	switch {
	case text == "":
		return &Flushed{Reason: "EMPTY"}, nil
	case strings.Trim(text, "`*. \n") == NoReply:
		return &Flushed{Reason: NoReply}, nil
	case len(text) > maxFlushBytes:
		return &Flushed{Reason: "TOO_LARGE"}, nil
	}
	var lines, items []string
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "-*•"))
		item := ids.Page("fi", l)
		if l == "" || strings.HasPrefix(l, "#") || l == NoReply || len(l) > maxItemBytes || s.flushed[item] || len(items) == maxFlushItems {
			continue
		}
		lines, items = append(lines, "- "+l), append(items, item)
	}
	out := &Flushed{Reason: ReasonOK, Items: len(items), Path: m.shared.DailyPath(r.Now)}
	if len(items) == 0 {
		return out, nil
	}
	err := s.flushText(ctx, m, fmt.Sprintf("Session %s, written down by its model:\n%s", oneLine(s.key), strings.Join(lines, "\n")), items, r.Now)
	if kept := (*UnwrittenError)(nil); errors.As(err, &kept) {
		out.Unwritten, err = kept.Error(), nil
	}
	return out, err
}

// asksToRemember are the words by which users ask for a memory, in the languages
// that we were sure of. Each has to begin a line or a sentence: talk about
// remembering is none.
var asksToRemember = regexp.MustCompile(`(?im)(?:^|[.!?。！？]\s*)(?:please |bitte |por favor,? |s'il te pla[iî]t,? |请|請)?(?:` +
	`remember (?:this|that|to|:)|don'?t forget (?:this|that|to)|keep in mind that|make a note (?:that|of)|` +
	`merk(?:e)? dir|vergiss nicht|denk daran|` +
	`recuerda que|acu[eé]rdate de|no olvides|ten en cuenta que|anota que|` +
	`souviens-toi|n'oublie pas|retiens que|note que|` +
	`ricorda(?:ti)? che|non dimenticare|lembre-se|n[aã]o esque[cç]a|` +
	`запомни|не забудь|` +
	`记住|記住|记得|記得|请记|別忘|别忘|覚えて|忘れないで|기억해)`)

// rememberAsked writes down, in the same turn, what the user asked to be remembered
// in plain words; the same words stand once.
func (s *session) rememberAsked(ctx context.Context, m *memory, msgs []memkernel.Message, now time.Time) []Fault {
	if m == nil || s.lifeOpt.Flush.Off || s.lifeOpt.Off {
		return nil
	}
	var out []Fault
	for i := range msgs {
		text := s.masker.Text(wished(&msgs[i]))
		item, words := ids.Page("fi", "human", msgs[i].Key), ids.Page("fi", "human-words", oneLine(text))
		if text == "" || len(text) > maxItemBytes || s.flushed[item] || s.flushed[words] {
			continue
		}
		if err := s.flushText(ctx, m, "- [human] "+oneLine(text), []string{item, words}, now); err != nil {
			out = append(out, Fault{Code: FaultFlushSkipped, Key: msgs[i].Key, Detail: err.Error()})
		}
	}
	return out
}

// wished is what a person asked to be remembered in a message: their own words, and
// what they quoted if the words say nothing else; "" if they asked for nothing.
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

// triggers say what checkpoint a boundary asks for. A flush on demand asks for one,
// too: that is what is flushed.
var triggers = map[journal.CommitPoint]checkpoint.Trigger{
	journal.PointFlush:      checkpoint.TriggerManual,
	journal.PointCompaction: checkpoint.TriggerCompaction,
	journal.PointReset:      checkpoint.TriggerSessionEnd,
	journal.PointSessionEnd: checkpoint.TriggerSessionEnd,
}
