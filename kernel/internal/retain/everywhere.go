package retain

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/longwork"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
)

// leastWords is the shortest text, in characters, that is looked for everywhere. A shorter text
// occurs in nearly every file.
const leastWords = 4

// Everywhere forgets words wherever they occur: in all sessions, in the workspace's memory, in
// the backups of its files and in the index. Then it looks for the words in every file that
// memkernel keeps.
func (k *Keeper) Everywhere(ctx context.Context, req api.EverywhereRequest) (*api.Everywhere, error) {
	req.Now = k.At(req.Now)
	out := &api.Everywhere{Applied: req.Apply, Sessions: []api.SessionForgotten{}, Lines: []api.ForgottenLine{}, Backups: []string{}, Left: []api.LeftPlace{}}
	folders, err := folder.All(k.State)
	if err != nil {
		return nil, fmt.Errorf("forget everywhere: %w", err)
	}
	if slices.Contains(folders, folder.Of(req.Words)) {
		return out, k.wholeSession(ctx, &req, out)
	}
	w := wordings{lookFor(req.Words)}
	if n := len([]rune(w[0].folded)); n < leastWords {
		return nil, fmt.Errorf("forget everywhere: %q is too short: give at least %d characters, or the key of a session", req.Words, leastWords)
	}
	for _, also := range req.Also {
		if x := lookFor(also); len([]rune(x.folded)) >= leastWords {
			w = append(w, x)
		}
	}
	// The backups of memory's files, and the facts that were made from these files, come first.
	// Otherwise the sessions would remove whole backups when they forget the words.
	clean := func(s string) string {
		if w.in(s) {
			return ""
		}
		return s
	}
	quoting, err := k.Upkeep.Quoting(clean)
	out.Backups = append(out.Backups, quoting...)
	if err == nil && req.Apply {
		err = k.Upkeep.Forget(ctx, clean, func(text string) string { return w.without(text, "") })
	}
	for _, f := range longwork.Over(ctx, "session", folders) {
		if err == nil {
			err = k.forgetWords(ctx, f, w, &req, out)
		}
	}
	if err == nil {
		err = k.forgetLines(ctx, w, req.Apply, out)
	}
	if err == nil && req.Apply {
		err = k.reindexed(ctx, out)
	}
	if err != nil {
		return out, fmt.Errorf("forget everywhere: %w", err)
	}
	return out, k.scan(ctx, w, req.Apply, out)
}

// wholeSession forgets a session, and looks for the user's words in it.
func (k *Keeper) wholeSession(ctx context.Context, req *api.EverywhereRequest, out *api.Everywhere) error {
	said, err := k.saidIn(ctx, req.Words)
	if err != nil {
		return fmt.Errorf("forget everywhere: %w", err)
	}
	f, err := k.Forget(ctx, api.ForgetRequest{SessionKey: req.Words, Session: true, Reason: req.Reason, Apply: req.Apply, Now: req.Now})
	if err != nil {
		return err
	}
	out.Sessions = append(out.Sessions, api.SessionForgotten{Session: req.Words, Whole: true, Forgotten: f})
	out.Backups = append(out.Backups, f.Backups...)
	if req.Apply {
		if err := k.reindexed(ctx, out); err != nil {
			return fmt.Errorf("forget everywhere: %w", err)
		}
	}
	return k.scan(ctx, said, req.Apply, out)
}

const (
	// mostSaid is the number of messages of a forgotten session that are searched for.
	mostSaid = 64
	// longSaid is the least length, in characters, of a line that is searched for. Shorter lines
	// occur in other sessions, too.
	longSaid = 60
)

// saidIn returns the first long line of each message of a session, at most mostSaid lines.
func (k *Keeper) saidIn(ctx context.Context, key string) (out []words, err error) {
	s, unlock, err := k.Sessions.Visit(ctx, folder.Of(key))
	if err != nil {
		return nil, err
	}
	defer unlock()
	r := s.Reader()
	for _, p := range s.Pages {
		if p.Type != pagevm.Conversation || len(out) == mostSaid {
			continue
		}
		text, err := r.Content(p)
		if err != nil {
			continue // the content is gone already
		}
		for l := range strings.Lines(text) {
			if l = strings.TrimSpace(l); len([]rune(l)) >= longSaid {
				out = append(out, lookFor(l))
				break
			}
		}
	}
	return out, nil
}

