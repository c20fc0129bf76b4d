package verbs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// forgetFlags are the flags of forget.
type forgetFlags struct {
	session, reason, everywhere string
	all, apply, forGood         bool
	also                        []string // earlier wordings
}

func forgetVerb(a *cli.App) *cobra.Command {
	f := &forgetFlags{}
	cmd := &cobra.Command{
		Long: `forget PATH:LINE takes an entry out of memory, at once, and prints it: no search finds it
any more, and undo brings it back. All else that forget does is for good: it shows what
it would do, and does it with --apply.

--for-good PATH:LINE erases an entry wherever it is kept: as --everywhere does with its
words, and with those that it had before it was edited.

With ids it removes what pages, spans or blobs of a session hold from the journal, the
blobs, the summaries and the prompts to come, and keeps tombstones: get answers
FORGOTTEN, and a message that the host sends again does not come back. The host's own
transcript and the workspace's files are not touched, but for the lines that memkernel
wrote of it to memory/imported/ and the day's log; what else quotes the content is named.
With --all a session is no longer found among past ones either, nor is its transcript, or
a copy of it, read again.

--everywhere takes words, or the key of a session, instead: they are taken out of all
sessions, out of the lines of MEMORY.md and the files beside it, their backups and the
index. Then every file that memkernel keeps is searched for them, and what still holds
them is named; the exit code is 3 then. Other Markdown is its owner's to edit. The
host's transcripts and git are not touched.`,
		Example: `  memkernel forget MEMORY.md:12
  memkernel forget ev-0123456789abcdef --session build-42
  memkernel forget --all --session build-42 --reason "customer asked" --apply
  memkernel forget --everywhere "Elm Street 7" --apply`,
		Args: cobra.ArbitraryArgs,
		RunE: withArgs(a, f, runForget),
	}
	cmd.Flags().StringVarP(&f.session, "session", "s", api.DefaultSession, "`key` of the session")
	cmd.Flags().BoolVar(&f.forGood, "for-good", false, "erase the entry at PATH:LINE wherever it is kept")
	cmd.Flags().BoolVar(&f.all, "all", false, "the whole session")
	cmd.Flags().StringVar(&f.everywhere, "everywhere", "", "`WORDS`, or a session's key, to take out of all that is kept")
	cmd.Flags().StringVar(&f.reason, "reason", "", "`why`, kept with the tombstones")
	cmd.Flags().BoolVar(&f.apply, "apply", false, "do what is for good; without it that is only shown")
	return cmd
}

func runForget(ctx context.Context, a *cli.App, f *forgetFlags, ids []string) error {
	if slices.ContainsFunc(ids, isAddress) {
		return forgetEntry(ctx, a, f, ids)
	}
	if f.forGood {
		return cli.Usagef("forget --for-good needs an address, PATH:LINE; ids are forgotten for good anyway")
	}
	if f.everywhere != "" {
		if f.all || len(ids) > 0 {
			return cli.Usagef("forget --everywhere takes words or a session, and neither ids nor --all")
		}
		return runForgetEverywhere(ctx, a, f)
	}
	if f.all == (len(ids) > 0) {
		return cli.Usagef("forget needs an address, PATH:LINE, the ids of pages, spans or blobs, or --all for the whole session")
	}
	out, err := ask(ctx, a, cli.Needs{}, "forgetting", (*kernel.Kernel).Forget, api.ForgetRequest{SessionKey: f.session, IDs: ids, Session: f.all, Reason: f.reason, Apply: f.apply})
	if err != nil {
		return err
	}
	if err := cli.Answer(a, document.OfForgotten(f.session, out), out, showForgotten); err != nil || a.JSON {
		return err
	}
	if !out.Applied && len(out.Pages)+len(out.Transcripts)+len(out.Memory) > 0 {
		a.Tip("nothing was changed; --apply does it, and there is no way back")
	}
	return nil
}

// isAddress reports whether an argument names an entry of memory.
func isAddress(arg string) bool {
	_, isPath, err := parsePlace(arg)
	return isPath || err != nil || markForm.MatchString(arg)
}

