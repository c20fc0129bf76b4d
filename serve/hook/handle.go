package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/transcript"
)

// sameCompaction is the time within which a second announcement of a compaction counts as a
// repetition of the first, if the transcript has not grown.
const sameCompaction = 30 * time.Second

// lockWait is how long a prompt waits for another hook of its session. After that time the prompt
// is answered without the record, and the model may see a note twice.
const lockWait = 200 * time.Millisecond

// handle handles the event. It may return an answer together with an error.
func (h *handler) handle(ctx context.Context) (a answer, err error) {
	if h.e.SessionID == "" {
		return a, errors.New("the event has no session_id")
	}
	if h.at == toolResult {
		return h.shape(ctx)
	}
	r, unlock, err := h.record(ctx)
	if err != nil {
		return a, err
	}
	defer unlock()
	// Gemini CLI announces a compaction before every call, and only then checks whether the context
	// is full. At the next prompt the transcript shows whether Gemini CLI compacted.
	idle := h.Host.row().late && h.e.Trigger == "auto"
	if h.at == beforeCompaction && (idle || h.announced(r)) {
		return a, nil
	}
	if h.setup, err = h.Open(ctx, h.workspace, h.stateDir); err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, h.setup.close()) }()
	h.carried = carries(h.setup.Kernel, h.key, r.Prompted, h.Now())
	var also error
	if Newest(h.stateDir, h.Host) != h.key {
		also = writeJSON(folder(h.stateDir), newestFile(h.Host), newest{h.key})
	}
	switch h.at {
	case sessionStart:
		a = h.start(ctx, r)
	case userPrompt:
		a = h.prompt(ctx, r)
	case beforeCompaction:
		a, err = h.compaction(ctx, r)
	case afterCompaction:
		var f *api.Flushed // the memories that the host's summariser added to its summary
		if f, err = h.setup.Kernel.ObserveFlush(ctx, api.FlushReply{SessionKey: h.key, Text: h.e.Summary, Section: true, Now: h.Now()}); err == nil && f.Items > 0 {
			h.logText(f.Line)
		}
	case turnEnd:
		_, err = h.observe(ctx, r)
	case sessionEnd:
		err = h.end(ctx, r)
	}
	if prompt := h.at == userPrompt; a.context != "" || prompt && !h.carried {
		r.Given = append(r.Given, Given{h.Now(), prompt, len(a.context), h.lines})
		r.Given = r.Given[max(len(r.Given)-maxGiven, 0):]
	}
	if r.Worked = h.Now(); h.at == beforeCompaction {
		r.Worked = time.Time{}
	}
	return a, errors.Join(append(h.errs, err, also, r.write(h.stateDir))...)
}

func (s *Setup) close() error {
	err := s.Kernel.Close()
	if s.Store != nil {
		err = errors.Join(err, s.Store.Close())
	}
	return err
}

// carries reports whether another part of memkernel, such as the proxy, has planned calls of a
// session since the user's last prompt. In that case the other part plans the prompt and commits
// the turns, and hooks add nothing.
func carries(k *kernel.Kernel, key string, prompted, now time.Time) bool {
	at := k.Hooks().PlannedAt(key)
	return !at.IsZero() && !at.Before(prompted) && now.Sub(at) < goneOn
}

// record reads the session's record under its lock. If the record can't be read, it returns a new
// record and reports the error.
func (h *handler) record(ctx context.Context) (*record, func(), error) {
	if h.at == userPrompt {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lockWait)
		defer cancel()
	}
	unlock, busy := lockSession(ctx, h.stateDir, h.key)
	if busy != nil && h.at != userPrompt {
		return nil, nil, busy
	}
	r, err := readRecord(h.stateDir, h.key)
	if err != nil {
		h.logError(err)
	}
	if busy != nil {
		r.borrowed, unlock = true, func() {}
	}
	return r, unlock, nil
}

// restore returns the text from which a session continues. The host adds it after the text shown.
func (h *handler) restore(ctx context.Context, b *beginning, shown string) string {
	req := api.RestoreRequest{SessionKey: b.From, Occasion: b.Occasion, Shown: shown}
	if plainInShell(b.From) {
		req.Resolver = "memkernel get -s " + b.From
	}
	got, err := h.setup.Kernel.Restore(ctx, req)
	switch {
	case errors.Is(err, api.ErrNoSession): // the session began before the hooks were installed
		return ""
	case err != nil:
		h.fail(err)
		return ""
	}
	for _, d := range got.Damaged {
		h.logError(errors.New(d))
	}
	return got.Text
}

// plainInShell reports whether no character of a word may have a special meaning in a shell.
func plainInShell(word string) bool {
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/") == ""
}

// join joins the texts that are not empty, with an empty line between two.
func join(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n\n")
}