// forgetWords forgets the pages of a session that hold the words, and takes the lines that hold
// them out of the session's other records.
func (k *Keeper) forgetWords(ctx context.Context, name string, w wordings, req *api.EverywhereRequest, out *api.Everywhere) error {
	s, unlock, err := k.Sessions.Visit(ctx, name)
	if err != nil {
		return err
	}
	var ids []string
	r := s.Reader()
	for id, p := range s.Pages {
		text, err := r.Content(p)
		if err == nil && w.in(text) || w.in(p.Path) || slices.ContainsFunc(p.Reps, func(r pagevm.Rep) bool { return w.in(r.Text) }) {
			ids = append(ids, id)
		}
	}
	key := s.Key
	unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		f, err := k.Forget(ctx, api.ForgetRequest{SessionKey: key, IDs: ids, Reason: req.Reason, Apply: req.Apply, Now: req.Now})
		if err != nil {
			return err
		}
		out.Sessions = append(out.Sessions, api.SessionForgotten{Session: key, Forgotten: f})
	}
	if !req.Apply {
		return nil
	}
	return k.Sessions.WriteFolder(ctx, name, func(s *session.Session) error {
		return s.Censor(ctx, func(text string) string { return w.without(text, "["+ingest.ForgottenText+"]") })
	})
}

