package ui

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/sessions"
)

// findJSON are the sessions in which some words were said.
type findJSON struct {
	Schema string `json:"schema"`
	Query  string `json:"query"`
	// Found are the listed sessions with a message that holds all words, the newest first.
	Found []find `json:"found"`
	// Elsewhere are sessions of other folders with the words. It is empty if a listed session has
	// them.
	Elsewhere []find `json:"elsewhere"`
}

// find is the first message of a session that holds the words.
type find struct {
	// Session is the id of a listed session. For a session of another folder, Path is its transcript
	// and Folder is its folder.
	Session string    `json:"session"`
	Path    string    `json:"path"`
	Folder  string    `json:"folder"`
	Host    string    `json:"host"`
	Prompt  string    `json:"prompt"`
	Begun   time.Time `json:"begun,omitzero"`
	// Item is the number of the message among the items of the session.
	Item int    `json:"item"`
	Kind string `json:"kind"`
	// Text is a line of the message, from a little before the first word on.
	Text string `json:"text"`
}

const (
	// mostElsewhere bounds the listed sessions of other folders. lookedElsewhere bounds the sessions
	// that are searched for them, the newest first. largestElsewhere is the size in bytes of the
	// largest file that is searched. All are our choice.
	mostElsewhere, lookedElsewhere, largestElsewhere = 5, 400, 64 << 20
	// beforeWord is how many bytes of a message are shown before the first word.
	beforeWord = 60
)

// find answers with the sessions in which all words of a question were said.
func (s *Server) find(r *http.Request) (any, error) {
	q := r.FormValue("q")
	words := strings.Fields(strings.ToLower(q))
	if len(words) == 0 {
		return nil, mistakef("q is empty: a search needs words")
	}
	list, err := s.shelf.all(r.Context())
	if err != nil {
		return nil, err
	}
	out := &findJSON{Schema: "memkernel/ui_find/v1", Query: q, Found: []find{}, Elsewhere: []find{}}
	for i := range list {
		if f := &list[i]; !f.again {
			out.Found = append(out.Found, s.findIn(r.Context(), f, words)...)
		}
	}
	if len(out.Found) == 0 {
		out.Elsewhere = s.elsewhere(r.Context(), list, words)
	}
	return out, r.Context().Err()
}

// findIn returns the first message of a session that holds all words.
func (s *Server) findIn(ctx context.Context, f *found, words []string) []find {
	if ctx.Err() != nil || f.source == fromTranscript && !mayHold(f.path, words) {
		return nil
	}
	t, host, err := s.shelf.talk(ctx, f)
	if err != nil {
		return nil // the person sees the error on opening the session
	}
	for n := range t.pieces {
		p := &t.pieces[n]
		text := ""
		switch p.kind {
		case "prompt":
			text = t.words(n)
		case "answer", "summary":
			text = partText(&t.msgs[p.msg].Parts[p.part])
		}
		if text = oneLine(text); !holds(text, words) {
			continue
		}
		text = s.o.mask(text)
		if at := min(strings.Index(strings.ToLower(text), words[0]), len(text)) - beforeWord; at > 0 {
			_, text, _ = strings.Cut(text[at:], " ")
			text = "… " + text
		}
		b := t.briefly(host)
		return []find{{Session: f.id, Path: f.path, Folder: t.cwd, Host: host, Prompt: s.o.head(b.prompt, rowText), Begun: b.begun.UTC(), Item: n + 1, Kind: p.kind, Text: s.o.head(text, rowText)}}
	}
	return nil
}

// holds reports whether a text holds all words, which are in small letters.
func holds(text string, words []string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// mayHold reports whether a transcript may hold all words. It compares only words that JSON does
// not escape.
func mayHold(path string, words []string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	data = bytes.ToLower(data)
	return !slices.ContainsFunc(words, func(w string) bool {
		plain := strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-_.,:;!?#$%()[]{}*+=@~^|'") == ""
		return plain && !bytes.Contains(data, []byte(w))
	})
}

// elsewhere looks in the newest sessions of other folders.
func (s *Server) elsewhere(ctx context.Context, list []found, words []string) []find {
	listed := map[string]bool{}
	for i := range list {
		listed[list[i].path] = true
	}
	var all []sessions.Conversation
	for _, dir := range s.o.Elsewhere() {
		sessions.Source{Path: dir}.Find(ctx, func(c sessions.Conversation) bool {
			if !listed[c.Path] && c.Size <= largestElsewhere {
				all = append(all, c)
			}
			return true
		}, func(string, error) {})
	}
	slices.SortFunc(all, func(a, b sessions.Conversation) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	out := []find{}
	for _, c := range all[:min(len(all), lookedElsewhere)] {
		if len(out) == mostElsewhere {
			break
		}
		for _, f := range s.findIn(ctx, &found{source: fromTranscript, path: c.Path}, words) {
			f.Folder = cmp.Or(f.Folder, filepath.Dir(c.Path))
			out = append(out, f)
		}
	}
	return out
}
