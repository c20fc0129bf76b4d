package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/memkernel/memkernel/pagevm"
)

// Pages holds the pages that were made and are not written yet. Pages are added and never
// removed. The pages of an abandoned plan are kept too.
type Pages struct {
	// New are the pages, in the order in which they were made.
	New []*pagevm.Page
	// Blobs are the contents that are stored as blobs: the contents of large pages, and media.
	Blobs []string
	// contents has one entry per page: the content of a small page, or "" if the page's content
	// is among Blobs.
	contents []string
	// byID finds the first indexed pages by id. It is made at the first lookup.
	byID map[string]*pagevm.Page
	// texts finds the representations of the first indexed pages. It is made at the first lookup.
	texts   map[string]string
	indexed int
}

// Op is the operation of a journal's record that has a [Body]. The record adds pages. Their large
// contents are already stored as blobs.
const Op = "ingest"

// Body is the document that [Pages.JSON] returns.
type Body struct {
	Pages []*pagevm.Page `json:"pages"`
	// Content is the content of small pages, by page id.
	Content map[string]string `json:"content,omitempty"`
}

// Empty reports whether there is no new page. Blobs of known pages are known too.
func (c *Pages) Empty() bool { return len(c.New) == 0 }

// add files a page. The content is kept with the page if it is small and JSON can hold it.
// Otherwise the content becomes a blob.
func (c *Pages) add(p *pagevm.Page, content string) {
	if FullRep(p) != nil {
		content = ""
	}
	if len(content) > inlineBytes || !utf8.ValidString(content) {
		p.Blob = p.Hash
		c.Blobs = append(c.Blobs, content)
		content = ""
	}
	c.New = append(c.New, p)
	c.contents = append(c.contents, content)
}

// merge appends the pages of o to those of c.
func (c *Pages) merge(o *Pages) {
	c.New = append(c.New, o.New...)
	c.contents = append(c.contents, o.contents...)
	c.Blobs = append(c.Blobs, o.Blobs...)
}

// Replace files a page again after the page got more representations.
func (c *Pages) Replace(p *pagevm.Page, content func() string) {
	for i := range c.New {
		if c.New[i].ID == p.ID {
			p.Blob = c.New[i].Blob
			*c.New[i] = *p
			c.byID, c.texts, c.indexed = nil, nil, 0
			return
		}
	}
	c.add(p, content())
}

// FullRep returns the representation that holds all of a page's content, nil if there is none. The
// kernel's own texts have one.
func FullRep(p *pagevm.Page) *pagevm.Rep {
	for i := range p.Reps {
		if p.Reps[i].Level == pagevm.Full && p.Reps[i].Hash == p.Hash {
			return &p.Reps[i]
		}
	}
	return nil
}

// index updates byID and texts.
func (c *Pages) index() {
	if c.byID == nil {
		c.byID = make(map[string]*pagevm.Page, len(c.New))
		c.texts = make(map[string]string, len(c.New))
	}
	for ; c.indexed < len(c.New); c.indexed++ {
		p := c.New[c.indexed]
		c.byID[p.ID] = p
		for i := range p.Reps {
			c.texts[p.Reps[i].Hash] = p.Reps[i].Text
		}
	}
}

// Page returns a page that was made, nil if there is no such page.
func (c *Pages) Page(id string) *pagevm.Page {
	c.index()
	return c.byID[id]
}

// Text finds a representation that was made, by its hash.
func (c *Pages) Text(hash string) (string, bool) {
	c.index()
	t, ok := c.texts[hash]
	return t, ok
}

// JSON returns the pages and the contents of small pages as the JSON of a [Body]. It leaves
// out the escapes for HTML that encoding/json writes, since they make quoted code longer.
func (c *Pages) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	put := func(before string, v any) error {
		b.WriteString(before)
		if err := e.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line break at the end
		return nil
	}
	if err := put(`{"pages":`, c.New); err != nil {
		return nil, err
	}
	sep, end := `,"content":{`, `}`
	for i, p := range c.New {
		if p.Blob != "" || c.Page(p.ID) != p || FullRep(p) != nil {
			continue // the content is in a blob, a representation or a later page of that id
		}
		if err := errors.Join(put(sep, &p.ID), put(`:`, &c.contents[i])); err != nil {
			return nil, err
		}
		sep, end = `,`, `}}`
	}
	b.WriteString(end)
	return b.Bytes(), nil
}
