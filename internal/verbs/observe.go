package verbs

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/transcript"
)

// observeFlags are the flags of observe.
type observeFlags struct {
	sessionFlags
	ended bool
}

func observeVerb(a *cli.App) *cobra.Command {
	o := &observeFlags{}
	cmd := &cobra.Command{
		Long: `observe stores every finished turn of a transcript: its messages and tool results
as pages, what it was billed, and a summary brought up to date. Run it again when the
session has grown: turns that are stored already are recognised.

A turn is finished when the user has spoken again or the host has marked its end. For a
host that marks none, --ended finishes the last one. A last line that the host is still
writing is left out.

It brings SESSION-STATE.md of the workspace up to date, which says where the work is now
(unless session_state.enabled or workspace.private is false), and, when the window
fills up, a checkpoint, the day's log and the working buffer. If summary.model.provider
names a model, that makes notes of the session as well.`,
		Example: `  memkernel observe -t session.jsonl --session build-42`,
		RunE:    with(a, o, runObserve),
	}
	o.add(cmd, "full", fileOfTranscript)
	cmd.Flags().BoolVar(&o.ended, "ended", false, "the session is over: its last turn is finished, even if the file has no mark of it")
	a.PricesFlag(cmd)
	return cmd
}

// observeJSON is the document of observe.
type observeJSON struct {
	Schema     string `json:"schema"`
	SessionKey string `json:"session_key"`
	// Committed, Duplicate and Conflicts count turns.
	Committed int `json:"committed"`
	Duplicate int `json:"duplicate"`
	Conflicts int `json:"conflicts"`
	// Open reports that the last turn has not ended and was not committed.
	Open bool `json:"open"`
	// TornLine is the number of the last line if that line is incomplete and was left out.
	TornLine int `json:"torn_line,omitempty"`
	// Ingested counts the new pages. Turns counts all turns of the session.
	Ingested int `json:"ingested"`
	Turns    int `json:"turns"`
}

func runObserve(ctx context.Context, a *cli.App, o *observeFlags) error {
	if o.transcript.Path == "" {
		return cli.Usagef("observe needs --transcript FILE")
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	session, err := a.Session(&o.transcript)
	if err != nil {
		return err
	}
	k, err := a.Kernel(ctx, cli.Needs{Prices: book, Notes: true})
	if err != nil {
		return err
	}
	defer k.Close()
	doc := &observeJSON{Schema: "memkernel/observe/v1", SessionKey: cmp.Or(o.session, session.ID, api.DefaultSession)}
	if session.Torn != nil {
		doc.TornLine = session.Torn.Line
	}
	turn := api.Turn{SessionKey: doc.SessionKey, Model: cmp.Or(o.model, session.Model), Private: a.Private(), Source: o.source.Of(o.transcript.Path, session)}
	if err := observeTurns(ctx, a, k, turn, session.View(viewOf(&o.view)), session.Ended || o.ended, doc); err != nil {
		return err
	}
	return showObserved(a, doc)
}

// observeTurns commits the turns in order, each with the conversation up to the end of the turn.
// If ended is true, it also commits a last turn that was cut off, even within a call. If the last
// turn may continue, it keeps the turn's complete messages except the model's last answer, which
// may grow.
func observeTurns(ctx context.Context, a *cli.App, k *kernel.Kernel, turn api.Turn, msgs []memkernel.Message, ended bool, doc *observeJSON) error {
	ends := transcript.TurnEnds(msgs, ended)
	over := ended && len(msgs) > 0 && (len(ends) == 0 || ends[len(ends)-1] < len(msgs))
	if over {
		ends = append(ends, len(msgs))
	}
	committed, whole := 0, len(msgs)
	if n := len(ends); n > 0 {
		committed = ends[n-1]
	}
	for whole > committed && msgs[whole-1].Role == memkernel.RoleAssistant {
		whole--
	}
	doc.Open = committed < len(msgs)
	if committed == 0 && whole > 0 {
		ends = []int{0}
	}
	for i, end := range ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.Step("observing", i, len(ends), "turn")
		commit := k.ObserveTurn
		if end == 0 {
			commit = k.ObserveToolResult // no turn has ended
		}
		turn.More, turn.Open, turn.Over = i+1 < len(ends), 0, over && i+1 == len(ends)
		if !turn.More {
			turn.Open, end = whole-end, whole
		}
		last := &msgs[max(end-turn.Open, 1)-1]
		turn.Unchanged, turn.Messages, turn.Usage, turn.Now = len(turn.Messages), msgs[:end:end], last.Usage, last.Time
		o, err := commit(ctx, turn)
		if err != nil {
			a.ProgressDone()
			return err
		}
		doc.count(o)
		for _, f := range o.Faults {
			if f.Code == fault.FlushSkipped {
				a.Tip("%s", f.Detail)
			}
		}
	}
	a.ProgressDone()
	return nil
}

func (d *observeJSON) count(o *api.Observation) {
	switch {
	case o.Outcome == api.Committed, o.Outcome == api.OpenTurn && o.AdvancementKey != "":
		d.Committed++
	case o.Outcome == api.Duplicate:
		d.Duplicate++
	case o.Outcome == api.Conflict:
		d.Conflicts++
	}
	d.Ingested += o.Ingested
	d.Turns = o.Turns
}

func showObserved(a *cli.App, d *observeJSON) error {
	err := cli.Answer(a, d, d, func(s *display.Sheet, d *observeJSON) {
		s.Line("session {}: {turn} committed, {%d} known before, {page} ingested, {turn} in all", display.Clip(d.SessionKey, display.Columns), d.Committed, d.Duplicate, d.Ingested, d.Turns)
	})
	if err != nil {
		return err
	}
	if d.Open && !a.JSON {
		a.Tip("the last turn may go on: what is whole of it is kept, and it is committed once the file says that it has ended; --ended says so")
	}
	if d.Conflicts > 0 {
		return cli.Hint(fmt.Errorf("observe session %s: %d turns were committed before with other content", d.SessionKey, d.Conflicts),
			"the host changed its past: commit the transcript under another --session")
	}
	return nil
}
