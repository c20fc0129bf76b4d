package verbs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/serve/ui"
	"github.com/memkernel/memkernel/transcript"
)

// reportFlags are the flags of report.
type reportFlags struct {
	transcript string
	html       string
	window     config.Tokens
	resolver   string
}

func reportVerb(a *cli.App) *cobra.Command {
	r := &reportFlags{}
	cmd := &cobra.Command{
		Long: `report writes a session into one page that needs nothing but itself, no network and no
script: what was said, and a picture of what its prompts held and cost beside
append-late. Secrets are masked, and texts shortened: look through it before you attach
it to a bug report.

The session is planned as replay plans it, in a folder that is thrown away.`,
		Example: `  memkernel report --html session.html -t session.jsonl`,
		RunE:    with(a, r, runReport),
	}
	f := cmd.Flags()
	f.StringVarP(&r.transcript, "transcript", "t", "", "the session's `file`, or a folder of sessions, of which the newest is taken")
	f.StringVar(&r.html, "html", "", "write the page to this `file`")
	f.Var(&r.window, "context-window", "size of the window that it is planned for, such as 200k (default the price book's)")
	f.StringVar(&r.resolver, "resolver", windowResolver, "the tool or command by which the model can follow pointers, by `name`")
	cli.Must(cmd.MarkFlagFilename("transcript"))
	cli.Must(cmd.MarkFlagFilename("html"))
	a.PricesFlag(cmd)
	return cmd
}

func runReport(ctx context.Context, a *cli.App, r *reportFlags) error {
	if r.transcript == "" || r.html == "" {
		return cli.Usagef("report needs --html FILE and --transcript FILE")
	}
	book, err := a.Book()
	if err != nil {
		return err
	}
	if st, err := os.Stat(r.transcript); err == nil && st.IsDir() {
		all, err := a.InFolder(r.transcript)
		if err != nil {
			return err
		}
		r.transcript = all[0]
		a.Tip("the newest session is taken: %s", r.transcript)
	}
	masker, err := a.Masker()
	if err != nil {
		return err
	}
	st, err := cli.Billed(ctx, &a.Settings)
	if err != nil {
		return err
	}
	session, err := transcript.LoadFile(r.transcript, &transcript.Options{Name: r.transcript, OnBroken: transcript.Skip})
	if err != nil {
		return err
	}
	doc := replay.NewDocument(session, transcript.Full, book)
	for _, policy := range []string{replay.AppendLate, replay.Memkernel} {
		err := replayOne(ctx, a, doc, session, policy, &replayFlags{window: r.window, resolver: r.resolver, fixed: cli.FixedValue{Auto: true}, economy: &a.Config.Economy}, book)
		a.ProgressDone()
		if err != nil {
			return err
		}
	}
	doc.End()
	var page, svg bytes.Buffer
	if err := display.Picture(&svg, doc.Results, display.PictureThemes()[0]); err != nil {
		return fmt.Errorf("picture: %w", err)
	}
	name := strings.TrimSuffix(filepath.Base(r.transcript), filepath.Ext(r.transcript))
	if err := ui.Report(&page, session, svg.Bytes(), cli.Build().Version, name, ui.Options{Masker: masker}, st); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(r.html, page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if a.JSON {
		return a.WriteJSON(reportJSON{"memkernel/report/v1", r.html, page.Len()})
	}
	_, err = fmt.Fprintf(a.Out, "wrote %s\n", r.html)
	return err
}

// reportJSON is the document of report.
type reportJSON struct {
	Schema string `json:"schema"`
	// Path is the page. Bytes is its size.
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}
