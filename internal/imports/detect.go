package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/sessions"
	"github.com/memkernel/memkernel/transcript"
)

// file reads a file of any known format. It reports a file of unknown format if the user named
// the file, or if the file's name looks like the name of a session.
func (r *reader) file(path string, named bool) error {
	if !named && !known(path) {
		return nil
	}
	c := &candidate{path: path, place: path, named: named}
	return r.told(c, r.open(c))
}

// open reads a file.
func (r *reader) open(c *candidate) error {
	f, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if c.head, err = headOf(f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	c.size, c.Reader, c.file = st.Size(), f, f
	return r.read(c)
}

// headOf reads the beginning of a file, which decides its format.
func headOf(in io.Reader) ([]byte, error) {
	head := make([]byte, sniffBytes)
	n, err := io.ReadFull(in, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// told reports the fault of a file to Found. It returns only errors that end the whole reading.
func (r *reader) told(c *candidate, err error) error {
	var s stop
	switch {
	case err == nil:
		return r.ctx.Err()
	case errors.As(err, &s):
		return s.error
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	}
	r.found.Left(c.format, c.place, err.Error())
	return nil
}

// candidate is a file, or a file in an archive, whose format is to be detected.
type candidate struct {
	io.Reader
	path, place string
	size        int64
	head        []byte
	named       bool
	format      Format
	file        *os.File // nil in an archive
}

var errUnknown = errors.New("it is of no format that is known; doc/import.md lists them")

// read detects the format and reads the file.
func (r *reader) read(c *candidate) error {
	ext := strings.ToLower(filepath.Ext(c.path))
	switch {
	case c.file != nil && bytes.HasPrefix(c.head, []byte(index.BorrowedMagic)):
		return r.database(c)
	case c.file != nil && bytes.HasPrefix(c.head, []byte("PK\x03\x04")), c.file != nil && ext == ".zip":
		return r.archive(c)
	}
	c.Reader, c.head = jsonl.Unpadded(textutil.UTF8Reader(c.Reader)), []byte(jsonl.Trim(textutil.UTF8(string(c.head))))
	head := c.head
	switch {
	case len(head) == 0:
		if c.named {
			return errors.New("it is empty")
		}
		return nil
	case ext == ".md":
		return errors.New("it is Markdown, which needs no import: put it into memory/")
	case isExport(head, `"mapping"`):
		return r.chatGPT(c)
	case isExport(head, `"chat_messages"`):
		return r.claudeAI(c)
	case isMCP(head):
		return r.mcpMemory(c)
	case head[0] == '{' && bytes.Contains(head, []byte(`"info"`)) && hasMembers(head, "info", "messages"):
		return r.openCodeExport(c)
	case isMem0(head):
		return r.mem0(c)
	}
	return r.transcript(c)
}

// isExport reports whether head begins a list of conversations that have this member.
func isExport(head []byte, member string) bool {
	return head[0] == '[' && bytes.Contains(head, []byte(member))
}

// hasMembers reports whether head begins an object that has these members.
func hasMembers(head []byte, names ...string) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for len(names) > 0 && d.More() {
		t, err := d.Token()
		names = slices.DeleteFunc(names, func(n string) bool { return n == t })
		var skipped json.RawMessage
		if err != nil || d.Decode(&skipped) != nil {
			break
		}
	}
	return len(names) == 0
}

// transcript hands out the session in a coding agent's transcript.
func (r *reader) transcript(c *candidate) error {
	d, err := transcript.Detect(c.head)
	looks := c.named || strings.EqualFold(filepath.Ext(c.path), ".jsonl")
	switch {
	case err != nil && looks:
		return errUnknown
	case err != nil:
		return nil
	case d.Document() && c.named:
		return errors.New("it is a request to a model, and no session: observe -t stores it")
	case d.Document():
		return nil
	case c.file == nil:
		return errors.New("sessions of coding agents are not read in archives: unpack it")
	}
	of, known := agents[d]
	if !known {
		return errUnknown
	}
	s, most := &Session{Format: of.format, Host: of.host, Place: c.place, File: c.path, Size: c.size}, int64(maxSession)
	switch {
	case d == transcript.Pi && isOpenClaw(c.path):
		s.Format, s.Host = openClaw, "openclaw"
	case d == transcript.GeminiCLI:
		most = maxGemini
	}
	c.format = s.Format
	if s.Format == claudeCode && strings.HasPrefix(filepath.Base(c.path), "agent-") {
		if c.named {
			return errors.New("it is a subagent's part of another session")
		}
		return nil
	}
	if c.size > most {
		return tooLarge(c.size, most)
	}
	folder := ""
	if d != transcript.GeminiCLI {
		folder = sessions.WorkingDir(io.LimitReader(c, 8<<20), maxValue, 400)
	} else if folder, err = r.geminiFolder(c); err != nil {
		return err
	}
	return r.session(s, folder)
}

// agents are the formats of coding agents, by the dialect of their transcripts.
var agents = map[transcript.Dialect]struct {
	format Format
	host   string
}{
	transcript.ClaudeCode: {claudeCode, "claude"}, transcript.Codex: {codex, "codex"}, transcript.Pi: {pi, "pi"},
	"copilot": {copilot, "copilot"}, transcript.GeminiCLI: {gemini, "gemini"},
}

// tooLarge returns the error for a file above the limit, with advice.
func tooLarge(size, most int64) error {
	return fmt.Errorf("it has %d bytes; at most %d are read of one session", size, most)
}

// isOpenClaw reports whether a path has OpenClaw's form agents/NAME/sessions/FILE.
func isOpenClaw(path string) bool {
	names := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	n := len(names)
	return n >= 3 && names[n-1] == "sessions" && names[n-3] == "agents"
}

// geminiFolder returns the project folder of a session of Gemini CLI. The first record holds the
// hash of the folder, or a file next to the session names it. For any other folder, geminiFolder
// returns "?".
func (r *reader) geminiFolder(c *candidate) (string, error) {
	var head struct {
		ProjectHash string `json:"projectHash"`
	}
	if err := json.NewDecoder(io.LimitReader(c, maxGemini)).Decode(&head); err != nil {
		return "", fmt.Errorf("its first record can't be read: %w", err)
	}
	abs, err := filepath.Abs(r.o.Workspace)
	if err == nil && (head.ProjectHash == hash(abs) || head.ProjectHash == hash(r.workspace)) {
		return r.workspace, nil
	}
	if root, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(c.path)), ".project_root")); err == nil {
		return strings.TrimSpace(string(root)), nil
	}
	return "?", nil // of another hash
}
