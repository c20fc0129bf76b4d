package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// conversation has all messages in the API's own JSON, one message per line of a file. It is the
// host's record. The kernel keeps a record of its own.
type conversation struct {
	path     string
	dialect  transcript.Dialect
	messages []memkernel.Message
}

// line is how a message is in the file.
type line struct {
	At      time.Time       `json:"at"`
	Message json.RawMessage `json:"message"`
}

// open reads the conversation that an earlier run left.
func open(path string, dialect transcript.Dialect) (*conversation, error) {
	c := &conversation{path: path, dialect: dialect}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if err := c.take(l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return c, lines.Err()
}

// add appends a message, to the file first.
func (c *conversation) add(message any) error {
	raw, err := json.Marshal(message)
	if err != nil {
		return err
	}
	l := line{At: time.Now(), Message: raw}
	row, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(c.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(row, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return c.take(l)
}

// read converts a message in the API's JSON to canonical messages.
func (c *conversation) read(message json.RawMessage) ([]memkernel.Message, error) {
	doc := `{"messages":[` + string(message) + `]}`
	s, err := transcript.Load(strings.NewReader(doc), "message", &transcript.Options{Dialect: c.dialect})
	if err != nil {
		return nil, err
	}
	return s.Messages, nil
}

// text returns the text of a message in the API's JSON.
func (c *conversation) text(message json.RawMessage) string {
	var b strings.Builder
	all, _ := c.read(message) // a message that can't be read has no text
	for _, m := range all {
		b.WriteString(transcript.Text(m))
	}
	return b.String()
}

// take adds a message to the conversation in memory. Its key is its place: messages are only ever
// added.
func (c *conversation) take(l line) error {
	all, err := c.read(l.Message)
	if err != nil {
		return err
	}
	for _, m := range all {
		m.Key, m.Time = fmt.Sprintf("m%d", len(c.messages)), l.At
		c.messages = append(c.messages, m)
	}
	return nil
}

// clear begins a new conversation, as after a reset. The old file stays next to the new file.
func (c *conversation) clear(now time.Time) error {
	c.messages = nil
	err := os.Rename(c.path, c.path+"."+now.UTC().Format("20060102T150405"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
