package verbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/imports"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/hook"
)

// importFlags are the flags of import.
type importFlags struct{ apply, all bool }

func importVerb(a *cli.App) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Long: `import brings in what other programs kept: sessions of Claude Code, Codex, Gemini CLI,
Copilot CLI, OpenCode, OpenClaw and Pi, the exports of ChatGPT and Claude
(conversations.json, or the .zip that holds it), and the stores of MCP's memory server,
mem0 and claude-mem. A path is a file, or a folder of any of them; without one it takes
the sessions that the coding agents of this machine kept of this folder. Of sessions that
say which folder they are of, those of this workspace count; --all takes every one.

It prints what it found, and brings it in with --apply: a session as observe does, under
the key FORMAT:ID, as hooks name it; facts as files in memory/imported/, each with its
source. Secrets are masked. Run it again when there is more: what is in is recognised, and
what was forgotten since stays away. A record that can't be read is named, and the others
are read. forget --all --session KEY takes a session out again, and with the key
import:FORMAT the facts of a store.`,
		Example: `  memkernel import
  memkernel import ~/.claude/projects
  memkernel import ~/Downloads/chatgpt.zip ~/.mem0/history.db --apply`,
		Args: cobra.ArbitraryArgs,
		RunE: withArgs(a, f, runImport),
	}
	cmd.Flags().BoolVar(&f.apply, "apply", false, "do it; without it nothing is written")
	cmd.Flags().BoolVar(&f.all, "all", false, "sessions of every folder, not of this workspace alone")
	return cmd
}

// importJSON is the document of import.
type importJSON struct {
	Schema string `json:"schema"`
	// Applied reports whether the import was done.
	Applied bool `json:"applied"`
	// Formats are the formats of which something was found, in a fixed order.
	Formats []*importedJSON `json:"formats"`
	// Keys are the session keys by which forget removes the new sessions and facts.
	Keys []string `json:"keys"`
	// Wrote are the files of memory for the facts. A preview lists the files that an import would
	// write.
	Wrote []string `json:"wrote"`
	// Unread are records that could not be read. LeftOut are files and sessions that were not
	// imported.
	Unread  []string         `json:"unread"`
	LeftOut []importLeftJSON `json:"left_out"`
}

// importedJSON counts the import of a format.
type importedJSON struct {
	Format string `json:"format"`
	// Sessions, Messages and Facts count the new ones. Known counts the sessions and facts that
	// were imported before.
	Sessions int `json:"sessions"`
	Messages int `json:"messages"`
	Facts    int `json:"facts"`
	Known    int `json:"known"`
	// Elsewhere counts the sessions of other folders. Aside counts the messages of abandoned
	// versions.
	Elsewhere int `json:"elsewhere"`
	Aside     int `json:"aside"`
	// Lost counts records that could not be read.
	Lost int `json:"lost"`
}

