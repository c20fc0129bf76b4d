package verbs

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/paging"
	"github.com/memkernel/memkernel/transcript"
)

// planFlags are the flags of plan.
type planFlags struct {
	sessionFlags
	windowFlags
	fixed                          fixedValue
	at                             int
	prompt, system, tools          string
	now                            time.Time
	noMemory, commit, explain, all bool
	memories                       []string
	format                         cli.Choice
	overflow                       *api.Overflow
}

func planVerb(a *cli.App) *cobra.Command {
	p := &planFlags{}
	cmd := &cobra.Command{
		Long: `plan decides what the model gets to see for one call: by default the last call of
the transcript that really happened, with --at an earlier one, with --prompt the
next. A transcript that is a request about to be sent is planned as it stands.

What --workspace remembers goes along: its standing instructions, MEMORY.md and
USER.md, and what a search of its index finds for the user's newest words. Beside
that stands what another memory system found for them: --memories takes the search
results of QMD, Mem0 or Cognee as JSON, and finds out whose they are.

Nothing is written unless --commit is given.`,
		Example: `  memkernel plan -t session.jsonl --explain
  memkernel plan -t session.jsonl --view full --context-window 128k --json
  memkernel plan -t session.jsonl --prompt "go on" --format openai > body.json
  memkernel plan -p "deploy?" -m claude-sonnet-4-6 --memories found.json`,
		RunE: with(a, p, runPlan),
	}
	p.addAll(a, cmd)
	return cmd
}

func (p *planFlags) addAll(a *cli.App, cmd *cobra.Command) {
	p.sessionFlags.add(cmd, "host", "")
	f := cmd.Flags()
	p.windowFlags.add(f, "the price book's", "a fifth, 8k to 40k", "", "the tool or command")
	p.fixed.Add(f)
	f.IntVar(&p.at, "at", 0, "plan the `N`-th model call of the view, from 1; -1 is the last")
	f.StringVarP(&p.prompt, "prompt", "p", "", "plan the next call, with this `text` from the user")
	f.StringVar(&p.system, "system", "", "system prompt: a `file` of text, or of JSON blocks")
	f.StringVar(&p.tools, "tools", "", "tool definitions: a `file` with a JSON list")
	cli.TimeFlag(f, &p.now, "now", "when the call is made, in RFC 3339 (default the planned call's own time)")
	economyFlag(cmd)
	a.PricesFlag(cmd)
	f.BoolVar(&p.noMemory, "no-memory", false, "leave the workspace's files alone")
	f.StringArrayVar(&p.memories, "memories", nil, "what another memory system found: a `file` of QMD's, Mem0's or Cognee's JSON; may be given again")
	cli.Must(cmd.MarkFlagFilename("memories"))
	a.SharedFlag(f)
	overflowFlag(f, &p.overflow, "the call was refused as too long: the provider's `text`, or a file that holds it")
	f.BoolVar(&p.commit, "commit", false, "write the plan and what it ingested to the state folder")
	f.BoolVar(&p.explain, "explain", false, "draw regions, decisions, breakpoints and the cache bill")
	f.BoolVar(&p.all, "all", false, "with --explain: every row of every table")
	for _, f := range transcript.Formats() {
		p.format.Of = append(p.format.Of, string(f))
	}
	f.Var(&p.format, "format", "print the request body alone, in a provider's shape")
	cli.CompleteWords(cmd, "format", p.format.Of)
}

// check returns an error for flags that contradict each other.
func (p *planFlags) check() error {
	switch {
	case p.transcript.Path == "" && p.prompt == "":
		return cli.Usagef("plan needs --transcript FILE, or --prompt TEXT for a session that has not begun")
	case p.at != 0 && p.prompt != "":
		return cli.Usagef("--at plans a call that happened and --prompt one that did not: give one of them")
	case p.reserve > 0 && p.window > 0 && p.reserve >= p.window:
		return cli.Usagef("--reserve %d leaves nothing of --context-window %d", p.reserve, p.window)
	case p.all && !p.explain:
		return cli.Usagef("--all goes with --explain")
	}
	return nil
}

func runPlan(ctx context.Context, a *cli.App, p *planFlags) error {
	if err := p.check(); err != nil {
		return err
	}
	if p.noMemory {
		if err := a.Config.Set("workspace.enabled", "false", "--no-memory"); err != nil {
			return err
		}
	}
	out, err := planOf(ctx, a, p)
	if err != nil {
		return err
	}
	return showPlan(a, out, p)
}

