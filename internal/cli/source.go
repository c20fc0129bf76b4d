package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/sessions"
	"github.com/memkernel/memkernel/transcript"
)

// TranscriptFlags are the flags of every verb that reads a transcript.
type TranscriptFlags struct {
	Path       string
	dialect    Choice
	skipBroken bool
}

// Add adds them to a verb.
func (t *TranscriptFlags) Add(cmd *cobra.Command) {
	t.dialect = Choice{Value: "auto", Of: []string{"auto"}}
	for _, d := range transcript.Dialects() {
		t.dialect.Of = append(t.dialect.Of, string(d))
	}
	f := cmd.Flags()
	f.StringVarP(&t.Path, "transcript", "t", "", "the session's `file`, or a folder of sessions; - for standard input")
	f.Var(&t.dialect, "dialect", "how the transcript is written")
	f.BoolVar(&t.skipBroken, "skip-broken", false, "leave out records that can't be read instead of stopping")
	Must(cmd.MarkFlagFilename("transcript"))
	CompleteWords(cmd, "dialect", t.dialect.Of)
}

// TranscriptFile returns flags that read a file without further options.
func TranscriptFile(path string) *TranscriptFlags {
	return &TranscriptFlags{Path: path, dialect: Choice{Value: "auto"}}
}

// OpenFile opens a file, or standard input for "-".
func (a *App) OpenFile(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.In), nil
	}
	return os.Open(path)
}

// OpenTranscript opens the transcript, and returns how to read it. Of a folder it opens the newest
// session.
func (a *App) OpenTranscript(t *TranscriptFlags) (io.ReadCloser, *transcript.Options, error) {
	d, err := transcript.ParseDialect(t.dialect.Value)
	if err != nil {
		return nil, nil, Usagef("%s", err)
	}
	if st, err := os.Stat(t.Path); err == nil && st.IsDir() {
		if t.Path, err = a.newest(t.Path); err != nil {
			return nil, nil, err
		}
	}
	o := &transcript.Options{Dialect: d, Name: t.Path, SkipBroken: t.skipBroken}
	if t.Path == "-" {
		o.Name = "standard input"
	}
	f, err := a.OpenFile(t.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("open transcript: %w", err)
	}
	return f, o, nil
}

// newest returns the transcript in a folder and its subfolders that was written last. It warns
// about folders that it can't list.
func (a *App) newest(dir string) (string, error) {
	var last sessions.Conversation
	n := 0
	sessions.Source{Path: dir}.Find(context.Background(), func(c sessions.Conversation) bool {
		if c.Size > 0 && !strings.HasPrefix(filepath.Base(c.Path), "agent-") { // a subagent's part of another
			if n++; n == 1 || cmp.Or(last.ModTime.Compare(c.ModTime), cmp.Compare(c.Path, last.Path)) < 0 {
				last = c
			}
		}
		return true
	}, func(path string, err error) { a.Tip("%s: %s", path, err) })
	switch {
	case n == 0:
		return "", Hint(fmt.Errorf("open transcript %s: there is no session in the folder", dir), "sessions are .jsonl files; hidden folders and links are passed over")
	case n > 1:
		a.Tip("%s holds %d sessions; the newest is read: %s", dir, n, last.Path)
	}
	return last.Path, nil
}

// Session reads the session of a transcript and warns about the parts that it left out.
func (a *App) Session(t *TranscriptFlags) (*transcript.Session, error) {
	f, o, err := a.OpenTranscript(t)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	session, err := transcript.Load(f, o.Name, o)
	if err != nil {
		return nil, err
	}
	if torn := session.Torn; torn != nil {
		a.Tip("line %d of %s is not whole yet and was left out: %s", torn.Line, o.Name, PlainError(torn.Err))
	}
	for i, unread := range session.Skipped[:min(len(session.Skipped), 5)] {
		if i == 0 {
			a.Tip("%d records were left out, the first: %s", len(session.Skipped), PlainError(unread))
		} else {
			a.Tip("left out, too: %s", PlainError(unread))
		}
	}
	for _, n := range session.Notes {
		if n.Rule == "padding" {
			a.Tip("line %d of %s: %s", n.Line, o.Name, n.Text)
			break
		}
	}
	return session, nil
}

// ReadAll reads a file, or standard input for "-".
func (a *App) ReadAll(path string) ([]byte, error) {
	f, err := a.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