// prompt searches memory for the user's words, and reads the gauge.
func (h *handler) prompt(ctx context.Context, r *record) answer {
	r.Prompted = h.Now()
	if h.carried {
		return answer{}
	}
	n, err := readNews(h.Host, h.e.Transcript, r.Seam)
	if !errors.Is(err, transcript.ErrUnread) { // the transcript may have only its header yet; the turn's end reads it again
		h.fail(known(err))
	}
	began := h.late(ctx, r, n)
	recalled := h.goesOn(ctx, r)
	if recalled == "" {
		recalled = h.recall(ctx, r)
	}
	return answer{context: join(began, recalled, h.gauge(ctx, r, n))}
}

// goesOn returns the state of the session that was last at work, if the first prompt of a new
// session asks about the state of the work.
func (h *handler) goesOn(ctx context.Context, r *record) string {
	if r.Taken > 0 || !h.setup.Private || !checkpoint.GoesOn(transcript.Words(memkernel.Message{Parts: memkernel.Text(h.e.Prompt)})) {
		return ""
	}
	got, err := h.setup.Kernel.Restore(ctx, api.RestoreRequest{SessionKey: h.key, Neighbour: true})
	if err != nil {
		h.fail(err)
		return ""
	}
	return got.Text
}

// gauge returns the line that shows how full the context is, if a threshold was crossed since the
// last reading. At the threshold for a checkpoint it first writes a checkpoint.
func (h *handler) gauge(ctx context.Context, r *record, n *news) string {
	if n == nil {
		return ""
	}
	reading := checkpoint.Reading{Tokens: n.used(), Window: h.window(cmp.Or(n.model, h.e.Model, r.Model))}
	if reading.Tokens == 0 || reading.Window < reading.Tokens {
		return "" // nothing was billed, or the window is larger than is known
	}
	reading.Tokens = min(reading.Tokens+n.since()+len(h.e.Prompt)/3, reading.Window)
	now, crossed := h.setup.Thresholds.Cross(checkpoint.Level(r.Level), reading)
	r.Level = int(now)
	if len(crossed) == 0 {
		return ""
	}
	level, saved, err := crossed[len(crossed)-1], false, error(nil)
	if level >= checkpoint.LevelCheckpoint {
		c, cerr := h.setup.Kernel.Checkpoint(ctx, api.Boundary{SessionKey: h.key, Private: h.setup.Private, Source: h.source(n)})
		saved, err = c != nil, cerr
	}
	line := checkpoint.NextCut{}.Line(reading, level, saved)
	if slices.Contains(crossed, checkpoint.LevelCheckpoint) && err == nil {
		section, ferr := h.flushSection(ctx)
		if err = ferr; section != "" {
			line += "\n" + askToWrite
		}
	}
	h.fail(err)
	return line
}

// askToWrite is sent to a model at most once between two compactions, in a turn that a user's
// prompt began.
const askToWrite = "If you have the tool memory_append, call it once in this turn, beside the work at hand: a Markdown list of what must outlive " +
	"this session and is not written down yet, one memory a line, each with why it matters in front: [decision], [surprise], [human], [lesson]. " +
	"No passwords or keys. Don't speak of it. If there is nothing to keep, go on."

// flushSection returns the text that asks the host's summariser for memories, "" if flushes are
// switched off.
func (h *handler) flushSection(ctx context.Context) (string, error) {
	f, err := h.setup.Kernel.FlushTurn(ctx, api.FlushRequest{SessionKey: h.key, Now: h.Now()})
	if errors.Is(err, api.ErrNoSession) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return f.Section, nil
}

// window returns the size of a model's window, 0 if it is unknown.
func (h *handler) window(model string) int {
	if h.setup.Window > 0 {
		return h.setup.Window
	}
	m, _ := h.setup.Prices.Lookup(model, h.Now())
	return m.ContextWindow
}

// known returns err, or nil if err says that there is no transcript yet.
func known(err error) error {
	if errors.Is(err, errNoTranscript) {
		return nil
	}
	return err
}

// observe commits the transcript's new messages. It returns nil news if there are no new
// messages.
func (h *handler) observe(ctx context.Context, r *record) (*news, error) {
	n, err := readNews(h.Host, h.e.Transcript, r.Seam)
	if err != nil {
		return nil, known(err)
	}
	r.Model = cmp.Or(n.model, h.e.Model, r.Model)
	if len(n.lost) > 0 && n.lost[0].Error() != r.Broken {
		r.Broken = n.lost[0].Error()
		h.logText(r.Broken + "; this line is left out, and all others are read")
	}
	between := h.at == beforeCompaction
	next := n.next
	if h.carried {
		if n.msgs = nil; n.end.Path != "" {
			next = n.end
		}
	} else {
		turn := api.Turn{SessionKey: h.key, Model: r.Model, Private: h.setup.Private, Source: h.source(n)}
		if err := n.commit(ctx, h.setup.Kernel, turn, between, h.logError); err != nil {
			return n, err
		}
	}
	if !between {
		r.Seam, r.Taken = next, n.size
	}
	return n, nil
}

