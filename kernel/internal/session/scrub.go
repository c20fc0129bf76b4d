package session

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/pagevm"
)

// shingleWords is the number of consecutive words that make a quote. Shorter runs of words occur
// everywhere.
const shingleWords = 6

// Scrubber removes quotes of some pages from other texts. A quote is a passage that names a
// message of the pages as its source, or a run of words from the pages. A single word, such as a
// path, is not a quote.
type Scrubber struct {
	keys map[string]bool // of messages
	runs map[string]bool // shingleWords words, or all words of a page that has fewer
	lens map[int]bool    // lengths of the shorter runs
}

// Scrubber returns the scrubber for some pages. It can't recognise quotes of a page that can't be
// read any more.
func (s *Session) Scrubber(pages []*pagevm.Page) *Scrubber {
	sc := &Scrubber{keys: map[string]bool{}, runs: map[string]bool{}, lens: map[int]bool{}}
	r := s.Reader()
	own := slices.ContainsFunc(pages, func(p *pagevm.Page) bool { return !ofMemory(p) })
	for _, p := range pages {
		if own && ofMemory(p) {
			continue // the quoted file stays, and so do the file's backups
		}
		if p.MessageKey != "" {
			sc.keys[p.MessageKey] = true
		}
		text, err := r.Content(p)
		if err != nil {
			continue
		}
		sc.add(archive.Plain(p, text))
		for _, rep := range p.Reps {
			sc.add(rep.Text)
		}
	}
	return sc
}

// ofMemory reports whether a page quotes memory's files: a recalled text, a file that the prompt
// shows, or a change of such a file.
func ofMemory(p *pagevm.Page) bool {
	kind, _, _ := strings.Cut(p.ID, "-")
	return kind == "rt" || kind == "ws" || kind == "nt"
}

func (sc *Scrubber) add(text string) {
	words := strings.Fields(text)
	if n := len(words); n < shingleWords {
		if run := strings.Join(words, " "); len(run) >= SameBytes/2 {
			sc.runs[run], sc.lens[n] = true, true
		}
		return
	}
	for i := 0; i+shingleWords <= len(words); i++ {
		sc.runs[strings.Join(words[i:i+shingleWords], " ")] = true
	}
}

// Text returns t without quotes of the pages.
func (sc *Scrubber) Text(t string) string {
	words := strings.Fields(t)
	quoted := make([]bool, len(words))
	found := false
	mark := func(n int) {
		for i := 0; i+n <= len(words); i++ {
			if sc.runs[strings.Join(words[i:i+n], " ")] {
				found = true
				for j := i; j < i+n; j++ {
					quoted[j] = true
				}
			}
		}
	}
	mark(shingleWords)
	for n := range sc.lens {
		mark(n)
	}
	if !found {
		return t
	}
	var out []string
	for i, w := range words {
		// A cut-off word at the end of an excerpt belongs to the words before it.
		if quoted[i] || i > 0 && quoted[i-1] && strings.HasSuffix(w, "…") {
			if i == 0 || !quoted[i-1] {
				out = append(out, ingest.ForgottenPart)
			}
			continue
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// JSON returns a JSON value without quotes of the pages. Names and identifiers stay.
func (sc *Scrubber) JSON(raw json.RawMessage) json.RawMessage {
	raw, _ = editJSON(raw, sc.blank, func(field, t string) string {
		if !said[field] {
			return t
		}
		return sc.Text(t)
	})
	return raw
}

// said are the fields of the kernel's own records that hold words of a conversation.
var said = map[string]bool{"text": true, "why": true, "label": true, "detail": true, "said": true, "report": true, "reason": true, "value": true, "command": true, "": true}

// blank removes the words of an entry that names a forgotten message as its source.
func (sc *Scrubber) blank(v map[string]any) (changed bool) {
	if key, _ := v["key"].(string); !sc.keys[key] {
		return false
	}
	for _, field := range [...]string{"text", "why", "report"} {
		if t, ok := v[field].(string); ok && t != "" {
			v[field], changed = ingest.ForgottenPart, true
		}
	}
	_, ok := v["options"]
	delete(v, "options")
	return changed || ok
}

// editJSON edits the objects and the texts of a JSON value, and reports whether that changed the
// value. A text in a list has the field of the list.
func editJSON(raw json.RawMessage, object func(map[string]any) (changed bool), text func(field, t string) string) (json.RawMessage, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var all any
	if dec.Decode(&all) != nil {
		return raw, false
	}
	changed := false
	var edit func(v any, field string) any
	edit = func(v any, field string) any {
		switch v := v.(type) {
		case string:
			t := text(field, v)
			changed = changed || t != v
			return t
		case []any:
			for i := range v {
				v[i] = edit(v[i], field)
			}
		case map[string]any:
			changed = object(v) || changed
			for k := range v {
				v[k] = edit(v[k], k)
			}
		}
		return v
	}
	all = edit(all, "")
	if !changed {
		return raw, false
	}
	out, err := json.Marshal(all)
	if err != nil {
		return raw, false
	}
	return out, true
}
