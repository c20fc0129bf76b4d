package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/summary"
	"github.com/memkernel/memkernel/transcript"
)

// memory/working-buffer.md is what a session would be missed for if all else failed: from
// a share of the window on, every turn is appended to it, and the whole state at a dump.
// It is written as all memory is: promised in the journal, then appended under an id, so
// that a kill between the two is made good and never doubled. It is not indexed, not
// shown, and asked only when a session has neither a checkpoint nor SESSION-STATE.md.
// [Kernel.ClearBuffer] takes away what a curation has read, and nothing else does.
//
//	# Working buffer of session KEY, 2026-11-03          the first of a compaction cycle
//
//	## 2026-11-03T09:12:05Z, turn 12 of session NAME, 63 % full, message 34
//
//	- [user] …                                           the turn
//	- [goal] … [step] … [constraint] … [decision] …      where it left the work
//	<!-- mk:ID -->
//
// Of lists, an entry has what the buffer does not have yet of this cycle; the first entry
// of a cycle has all.

// BufferOptions say how the working buffer is kept.
type BufferOptions struct {
	// Off leaves it alone.
	Off bool
	// At is the share of the window from which turns are appended; 0 takes .6.
	At float64
	// MaxBytes is the size from which nothing more is appended; 0 takes
	// DefaultBufferBytes.
	MaxBytes int64
}

// DefaultBufferBytes is some hundred turns. A buffer that nobody reads is no place to
// keep more.
const DefaultBufferBytes = 1 << 20 // 1 MiB

// bufferShare is the default of BufferOptions.At.
const bufferShare = 0.6

// An entry is at most so long, in bytes; a dump has more to say.
const maxTurnBytes, maxDumpBytes = 4 << 10, 16 << 10

func (o *BufferOptions) at() float64 {
	if o.At > 0 {
		return o.At
	}
	return bufferShare
}

func (o *BufferOptions) maxBytes() int64 {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return DefaultBufferBytes
}

func (o *BufferOptions) check() error {
	if o.At < 0 || o.At > 1 {
		return fmt.Errorf("working buffer at %g of the window: want a share of the window, 0 to 1", o.At)
	}
	return nil
}

var errBufferFull = errors.New("the working buffer is full")

// bufferedTurn is a turn that is appended.
type bufferedTurn struct {
	id      string // its advancement key
	msgs    []memkernel.Message
	reading checkpoint.Reading
	now     time.Time
}

// bufferTurn appends a turn, once.
func (s *session) bufferTurn(ctx context.Context, t bufferedTurn) []Fault {
	id := ids.Page("wb", s.name, "turn", t.id)
	c := s.standing(t.now)
	if s.lifeOpt.Buffer.Off || c == nil {
		return nil
	}
	lines := s.turnLines(t.msgs)
	touched := checkpoint.Update(checkpoint.State{}, t.msgs)
	c.Resources = checkpoint.Build(touched, nil, checkpoint.Input{}).Resources
	state, items := s.news(checkpoint.Lines(c, maxTurnBytes))
	return s.buffer(ctx, id, bufferHead{at: t.now, what: fmt.Sprintf("turn %d", s.account.committed), full: t.reading.Utilization()}, append(lines, state...), items)
}

// bufferState appends all of the working state, once per cycle and content.
func (s *session) bufferState(ctx context.Context, r checkpoint.Reading, now time.Time) []Fault {
	c := s.standing(now)
	if s.lifeOpt.Buffer.Off || c == nil {
		return nil
	}
	lines := checkpoint.Lines(c, maxDumpBytes)
	id := ids.Page("wb", append([]string{s.name, s.cycle(), "dump"}, matter(lines)...)...)
	_, items := s.news(lines)
	if cut := s.lastCut(); cut != "" {
		items = append(items, s.cutItem(cut))
	}
	return s.buffer(ctx, id, bufferHead{at: now, what: bufferDump, full: r.Utilization()}, lines, items)
}

const bufferDump = "dump"

// matter is what makes a dump another one: not the files in hand, nor what comes next,
// which every call changes.
func matter(lines []checkpoint.Line) []string {
	var out []string
	for _, l := range lines {
		switch l.Tag {
		case checkpoint.TagNext, checkpoint.TagStatus, checkpoint.TagRead, checkpoint.TagModified:
		default:
			out = append(out, l.String())
		}
	}
	return out
}

// cutItem stands for a cut of the kernel's own that the buffer has a dump behind.
func (s *session) cutItem(cut string) string { return ids.Page("bi", s.name, "cut", cut) }

