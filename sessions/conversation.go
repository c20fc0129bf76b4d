package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
)

// Conversation is a transcript, or other text that can be read as turns.
type Conversation struct {
	// Agent is the agent of the conversation, or "" for [DefaultAgent]. Key is the key of the
	// session.
	Agent, Key string
	// Name is the folder of the conversation's documents. It is unique within the agent. Path is
	// the file from which the conversation is read.
	Name, Path string
	Size       int64
	ModTime    time.Time
	// Read reads turns from a position on, at most up to Size. It returns the position up to which
	// everything was read. The Offset of a position counts bytes of the file at Path. If the Sum of
	// the position shows that earlier content has changed, Read returns ErrRewritten.
	Read func(ctx context.Context, c *Conversation, from Position, turn func(Turn) error) (Position, error)
	// Open opens the transcript, byte for byte. If Open is nil, the file at Path is opened.
	Open func() (Bytes, error)
	// Far reports that reading the transcript means transferring all of it. Such a transcript is
	// never opened, and only Read checks whether it was rewritten.
	Far bool
}

// Bytes are the data of a conversation.
type Bytes interface {
	io.ReaderAt
	io.Closer
}

func (c *Conversation) open() (Bytes, error) {
	if c.Open != nil {
		return c.Open()
	}
	return os.Open(c.Path)
}

// Position is the place up to which a conversation was read.
type Position struct {
	Offset int64 `json:"offset"`
	// Line is the number of lines or records before Offset.
	Line int `json:"line"`
	// Dialect is the name of the file's dialect.
	Dialect string `json:"dialect,omitempty"`
	// Sum identifies the content that was read. Only the Read of a conversation with Far sets it.
	Sum string `json:"sum,omitempty"`
}

// ErrRewritten is returned by the Read of a conversation whose earlier content has changed.
var ErrRewritten = errors.New("the conversation was rewritten")

// Turn is a message of one speaker.
type Turn struct {
	// Role is the speaker: user, assistant, host, or summary. The role host is for text that no
	// person typed, and summary for a summary that the host's own compaction wrote.
	Role string
	// Time is the time of the turn, or zero if the time is unknown.
	Time time.Time
	// Line is the turn's line in the file, from 1.
	Line int
	Text string
}

// Source is a folder of transcripts, or one transcript.
type Source struct {
	// Path is the folder or the transcript. In a folder, .jsonl files at any depth are
	// transcripts.
	Path string
	// Agent is the agent of the transcripts. If it is "", the agent is NAME of a folder
	// agents/NAME in a transcript's path, which is the layout of OpenClaw, or else
	// [DefaultAgent].
	Agent string
}

// Find lists the transcripts of a source. It skips hidden folders and symbolic links. If it can't
// list a file or folder, it reports the error with the path, and continues.
func (src Source) Find(ctx context.Context, yield func(Conversation) bool, failed func(path string, err error)) {
	root, err := filepath.Abs(src.Path)
	if err == nil {
		_, err = os.Stat(root)
	}
	if err != nil {
		failed(src.Path, fmt.Errorf("list transcripts: %w", err))
		return
	}
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			failed(path, fmt.Errorf("list transcripts: %w", err))
			return nil
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case path != root && !textutil.IsVisible(d.Name()) && (d.IsDir() || strings.HasSuffix(d.Name(), ".jsonl")):
			failed(path, errors.New("list transcripts: its name holds characters that can't be shown: rename it"))
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular() || path != root && !strings.HasSuffix(d.Name(), ".jsonl"):
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			return nil // it was removed while it was listed
		}
		if !yield(src.conversation(path, fi)) {
			return fs.SkipAll
		}
		return nil
	})
}

func (src Source) conversation(path string, fi fs.FileInfo) Conversation {
	key := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	agent := src.Agent
	if agent == "" {
		agent = agentIn(path)
	}
	return Conversation{Agent: agent, Key: key, Name: safe(key) + "-" + short(path), Path: path,
		Size: fi.Size(), ModTime: fi.ModTime(), Read: readTranscript}
}

// agentIn returns the name after the last folder called agents in a path, or "" if there is no
// such folder.
func agentIn(path string) string {
	names := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	for i := len(names) - 2; i >= 0; i-- {
		if names[i] == "agents" {
			return names[i+1]
		}
	}
	return ""
}
