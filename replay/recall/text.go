package recall

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// Place is the place of a text in the session.
type Place struct {
	// Message is the message's index in the history.
	Message int
	// Key is the message's key.
	Key string
	// CallID is the call that has the text in its input or result, "" for dialogue.
	CallID string
}

// piece is a part of a message's text with the call that it belongs to.
type piece struct {
	text, call string
}

// useOf returns U of an assistant's message. U is the message's text and the string leaves of its
// tool inputs, one below the other, without thinking and without keys.
func useOf(m memkernel.Message) string {
	var out []string
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == memkernel.PartText:
			out = append(out, p.Text)
		case p.Kind == memkernel.PartToolUse && p.Call != nil:
			out = append(out, inputLeaves(p.Call)...)
		}
	}
	return strings.Join(out, "\n")
}

// TextOf returns the text that a message shows to a model: text, the string leaves of tool
// inputs, and the text of results, one below the other. It leaves out thinking. Callers must
// build prompts from it, so that history and prompt have the same spelling.
func TextOf(m memkernel.Message) string {
	ps := pieces(m)
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = p.text
	}
	return strings.Join(texts, "\n")
}

func pieces(m memkernel.Message) []piece {
	var out []piece
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == memkernel.PartText:
			out = append(out, piece{p.Text, ""})
		case p.Kind == memkernel.PartToolUse && p.Call != nil:
			out = append(out, piece{strings.Join(inputLeaves(p.Call), "\n"), p.Call.ID})
		case p.Kind == memkernel.PartToolResult && p.Result != nil && !p.Result.Opaque:
			for j := range p.Result.Content {
				if c := &p.Result.Content[j]; c.Kind == memkernel.PartText {
					out = append(out, piece{c.Text, p.Result.CallID})
				}
			}
		}
	}
	return out
}

// inputLeaves returns a call's input as its string values, in order. The input of a script is the
// inputs of its calls.
func inputLeaves(c *memkernel.ToolCall) []string {
	calls, whole := toolcall.Unwrap(c.Name, c.Input)
	if !whole {
		return []string{c.Input}
	}
	var out []string
	for _, in := range calls {
		out = append(out, leavesOf(in)...)
	}
	return out
}

// leavesOf returns the string values of an input. A text without arguments is one string.
func leavesOf(in toolcall.Inner) []string {
	if strings.HasPrefix(strings.TrimLeft(in.Input, " \t\r\n"), "{") {
		if out, ok := leaves(in.Input); ok {
			return out
		}
	}
	return []string{in.Input}
}

// leaves lists the string values of a JSON text without its keys. ok is false if the text is not
// JSON.
func leaves(raw string) (out []string, ok bool) {
	d := json.NewDecoder(strings.NewReader(raw))
	var object []bool // open containers: is it an object?
	for key := false; ; {
		t, err := d.Token()
		if err != nil {
			return out, errors.Is(err, io.EOF)
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				object = append(object, v == '{')
				key = v == '{'
				continue
			}
			object = object[:len(object)-1]
		case string:
			if key {
				key = false
				continue
			}
			out = append(out, v)
		}
		key = len(object) > 0 && object[len(object)-1]
	}
}

// anchorsOf lists the anchors of a message's edits. An anchor is the longest line, trimmed, of an
// edit's old text. The model must have known that line to the letter.
func anchorsOf(m memkernel.Message) []string {
	var out []string
	for i := range m.Parts {
		if c := m.Parts[i].Call; m.Parts[i].Kind == memkernel.PartToolUse && c != nil {
			for _, old := range oldTexts(c) {
				out = appendAnchor(out, old.lines)
			}
		}
	}
	return out
}

// appendAnchor adds the line with the most characters to out if that line has content.
func appendAnchor(out, lines []string) []string {
	best, most := "", 0
	for _, l := range lines {
		l = strings.TrimSpace(l)
		if n := utf8.RuneCountInString(l); n > most {
			best, most = l, n
		}
	}
	if best == "" || slices.Contains(out, best) {
		return out
	}
	return append(out, best)
}
