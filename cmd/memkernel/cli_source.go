package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/predict"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// source is where a transcript comes from. It can be read more than once.
type source struct {
	name   string
	bytes  io.ReaderAt
	size   int64
	closer io.Closer
	opt    transcript.Options
}

// transcriptFlags are those of every verb that reads a transcript.
type transcriptFlags struct {
	Path       string
	dialect    choice
	skipBroken bool
}

func (t *transcriptFlags) add(cmd *cobra.Command) {
	t.dialect = choice{Value: "auto", Of: []string{"auto"}}
	for _, d := range transcript.Dialects() {
		t.dialect.Of = append(t.dialect.Of, string(d))
	}
	f := cmd.Flags()
	f.StringVarP(&t.Path, "transcript", "t", "", "the session's `file`, - for standard input")
	f.Var(&t.dialect, "dialect", "how the transcript is written")
	f.BoolVar(&t.skipBroken, "skip-broken", false, "leave out records that can't be read instead of stopping")
	must(cmd.MarkFlagFilename("transcript"))
	completeWords(cmd, "dialect", t.dialect.Of)
}

// transcriptFile are the flags with which a file is read as it comes.
func transcriptFile(path string) *transcriptFlags {
	return &transcriptFlags{Path: path, dialect: choice{Value: "auto"}}
}

// completeWords lets the shell complete the words of a flag.
func completeWords(cmd *cobra.Command, flag string, words []string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// open opens a file, or standard input for "-".
func (a *app) open(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(a.In), nil
	}
	return os.Open(path)
}

// openSource opens the transcript. Standard input is kept in memory, since
// explaining a session reads it more than once.
func (a *app) openSource(t *transcriptFlags) (*source, error) {
	d, err := transcript.ParseDialect(t.dialect.Value)
	if err != nil {
		return nil, usagef("%s", err)
	}
	s := &source{name: t.Path, opt: transcript.Options{Dialect: d, Name: t.Path}}
	if t.skipBroken {
		s.opt.OnBroken = transcript.Skip
	}
	if t.Path == "-" {
		data, err := io.ReadAll(a.In)
		if err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		s.name, s.opt.Name = "standard input", "standard input"
		s.bytes, s.size = bytes.NewReader(data), int64(len(data))
		return s, nil
	}
	return s, s.openFile(t.Path)
}

// openFile opens a regular file in place, and reads anything else (a pipe, a
// device) into memory.
func (s *source) openFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open transcript: %w", err)
	}
	st, err := f.Stat()
	if err == nil && st.Mode().IsRegular() {
		s.bytes, s.size, s.closer = f, st.Size(), f
		return nil
	}
	defer f.Close()
	if err == nil && st.IsDir() {
		return hint(fmt.Errorf("open transcript %s: it is a folder", path), "name one session file in it")
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return fmt.Errorf("read transcript %s: %w", path, err)
	}
	s.bytes, s.size = bytes.NewReader(data), int64(len(data))
	return nil
}

// load reads the session and says what had to be left out.
func (a *app) load(s *source) (*transcript.Session, error) {
	session, err := transcript.Load(io.NewSectionReader(s.bytes, 0, s.size), s.name, &s.opt)
	if err != nil {
		return nil, err
	}
	if torn := session.Torn; torn != nil {
		a.tip("line %d of %s is not whole yet and was left out: %s", torn.Line, s.name, plainError(torn.Err))
	}
	if n := len(session.Skipped); n > 0 {
		a.tip("%d records were left out, the first: %s", n, plainError(session.Skipped[0]))
	}
	return session, nil
}

// close closes what was opened.
func (s *source) close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// segments are the recorded calls.
func (s *source) segments() ([]predict.Segment, error) {
	return predict.Segments(s.bytes, s.size, &s.opt)
}

// predicted compares the recorded calls with what the cache should have done.
// What was unreadable was refused or reported before.
func (s *source) predicted(opt *predict.Options) (*predict.Report, error) {
	segments, err := s.segments()
	if err != nil {
		return nil, err
	}
	return predict.Run(segments, opt), nil
}

// viewFlag is a flag for the view of a session.
func viewFlag(cmd *cobra.Command, v *choice, def string) {
	*v = choice{Value: def, Of: []string{"host", "full"}}
	cmd.Flags().Var(v, "view", "what to look at: what the host would send, or everything ever said")
	completeWords(cmd, "view", v.Of)
}

func (c *choice) view() transcript.View {
	if c.Value == "full" {
		return transcript.Full
	}
	return transcript.Host
}

// isRequest tells a request about to be sent from a log of what happened.
func isRequest(s *transcript.Session) bool {
	return s.Dialect == transcript.Anthropic || s.Dialect == transcript.OpenAI
}

func (a *app) readAll(path string) ([]byte, error) {
	f, err := a.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// sourceFlags say where a session comes from.
type sourceFlags struct{ file, channel, agent string }

func (s *sourceFlags) add(cmd *cobra.Command, file string) {
	f := cmd.Flags()
	f.StringVar(&s.file, "session-file", "", "the host's transcript as checkpoints name it, a `path`"+file)
	f.StringVar(&s.channel, "channel", "", "by what the person writes, as checkpoints name it, such as telegram: a `name`")
	f.StringVar(&s.agent, "agent", "", "who answers, as checkpoints name it: a `name`")
}

// fileOfTranscript is said of verbs that take the transcript for the session's file. A
// plan does not: it looks alike wherever it is made.
const fileOfTranscript = " (default the file of --transcript)"

// of is the source of a session that was read from a transcript; "" and - are no file.
func (s *sourceFlags) of(transcript string) kernel.Source {
	out := kernel.Source{File: s.file, Channel: s.channel, Agent: s.agent}
	if out.File == "" && transcript != "" && transcript != "-" {
		out.File = transcript
		if abs, err := filepath.Abs(transcript); err == nil {
			out.File = abs
		}
	}
	return out
}
