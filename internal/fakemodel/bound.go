package fakemodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Reasoning that is bound to its prefix, as the providers describe it.
//
// Anthropic (platform.claude.com, preserved thinking and its prefix checks; @anthropic-ai/sdk
// 1.14.0, BetaThinkingBlockBinding and BetaMessage.input_transformations): a thinking block is
// bound to the system prompt, the tools and all earlier message content, except for cache
// markers. A leading run of earlier thinking blocks may be missing, but no other blocks. A
// request that holds a block whose prefix changed is refused with 400. With
// thinking.block_binding.prefix_mismatch_behavior "drop_block" and the beta
// thinking-binding-controls-2026-08-01 the block is removed and not billed. With the beta every
// answer lists the removed blocks. The words of the refusal are taken from reports of clients
// (anomalyco/opencode, issue 48637).
//
// OpenAI (developers.openai.com, keep the prefix unchanged; openai 7.59.0,
// Response.input_transformations): since GPT-6.2, the Responses API removes a reasoning item
// whose earlier conversation changed, and always reports the removal. Instructions are appended
// to the input of a turn and are not part of its prefix. It is not documented whether tools are
// part of the prefix. In this package they are not.

// bindingBeta is the beta of Anthropic's controls.
const bindingBeta = "thinking-binding-controls-2026-08-01"

// thought is the prefix to which a reasoning item is bound.
type thought struct {
	id     string   // the item's id, "" if the API gives no id
	prefix string   // a hash of everything before it
	before []string // the signatures of the earlier items that the model was shown
}

// removal is a reasoning item that the server withheld from the model. Where is the item's place in
// the request.
type removal struct{ Where, ID string }

// bind checks the reasoning that a request holds and removes the items that must not be shown. It
// returns a refusal, whose status is 0 if the request is accepted, and the prefix to which the
// answer's own reasoning is bound.
func (s *Server) bind(req *Request) (refused Reply, next thought) {
	if !s.opt.Thinks {
		return Reply{}, thought{}
	}
	_, responding := req.api.(responses)
	refuses, text := req.bindingOf()
	if text != "" {
		return Reply{Status: http.StatusBadRequest, Kind: "invalid_request_error", Error: text}, thought{}
	}
	h := sha256.New()
	kept := make([]segment, 0, len(req.Segments))
	for _, seg := range req.Segments {
		switch t, known := s.thoughts[seg.thought]; {
		case seg.thought == "":
			if !responding || strings.HasPrefix(seg.Where, "input[") {
				h.Write(seg.Bytes)
			}
		case known && t.prefix == hex.EncodeToString(h.Sum(nil)) && endsWith(t.before, next.before):
			next.before = append(next.before, seg.thought)
		case refuses || !known:
			req.Unbound = true
			return Reply{Status: http.StatusBadRequest, Kind: "invalid_request_error", Error: req.mismatch(seg, known)}, thought{}
		default:
			req.Removed = append(req.Removed, removal{seg.Where, t.id})
			continue
		}
		kept = append(kept, seg)
	}
	req.Segments, next.prefix = kept, hex.EncodeToString(h.Sum(nil))
	return Reply{}, next
}

// endsWith reports whether list ends with the elements of all.
func endsWith(list, all []string) bool {
	return len(all) <= len(list) && slices.Equal(list[len(list)-len(all):], all)
}

// bindingOf reports whether the request must be refused for a changed prefix. If the request's
// controls are invalid, wrong is the reason.
func (r Request) bindingOf() (refuses bool, wrong string) {
	if _, ok := r.api.(anthropic); !ok {
		return false, ""
	}
	var body struct {
		Thinking struct {
			Binding *struct {
				Mismatch string `json:"prefix_mismatch_behavior"`
			} `json:"block_binding"`
		} `json:"thinking"`
	}
	_ = json.Unmarshal(r.Body, &body) // the body is valid JSON: read has parsed it
	b := body.Thinking.Binding
	if b != nil && !r.reports() {
		return false, "thinking.adaptive.block_binding: Extra inputs are not permitted"
	}
	return b == nil || b.Mismatch != "drop_block", ""
}

// reports reports whether the answer lists the removed items.
func (r Request) reports() bool {
	if _, ok := r.api.(responses); ok {
		return true
	}
	return strings.Contains(strings.Join(r.Header.Values("anthropic-beta"), ","), bindingBeta)
}

func (r Request) mismatch(s segment, known bool) string {
	text := blockPath(s.Where) + ": Invalid `signature` in `thinking` block"
	if known {
		text += ". The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"." +
			" That setting requires the `" + bindingBeta + "` value in the `anthropic-beta` header."
	}
	return text
}

// blockPath returns a place in Anthropic's spelling: messages[1].content[0] becomes
// messages.1.content.0.
func blockPath(where string) string {
	return strings.NewReplacer("[", ".", "]", "").Replace(where)
}

// think adds reasoning to an answer.
func (s *Server) think(req *Request, next thought) {
	if !s.opt.Thinks {
		return
	}
	req.thought = fmt.Sprintf("sig_%d_%s", req.N, next.prefix[:12])
	if _, ok := req.api.(responses); ok {
		next.id = fmt.Sprintf("rs_%d", req.N)
	}
	if s.thoughts == nil {
		s.thoughts = map[string]thought{}
	}
	s.thoughts[req.thought] = next
}

// Reasoning returns the number of requests that were refused for their reasoning, and the largest
// number of items that were withheld from the model in one request.
func (s *Server) Reasoning() (refused, removed int) {
	for _, r := range s.Requests() {
		if r.Unbound {
			refused++
		}
		removed = max(removed, len(r.Removed))
	}
	return refused, removed
}

// thinkingText returns the text of the model's thinking.
func (r Request) thinkingText() string {
	return fmt.Sprintf("Request %d: %s", r.N, strings.Repeat("I look at what I have before I go on. ", 12))
}

// transformations returns the entries of an answer's list of removals, in the words of the API.
// It returns nil if the API has no such list.
func (r Request) transformations() []map[string]any {
	if r.thought == "" || !r.reports() {
		return nil
	}
	out := []map[string]any{}
	for _, m := range r.Removed {
		if _, ok := r.api.(responses); ok {
			out = append(out, map[string]any{"type": "reasoning", "id": m.ID, "action": "removed", "reason": "prefix_mismatch"})
			continue
		}
		out = append(out, map[string]any{"type": "thinking_dropped", "path": blockPath(m.Where), "reason": "prefix_binding_mismatch"})
	}
	return out
}

// thoughtIn returns the signature of a block or item of reasoning, "" for other blocks and items.
func thoughtIn(raw json.RawMessage) string {
	if !bytes.Contains(raw, []byte("thinking")) && !bytes.Contains(raw, []byte("reasoning")) {
		return ""
	}
	var b struct {
		Type      string `json:"type"`
		Signature string `json:"signature"`
		Data      string `json:"data"`
		Encrypted string `json:"encrypted_content"`
	}
	if json.Unmarshal(raw, &b) != nil || b.Type != "thinking" && b.Type != "redacted_thinking" && b.Type != "reasoning" {
		return ""
	}
	return b.Signature + b.Data + b.Encrypted
}
