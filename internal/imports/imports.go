// Package imports reads the conversations and memory of other programs: session files of coding
// agents, exports of chat services, stores of memory systems. It recognizes a format by the
// contents of a file, hands out sessions and facts one at a time, and names every record that it
// could not read.
//
//	PATH… ── walked, archives opened ──► a format ──► Session … or Fact …
//	                                        │
//	                                     Lost, Left   unread records, and why
//
// It follows no symbolic links, and reads streams of any length in bounded memory. If it must
// read a file as a whole, it refuses a file above a limit. Only [Ledger] writes: it records the
// imported sessions and facts. The package masks no secrets. The store of the memory does that.
package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Format names a format in which another program keeps sessions or facts.
type Format string

// The formats in the order in which they are listed. doc/import.md names the source of each
// description.
const (
	claudeCode Format = "claude-code"
	codex      Format = "codex"
	gemini     Format = "gemini"
	copilot    Format = "copilot"
	openCode   Format = "opencode"
	openClaw   Format = "openclaw"
	pi         Format = "pi"
	chatGPT    Format = "chatgpt"
	claudeAI   Format = "claude-ai"
	mcpMemory  Format = "mcp-memory"
	mem0       Format = "mem0"
	claudeMem  Format = "claude-mem"
)

// Formats lists them all.
func Formats() []Format {
	return []Format{claudeCode, codex, gemini, copilot, openCode, openClaw, pi, chatGPT, claudeAI, mcpMemory, mem0, claudeMem}
}

// Session is a conversation.
type Session struct {
	Format Format
	// ID is the program's own ID of the session. The session's key is the name of the host followed by
	// this ID. ID is "" if only the reader of File knows it.
	ID string
	// Place is the place of the session, for people.
	Place string
	// File is the transcript, "" if Messages has the conversation. Host is the name of the
	// transcript's reader. Size is the length of the transcript when it was found.
	File, Host string
	Size       int64
	// Messages holds the conversation. Model is the last model that spoke. Print is a fingerprint
	// that changes with the conversation. Aside counts messages of abandoned versions.
	Messages []memkernel.Message
	Model    string
	Print    string
	Aside    int
	// Plugin is set if a plugin of the program may have recorded the session as it went.
	Plugin bool
	// Live is set if the program may still be working on the session.
	Live bool
}

// Key returns the key of the session, "" if it is not known yet.
func (s *Session) Key() string {
	if s.ID == "" {
		return ""
	}
	return string(s.Format) + ":" + s.ID
}

// Fact is a fact in another program's store.
type Fact struct {
	Format Format
	// Topic is the subject of the fact, "" if the store doesn't give one.
	Topic string
	// Text is Markdown on one line.
	Text string
	// Source is the place of the fact in the store.
	Source string
	// Day is the day of the fact, YYYY-MM-DD, if the store orders its facts by days.
	Day string
}

// Found has the functions that get the results. All of them must be set. They are called one at a
// time. An error of Session or Fact ends the reading.
type Found struct {
	Session func(*Session) error
	Fact    func(*Fact) error
	// Lost is called with each record that can't be read. The other records are still read.
	Lost func(f Format, err error)
	// Left is called with each file, or part of one, that is not read, and the reason. f is "" if
	// the format is not known.
	Left func(f Format, place, why string)
	// Elsewhere is called for each session or fact that belongs to another folder than the
	// workspace.
	Elsewhere func(f Format)
}

// Options choose the sessions and folders that count.
type Options struct {
	// Workspace is the folder whose sessions count. With All, the sessions of every folder count.
	Workspace string
	All       bool
	// Own lists folders that are never read, because their contents are in the workspace already.
	Own []string
}

// The limits of files and records that are read whole, in bytes. Larger files and records are
// reported and skipped.
const (
	// maxSession is the largest transcript. maxGemini is the largest session of Gemini CLI.
	maxSession = 512 << 20
	maxGemini  = 128 << 20
	// maxValue is the largest conversation of an export, and the largest line of a store.
	maxValue = 64 << 20
	// maxFact is the longest fact.
	maxFact = 256 << 10
)

// sniffBytes is the length of the beginning of a file that decides its format.
const sniffBytes = 64 << 10

// Read reads a file, or all files of a folder and below. It returns errors of the path itself, of
// found, and of ctx. Faults of a single file are passed to found.
func Read(ctx context.Context, path string, o *Options, found *Found) error {
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	root, err := filepath.EvalSymlinks(path)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	r := &reader{ctx: ctx, o: o, found: found}
	if o.Workspace != "" {
		r.workspace = resolved(o.Workspace)
	}
	for _, dir := range o.Own {
		r.own = append(r.own, resolved(dir))
	}
	switch {
	case st.Mode().IsRegular():
		return r.file(root, true)
	case !st.IsDir():
		return fmt.Errorf("import %s: it is neither a file nor a folder", path)
	}
	return r.folder(root)
}

// resolved returns a folder in the form for comparisons: absolute, with links followed if it
// exists.
func resolved(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return filepath.Clean(dir)
	}
	if to, err := filepath.EvalSymlinks(abs); err == nil {
		return to
	}
	return abs
}

// reader reads one path.
type reader struct {
	ctx       context.Context
	o         *Options
	found     *Found
	workspace string
	own       []string
}

