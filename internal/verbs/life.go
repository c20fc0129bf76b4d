package verbs

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/transcript"
)

// sessionFlags are the flags of the verbs that work on a session.
type sessionFlags struct {
	transcript cli.TranscriptFlags
	session    string
	model      string
	view       cli.Choice
	source     sourceFlags
}

// add adds the flags. The parameter file is the end of the help text of --session-file.
func (o *sessionFlags) add(cmd *cobra.Command, view, file string) {
	o.transcript.Add(cmd)
	o.source.Add(cmd, file)
	cmd.Flags().StringVarP(&o.session, "session", "s", "", "`key` of the session (default the transcript's own id)")
	cmd.Flags().StringVarP(&o.model, "model", "m", "", "model `id` (default the last one that spoke)")
	viewFlag(cmd, &o.view, view)
}

// windowFlags are the flags of the verbs that plan.
type windowFlags struct {
	window, reserve config.Tokens
	resolver        string
}

// add adds the flags. The parameters are the defaults in words, the default of --resolver, and what
// it names.
func (w *windowFlags) add(f *pflag.FlagSet, window, reserve, resolver, names string) {
	f.Var(&w.window, "context-window", "size of the window, such as 200k (default "+window+")")
	f.Var(&w.reserve, "reserve", "what is kept free for the answer (default "+reserve+")")
	f.StringVar(&w.resolver, "resolver", resolver, names+" by which the model can follow pointers, by `name`")
}

// lifeFlags are the flags of the verbs at a session's boundaries.
type lifeFlags struct {
	sessionFlags
	reason string
}

func flushVerb(a *cli.App) *cobra.Command {
	return boundaryVerb(a, "flush",
		`flush takes in what is new of a session, writes a checkpoint of its working state,
and appends the decisions and learnings that no flush has written yet to the log of
today. What was written stands there once, however often it is asked for.`,
		(*kernel.Kernel).Flush)
}

func resetVerb(a *cli.App) *cobra.Command {
	return boundaryVerb(a, "reset",
		`reset does what compact does, with open items and the rules that were told too,
and begins the session anew: summary and projections are empty after it. Journal,
pages, pins, checkpoints and blobs stay, and the next conversation begins with the
text that restore prints.`,
		(*kernel.Kernel).Reset)
}

// boundaryVerb returns the verb for a boundary of a session. The parameter pass is the method of the
// kernel for that boundary.
func boundaryVerb(a *cli.App, name, long string, pass func(*kernel.Kernel, context.Context, api.Boundary) (*api.Passed, error)) *cobra.Command {
	o := &lifeFlags{}
	cmd := &cobra.Command{Long: long + `

With --transcript the conversation is read from there; without it, what was planned
or observed of the session counts.`,
		Example: "  memkernel " + name + " --session build-42\n  memkernel " + name + " -t session.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, _, err := boundaryOf(a, o)
			if err != nil {
				return err
			}
			p, err := ask(cmd.Context(), a, cli.Needs{}, "", pass, b)
			if err != nil {
				return err
			}
			return showPassed(a, b.SessionKey, name, p)
		},
	}
	o.add(cmd, "full", fileOfTranscript)
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the record")
	return cmd
}

// boundaryOf reads the transcript. Without a transcript it returns an empty one.
func boundaryOf(a *cli.App, o *lifeFlags) (api.Boundary, *transcript.Session, error) {
	session := &transcript.Session{}
	b := api.Boundary{SessionKey: cmp.Or(o.session, api.DefaultSession), Model: o.model, Reason: o.reason, Private: a.Private(), Source: o.source.Of(o.transcript.Path, nil)}
	if o.transcript.Path == "" {
		return b, session, nil
	}
	session, err := a.Session(&o.transcript)
	if err != nil {
		return b, nil, err
	}
	b.SessionKey, b.Model = cmp.Or(o.session, session.ID, api.DefaultSession), cmp.Or(o.model, session.Model)
	b.Messages, b.Source = session.View(viewOf(&o.view)), o.source.Of(o.transcript.Path, session)
	return b, session, nil
}

// boundaryJSON is the document of flush, reset and compact.
type boundaryJSON struct {
	Schema     string `json:"schema"`
	SessionKey string `json:"session_key"`
	*api.Passed
}