// forgetEntry takes an entry out of memory, or erases it.
func forgetEntry(ctx context.Context, a *cli.App, f *forgetFlags, args []string) error {
	switch {
	case len(args) > 1:
		return cli.Usagef("forget takes one address at a time, because lines move up when an entry leaves")
	case f.all || f.everywhere != "":
		return cli.Usagef("forget PATH:LINE takes neither --all nor --everywhere")
	case !f.forGood:
		return runEntry(ctx, a, args[0], api.EntryRequest{Delete: true})
	}
	k, err := openMemory(ctx, a, cli.Needs{})
	if err != nil {
		return err
	}
	pl, err := entryOf(ctx, a, k, args[0])
	if err == nil {
		f.also, err = wordings(ctx, k, pl.path, pl.from, a.Voice())
	}
	k.Close()
	if none := (*api.NoLineError)(nil); errors.As(err, &none) {
		return cli.Hint(none, "'memkernel list' prints the entries; what left memory before is erased by 'memkernel forget --everywhere \"TEXT\" --apply', or by this again after 'memkernel undo'")
	}
	if err != nil {
		return hintHands(a, err)
	}
	f.everywhere, f.also = f.also[0], f.also[1:]
	return runForgetEverywhere(ctx, a, f)
}

// wordings returns the text of the entry on a line of a file, and then the entry's recorded earlier
// texts. It leaves out a text that another entry contains today. It returns an [api.PersonError] for a
// person's entry unless the voice is a person's. It returns a [markdownstore.DeniedError] for a file
// that memkernel does not write.
func wordings(ctx context.Context, k *kernel.Kernel, path string, line int, voice api.Voice) ([]string, error) {
	if own, _ := markdownstore.Classify(path); !own.Memory {
		return nil, &markdownstore.DeniedError{Path: path, Reason: markdownstore.DenyNotWritten}
	}
	all, err := k.Editor().List(ctx, api.ListRequest{Private: true})
	if err != nil {
		return nil, err
	}
	h, err := k.Maintenance().History(ctx, api.HistoryRequest{Path: path, Line: line})
	if err != nil {
		return nil, cmp.Or(errors.Unwrap(err), err) // without the prefix "history"
	}
	var out, others []string
	for i := range all.Entries {
		switch x := &all.Entries[i]; {
		case x.Path != h.Path || x.Line != h.Line:
			others = append(others, x.Text)
		case voice != api.VoicePerson && (x.By == "" || x.By == api.ByPerson):
			return nil, &api.PersonError{Touch: &consolidation.Touch{Path: x.Path, StartLine: x.Line, EndLine: x.EndLine, Text: x.Text, Why: "would be erased"}}
		default:
			out = append(out, x.Text)
		}
	}
	for i := range h.Versions {
		for _, x := range consolidation.Entries(h.Versions[i].Path, h.Versions[i].Text) {
			if text := x.Words(); !slices.Contains(out, text) && !slices.ContainsFunc(others, func(o string) bool { return strings.Contains(o, text) }) {
				out = append(out, text)
			}
		}
	}
	if len(out) == 0 {
		return nil, &api.NoLineError{Path: path, Line: line, Lines: line}
	}
	return out, nil
}

func runForgetEverywhere(ctx context.Context, a *cli.App, f *forgetFlags) error {
	out, err := ask(ctx, a, cli.Needs{}, "forgetting", (*kernel.Kernel).ForgetEverywhere, api.EverywhereRequest{Words: f.everywhere, Also: f.also, Reason: f.reason, Apply: f.apply})
	if _, err := answer(a, out, err, showEverywhere); err != nil {
		return err
	}
	if !out.Applied && len(out.Sessions)+len(out.Lines)+len(out.Backups) > 0 {
		a.Tip("nothing was changed; --apply does it, and there is no way back")
	}
	return cli.WithFindings(len(out.Left))
}

func retainVerb(a *cli.App) *cobra.Command {
	f := &api.RetainRequest{}
	cmd := &cobra.Command{
		Long: `retain removes what is older than the settings under retention allow: whole sessions,
large contents, media, usage and backups; and blobs that nothing uses. What a
prompt or memory points to stays. For the content of a session that was removed, get
answers FORGOTTEN.

It shows what it would do, and does it with --apply.`,
		RunE: with(a, f, runRetain),
	}
	cmd.Flags().BoolVar(&f.Apply, "apply", false, "do it; without it nothing is written")
	nowFlag(cmd, &f.Now)
	return cmd
}