// importLeftJSON is a file or a session that was not imported, and the reason.
type importLeftJSON struct {
	// Format is "" if it is unknown.
	Format string `json:"format"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// importer imports sessions and facts, or counts them for a preview.
type importer struct {
	ctx    context.Context
	a      *cli.App
	k      *kernel.Kernel // nil for a preview
	ledger *imports.Ledger
	mask   func(string) string
	doc    *importJSON
	rows   map[imports.Format]*importedJSON
	places map[string]string // of sessions, by key
	batch  []*imports.Fact
	facts  map[string]bool
	size   int
	taken  int
}

func runImport(ctx context.Context, a *cli.App, f *importFlags, paths []string) error {
	if len(paths) == 0 {
		in, err := installer(a)
		if err != nil {
			return err
		}
		hosts, err := in.Find(nil)
		if err != nil {
			return err
		}
		for _, h := range hosts {
			paths = append(paths, h.Transcripts...)
		}
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			return cli.Hint(fmt.Errorf("import: %w", err), "name files or folders that are there; doc/import.md says where programs keep them")
		}
	}
	ledger, err := imports.OpenLedger(a.StateDir)
	if err != nil {
		return err
	}
	im := &importer{ctx: ctx, a: a, ledger: ledger, rows: map[imports.Format]*importedJSON{}, places: map[string]string{}, facts: map[string]bool{},
		doc: &importJSON{Schema: "memkernel/import/v1", Applied: f.apply, Keys: []string{}, Wrote: []string{}, Unread: []string{}, LeftOut: []importLeftJSON{}}}
	if f.apply {
		masker, err := a.Masker()
		if err != nil {
			return err
		}
		im.mask = masker.Text
		if im.k, err = a.Kernel(ctx, cli.Needs{Silent: true}); err != nil {
			return err
		}
		defer im.k.Close()
		release, err := ledger.Lock(ctx)
		if err != nil {
			return err
		}
		defer release()
		if im.ledger, err = imports.OpenLedger(a.StateDir); err != nil { // another import may have changed it
			return err
		}
		for _, f := range imports.Formats() {
			if err := im.write(f, nil); err != nil {
				return err
			}
		}
	}
	o := &imports.Options{Workspace: a.Workspace, All: f.all, Own: []string{a.StateDir}}
	if a.Config.Workspace.Enabled {
		o.Own = append(o.Own, filepath.Join(a.Workspace, "memory"))
	}
	found := &imports.Found{Session: im.session, Fact: im.fact, Lost: im.lost, Left: im.left, Elsewhere: func(f imports.Format) { im.row(f).Elsewhere++ }}
	a.Work("looking for sessions and facts")
	for _, p := range paths {
		if err = imports.Read(ctx, p, o, found); err != nil {
			break
		}
	}
	if err == nil {
		err = im.flush()
	}
	a.ProgressDone()
	if im.k != nil && im.taken > 0 {
		err = errors.Join(err, im.ledger.Save())
	}
	if err != nil {
		return err
	}
	return im.show(f)
}

func (im *importer) row(f imports.Format) *importedJSON {
	r := im.rows[f]
	if r == nil {
		r = &importedJSON{Format: string(f)}
		im.rows[f] = r
	}
	return r
}

func (im *importer) lost(f imports.Format, err error) {
	im.row(f).Lost++
	im.doc.Unread = append(im.doc.Unread, cli.PlainError(err))
}

func (im *importer) left(f imports.Format, place, why string) {
	if f != "" {
		im.row(f)
	}
	im.doc.LeftOut = append(im.doc.LeftOut, importLeftJSON{string(f), place, why})
}

// session imports a session, or counts it for a preview. It reports a session that it can't
// import, and the import then continues.
func (im *importer) session(s *imports.Session) error {
	if s.File != "" {
		return im.recorded(s)
	}
	if im.twice(s, s.Key()) {
		return nil
	}
	r := im.row(s.Format)
	if im.ledger.Has(s) {
		r.Known++
		return nil
	}
	if s.Plugin && !im.ledger.Knew(s) && im.seen(s.Key()) {
		im.left(s.Format, s.Place, "its plugin recorded it as it went")
		return nil
	}
	if im.k != nil {
		doc := observeJSON{SessionKey: s.Key()}
		turn := api.Turn{SessionKey: s.Key(), Model: s.Model, Private: im.a.Private(), Source: checkpoint.Source{File: s.Place, Channel: string(s.Format)}}
		if err := observeTurns(im.ctx, im.a, im.k, turn, s.Messages, !s.Live, &doc); err != nil {
			return im.failed(s, err)
		}
		if doc.Conflicts > 0 {
			im.left(s.Format, s.Place, fmt.Sprintf("%s of it came in before with other content, which stands", display.Plural(doc.Conflicts, "turn")))
		}
		im.ledger.Took(s)
		if im.taken++; im.taken%50 == 0 {
			if err := im.ledger.Save(); err != nil {
				return err
			}
		}
	}
	r.Sessions++
	r.Messages += len(s.Messages)
	r.Aside += s.Aside
	im.doc.Keys = append(im.doc.Keys, s.Key())
	return nil
}

// seen reports whether the state has turns of a session.
func (im *importer) seen(key string) bool {
	k := im.k
	if k == nil {
		if _, err := os.Stat(im.a.StateDir); err != nil {
			return false
		}
		var err error
		if k, err = im.a.Kernel(im.ctx, cli.Needs{Silent: true}); err != nil {
			return false // the import itself reports the error
		}
		defer k.Close()
	}
	st, _, err := k.SessionStatus(im.ctx, key)
	return err == nil && st.Turns > 0
}

// recorded imports a session from a coding agent's own file, in the same way as its hooks.
func (im *importer) recorded(s *imports.Session) error {
	h := hook.Host(s.Host)
	key, err := hook.KeyOf(h, s.File)
	if err != nil {
		return im.failed(s, err)
	}
	if im.twice(s, key) {
		return nil
	}
	r := im.row(s.Format)
	if im.k != nil {
		im.a.Work("reading " + filepath.Base(s.File))
	}
	messages, lost, err := hook.TakeIn(im.ctx, im.k, im.a.StateDir, h, s.File)
	switch {
	case err != nil:
		return im.failed(s, err)
	case messages == 0 && len(lost) == 0:
		r.Known++
		return nil
	}
	for _, err := range lost {
		im.lost(s.Format, err)
	}
	r.Sessions++
	r.Messages += messages
	im.doc.Keys = append(im.doc.Keys, key)
	return nil
}

// twice reports whether a session was found in another place before.
func (im *importer) twice(s *imports.Session, key string) bool {
	at, again := im.places[key]
	if again {
		im.left(s.Format, s.Place, "the same session is in "+at)
		return true
	}
	im.places[key] = s.Place
	return false
}

// failed reports a session that can't be imported. It returns an error only if the whole import
// was cancelled.
func (im *importer) failed(s *imports.Session, err error) error {
	if im.ctx.Err() != nil {
		return im.ctx.Err()
	}
	im.left(s.Format, s.Place, cli.PlainError(err))
	return nil
}

// A batch holds at most batchFacts facts, and at most batchBytes unless it holds one fact.
const batchFacts, batchBytes = 64, 64 << 10

// fact imports a fact, or counts it for a preview.
func (im *importer) fact(f *imports.Fact) error {
	has, err := im.ledger.HasFact(f)
	if err != nil {
		return err
	}
	r := im.row(f.Format)
	switch id := f.ID(); {
	case has:
		r.Known++
		return nil
	case im.facts[id]: // a duplicate
		return nil
	default:
		im.facts[id] = true
	}
	if r.Facts++; r.Facts == 1 {
		im.doc.Keys = append(im.doc.Keys, storeKey(f.Format))
	}
	if n := len(im.batch); n > 0 && (n >= batchFacts || im.size+len(f.Text) > batchBytes || im.batch[0].Format != f.Format || im.batch[0].Day != f.Day) {
		if err := im.flush(); err != nil {
			return err
		}
	}
	im.batch = append(im.batch, f)
	im.size += len(f.Text)
	return nil
}

// storeKey returns the session key for the facts of a store.
func storeKey(f imports.Format) string { return "import:" + string(f) }

// flush writes the facts of the batch.
func (im *importer) flush() error {
	batch := im.batch
	im.batch, im.size = nil, 0
	if len(batch) == 0 || im.k == nil {
		return nil
	}
	if err := im.a.MemoryOn(); err != nil {
		return err
	}
	return im.write(batch[0].Format, batch)
}

// write writes facts of a store. Without facts it finishes the write of a killed import.
func (im *importer) write(f imports.Format, facts []*imports.Fact) error {
	return im.ledger.Write(f, facts, im.mask, func(path, id, text string) error {
		out, err := im.k.Remember(im.ctx, api.RememberRequest{SessionKey: storeKey(f), Text: text, Path: path, ID: id, Private: true})
		if err != nil {
			return fmt.Errorf("import %s: %w", f, err)
		}
		if out.Unwritten != "" {
			im.left(f, path, out.Unwritten)
		}
		if n := len(im.doc.Wrote); n == 0 || im.doc.Wrote[n-1] != path {
			im.doc.Wrote = append(im.doc.Wrote, path)
		}
		return nil
	})
}

// show prints the imported sessions and facts, or those that --apply would import.
func (im *importer) show(f *importFlags) error {
	doc := im.doc
	doc.Formats = []*importedJSON{}
	fresh, elsewhere := 0, 0
	for _, name := range imports.Formats() {
		if r := im.rows[name]; r != nil {
			doc.Formats = append(doc.Formats, r)
			fresh, elsewhere = fresh+r.Sessions+r.Facts, elsewhere+r.Elsewhere
		}
	}
	if err := cli.Answer(im.a, doc, doc, showImported); err != nil || im.a.JSON {
		return err
	}
	if len(doc.Formats) == 0 {
		im.a.Tip("name files or folders, such as ~/.claude/projects; doc/import.md lists programs and their usual places")
	}
	if elsewhere > 0 && !f.all {
		im.a.Tip("%d are of other folders; --all takes them, too", elsewhere)
	}
	switch {
	case fresh > 0 && !f.apply:
		im.a.Tip("nothing was changed; --apply does it")
	case fresh > 0:
		im.a.Tip("%s takes it out again", im.a.Commands(fmt.Sprintf("memkernel forget --all --session %s --apply", doc.Keys[0])))
	}
	return nil
}

func showImported(s *display.Sheet, doc *importJSON) {
	if len(doc.Formats) == 0 {
		s.Line("nothing to bring in was found")
	} else {
		s.Line("format          sessions  messages   facts   known  elsewhere   lost")
	}
	for _, r := range doc.Formats {
		s.Line("{%-14s} {%9d} {%9d} {%7d} {%7d} {%10d} {%6d}", r.Format, r.Sessions, r.Messages, r.Facts, r.Known, r.Elsewhere, r.Lost)
		if r.Aside > 0 {
			s.Line("  {message} of versions that were given up are left out", r.Aside)
		}
	}
	for _, path := range doc.Wrote {
		s.Line("wrote {}", path)
	}
	for i, u := range doc.Unread {
		listed(s, i, len(doc.Unread), "lost: "+u)
	}
	for i, l := range doc.LeftOut {
		listed(s, i, len(doc.LeftOut), "left out: "+l.Path+": "+strings.TrimPrefix(l.Reason, l.Path+": "))
	}
}

// listed prints row i of a list. Instead of the rows after the first mostTold it prints their
// number.
func listed(s *display.Sheet, i, of int, text string) {
	switch {
	case i < mostTold:
		s.Line("{}", text)
	case i == mostTold:
		s.Line("and {%d} more; --json names all", of-mostTold)
	}
}

// mostTold is the largest number of unread records to name.
const mostTold = 10
