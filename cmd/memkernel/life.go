package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// lifeFlags are those of the verbs at a session's boundaries.
type lifeFlags struct {
	transcript transcriptFlags
	session    string
	branch     string
	model      string
	reason     string
	view       choice
	source     sourceFlags
}

// boundaryVerb is a verb that passes a boundary.
type boundaryVerb struct {
	name, long string
	pass       func(k *kernel.Kernel) func(context.Context, kernel.Boundary) (*kernel.Passed, error)
}

func newFlush(a *app) *cobra.Command {
	return boundaryCommand(a, boundaryVerb{"flush",
		`flush takes in what is new of a session, writes a checkpoint of its working state,
and appends the decisions and learnings that no flush has written yet to the log of
today. What was written stands there once, however often it is asked for.`,
		func(k *kernel.Kernel) func(context.Context, kernel.Boundary) (*kernel.Passed, error) { return k.Flush }})
}

func newReset(a *app) *cobra.Command {
	return boundaryCommand(a, boundaryVerb{"reset",
		`reset does what compact does, with open items and the rules that were told too,
and begins the session anew: summary and projections are empty after it. Journal,
pages, pins, checkpoints and blobs stay, and the next conversation begins with the
text that restore prints.`,
		func(k *kernel.Kernel) func(context.Context, kernel.Boundary) (*kernel.Passed, error) { return k.Reset }})
}

func boundaryCommand(a *app, v boundaryVerb) *cobra.Command {
	o := &lifeFlags{}
	cmd := &cobra.Command{Long: v.long + `

With --transcript the conversation is read from there; without it, what was planned
or observed of the session counts.`,
		Example: "  memkernel " + v.name + " --session build-42\n  memkernel " + v.name + " -t session.jsonl",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, args []string) error { return runBoundary(cmd.Context(), a, v, o) },
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.branch, "branch", "", "`id` of a sidechain")
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the record")
	return cmd
}

func (o *lifeFlags) add(cmd *cobra.Command) {
	o.transcript.add(cmd)
	o.source.add(cmd, fileOfTranscript)
	cmd.Flags().StringVarP(&o.session, "session", "s", "", "`key` of the session (default the transcript's own id)")
	cmd.Flags().StringVarP(&o.model, "model", "m", "", "model `id` (default the last one that spoke)")
	viewFlag(cmd, &o.view, "full")
}

// boundary reads the transcript, if there is one.
func boundaryFor(a *app, o *lifeFlags) (kernel.Boundary, error) {
	b, _, err := boundaryOf(a, o)
	return b, err
}

// boundaryOf also gives the transcript, an empty one if there is none.
func boundaryOf(a *app, o *lifeFlags) (kernel.Boundary, *transcript.Session, error) {
	session := &transcript.Session{}
	b := kernel.Boundary{SessionKey: cmp.Or(o.session, kernel.DefaultSession), Branch: o.branch, Model: o.model, Reason: o.reason, Private: a.private(), Source: o.source.of(o.transcript.Path)}
	if o.transcript.Path == "" {
		return b, session, nil
	}
	src, err := a.openSource(&o.transcript)
	if err != nil {
		return b, nil, err
	}
	defer src.close()
	if session, err = a.load(src); err != nil {
		return b, nil, err
	}
	b.SessionKey, b.Model = cmp.Or(o.session, session.ID, kernel.DefaultSession), cmp.Or(o.model, session.Model)
	b.Messages = session.View(o.view.view())
	return b, session, nil
}

type boundaryJSON struct {
	Schema     string `json:"schema"`
	SessionKey string `json:"session_key"`
	*kernel.Passed
}

func runBoundary(ctx context.Context, a *app, v boundaryVerb, o *lifeFlags) error {
	b, err := boundaryFor(a, o)
	if err != nil {
		return err
	}
	k, err := a.openKernel(ctx, needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	p, err := v.pass(k)(ctx, b)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.writeJSON(boundaryJSON{"memkernel/" + v.name + "/v1", b.SessionKey, p})
	}
	showPassed(a, b, v.name, p)
	return nil
}