func runRetain(ctx context.Context, a *cli.App, f *api.RetainRequest) error {
	req := a.Retention()
	req.Apply, req.Now = f.Apply, f.Now
	out, err := ask(ctx, a, cli.Needs{}, "looking for what is kept too long", (*kernel.Kernel).Retain, req)
	if errors.Is(err, api.ErrRetainRuns) {
		err = cli.Hint(err, "it does the same: look at what it left when it is done")
	}
	if done, err := answer(a, out, err, showRetained); done {
		return err
	}
	for _, f := range out.Unreadable {
		a.Tip("%s", f.Hint)
	}
	if c := a.Config.Retention; c.SessionsDays+c.Days == 0 {
		a.Tip("everything is kept for ever; retention.sessions_days and retention.days bound that")
	}
	if !out.Applied && (out.Blobs+out.Backups > 0 || len(out.Sessions)+len(out.Ended) > 0) {
		a.Tip("nothing was changed; --apply does it")
	}
	return nil
}

func showRetained(s *display.Sheet, out *api.Retained) {
	for _, x := range out.Sessions {
		s.Line("{}: {page} too old, {%d} as old are pointed to; {row} of usage, {bytes} of trace", x.Session, x.Pages, x.Pointed, x.UsageRows, x.TraceBytes)
	}
	for _, f := range out.Unreadable {
		s.Line("{} can't be read, and no blob goes: {}", cmp.Or(f.Session, "a session"), f.What)
	}
	done := "would be removed"
	if out.Applied {
		done = "removed"
	}
	for _, e := range out.Ended {
		s.Line("{}: last used{}; all of it {}, {bytes}", e.Session, e.Last, done, e.Bytes)
	}
	for _, key := range out.Cited {
		s.Line("{}: as old, and kept: memory names pages of it", key)
	}
	s.Line("{blob} of {bytes} {}, {%d} of them held by nothing", out.Blobs, out.BlobBytes, done, out.Orphans)
	if out.Backups > 0 {
		s.Line("{backup} of memory's files, {bytes}, {}", out.Backups, out.BackupBytes, done)
	}
}

// showEverywhere lists the text that was, or would be, removed, the searched places, and the text
// that is left.
func showEverywhere(s *display.Sheet, e *api.Everywhere) {
	goes := "would go"
	if e.Applied {
		goes = "went"
	}
	for _, x := range e.Sessions {
		s.Line("session {}: {?all of it, }{page} {}", x.Session, x.Whole, len(x.Pages), goes)
	}
	for _, l := range e.Lines {
		s.Line("{} {}: {}", address(l.Path, l.Line), goes, display.Clip(l.Text, max(s.Columns()-len(l.Path)-20, 20)))
	}
	if n := len(e.Backups); n > 0 {
		s.Line("{backup} of memory's files {}", n, goes)
	}
	if e.Indexed {
		s.Line("the index was made anew")
	}
	left := len(e.Left)
	if len(e.Sessions)+len(e.Lines)+len(e.Backups)+left == 0 {
		s.Line("nothing holds it")
	}
	switch {
	case e.Applied && left > 0:
		s.Line("searched {file}, {bytes}: {place} of it left", e.Files, e.Bytes, left)
	case e.Applied:
		s.Line("searched {file}, {bytes}: nothing has these words any more", e.Files, e.Bytes)
	case left > 0:
		s.Line("{place} of it would be left", left)
	}
	for _, l := range e.Left {
		s.Line("  {}: {}", l.Path, l.Why)
	}
	if e.Applied {
		s.Line("not touched: transcripts that hosts keep in their own folders, and git")
	}
}

// showForgotten lists the entries that were, or would be, forgotten.
func showForgotten(s *display.Sheet, out *api.Forgotten) {
	for _, p := range out.Pages {
		s.Line("{}  {}  {bytes}{}", p.ID, strings.TrimSpace(cmp.Or(p.Tool, string(p.Type))+" "+p.Path), p.Bytes, atTime(p.Created))
	}
	for _, t := range out.Transcripts {
		s.Line("{} of agent {}  searched: {turn}  {} stays", t.Key, t.Agent, t.Turns, t.Path)
	}
	for _, m := range out.Memory {
		s.Line("{}  brought in or written down: {block}", m.Path, m.Entries)
	}
	for _, e := range out.Elsewhere {
		s.Line("stays: {}", e)
	}
	if n := len(out.Backups); n > 0 {
		s.Line("goes too: {backup} of memory's files that quote it; what was pruned then can't be undone", n)
	}
	s.Line("{page} of {bytes} {?would be }forgotten, {blob} removed, {%d} kept for others", len(out.Pages), out.Bytes, !out.Applied, len(out.Blobs), len(out.Kept))
}