func (r *reader) folder(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case errors.Is(err, fs.ErrNotExist) && path != root:
			return nil // it went as it was listed
		case err != nil:
			r.found.Left("", path, err.Error())
			return nil
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."), d.IsDir() && slices.Contains(r.own, path):
			return fs.SkipDir
		case path != root && !textutil.IsVisible(d.Name()) && (d.IsDir() || d.Type().IsRegular() && known(d.Name())):
			r.found.Left("", path, "its name holds characters that can't be shown: rename it")
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		return r.file(path, false)
	})
}

// known reports whether a file may be of a known format by its name.
func known(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson", ".json", ".zip", ".db", ".sqlite", ".sqlite3":
		return true
	}
	return false
}

func (r *reader) lost(f Format, format string, args ...any) {
	r.found.Lost(f, fmt.Errorf(format, args...))
}

// stop is an error of a function of [Found], which ends the whole reading.
type stop struct{ error }

func (s stop) Unwrap() error { return s.error }

// session hands out a session of a format that names folders, if it took place in the workspace.
func (r *reader) session(s *Session, folder string) error {
	switch {
	case r.o.All || folder != "" && r.isHere(folder):
		return r.hand(s)
	case folder == "":
		r.found.Left(s.Format, s.Place, "it does not say which folder it is of: --all takes it")
	default:
		r.found.Elsewhere(s.Format)
	}
	return nil
}

// hand hands out a session.
func (r *reader) hand(s *Session) error {
	if err := r.found.Session(s); err != nil {
		return stop{err}
	}
	return nil
}

// fact hands out a fact.
func (r *reader) fact(f *Fact) error {
	f.Text, f.Topic = plain(f.Text), plain(f.Topic)
	switch {
	case f.Text == "":
		return nil
	case len(f.Text) > maxFact:
		r.lost(f.Format, "%s: it has %d bytes; at most %d are one fact", f.Source, len(f.Text), maxFact)
		return nil
	}
	if err := r.found.Fact(f); err != nil {
		return stop{err}
	}
	return nil
}

// isHere reports whether a folder is the workspace or below it. A folder does not count if it belongs
// to another workspace inside this one.
func (r *reader) isHere(folder string) bool {
	for dir := resolved(folder); ; dir = filepath.Dir(dir) {
		if dir == r.workspace {
			return true
		}
		if st, err := os.Stat(filepath.Join(dir, stateDir)); err == nil && st.IsDir() || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// stateDir is the default folder of a workspace's state.
const stateDir = ".memkernel"

// plain returns a text in a form that memory may hold: without control characters and comments,
// which could pose as marks. The result is on one line.
func plain(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	text = strings.NewReplacer("<!--", "&lt;!--", "-->", "--&gt;").Replace(text)
	text = strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return -1
		}
		return c
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// day returns the day of a time, or "" for no time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// hash returns the sha256 of a text in hex.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// errValue ends the reading of a list with a value that is too long.
var errValue = fmt.Errorf("a value has more than %d bytes, which is the most that is read of one; what stands before it was read", maxValue)

// bounded is a reader that fails if a single value exceeds a limit.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errValue
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// elements calls f with each element of the first JSON list, however long it is. An element that can't
// be read, or for which f returns an error, is reported as lost. elements returns only errors that end
// the whole reading, and an error for a file without a list.
func (r *reader) elements(c *candidate, f func(raw json.RawMessage) error) error {
	in := &bounded{Reader: c, left: maxValue}
	d := json.NewDecoder(in)
	t, err := d.Token()
	for err == nil && t != json.Delim('[') { // an object may precede the list that it has as a member
		t, err = d.Token()
	}
	if err != nil {
		return fmt.Errorf("it is no list: %w", orEnd(err))
	}
	n := 0
	for d.More() {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		n++
		in.left = maxValue
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			r.lost(c.format, "%s: element %d, at byte %d: %w", c.place, n, d.InputOffset(), orEnd(err))
			return nil
		}
		err := f(raw)
		if s := (stop{}); errors.As(err, &s) {
			return err
		}
		if err != nil {
			r.lost(c.format, "%s: element %d: %w", c.place, n, err)
		}
	}
	if _, err := d.Token(); err != nil {
		r.lost(c.format, "%s: behind element %d, at byte %d: %w", c.place, n, d.InputOffset(), orEnd(err))
	}
	return nil
}

// orEnd returns a readable error. A nil err stands for a wrong beginning of the file, and io.EOF
// for an early end.
func orEnd(err error) error {
	if err == nil {
		return errors.New("it begins with something else")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it is cut off")
	}
	return err
}

// textPart, thought, callPart and resultPart return parts of messages.
func textPart(text string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartText, Text: text}
}

func thought(text string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartThinking, Text: text}
}

func callPart(c memkernel.ToolCall) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolUse, Call: &c}
}

func resultPart(id, tool string, content []memkernel.Part, failed bool) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Name: tool, Content: content, Text: true, IsError: failed}}
}

// seconds converts seconds since 1970, with a fraction.
func seconds(s *float64) time.Time {
	if s == nil || *s <= 0 || *s > 1e11 {
		return time.Time{}
	}
	return time.UnixMilli(int64(*s * 1000)).UTC()
}

// parseTime reads a time in the form of a store. It returns the zero time for other texts.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