// showPassed prints what a boundary left behind.
func showPassed(a *app, b kernel.Boundary, verb string, p *kernel.Passed) {
	fmt.Fprintf(a.Out, "session %s: %s %s, %s ingested, %s, checkpoint %s, reset %s\n", display.Clip(b.SessionKey, display.Columns), verb, p.Outcome,
		display.Plural(p.Ingested, "page"), display.Plural(p.Turns, "turn"), cmp.Or(p.Checkpoint, "none"), display.Plural(p.Epoch, "time"))
	if p.Flushed > 0 {
		fmt.Fprintf(a.Out, "  %s to the day's log\n", display.Plural(p.Flushed, "new line"))
	}
	if len(p.Pinned) > 0 {
		fmt.Fprintf(a.Out, "  %s in every prompt\n", display.Plural(len(p.Pinned), "page"))
	}
	for _, r := range p.Rejected {
		a.tip("%s: %s", r.Code, display.Printable(r.Detail))
	}
	for _, f := range p.Faults {
		a.tip("%s: %s", f.Code, display.Printable(f.Detail))
	}
}

func newCheckpoint(a *app) *cobra.Command {
	o := &lifeFlags{}
	cmd := &cobra.Command{Long: `checkpoint writes what a session is in the middle of, if it has changed since the
last checkpoint, and prints the newest one as YAML. Checkpoints are immutable; the
last five are kept.`,
		Example: "  memkernel checkpoint --session build-42", Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runCheckpoint(cmd.Context(), a, o) },
	}
	o.add(cmd)
	return cmd
}

func runCheckpoint(ctx context.Context, a *app, o *lifeFlags) error {
	b, err := boundaryFor(a, o)
	if err != nil {
		return err
	}
	k, err := a.openKernel(ctx, needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	c, err := k.Checkpoint(ctx, b)
	if err != nil {
		return err
	}
	if c == nil {
		return hint(fmt.Errorf("checkpoint session %s: nothing has been captured of it", b.SessionKey), "plan or observe it first, or name its --transcript")
	}
	got, err := k.Get(ctx, b.SessionKey, string(c.Meta.CheckpointID))
	if err != nil {
		return err
	}
	if a.JSON {
		return a.writeJSON(document.OfPage(b.SessionKey, got))
	}
	_, err = io.WriteString(a.data(), got.Text)
	return err
}

func newRestore(a *app) *cobra.Command {
	var session string
	cmd := &cobra.Command{Long: `restore prints what a model needs to go on after a compaction or in a new
conversation: the newest checkpoint's working state, in at most 700 tokens. Where no
checkpoint can be read it is made of the session's part of SESSION-STATE.md, or else
of its entries in memory/working-buffer.md, and says so. A plan shows it by itself;
this is for hosts that compose their own prompts.`,
		Example: "  memkernel restore --session build-42", Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runRestore(cmd.Context(), a, session) },
	}
	cmd.Flags().StringVarP(&session, "session", "s", kernel.DefaultSession, "`key` of the session")
	return cmd
}

func runRestore(ctx context.Context, a *app, session string) error {
	k, err := a.openKernel(ctx, needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	r, err := k.Restore(ctx, session)
	if err != nil {
		return err
	}
	for _, d := range r.Damaged {
		a.tip("%s", display.Printable(d))
	}
	if a.JSON {
		return a.writeJSON(document.OfRestored(session, r))
	}
	if r.Text == "" {
		a.tip("there is no checkpoint of session %s, and nothing of it in SESSION-STATE.md or the working buffer", display.Printable(session))
		return nil
	}
	if r.Net != kernel.NetCheckpoint {
		a.tip("there is no checkpoint that can be read; this is from %s", map[kernel.Net]string{kernel.NetSessionState: "SESSION-STATE.md", kernel.NetBuffer: "memory/working-buffer.md", kernel.NetJournal: "the summary in the journal"}[r.Net])
	}
	_, err = io.WriteString(a.data(), r.Text+"\n")
	return err
}
