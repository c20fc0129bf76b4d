package transcript

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// BodyReader reads the bodies of conversations that grow from request to request. It returns the
// same value for a message that it has read before, so that no message is parsed or held twice.
// The zero value is ready for use. A BodyReader is safe for concurrent use.
type BodyReader struct {
	kept textutil.Recent[bodyKey, memkernel.Message]
}

// bodyKey identifies an element of a conversation by its bytes.
type bodyKey struct {
	format Format
	raw    string
}

const (
	// maxRemembered bounds each of the two generations of messages, in bytes. A message that was not
	// read again within a generation is forgotten.
	maxRemembered = 16 << 20 // 16 MiB
	// maxElement is the size of the largest element that is remembered. A larger one is parsed
	// each time, so that one request can't fill the memory for good.
	maxElement = 1 << 20 // 1 MiB
)

// Read reads a request body. It returns an error for a body that could be read in more than one way,
// such as a body with a duplicate member or with an element that is not a message. model is the
// model that the request's path names, such as Gemini's, "" for none. If the API has a model in the
// body, that model takes precedence.
func (r *BodyReader) Read(f Format, model string, data []byte) (*Body, error) {
	d := f.row()
	if d == nil {
		return nil, fmt.Errorf("read %s request: unknown format %q", f, f)
	}
	b := &Body{Format: f, Model: model, raw: string(data), api: d.API}
	elements, err := b.split()
	if err == nil {
		err = b.fill()
	}
	if err == nil {
		err = b.readList(r, elements)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s request: %w", f, err)
	}
	if b.api.Markers != nil {
		b.markers = b.api.Markers(b)
	}
	return b, nil
}

// message reads an element. It clones the text. Otherwise a conversation that is kept from
// request to request would keep in memory the body of every request.
func (r *BodyReader) message(b *Body, raw string) (memkernel.Message, error) {
	if m, ok := r.kept.Get(bodyKey{b.Format, raw}); ok {
		return m, nil
	}
	raw = strings.Clone(raw)
	m, err := b.api.Element(raw)
	if err != nil {
		return memkernel.Message{}, err
	}
	m.Raw, m.Parts = raw, slices.Clip(m.Parts)
	hold(m)
	if b.api.Join != nil {
		m.Key = "" // an item's id is not the message's
	}
	r.remember(bodyKey{b.Format, raw}, *m)
	return *m, nil
}

// text remembers a text by itself.
func (r *BodyReader) text(raw string) string {
	if m, ok := r.kept.Get(bodyKey{raw: raw}); ok {
		return m.Raw
	}
	raw = strings.Clone(raw)
	r.remember(bodyKey{raw: raw}, memkernel.Message{Raw: raw})
	return raw
}

func (r *BodyReader) remember(k bodyKey, m memkernel.Message) {
	if len(k.raw) <= maxElement {
		r.kept.Put(k, m, len(k.raw), maxRemembered)
	}
}

// Age forgets the messages that were not read since the previous call of Age.
func (r *BodyReader) Age() { r.kept.Age() }
