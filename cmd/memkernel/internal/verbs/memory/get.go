package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cmd/memkernel/internal/cli"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/fail"
	"github.com/memkernel/memkernel/cmd/memkernel/internal/setup"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// Get is the verb get.
func Get(a *cli.App) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Long: `get prints a memory file, or lines of it: LINES lines from line FROM on, or what
search cites, as in memory/deploys.md#L3-L9 or notes:sub/ops.md#L3, which is of the
folder notes of index.folders. Memory is MEMORY.md, USER.md, memory/**/*.md, what
index.include names, and sessions/** where past sessions are searched; everything else
is denied. A file that is not there is no error.

With the id of a page, of a span that left the prompt, or of a blob it prints what
was stored, byte for byte; with lines behind it, as in ev-0123456789abcdef@L3-L9,
these of it. Secrets that were masked when it was stored stay masked.

What has a slash in it, or ends in .md, .markdown, .mdx or .txt, is a path; everything
else is an id.`,
		Example: `  memkernel get memory/2026-03-09.md:10:5
  memkernel get MEMORY.md#L3-L9
  memkernel get ev-0123456789abcdef --session build-42`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return fail.Usagef("get takes one path or page id, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			place, isPath, err := parsePlace(args[0])
			switch {
			case err != nil:
				return err
			case isPath:
				return runRead(cmd.Context(), a, session, args[0], place)
			}
			// A citation of a page counts its lines as one of a file does.
			return runGet(cmd.Context(), a, session, strings.Replace(args[0], "#L", "@L", 1))
		},
	}
	cmd.Flags().StringVarP(&session, "session", "s", kernel.DefaultSession, "`key` of the session that the page is of")
	a.SharedFlag(cmd.Flags())
	return cmd
}

// runRead prints lines of a file.
func runRead(ctx context.Context, a *cli.App, session, arg string, pl place) error {
	if err := a.MemoryOn(); err != nil {
		return err
	}
	k, err := a.Kernel(ctx, setup.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	c, err := k.Read(ctx, kernel.ReadRequest{Path: pl.path, From: pl.from, Lines: pl.lines, Private: a.Private(), SessionKey: session})
	if err != nil {
		return refused(a, arg, pl.path, err)
	}
	if a.JSON {
		return a.WriteJSON(document.OfLines(arg, c))
	}
	if c.Reason != markdownstore.ReasonOK {
		a.Tip("%s: %s", display.Printable(c.Path), c.Detail)
		return nil
	}
	if c.Truncated {
		a.Tip("the text was cut at workspace.max_file_size: ask for fewer lines")
	}
	_, err = io.WriteString(a.Data(), c.Text)
	return err
}

// refused tells that a path is not memory.
func refused(a *cli.App, arg, path string, err error) error {
	if !errors.Is(err, markdownstore.ErrDenied) {
		return err
	}
	if a.JSON {
		if err := a.WriteJSON(document.OfDenied(arg, path, err)); err != nil {
			return err
		}
	}
	return fail.Hint(fmt.Errorf("get %s: %s: %w", display.Printable(arg), retrieval.Denied, err), "search cites what can be read")
}

// runGet prints a page.
func runGet(ctx context.Context, a *cli.App, session, id string) error {
	k, err := a.Kernel(ctx, setup.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	c, err := k.Get(ctx, session, id)
	if err != nil {
		return err
	}
	if a.JSON {
		if err := a.WriteJSON(document.OfPage(session, c)); err != nil {
			return err
		}
	}
	if c.Reason == kernel.ReasonBackend {
		return fail.Hint(fmt.Errorf("%s: %s", c.Reason, c.Detail), "run 'memkernel check' to see what else is damaged; ingesting the host's transcript again restores it")
	}
	if a.JSON {
		return nil
	}
	if c.Reason == kernel.ReasonForgotten {
		return fail.Hint(fmt.Errorf("get %s: %s: %s", display.Printable(id), c.Reason, display.Printable(c.Detail)), "its content is gone for good")
	}
	if c.Reason != kernel.ReasonOK {
		way := "name the session with --session; a plan's pointers resolve once it was made with --commit or observed; a file is named by its path"
		var none *kernel.NoSessionError
		if _, err := k.StatusOf(ctx, kernel.StatusOptions{Session: session}); errors.As(err, &none) {
			way = none.Error() + ": " + fail.HintFor(none) + "; a file is named by its path"
		}
		return fail.Hint(fmt.Errorf("get %s: %s in session %s", display.Printable(id), c.Reason, display.Printable(session)), "%s", way)
	}
	_, err = io.WriteString(a.Data(), c.Text)
	return err
}