// planOf makes the plan that the flags ask for.
func planOf(ctx context.Context, a *cli.App, p *planFlags) (*planned, error) {
	book, err := a.Book()
	if err != nil {
		return nil, err
	}
	out := &planned{View: viewOf(&p.view), Committed: p.commit, session: &transcript.Session{}}
	if p.transcript.Path != "" {
		if out.session, err = a.Session(&p.transcript); err != nil {
			return nil, err
		}
	}
	if err := fillRequest(a, out, p, book); err != nil {
		return nil, err
	}
	// The kernel needs vectors only for a search.
	k, err := a.Kernel(ctx, cli.Needs{Prices: book, Vectors: a.Config.Workspace.Enabled && a.Config.Retrieval.Enabled})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	plan := k.Peek
	if p.commit {
		plan = k.PlanContext
	}
	if out.Made, err = plan(ctx, out.request); err != nil {
		return nil, err
	}
	var known bool
	if out.Model, known = book.Lookup(out.request.Model, out.Now); !known {
		out.Model = cachelayout.Assume(out.request.Model)
	}
	return out, nil
}

// showPlan prints the plan in the form that the flags select. --json overrides --explain, because
// the reader of JSON is a program.
func showPlan(a *cli.App, out *planned, p *planFlags) error {
	switch {
	case p.format.Value != "":
		body, notes, err := renderBody(out, transcript.Format(p.format.Value))
		if err != nil {
			return err
		}
		for _, n := range notes {
			a.Tip("%s: %s", n.Rule, n.Text)
		}
		_, err = a.Data().Write(append(body, '\n'))
		return err
	case a.JSON:
		doc, err := planDocument(out)
		if err != nil {
			return err
		}
		return a.WriteJSON(doc)
	}
	a.All = p.all
	err := a.Print(func(s *display.Sheet) {
		if p.explain {
			explainPlan(s, out)
		} else {
			summarizePlan(s, out)
		}
	})
	if err == nil && !p.explain {
		a.Tip("--explain shows why, --json the whole plan, --format anthropic the request body")
	}
	return err
}

// planJSON is the document of plan --json.
type planJSON struct {
	Schema string `json:"schema"`
	api.Outline
	// Dialect is the format of the transcript, "" without one.
	Dialect string `json:"dialect"`
	// View is host or full.
	View string `json:"view"`
	// Call is the number of the planned call, from 1, or 0 for a call that was not made yet.
	// Calls is the number of calls in the view.
	Call  int `json:"call"`
	Calls int `json:"calls"`
	// Now is the time of the call in the request.
	Now time.Time `json:"now,omitzero"`
	// Committed reports whether the plan was written. Pointers of an unwritten plan don't resolve
	// yet.
	Committed bool `json:"committed"`
	// FixedTokens is the size of a system prompt and tools that are not in the request. FixedFrom
	// is the origin of FixedTokens: "given", "first_call", or "" without such parts.
	FixedTokens int    `json:"fixed_tokens"`
	FixedFrom   string `json:"fixed_from"`
	// Messages are the planned messages in the format.
	Messages json.RawMessage `json:"messages"`
	// Notes name the parts that reading and rendering had to leave out or repair.
	Notes []noteJSON `json:"notes"`
	api.Details
	// Paging is the page table, and the paging of the conversation's plans including this one.
	Paging *paging.PageTable `json:"paging"`
}

type noteJSON struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
	// Line is the line of the transcript, 0 if the note is about no single line.
	Line int `json:"line"`
}

// planDocument returns the document.
func planDocument(out *planned) (*planJSON, error) {
	plan := out.Made
	format := nativeFormat(out)
	messages, notes, err := nativeMessages(out, format)
	if err != nil {
		return nil, err
	}
	doc := &planJSON{Schema: "memkernel/plan/v1", Outline: plan.Outline, Details: plan.Details, Paging: plan.Table,
		Dialect: string(out.Dialect), View: out.View.String(), Call: out.Call, Calls: out.Calls,
		Now: out.Now, Committed: out.Committed, FixedTokens: out.FixedTokens,
		Messages: messages, Notes: []noteJSON{}}
	doc.Format = format
	switch {
	case out.Implied:
		doc.FixedFrom = "first_call"
	case doc.FixedTokens > 0:
		doc.FixedFrom = "given"
	}
	for _, n := range append(out.session.Notes, notes...) {
		doc.Notes = append(doc.Notes, noteJSON{Rule: n.Rule, Text: n.Text, Line: n.Line})
	}
	return doc, nil
}

// nativeMessages returns the plan's messages in the format of the model's provider.
func nativeMessages(out *planned, f transcript.Format) (json.RawMessage, []transcript.Note, error) {
	body, notes, err := renderBody(out, f)
	if err != nil {
		return nil, nil, err
	}
	var b struct{ Messages, Input json.RawMessage }
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, nil, fmt.Errorf("render messages: %w", err)
	}
	for _, list := range []json.RawMessage{b.Messages, b.Input} {
		if list != nil {
			return list, notes, nil
		}
	}
	return json.RawMessage("[]"), notes, nil
}
