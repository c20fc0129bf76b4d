package settings

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Section is a part of a text between two marks, each on a line of its own and a comment
// in Markdown.
type Section struct {
	// Name is in both marks. Note follows it in the first.
	Name, Note string
}

// Put returns a text that has the section with these lines. They replace the existing section, or
// follow the text if it has no section. For a missing text, the result is only the section.
func (s Section) Put(path string, data []byte, lines string) ([]byte, error) {
	from, to, err := s.find(path, data)
	if err != nil {
		return nil, err
	}
	eol := textEOL(data)
	section := strings.ReplaceAll(s.begin()+" "+s.Note+" -->\n"+strings.TrimSpace(lines)+"\n"+s.end(), "\n", eol)
	if from < 0 {
		out := append([]byte{}, data...)
		if len(bytes.TrimSpace(bytes.TrimPrefix(data, byteOrderMark))) > 0 {
			if !bytes.HasSuffix(out, []byte("\n")) {
				out = append(out, eol...)
			}
			out = append(out, eol...)
		}
		return append(append(out, section...), eol...), nil
	}
	if string(bytes.TrimSpace(data[from:to])) == section {
		return data, nil
	}
	if bytes.HasSuffix(data[from:to], []byte("\n")) {
		section += eol
	}
	return append(append(append([]byte{}, data[:from]...), section...), data[to:]...), nil
}

// Drop removes the section and the empty line before it. A text without the section is unchanged.
func (s Section) Drop(path string, data []byte) ([]byte, error) {
	from, to, err := s.find(path, data)
	if err != nil || from < 0 {
		return data, err
	}
	before, after := data[:from], data[to:]
	eol := []byte(textEOL(data))
	switch text := bytes.TrimPrefix(before, byteOrderMark); {
	case len(text) == 0:
		after = bytes.TrimPrefix(after, eol)
	case bytes.HasSuffix(before, append(bytes.Clone(eol), eol...)):
		before = before[:len(before)-len(eol)]
	}
	return append(append([]byte{}, before...), after...), nil
}

func (s Section) begin() string { return "<!-- " + s.Name + ":begin" }
func (s Section) end() string   { return "<!-- " + s.Name + ":end -->" }

// find returns the place of the section, from its first mark to the end of the last mark's line,
// or -1 if there is none.
func (s Section) find(path string, data []byte) (from, to int, err error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return 0, 0, &Error{Path: path, Err: errors.New("it is no text that can be edited")}
	}
	from, to = -1, -1
	at, n := 0, 0
	for line := range bytes.Lines(data) {
		n++
		text := strings.TrimSpace(string(bytes.TrimPrefix(line, byteOrderMark)))
		switch {
		case strings.HasPrefix(text, s.begin()) && from >= 0:
			return 0, 0, s.damaged(path, n, "the mark %s stands twice", s.begin())
		case strings.HasPrefix(text, s.begin()):
			if from = at; at == 0 && bytes.HasPrefix(line, byteOrderMark) {
				from = len(byteOrderMark)
			}
		case text == s.end() && (from < 0 || to >= 0):
			return 0, 0, s.damaged(path, n, "the mark %s stands alone", s.end())
		case text == s.end():
			to = at + len(line)
		}
		at += len(line)
	}
	if from >= 0 && to < 0 {
		return 0, 0, s.damaged(path, bytes.Count(data[:from], []byte("\n"))+1, "the mark %s has no end", s.begin())
	}
	return from, to, nil
}

func (s Section) damaged(path string, line int, format, mark string) error {
	return &Error{Path: path, Line: line, Err: fmt.Errorf(format, mark)}
}

// textEOL returns the line end of the first line of a text.
func textEOL(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