// cutSince tells whether the kernel has cut and nothing was dumped since: a plan writes
// no Markdown, so what the thresholds ask for is made good after it.
func (s *session) cutSince() bool {
	cut := s.lastCut()
	return cut != "" && !s.lifeOpt.Buffer.Off && !s.flushed[s.cutItem(cut)]
}

// lastCut is the chain of the main line's newest cut, "" if there is none.
func (s *session) lastCut() string {
	if cuts := s.newestLine("", "").Proj.Cuts; len(cuts) > 0 {
		return cuts[len(cuts)-1].Chain
	}
	return ""
}

// turnLines are what was said in a turn: the user's words, the agent's last.
func (s *session) turnLines(msgs []memkernel.Message) []checkpoint.Line {
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
	var out []checkpoint.Line
	add := func(tag, text string) {
		if text = summary.Excerpt(s.masker.Text(text), 400); text != "" {
			out = append(out, checkpoint.Line{Tag: tag, Text: text})
		}
	}
	add(checkpoint.TagUser, user)
	add(checkpoint.TagAgent, agent)
	return out
}

// news are the lines without those of lists that the buffer has of this cycle, and
// what of lists the lines hold, by hash.
func (s *session) news(lines []checkpoint.Line) (fresh []checkpoint.Line, items []string) {
	cycle := s.cycle()
	empty := s.bufferEmpty()
	for _, l := range lines {
		switch l.Tag {
		case checkpoint.TagConstraint, checkpoint.TagDecision, checkpoint.TagLesson:
			item := ids.Page("bi", s.name, cycle, l.Tag, l.Text)
			if s.flushed[item] && !empty {
				continue
			}
			items = append(items, item)
		}
		fresh = append(fresh, l)
	}
	return fresh, items
}

// bufferEmpty tells whether the buffer holds no entry: it was cleared, and what is in
// it is somebody else's.
func (s *session) bufferEmpty() bool {
	f, err := s.memory.private.Stat(bufferPath)
	if err != nil || f.Size == 0 {
		return err == nil
	}
	text, err := s.memory.bufferText()
	return err == nil && len(bufferEntries(text)) == 0
}

// cycle names the stretch between two compactions, the host's or the kernel's own.
func (s *session) cycle() string {
	return fmt.Sprint(s.account.epoch, " ", s.account.compactions, " ", s.lastCut())
}

// bufferHead is the heading of an entry.
type bufferHead struct {
	at       time.Time
	what     string // "turn 12", or bufferDump
	session  string
	full     float64
	captured int
}

func (h *bufferHead) String() string {
	return fmt.Sprintf("## %s, %s of session %s, %.0f %% full, message %d", h.at.UTC().Format(time.RFC3339), h.what, h.session, 100*h.full, h.captured)
}

// buffer promises an entry and appends it.
func (s *session) buffer(ctx context.Context, id string, h bufferHead, lines []checkpoint.Line, items []string) []Fault {
	h.session, h.captured = s.name, s.life.state.Thread.Captured
	var b strings.Builder
	first := ids.Page("bi", s.name, s.cycle(), "begun")
	if !s.flushed[first] || s.bufferEmpty() {
		items = append(items, first)
		fmt.Fprintf(&b, "# Working buffer of session %s, %s\n\n", oneLine(s.masker.Text(s.key)), s.memory.private.Today(h.at))
	}
	b.WriteString(h.String() + "\n\n")
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	body := rememberBody{Path: bufferPath, Text: b.String(), Private: true, Items: items}
	if before, ok := s.remembered[id]; ok {
		body = before // delivered again: what was promised counts
	}
	return s.netFaults(NetBuffer, s.append(ctx, id, body, h.at))
}

func (s *session) append(ctx context.Context, id string, body rememberBody, now time.Time) error {
	if s.written[id] {
		return nil
	}
	f, err := s.memory.private.Stat(bufferPath)
	if err != nil {
		return err
	}
	if limit := s.lifeOpt.Buffer.maxBytes(); f.Size+int64(len(body.Text)) > limit {
		return fmt.Errorf("append to %s: %w: it may have %d bytes; curate it, and clear what was read", bufferPath, errBufferFull, limit)
	}
	if _, err := s.remember(ctx, s.memory, body, RememberRequest{ID: id, Now: now}); err != nil {
		return err
	}
	s.keepFlushed(body.Items)
	return nil
}