// showPassed prints the result of a boundary of a session.
func showPassed(a *cli.App, session, verb string, p *api.Passed) error {
	err := cli.Answer(a, boundaryJSON{"memkernel/" + verb + "/v1", session, p}, p, func(s *display.Sheet, p *api.Passed) {
		s.Line("session {}: {} {}, {page} ingested, {turn}, checkpoint {}, reset {time}", display.Clip(session, display.Columns), verb, p.Outcome,
			p.Ingested, p.Turns, cmp.Or(p.Checkpoint, "none"), p.Epoch)
		if p.Flushed > 0 {
			s.Line("  {new line} to the day's log", p.Flushed)
		}
		if len(p.Pinned) > 0 {
			s.Line("  {page} in every prompt", len(p.Pinned))
		}
		if p.Compaction != nil {
			showCompaction(s, p.Compaction)
		}
	})
	if err != nil || a.JSON {
		return err
	}
	for _, r := range p.Rejected {
		a.Tip("%s: %s", r.Code, r.Detail)
	}
	for _, f := range p.Faults {
		a.Tip("%s: %s", f.Code, f.Detail)
	}
	return nil
}

func checkpointVerb(a *cli.App) *cobra.Command {
	o := &lifeFlags{}
	cmd := &cobra.Command{Long: `checkpoint writes what a session is in the middle of, if it has changed since the
last checkpoint, and prints the newest one as YAML. Checkpoints are immutable; the
last five are kept.`,
		Example: "  memkernel checkpoint --session build-42", Args: cli.NoArgs,
		RunE: with(a, o, runCheckpoint),
	}
	o.add(cmd, "full", fileOfTranscript)
	return cmd
}

func runCheckpoint(ctx context.Context, a *cli.App, o *lifeFlags) error {
	b, _, err := boundaryOf(a, o)
	if err != nil {
		return err
	}
	k, err := a.Kernel(ctx, cli.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	c, err := k.Checkpoint(ctx, b)
	if err != nil {
		return err
	}
	if c == nil {
		return cli.Hint(fmt.Errorf("checkpoint session %s: nothing has been captured of it", b.SessionKey), "plan or observe it first, or name its --transcript")
	}
	got, err := k.Get(ctx, b.SessionKey, string(c.Meta.CheckpointID))
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(document.OfPage(b.SessionKey, got))
	}
	_, err = io.WriteString(a.Data(), got.Text)
	return err
}

func restoreVerb(a *cli.App) *cobra.Command {
	var session string
	cmd := &cobra.Command{Long: `restore prints what a model needs to go on after a compaction or in a new
conversation: the newest checkpoint's working state, in at most 700 tokens. Where no
checkpoint can be read it is made of the session's part of SESSION-STATE.md, or else
of its entries in memory/working-buffer.md, and says so. A plan shows it by itself;
this is for hosts that compose their own prompts.`,
		Example: "  memkernel restore --session build-42",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cli.NoArgs(cmd, args); err == nil || !markdownstore.PathLike(args[0]) {
				return err
			}
			return cli.UsageWith(fmt.Sprintf("restore takes no argument, got %q", args[0]), "a file of memory is what 'memkernel undo' and 'memkernel history "+args[0]+"' bring back")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runRestore(cmd.Context(), a, session) },
	}
	cmd.Flags().StringVarP(&session, "session", "s", api.DefaultSession, "`key` of the session")
	return cmd
}

func runRestore(ctx context.Context, a *cli.App, session string) error {
	r, err := ask(ctx, a, cli.Needs{}, "", (*kernel.Kernel).Restore, api.RestoreRequest{SessionKey: session, Occasion: checkpoint.NewSession, Resolver: "memkernel get"})
	if err != nil {
		return err
	}
	for _, d := range r.Damaged {
		a.Tip("%s", d)
	}
	if a.JSON {
		return a.WriteJSON(document.OfRestored(session, r))
	}
	if r.Text == "" {
		a.Tip("there is no checkpoint of session %s, and nothing of it in SESSION-STATE.md or the working buffer", session)
		return nil
	}
	if r.Net != api.NetCheckpoint {
		a.Tip("there is no checkpoint that can be read; this is from %s", map[api.Net]string{api.NetSessionState: "SESSION-STATE.md", api.NetBuffer: "memory/working-buffer.md", api.NetJournal: "the summary in the journal"}[r.Net])
	}
	_, err = io.WriteString(a.Data(), r.Text+"\n")
	return err
}
