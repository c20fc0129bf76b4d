package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

func getVerb(a *cli.App) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Long: `get prints a memory file, or lines of it: LINES lines from line FROM on, or those of
a model's citation, as in memory/deploys.md#L3-L9. notes:sub/ops.md:3 is of the folder
notes of index.folders. Memory is MEMORY.md, USER.md, memory/**/*.md, the other Markdown
that search reads, and sessions/** where past sessions are searched; everything else is
denied. A file that is not there is an error; --json answers NO_MATCH instead.

With the id of a page, of a span that left the prompt, or of a blob it prints what
was stored, byte for byte; with lines behind it, as in ev-0123456789abcdef@L3-L9,
these of it. Secrets that were masked when it was stored stay masked. It looks in all
sessions unless --session names one; where several have the id with different content,
they are listed.

What has a slash in it, or ends in .md, .markdown, .mdx or .txt, is a path; everything
else is an id, or else the title, an alias or the file's name of a note.`,
		Example: `  memkernel get memory/2026-03-09.md:10:5
  memkernel get MEMORY.md:3
  memkernel get "Deploy checklist"
  memkernel get ev-0123456789abcdef --session build-42`,
		Args: takes(1, 1, "get takes one path, title or page id, got %d arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			place, isPath, err := parsePlace(args[0])
			switch {
			case err != nil:
				return err
			case isPath:
				if place, err = addressIn(a, args[0]); err != nil {
					return err
				}
				return runRead(cmd.Context(), a, session, args[0], place)
			}
			// A page's citation counts lines in the same way as a file's.
			return runGet(cmd.Context(), a, session, strings.Replace(args[0], "#L", "@L", 1))
		},
	}
	cmd.Flags().StringVarP(&session, "session", "s", "", "`key` of the session that the page is of (default all sessions)")
	a.SharedFlag(cmd.Flags())
	return cmd
}