// forgetLines removes the lines that hold words from memory's own files, also from logs that are
// closed. It does not change notes, which belong to their author. It lists their lines in out.Left.
func (k *Keeper) forgetLines(ctx context.Context, w wordings, apply bool, out *api.Everywhere) error {
	if k.Memory == nil {
		return nil
	}
	for prefix, files := range k.Memory.Stores() { // the files of a store with a prefix are all notes
		for f, err := range files.Walk(ctx) {
			if err != nil || !f.Memory {
				continue
			}
			l, err := files.ReadFile(f.Path)
			if err != nil || !w.in(l.Text) {
				continue // the scan names a file that can't be read
			}
			class, _ := markdownstore.Classify(f.Path)
			gone, own := w.lines(l.Text), prefix == "" && class.Memory
			lines := strings.SplitAfter(l.Text, "\n")
			for _, i := range gone {
				if own {
					out.Lines = append(out.Lines, api.ForgottenLine{Path: f.Path, Line: i + 1, Text: strings.TrimRight(lines[i], "\r\n")})
				} else {
					out.Left = append(out.Left, api.LeftPlace{Path: fmt.Sprintf("%s%s:%d", prefix, f.Path, i+1), Why: "it is its owner's to edit, and the index follows"})
				}
			}
			if apply && own && len(gone) > 0 {
				if _, err := files.Redact(ctx, f.Path, l.Hash, w.without(l.Text, "")); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// reindexed rebuilds an existing index, because a deleted row stays in a database's file for
// long.
func (k *Keeper) reindexed(ctx context.Context, out *api.Everywhere) error {
	if k.Memory == nil {
		return nil
	}
	if _, err := k.Memory.Index(ctx); err != nil {
		return nil // no index exists
	}
	_, err := k.Memory.Reindex(ctx, &api.ReindexOptions{Full: true})
	out.Indexed = err == nil
	return err
}

// scan searches all of memkernel's files for words, byte for byte. It does not report the index if
// lines that stay in notes hold the words, since the index has these lines, too.
func (k *Keeper) scan(ctx context.Context, of []words, applied bool, out *api.Everywhere) error {
	noted := out.Left
	look := func(where string, r io.Reader, err error, why string) {
		found := false
		if err == nil {
			var n int64
			n, found, err = scanned(ctx, r, of)
			out.Files, out.Bytes = out.Files+1, out.Bytes+n
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // the file was removed meanwhile
		case err != nil:
			out.Left = append(out.Left, api.LeftPlace{Path: where, Why: "it can't be read: " + err.Error()})
		case found && applied && why != "":
			out.Left = append(out.Left, api.LeftPlace{Path: where, Why: why})
		}
	}
	err := store.Walk(k.State, func(name string, _ store.Entry) error {
		if strings.HasSuffix(name, ".sock") {
			return ctx.Err() // it has no content
		}
		f, err := k.State.Open(name)
		var size int64
		if err == nil {
			defer f.Close()
			size, err = f.Size()
		}
		why := k.whyLeft(name)
		if len(noted) > 0 && out.Indexed && slices.Contains(indexFiles, name) {
			why = ""
		}
		look(k.State.Where(name), io.NewSectionReader(f, 0, size), err, why)
		return ctx.Err()
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing is kept yet
	}
	if err != nil || k.Memory == nil {
		return cmp.Or(err, ctx.Err())
	}
	for f, err := range k.Memory.Private.Walk(ctx) {
		if err != nil || !f.Memory {
			continue
		}
		r, err := k.Memory.Private.FS().Open(f.Path)
		why := "edit the file"
		if slices.ContainsFunc(noted, func(l api.LeftPlace) bool { return strings.HasPrefix(l.Path, f.Path+":") }) {
			why = "" // the file's lines are listed
		}
		look(f.Path, r, err, why)
		if err == nil {
			r.Close()
		}
	}
	return ctx.Err()
}

// indexFiles are the names of the index and of SQLite's own files next to it.
var indexFiles = []string{"index.sqlite", "index.sqlite-wal", "index.sqlite-shm"}

// whyLeft returns advice about a file of the state folder.
func (k *Keeper) whyLeft(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) > 1 && parts[0] == "sessions" {
		if key, err := folder.KeyIn(k.State, parts[1]); err == nil {
			return fmt.Sprintf("what else session %s keeps quotes it: forget --all --session %s --apply removes all of it", key, key)
		}
	}
	if store.IsAside(path.Base(name)) {
		return "it was put aside as damaged: remove the file"
	}
	return "remove the file: it is derived, and made anew"
}

// words is the text to look for. Its letters are in lower case, and each run of blanks is one
// blank.
type words struct {
	folded string
	// forms are the ways in which a file may spell the words.
	forms [][]byte
}

// wordings are several words to look for. A text holds them if it holds one of them.
type wordings []words

func lookFor(s string) words {
	w := words{folded: fold(s)}
	w.forms = [][]byte{[]byte(w.folded)}
	for _, escape := range []bool{true, false} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escape)
		if e.Encode(w.folded) == nil {
			w.forms = append(w.forms, b.Bytes()[1:b.Len()-len("\"\n")])
		}
	}
	return w
}

// in reports whether a text holds the words.
func (w wordings) in(text string) bool {
	text = fold(text)
	return slices.ContainsFunc(w, func(x words) bool { return strings.Contains(text, x.folded) })
}

// without returns a text without the lines that hold the words. In place of each run of such lines,
// it puts the line note, if any.
func (w wordings) without(text, note string) string {
	if !w.in(text) {
		return text
	}
	gone := w.lines(text)
	var b strings.Builder
	for i, l := range strings.SplitAfter(text, "\n") {
		switch {
		case !slices.Contains(gone, i):
			b.WriteString(l)
		case note != "" && !slices.Contains(gone, i-1):
			b.WriteString(note + l[len(strings.TrimSuffix(l, "\n")):])
		}
	}
	return b.String()
}

// lines returns the numbers, from 0, of the lines of a text that hold the words. Several lines
// may hold one occurrence together.
func (w wordings) lines(text string) (out []int) {
	lines := strings.Split(text, "\n")
	const together = 4
	for i := 0; i < len(lines); i++ {
		for n := 1; n <= together && i+n <= len(lines); n++ {
			if !w.in(strings.Join(lines[i:i+n], " ")) {
				continue
			}
			if n > 1 && w.in(strings.Join(lines[i+1:i+n], " ")) {
				break // the first line is not part of the occurrence
			}
			for j := i; j < i+n; j++ {
				if !slices.Contains(out, j) {
					out = append(out, j)
				}
			}
			break
		}
	}
	return out
}

// blanks are the ways in which JSON escapes white space.
var blanks = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ")

// fold returns a text in lower case with one blank between words. White space that JSON escapes
// becomes a blank, too.
func fold(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(blanks.Replace(s)), " "))
}

// scanChunk is the number of bytes of a file that are searched at once.
const scanChunk = 4 << 20

// scanned reads all of a file and reports whether the file holds any of the words.
func scanned(ctx context.Context, r io.Reader, of []words) (n int64, found bool, err error) {
	longest := 0
	for i := range of {
		for _, f := range of[i].forms {
			longest = max(longest, len(f))
		}
	}
	buf := make([]byte, 0, scanChunk+8*longest)
	for err == nil && ctx.Err() == nil {
		var m int
		m, err = io.ReadFull(r, buf[len(buf):cap(buf)])
		n += int64(m)
		buf = buf[:len(buf)+m]
		text := []byte(fold(string(buf)))
		for i := range of {
			found = found || slices.ContainsFunc(of[i].forms, func(f []byte) bool { return bytes.Contains(text, f) })
		}
		keep := min(len(buf), 8*longest) // words may lie across two buffers
		copy(buf, buf[len(buf)-keep:])
		buf = buf[:keep]
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, found, errors.Join(err, ctx.Err())
}
