package ingest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
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

// Body is the document that [Pages.AppendJSON] writes.
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

// FullRep returns the representation that holds all of a page's content, nil if no representation
// does. The kernel's own texts have such a representation.
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

// size returns the approximate length of the pages' JSON, in bytes.
func (c *Pages) size() int {
	n := 256
	for i, p := range c.New {
		n += 512 + len(c.contents[i]) + len(c.contents[i])/16
		for j := range p.Reps {
			n += 128 + len(p.Reps[j].Text) + len(p.Reps[j].Text)/16
			if p.Reps[j].Fields != nil {
				n += 256 + 2*len(p.Reps[j].Text) // the content consists of these texts
			}
		}
	}
	return n
}

// AppendJSON appends the pages and the contents of small pages as the JSON of a [Body]. It does
// not use encoding/json because that would take longer than all other writes of a first plan
// together. The decoded result is the same.
func (c *Pages) AppendJSON(dst []byte) ([]byte, error) {
	dst = append(slices.Grow(dst, c.size()), `{"pages":[`...)
	for i, p := range c.New {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendPage(dst, p); err != nil {
			return nil, err
		}
	}
	dst = append(dst, ']')
	sep := `,"content":{`
	for i, p := range c.New {
		if p.Blob != "" || c.Page(p.ID) != p || FullRep(p) != nil {
			continue // a blob or a representation has it, or a later page of that name
		}
		dst = appendString(append(dst, sep...), p.ID)
		dst = appendString(append(dst, ':'), c.contents[i])
		sep = ","
	}
	if sep == "," {
		dst = append(dst, '}')
	}
	return append(dst, '}'), nil
}

func appendPage(dst []byte, p *pagevm.Page) ([]byte, error) {
	dst = appendString(append(dst, `{"id":`...), p.ID)
	dst = appendString(append(dst, `,"type":`...), string(p.Type))
	dst = appendString(append(dst, `,"scope":`...), string(p.Scope))
	dst = appendField(dst, `,"message_key":`, p.MessageKey)
	dst = appendField(dst, `,"call_id":`, p.CallID)
	dst = appendField(dst, `,"tool":`, p.Tool)
	dst = appendField(dst, `,"path":`, p.Path)
	dst = appendString(append(dst, `,"hash":`...), p.Hash)
	dst = appendField(dst, `,"blob":`, p.Blob)
	dst = strconv.AppendInt(append(dst, `,"bytes":`...), p.Bytes, 10)
	if p.Masked != 0 {
		dst = strconv.AppendInt(append(dst, `,"masked":`...), int64(p.Masked), 10)
	}
	if len(p.MaskedBy) > 0 {
		raw, err := json.Marshal(p.MaskedBy)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"masked_by":`...), raw...)
	}
	dst = appendField(dst, `,"role":`, p.Role)
	if len(p.Media) > 0 {
		raw, err := json.Marshal(p.Media)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"media":`...), raw...)
	}
	if p.Untyped {
		dst = append(dst, `,"untyped":true`...)
	}
	if len(p.Refs) > 0 {
		raw, err := json.Marshal(p.Refs)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"refs":`...), raw...)
	}
	dst = appendField(dst, `,"resolver":`, p.Resolver)
	dst, err := appendTime(dst, `,"created":`, p.Created)
	if err != nil {
		return nil, err
	}
	if dst, err = appendReps(dst, p.Reps); err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

func appendReps(dst []byte, reps []pagevm.Rep) ([]byte, error) {
	sep := `,"reps":[`
	for i := range reps {
		r := &reps[i]
		dst = appendString(append(append(dst, sep...), `{"level":`...), r.Level.String())
		dst = appendString(append(dst, `,"hash":`...), r.Hash)
		dst = appendField(dst, `,"text":`, r.Text)
		if r.Fields != nil {
			var err error
			if dst, err = r.Fields.AppendJSON(append(dst, `,"fields":`...)); err != nil {
				return nil, err
			}
		}
		dst = appendField(dst, `,"maker":`, r.Maker)
		dst = append(appendField(appendField(dst, `,"refused":`, r.Refused), `,"door":`, r.Door), '}')
		sep = ","
	}
	if len(reps) > 0 {
		dst = append(dst, ']')
	}
	return dst, nil
}

// appendField appends a name and a string. It appends nothing if the string is empty.
func appendField(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return appendString(append(dst, name...), s)
}

func appendTime(dst []byte, name string, t time.Time) ([]byte, error) {
	if t.IsZero() {
		return dst, nil
	}
	dst, err := t.AppendText(append(append(dst, name...), '"'))
	return append(dst, '"'), err
}

// escaped marks the ASCII bytes that a JSON string can't hold as they are.
var escaped = func() (t [utf8.RuneSelf]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t['"'], t['\\'] = true, true
	return t
}()

// appendString appends a JSON string. Bytes that are not UTF-8 become U+FFFD, as in
// encoding/json. Unlike encoding/json, appendString escapes nothing for the sake of HTML.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			if r, n := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
			dst = append(append(dst, s[from:i]...), "\uFFFD"...)
		} else if escaped[c] {
			dst = appendEscape(append(dst, s[from:i]...), c)
		} else {
			i++
			continue
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\t':
		return append(dst, `\t`...)
	case '\r':
		return append(dst, `\r`...)
	}
	const hex = "0123456789abcdef"
	return append(append(dst, `\u00`...), hex[c>>4], hex[c&15])
}
