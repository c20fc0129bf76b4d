package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// observeFlags are the flags of observe.
type observeFlags struct {
	transcript transcriptFlags
	session    string
	model      string
	view       choice
}

func newObserve(a *app) *cobra.Command {
	o := &observeFlags{}
	cmd := &cobra.Command{
		Use:   "observe --transcript FILE",
		Short: "commit a whole transcript to a session's memory",
		Long: `observe commits every turn of a transcript that has ended: its pages, its usage and
the summary brought up to date. A turn that was committed before is recognised,
so running it again after the session grew commits what is new. If the configuration
names a model (summary.model.provider), it makes notes of the session beside the
mechanical summary. Where the work stands after the last turn is written to the
workspace's SESSION-STATE.md, unless session_state.enabled is false or sessions are
shared (workspace.private).`,
		Example: `  memkernel observe -t session.jsonl --session build-42`,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.runObserve(cmd.Context(), o) },
	}
	o.transcript.add(cmd)
	cmd.Flags().StringVarP(&o.session, "session", "s", "", "`key` of the session (default the transcript's own id)")
	cmd.Flags().StringVarP(&o.model, "model", "m", "", "model `id` (default the last one that spoke)")
	viewFlag(cmd, &o.view, "full")
	a.pricesFlag(cmd)
	return cmd
}

type observeJSON struct {
	Schema     string `json:"schema"`
	SessionKey string `json:"session_key"`
	// Committed, Duplicate and Conflicts count turns.
	Committed int `json:"committed"`
	Duplicate int `json:"duplicate"`
	Conflicts int `json:"conflicts"`
	// Open tells that the last turn has not ended and was not committed.
	Open     bool `json:"open"`
	Ingested int  `json:"ingested"`
	Turns    int  `json:"turns"`
}

func (a *app) runObserve(ctx context.Context, o *observeFlags) error {
	if o.transcript.path == "" {
		return usagef("observe needs --transcript FILE")
	}
	book, err := a.book()
	if err != nil {
		return err
	}
	src, err := a.openSource(&o.transcript)
	if err != nil {
		return err
	}
	defer src.close()
	session, err := a.load(src)
	if err != nil {
		return err
	}
	k, err := a.observer(ctx, book)
	if err != nil {
		return err
	}
	defer k.Close()
	doc := observeJSON{Schema: "memkernel/observe/v1", SessionKey: first(o.session, session.ID, kernel.DefaultSession)}
	turn := kernel.Turn{SessionKey: doc.SessionKey, Model: first(o.model, session.Model), Private: a.private()}
	if err := a.observeTurns(ctx, k, turn, session.View(o.view.view()), &doc); err != nil {
		return err
	}
	return a.showObserved(&doc)
}

// observeTurns commits the turns in order, each with the conversation up to its
// end.
func (a *app) observeTurns(ctx context.Context, k *kernel.Kernel, turn kernel.Turn, msgs []memkernel.Message, doc *observeJSON) error {
	ends := transcript.TurnEnds(msgs)
	doc.Open = len(msgs) > 0 && (len(ends) == 0 || ends[len(ends)-1] < len(msgs))
	if len(ends) == 0 && len(msgs) > 0 {
		ends = []int{len(msgs)} // an open turn: its messages are kept
	}
	for i, end := range ends {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.progress("turn %d of %d", i+1, len(ends))
		last := &msgs[end-1]
		turn.More = i+1 < len(ends)
		turn.Unchanged, turn.Messages, turn.Usage, turn.Now = len(turn.Messages), msgs[:end:end], last.Usage, last.Time
		o, err := k.ObserveTurn(ctx, turn)
		if err != nil {
			a.progressDone()
			return err
		}
		doc.count(o)
	}
	a.progressDone()
	return nil
}

func (d *observeJSON) count(o *kernel.Observation) {
	switch o.Outcome {
	case kernel.Committed:
		d.Committed++
	case kernel.Duplicate:
		d.Duplicate++
	case kernel.Conflict:
		d.Conflicts++
	}
	d.Ingested += o.Ingested
	d.Turns = o.Turns
}

func (a *app) showObserved(d *observeJSON) error {
	if a.json {
		if err := a.writeJSON(d); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "session %s: %s committed, %d known before, %s ingested, %s in all\n", clip(d.SessionKey, columns),
			plural(d.Committed, "turn"), d.Duplicate, plural(d.Ingested, "page"), plural(d.Turns, "turn"))
		if d.Open {
			a.tip("the last turn has not ended: its messages are kept, the turn is committed once it has")
		}
	}
	if d.Conflicts > 0 {
		return hint(fmt.Errorf("observe session %s: %d turns were committed before with other content", d.SessionKey, d.Conflicts),
			"the host changed its past: commit the transcript under another --session")
	}
	return nil
}
