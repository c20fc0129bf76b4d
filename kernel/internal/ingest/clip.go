package ingest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// Clippable reports whether a part of the model's own message may be clipped: words, and the
// input of a tool that the host runs.
func Clippable(p memkernel.Part) bool {
	return p.Kind == memkernel.PartText || p.Call != nil && p.Kind == memkernel.PartToolUse && !p.Call.Server
}

// Clipped returns the clippable parts of a message of the model as one text. Each part is clipped:
// words to n bytes, and every text in an input of a call to n bytes. A mark says how much is left
// out. The function mask masks secrets.
func Clipped(parts []memkernel.Part, n int, mask func(string) string) string {
	var out []string
	for i := range parts {
		p := &parts[i]
		switch {
		case !Clippable(*p):
			continue
		case p.Call == nil || p.Call.Custom || !json.Valid([]byte(p.Call.Input)):
			text := p.Text
			if p.Call != nil {
				text = p.Call.Input
			}
			out = append(out, Clip(mask(text), n))
		default:
			out = append(out, clippedInput(p.Call.Input, n, mask))
		}
	}
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], represent.PartBreak, "\u241E")
	}
	return strings.Join(out, represent.PartBreak)
}

// unclipped returns the parts of a message of the model with the texts of [Clipped], without its
// thinking.
func unclipped(parts []memkernel.Part, text string) []memkernel.Part {
	var out []memkernel.Part
	chunks := strings.Split(text, represent.PartBreak)
	for _, p := range parts {
		if Thinking(&p) {
			continue
		}
		if Clippable(p) && len(chunks) > 0 {
			if p.Raw = ""; p.Call == nil {
				p.Text = chunks[0]
			} else {
				call := *p.Call
				call.Input, p.Call = chunks[0], &call
			}
			chunks = chunks[1:]
		}
		out = append(out, p)
	}
	return out
}

// Clip returns the beginning and the end of a text, together about n bytes, with a mark between
// them.
func Clip(text string, n int) string {
	if len(text) <= n+clipMark {
		return text
	}
	head, tail := 2*n/3, len(text)-n/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s[… %d bytes left out by memkernel …]%s", text[:head], tail-head, text[tail:])
}

// clipMark is the size of a mark in bytes.
const clipMark = 48

// clippedInput clips the texts in a JSON input. Names, numbers and order stay. An input that is
// large for another reason becomes an object with its clipped JSON.
func clippedInput(input string, n int, mask func(string) string) string {
	masked := mask(input)
	if !json.Valid([]byte(masked)) {
		return `{"input":` + quoted(Clip(masked, n)) + `}`
	}
	var b strings.Builder
	for i := 0; i < len(masked); {
		if masked[i] != '"' {
			b.WriteByte(masked[i])
			i++
			continue
		}
		end := i + 1
		for masked[end] != '"' {
			if masked[end] == '\\' {
				end++
			}
			end++
		}
		end++
		b.WriteString(clippedString(masked[i:end], n))
		i = end
	}
	if whole := 8*n + 16*clipMark; b.Len() > whole {
		return `{"input":` + quoted(Clip(masked, n)) + `}`
	}
	return b.String()
}

// clippedString clips a JSON string.
func clippedString(raw string, n int) string {
	var text string
	if len(raw) <= n || json.Unmarshal([]byte(raw), &text) != nil {
		return raw
	}
	if short := Clip(text, n); short != text {
		return quoted(short)
	}
	return raw
}

// quoted returns a text as JSON, without escapes for HTML.
func quoted(text string) string {
	raw, err := textutil.JSON(text)
	if err != nil {
		return `""`
	}
	return string(raw)
}
