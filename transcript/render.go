package transcript

import (
	"cmp"
	"fmt"

	"github.com/memkernel/memkernel"
)

// Request is the input of Render.
type Request struct {
	Model    string
	Tools    []memkernel.Tool
	System   []memkernel.Part
	Messages []memkernel.Message
	// MaxTokens bounds the answer. 0 leaves the member out.
	MaxTokens int
	// Thinking is the JSON of the provider's thinking (Anthropic) or reasoning
	// (Responses) member, "" for none.
	Thinking string
	Markers  []Marker
	// CacheKey is the key by which OpenAI finds the cache, "" for none.
	CacheKey string
	// Source is the dialect that the messages came from. If it is "", it is inferred from the
	// blocks. Blocks of unknown type go only to the provider of this dialect, and unchanged
	// messages of this provider keep all their bytes.
	Source Dialect
}

// Render makes the request body. Unchanged blocks of the same provider go out with the bytes that
// the host wrote. Everything else is converted to JSON with a fixed order of members. Render
// removes cache markers of the source and sets req.Markers only. The notes name the parts that
// could not be sent.
func Render(f Format, req *Request) ([]byte, []Note, error) {
	d := f.row()
	if d == nil {
		return nil, nil, fmt.Errorf("render request: unknown format %q, want %s", f, oneOf(Formats()))
	}
	from := rowOf(req.Source)
	own := from == d
	r := &renderer{Request: *req, api: d.API, own: own, foreign: req.Source != "" && !own && (from == nil || from.Blocks != d.Name)}
	if req.Model != "" && !d.API.ModelAside {
		r.member("model")
		r.dst = appendString(r.dst, req.Model)
	}
	d.API.Render(r)
	c := scan(cmp.Or(req.Thinking, "null"))
	if c.Skip(); c.End() != nil {
		return nil, nil, fmt.Errorf("render member thinking: %w", c.Err)
	}
	if req.CacheKey != "" {
		r.member("prompt_cache_key")
		r.put("", req.CacheKey)
	}
	return append(r.dst, '}'), r.notes, nil
}

// AppendPart appends one block without cache markers, as Render writes it. It appends nothing if
// the format can't carry the block. A tool result is a block for anthropic, a message for openai,
// an item for responses.
func AppendPart(dst []byte, f Format, role memkernel.Role, p *memkernel.Part) []byte {
	if d := f.row(); d != nil {
		return d.API.Append(dst, role, p)
	}
	return dst
}
