package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/archive"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/summary"
)

// Get returns the content that a session's pointer names.
func (in *Inspector) Get(s *session.Session, id string) (*api.Content, error) {
	page, from, to := archive.CutLines(id)
	c, err := contentOf(s, page)
	if store.OutOfReach(err) {
		return nil, fmt.Errorf("get %s of session %s: %w", id, s.Key, err)
	}
	if err != nil {
		return &api.Content{ID: id, Reason: api.GetBackendError, Detail: err.Error(),
			Fault: &fault.Fault{Code: fault.SilentRecall, Page: id, Cause: api.GetBackendError, Detail: err.Error()}}, nil
	}
	if c.Reason == api.GetNoMatch {
		if store.IsHash(page) || pageForm.MatchString(page) {
			if e, at, err := folder.EndOf(in.State, s.Key); err != nil {
				return nil, err
			} else if e != nil {
				return gone(page, e.Reason, at, "its session ended"), nil
			}
		}
		if c.Detail == "" && !s.Keeps() {
			there, err := store.Find(s.Files, "")
			if err != nil {
				return nil, err
			}
			if !there {
				c.Detail = (&api.NoSessionError{Key: s.Key}).Error()
			}
		}
	}
	if c.Reason != api.GetOK {
		return c, nil
	}
	if from > 0 {
		c.ID = id
		if c.Page != nil {
			c.Text = archive.Plain(c.Page, c.Text)
		}
		c.Text = archive.LinesOf(c.Text, from, to)
	}
	if n := mask.Marks(c.Text); n > 0 && c.Detail == "" {
		c.Detail = fmt.Sprintf("secrets were masked when this was stored: at %d places it reads [masked:…] where the original has a value, so it must not be written back as it is", n)
	}
	return c, nil
}

// contentOf returns the content that a session's pointer names: a page, a span, a blob, a
// checkpoint, or the whole of a capped list. It returns an error if the content is known and
// can't be read.
func contentOf(s *session.Session, id string) (*api.Content, error) {
	if store.IsHash(id) {
		return blob(s, id)
	}
	if text, note, ok, err := workstate.CheckpointText(s.Files, id); ok || err != nil {
		return &api.Content{ID: id, Reason: api.GetOK, Detail: note, Text: text}, err
	}
	if p := s.Pages[id]; p != nil {
		text, err := s.Reader().Content(p)
		if g := s.Graves.Unkept[id]; errors.Is(err, archive.ErrRetired) {
			return gone(id, g.Reason, g.Time, "its content is no longer kept"), nil
		}
		if err != nil {
			return nil, err
		}
		return &api.Content{ID: id, Reason: api.GetOK, Text: text, Page: p, References: references(p, text)}, nil
	}
	if g, ok := s.Graves.Pages[id]; ok {
		return gone(id, g.Reason, g.Time, "it was forgotten"), nil
	}
	if sp, ok := s.Spans[id]; ok {
		return span(s, sp)
	}
	if text := list(s, id); text != "" {
		return &api.Content{ID: id, Reason: api.GetOK, Text: text}, nil
	}
	return &api.Content{ID: id, Reason: api.GetNoMatch}, nil
}

func blob(s *session.Session, hash string) (*api.Content, error) {
	b, err := s.Blobs.Get(hash)
	if forgotten, buried := s.Graves.Blobs[hash]; buried && (errors.Is(err, fs.ErrNotExist) || err == nil && forgotten) && !slices.ContainsFunc(slices.Collect(maps.Values(s.Pages)), func(p *pagevm.Page) bool {
		return !s.Graves.Retired(p.ID) && slices.Contains(session.BlobsOf(p), hash) // the page needs the blob
	}) {
		return &api.Content{ID: hash, Reason: api.GetForgotten, Detail: "what it belonged to was forgotten, or is no longer kept"}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &api.Content{ID: hash, Reason: api.GetNoMatch}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", hash, err)
	}
	return &api.Content{ID: hash, Reason: api.GetOK, Text: string(b)}, nil
}

// span joins the pages of a span. A line above each page gives the page's id.
func span(s *session.Session, sp branch.Span) (*api.Content, error) {
	c := &api.Content{ID: sp.ID, Reason: api.GetOK, Pages: sp.Pages}
	var b strings.Builder
	r := s.Reader()
	for _, id := range sp.Pages {
		p := s.Pages[id]
		if p == nil {
			if _, buried := s.Graves.Pages[id]; buried {
				fmt.Fprintf(&b, "--- %s\n%s\n", id, ingest.ForgottenPart)
			}
			continue
		}
		text, err := r.Content(p)
		if errors.Is(err, archive.ErrRetired) {
			text, err = "[no longer kept]", nil
		}
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "--- %s %s %s\n%s\n", p.ID, p.Role, p.Tool, text)
	}
	c.Text = b.String()
	return c, nil
}

// gone returns the answer for content that was forgotten or removed by retention.
func gone(id, reason string, at time.Time, what string) *api.Content {
	if !at.IsZero() {
		what += " on " + at.UTC().Format(time.DateOnly)
	}
	if reason = strings.TrimSpace(reason); reason != "" {
		what += ": " + reason
	}
	return &api.Content{ID: id, Reason: api.GetForgotten, Detail: what}
}

// pageForm is how the ids of pages, spans and checkpoints look.
var pageForm = regexp.MustCompile(`^(?:[a-z]{2}-[0-9a-f]{16}\b|cp_\d{3,}(?:\.[a-z_]+)?$)`)

// list returns the whole list to which a capped summary points, or "". The id is the summary's
// page, a dot, and the list's name.
func list(s *session.Session, id string) string {
	page, kind, _ := strings.Cut(id, ".")
	for _, l := range s.Branches.All {
		if page != ingest.PageID("su", s.Name, l.Branch) {
			continue
		}
		return summary.List(l.Summary, kind, func() (summary.Notes, error) { return turn.NotesOf(s, l.Branch) })
	}
	return ""
}

// previewChars is how much of a text a reference shows.
const previewChars = 500

// references returns the blobs of a page whose content is text.
func references(p *pagevm.Page, text string) []api.Reference {
	var out []api.Reference
	add := func(kind, hash, media, preview string, bytes int64) {
		out = append(out, api.Reference{Type: kind, Page: p.ID, ToolCallID: p.CallID, Path: path.Join("blobs", hash[:2], hash),
			Bytes: bytes, SHA256: hash, MediaType: media, Preview: preview})
	}
	if p.Blob != "" {
		kind := "text_ref"
		if p.Type == pagevm.Evidence {
			kind = "tool_output_ref"
		}
		add(kind, p.Blob, "", head(text, previewChars), p.Bytes)
	}
	for _, m := range p.Media {
		if m.Blob != "" {
			kind, _, _ := strings.Cut(m.Type, "/")
			add(cmp.Or(mediaRefs[kind], "document_ref"), m.Blob, m.Type, "", m.Bytes)
		}
	}
	return out
}

// mediaRefs are the types of references to media. All other media are documents.
var mediaRefs = map[string]string{"image": "image_ref", "audio": "audio_ref", "video": "video_ref"}

// head returns the first n characters of a text, as valid UTF-8.
func head(text string, n int) string {
	text = strings.ToValidUTF8(text[:min(len(text), 4*n)], "\uFFFD")
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}
