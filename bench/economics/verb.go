package economics

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// flags are the flags of economics.
type flags struct {
	transcripts []string
	policies    []string
	rooms       []string
	regimes     []string
	noCurve     bool
	sessions    bool
	economy     bool
	write       string
}

// Verb is the verb economics of mkbench.
func Verb(a *cli.App) *cobra.Command {
	e := &flags{}
	cmd := &cobra.Command{
		Long: `economics replays sessions under every policy, window and price regime and prints
a table of each window and regime, and the points of the curve of cost against recall.
With --write DIR it writes the report and its picture there, as economics.md and
economics.svg.

With --sessions each table is followed by one with a row for each session and policy,
which also says what the prompts hold of the files that the agent reads and edits.

With --economy it measures what each choice of the setting economy costs and keeps,
instead, in windows of 200k and 1m tokens above the fixed part; with --write DIR that
goes to economy.json.

A window is the session's fixed part (tools and system prompt, taken from the usage
of its first call) and a room above it; the regimes claude-1m and openai-272k have the
windows of today's models instead. Nothing is sent anywhere. It takes a minute or so per
session and processor.`,
		Example: `  mkbench economics -t session.jsonl
  mkbench economics -t a.jsonl -t b.jsonl --room 128k --write bin`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runVerb(cmd.Context(), a, e) },
	}
	f := cmd.Flags()
	f.StringSliceVarP(&e.transcripts, "transcript", "t", nil, "recorded session `files`")
	f.StringSliceVar(&e.policies, "policy", replay.Policies(), "`policies` to compare")
	f.StringSliceVar(&e.rooms, "room", []string{"64k", "128k", "200k"}, "windows, as `tokens` above the fixed part")
	f.StringSliceVar(&e.regimes, "regime", regimeNames(), "price `regimes`")
	f.BoolVar(&e.noCurve, "no-curve", false, "leave out the curve, which takes half of the time")
	f.BoolVar(&e.sessions, "sessions", false, "add a table with a row for each session and policy")
	f.BoolVar(&e.economy, "economy", false, "measure the choices of the setting economy instead")
	cli.Must(f.SetAnnotation("economy", cli.OwnFlag, []string{}))
	f.StringVar(&e.write, "write", "", "write the report into this `folder` instead of printing it")
	for _, grid := range []string{"policy", "room", "regime", "no-curve", "sessions"} {
		cmd.MarkFlagsMutuallyExclusive("economy", grid)
	}
	cli.CompleteWords(cmd, "policy", replay.Policies())
	cli.CompleteWords(cmd, "regime", regimeNames())
	return cmd
}

func regimeNames() []string {
	var out []string
	for _, g := range regimes() {
		out = append(out, g.Name)
	}
	return out
}

func runVerb(ctx context.Context, a *cli.App, e *flags) error {
	opt, err := e.options(a.JSON)
	if err != nil {
		return err
	}
	for _, path := range e.transcripts {
		s, err := transcript.LoadFile(path, nil)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		opt.Sessions = append(opt.Sessions, session{Name: name, Session: s})
	}
	opt.Progress = func(done, all int) { a.Step("replaying", done, all, "run") }
	report, err := run(ctx, opt)
	a.ProgressDone()
	if err != nil {
		return err
	}
	now, command := time.Now(), "mkbench "+strings.Join(shortArgs(os.Args[1:]), " ")
	switch {
	case e.economy:
		return printEconomy(a, e, report, command, now)
	case e.write != "":
		return report.Write(e.write, command, now)
	}
	_, err = a.Out.Write([]byte(report.Markdown(command, now)))
	return err
}

// economyJSON is the document of --economy.
type economyJSON struct {
	Schema string `json:"schema"`
	*economy
}

// printEconomy writes the cost and the recall of each economy.
func printEconomy(a *cli.App, e *flags, report *report, command string, now time.Time) error {
	m, err := report.Economy(command, now)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.WriteJSON(economyJSON{"memkernel/bench_economy/v1", m})
	case e.write != "":
		return writeEconomy(m, e.write)
	}
	_, err = a.Out.Write([]byte(economyMarkdown(m)))
	return err
}

// options checks the flags.
func (e *flags) options(json bool) (options, error) {
	opt := options{NoCurve: e.noCurve, Rowwise: e.sessions, Policies: e.policies}
	if len(e.transcripts) == 0 {
		return opt, cli.Usagef("economics needs --transcript FILE, once for each session")
	}
	if e.economy {
		return economyOptions(), nil
	}
	if json {
		return opt, cli.Usagef("economics prints tables: --json goes with --economy")
	}
	for _, p := range e.policies {
		if _, _, err := replay.ParsePolicy(p); err != nil {
			return opt, cli.Usagef("--policy: %s", err)
		}
	}
	for _, s := range e.rooms {
		var n config.Tokens
		if err := n.Set(s); err != nil {
			return opt, cli.Usagef("--room: %s", err)
		}
		opt.Rooms = append(opt.Rooms, int(n))
	}
	for _, s := range e.regimes {
		i := slices.Index(regimeNames(), s)
		if i < 0 {
			return opt, cli.Usagef("--regime %q is none of %s", s, strings.Join(regimeNames(), ", "))
		}
		opt.Regimes = append(opt.Regimes, regimes()[i])
	}
	return opt, nil
}

// shortArgs replaces the paths of all sessions by one "FILE …", because a long list of paths
// would fill the report.
func shortArgs(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if name != "-t" && name != "--transcript" {
			out = append(out, args[i])
			continue
		}
		if !joined && i+1 < len(args) {
			i++
			value = args[i]
		}
		if value != "" && !slices.Contains(out, "FILE …") {
			out = append(out, "--transcript", "FILE …")
		}
	}
	return out
}