// runRead prints lines of a file.
func runRead(ctx context.Context, a *cli.App, session, arg string, pl place) error {
	k, err := openMemory(ctx, a, cli.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	return showLines(ctx, a, k, session, arg, pl)
}

func showLines(ctx context.Context, a *cli.App, k *kernel.Kernel, session, arg string, pl place) error {
	c, err := k.Read(ctx, api.ReadRequest{Path: pl.path, From: pl.from, Lines: pl.lines, Private: a.Private(), SessionKey: cmp.Or(session, api.DefaultSession)})
	denied := (*markdownstore.DeniedError)(nil)
	switch {
	case errors.As(err, &denied) && a.JSON:
		return cmp.Or(a.WriteJSON(document.OfDenied(arg, pl.path, err)), notGot(arg, denied.Text(), citedHint))
	case errors.As(err, &denied):
		return notGot(arg, denied.Text(), citedHint)
	case err != nil:
		return err
	case a.JSON:
		return a.WriteJSON(document.OfLines(arg, c))
	}
	if c.Reason == markdownstore.ReasonNoMatch {
		return notGot(arg, c.Detail, citedHint)
	}
	if c.Truncated {
		a.Tip("the text was cut at 32 MiB, the largest size of a file that is read: ask for fewer lines")
	}
	_, err = io.WriteString(a.Data(), c.Text)
	return err
}

// citedHint is the hint for a path without text.
const citedHint = "search cites what can be read"

// notGot returns the error of get, with a hint.
func notGot(arg, why, hint string, args ...any) error {
	return cli.Hint(fmt.Errorf("get %s: %s", arg, why), hint, args...)
}

// runGet prints a page of a session. Without a session it looks in all of them.
func runGet(ctx context.Context, a *cli.App, session, id string) error {
	k, err := a.Kernel(ctx, cli.Needs{})
	if err != nil {
		return err
	}
	defer k.Close()
	var c *api.Content
	var in []string
	if session != "" {
		c, err = k.Get(ctx, session, id)
	} else {
		c, in, err = getAnywhere(ctx, a, k, id)
		session = cmp.Or(append(in, api.DefaultSession)...)
	}
	if err == nil && c.Detail == nowhere && a.MemoryOn() == nil {
		var paths []string
		switch paths, err = called(ctx, a, k, id); len(paths) {
		case 0:
		case 1:
			return showLines(ctx, a, k, "", id, place{path: paths[0]})
		default:
			c, in = &api.Content{ID: id, Reason: reasonAmbiguous, Detail: fmt.Sprintf("%d notes are called so: %s", len(paths), strings.Join(paths, ", "))}, nil
		}
	}
	if err != nil {
		return err
	}
	if a.JSON {
		doc := document.OfPage(session, c)
		if doc.Sessions = in; c.Reason == reasonAmbiguous {
			doc.SessionKey = ""
		}
		if err := a.WriteJSON(doc); err != nil {
			return err
		}
	}
	switch {
	case c.Reason == reasonAmbiguous && len(in) == 0:
		return notGot(id, c.Detail, "name one of them by its path")
	case c.Reason == reasonAmbiguous:
		return notGot(id, c.Reason+": "+c.Detail, "name one of them with --session: %s", quoted(in))
	case c.Reason == api.GetBackendError:
		return cli.Hint(fmt.Errorf("%s: %s", c.Reason, c.Detail), "run 'memkernel check' to see what else is damaged; ingesting the host's transcript again restores it")
	case a.JSON:
		return nil
	case c.Reason == api.GetForgotten:
		return notGot(id, c.Reason+": "+c.Detail, "its content is gone for good")
	case c.Reason != api.GetOK:
		return notFound(ctx, k, session, id, c)
	}
	if len(in) > 1 {
		a.Tip("sessions that have it: %s", quoted(in))
	} else if len(in) == 1 && in[0] != api.DefaultSession {
		a.Tip("it is of session %s", quoted(in))
	}
	if c.Detail != "" {
		a.Tip("%s", c.Detail)
	}
	_, err = io.WriteString(a.Data(), c.Text)
	return err
}

// notFound returns the error for an unknown id, with a hint.
func notFound(ctx context.Context, k *kernel.Kernel, session, id string, c *api.Content) error {
	if c.Detail == nowhere {
		return notGot(id, c.Reason+" in any session", "no note is called so either; 'memkernel search %s' looks into them", id)
	}
	way := "name the session with --session; a plan's pointers resolve once it was made with --commit or observed; a file is named by its path"
	var none *api.NoSessionError
	if _, err := k.Status(ctx, &api.StatusOptions{Session: session}); errors.As(err, &none) {
		way = none.Error() + ": " + cli.HintFor(none) + "; a file is named by its path"
	}
	return notGot(id, c.Reason+" in session "+session, "%s", way)
}

// reasonAmbiguous reports that several sessions have an id with different content. nowhere is the
// detail if no session has the id.
const (
	reasonAmbiguous = "AMBIGUOUS"
	nowhere         = "no session has it"
)

// mostCalled is the number of hits that called examines. The number is our choice: a person can't
// choose among more notes.
const mostCalled = 50

// called returns the files whose title, alias or name equals name. Upper and lower case are the same,
// and so are dashes, underscores and spaces.
func called(ctx context.Context, a *cli.App, k *kernel.Kernel, name string) (paths []string, err error) {
	res, err := k.Search(ctx, api.SearchRequest{Query: name, Source: api.SourceMemory, Private: a.Private(), MaxResults: mostCalled, Wait: -1, Progress: a.IndexProgress()})
	a.ProgressDone()
	if err != nil {
		return nil, err
	}
	plain := func(s string) string {
		return strings.ToLower(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) }), " "))
	}
	for i := range res.Hits {
		file := res.Hits[i].Path
		if slices.Contains(paths, file) {
			continue
		}
		c, err := k.Read(ctx, api.ReadRequest{Path: file, Private: a.Private(), SessionKey: api.DefaultSession})
		if err != nil {
			return nil, err
		}
		_, rest, other := strings.Cut(file, ":")
		if !other {
			rest = file
		}
		names := append(markdownstore.Parse(rest, c.Text).Names(), strings.TrimSuffix(path.Base(rest), path.Ext(rest)))
		for line := range strings.Lines(c.Text) {
			if title, ok := strings.CutPrefix(line, "# "); ok {
				names = append(names, title)
				break
			}
		}
		if slices.ContainsFunc(names, func(n string) bool { return plain(n) == plain(name) }) {
			paths = append(paths, file)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// getAnywhere looks for an id in all sessions. It returns the content and the sessions that have
// the id. If it can't read a session, it prints a warning and searches the other sessions.
func getAnywhere(ctx context.Context, a *cli.App, k *kernel.Kernel, id string) (*api.Content, []string, error) {
	kept, err := a.Stored(ctx)
	if err != nil {
		return nil, nil, err
	}
	keys, err := kernel.Stored.SessionKeys(kept)
	if err != nil {
		return nil, nil, err
	}
	var found *api.Content
	var in []string
	other := &api.Content{ID: id, Reason: api.GetNoMatch, Detail: nowhere}
	ambiguous := false
	defer a.ProgressDone()
	for i, key := range keys {
		a.Step("looking", i, len(keys), "session")
		c, err := k.Get(ctx, key, id)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err != nil:
			a.Tip("session %s was not looked in: %s", key, cli.PlainError(err))
		case c.Reason == api.GetOK:
			ambiguous = ambiguous || found != nil && found.Text != c.Text
			found, in = cmp.Or(found, c), append(in, key)
		case c.Reason != api.GetNoMatch && other.Reason != api.GetBackendError:
			other = c
		}
	}
	switch {
	case ambiguous:
		return &api.Content{ID: id, Reason: reasonAmbiguous, Detail: fmt.Sprintf("%d sessions have it, with different content", len(in))}, in, nil
	case found != nil:
		return found, in, nil
	}
	return other, nil, nil
}

// maxNamed is the largest number of sessions in a hint.
const maxNamed = 10

// quoted returns a list of session keys for a message.
func quoted(keys []string) string {
	var out []string
	for _, k := range keys[:min(len(keys), maxNamed)] {
		out = append(out, fmt.Sprintf("%q", display.Clip(k, display.Columns)))
	}
	if n := len(keys) - len(out); n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}