// commit commits the turns in order, each with the conversation up to the turn's end. If calls is
// set, the last turn may be between two calls. It calls tell with an error for each part that the
// kernel did not take.
func (n *news) commit(ctx context.Context, k *kernel.Kernel, turn api.Turn, calls bool, tell func(error)) error {
	ends := transcript.TurnEnds(n.msgs, true)
	if len(n.msgs) > 0 && (len(ends) == 0 || ends[len(ends)-1] < len(n.msgs)) {
		ends = append(ends, len(n.msgs)) // an open turn: its messages are kept
	}
	commit := k.ObserveTurn
	for i, end := range ends {
		if end == len(n.msgs) && calls {
			// A message of the model between two calls looks like a turn's end.
			commit = k.ObserveToolResult
		}
		last := &n.msgs[end-1]
		turn.Unchanged = len(turn.Messages)
		turn.Messages, turn.Usage, turn.Now, turn.More = n.msgs[:end:end], last.Usage, last.Time, i+1 < len(ends)
		o, err := commit(ctx, turn)
		if err != nil {
			return err
		}
		for _, f := range o.Faults {
			if f.Code == fault.FlushSkipped {
				tell(errors.New(f.Detail)) // above all, memories that the user asked for
			}
		}
		if o.Outcome == api.Conflict {
			tell(fmt.Errorf("a turn was committed before with other content: %s; what was committed stands", o.AdvancementKey))
		}
	}
	return nil
}

// source returns where the session comes from, according to the event and the transcript. It
// counts a compaction that the event announces, because the next conversation follows that
// compaction.
func (h *handler) source(n *news) checkpoint.Source {
	out := checkpoint.Source{File: h.e.Transcript, Channel: string(h.Host), Agent: h.e.AgentType}
	if n == nil {
		return out
	}
	out.Compactions = n.compactions
	if h.at == beforeCompaction {
		out.Compactions++
	}
	return out
}

// boundary returns the present state of the session.
func (h *handler) boundary(r *record, n *news, reason string) api.Boundary {
	b := api.Boundary{SessionKey: h.key, Model: r.Model, Private: h.setup.Private, Reason: reason, Source: h.source(n)}
	if n != nil {
		b.Messages = n.msgs
	}
	return b
}

// compaction commits all new messages before the host forgets them. It returns the text that
// tells the host's summariser which facts to keep.
func (h *handler) compaction(ctx context.Context, r *record) (answer, error) {
	n, err := h.observe(ctx, r)
	if err != nil || n == nil {
		return answer{}, err
	}
	b := h.boundary(r, n, "compaction")
	if _, err := h.setup.Kernel.Checkpoint(ctx, b); err != nil {
		return answer{}, err
	}
	p, err := h.setup.Kernel.Flush(ctx, b)
	if err != nil {
		return answer{}, err
	}
	r.Compaction = &compaction{Path: h.e.Transcript, Size: n.size, At: h.Now()}
	section, err := h.flushSection(ctx)
	return answer{summariser: join(summariserText(p.Checkpoint), section)}, err
}

// announced reports whether the compaction of the event was announced before. Hosts announce a
// compaction up to four times.
func (h *handler) announced(r *record) bool {
	c := r.Compaction
	if c == nil || c.Path != h.e.Transcript || h.Now().Sub(c.At) >= sameCompaction {
		return false
	}
	st, err := os.Stat(c.Path)
	return err == nil && st.Size() == c.Size
}

// summariserText tells the summariser which facts the summary must keep.
func summariserText(checkpointID string) string {
	state := ""
	if checkpointID != "" {
		state = ", and its working state as checkpoint " + checkpointID + ", which is given back after the compaction"
	}
	return "memkernel has kept this conversation, every turn of it" + state + `.
In the summary keep, in the words that were used: the goal and the current step; rules and constraints that the user set; decisions with their reasons; what is open, failed or unverified; paths of files that were changed; identifiers such as ` + cmp.Or(checkpointID, "cp_001") + ` or ev-0123456789abcdef, by which results can be restored.
`
}

// end commits the new messages and the end of the session.
func (h *handler) end(ctx context.Context, r *record) error {
	n, err := h.observe(ctx, r)
	if err != nil || n == nil {
		return err
	}
	b := h.boundary(r, n, cmp.Or(h.e.Reason, "ended"))
	_, errCheckpoint := h.setup.Kernel.Checkpoint(ctx, b) // another conversation continues from it
	_, err = h.setup.Kernel.EndSession(ctx, b)
	return errors.Join(errCheckpoint, err)
}
