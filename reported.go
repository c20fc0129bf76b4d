package memkernel

import (
	"encoding/json"
	"slices"
	"strings"
)

// Reported has a provider's remarks on a request in the answer to it, in addition to usage.
type Reported struct {
	// Removed counts the reasoning items that were withheld from the model, by reason.
	Removed []Removal `json:"removed,omitempty"`
	// Miss is the reason why the provider's cache was not read. It is nil if the answer gives no
	// reason.
	Miss *CacheMiss `json:"cache_miss,omitempty"`
}

// Removal counts reasoning items that a provider withheld from the model for one reason.
type Removal struct {
	// Reason is prefix_mismatch, turn_boundary, model_mismatch, organization_mismatch or
	// end_user_mismatch.
	Reason string `json:"reason"`
	Items  int    `json:"items"`
}

// CacheMiss is a provider's own diagnosis of a cache that was not read. The provider makes it if
// the request names an earlier answer to compare with.
type CacheMiss struct {
	// Reason is the provider's reason. Tokens is the number of tokens that were not read from the
	// cache.
	Reason string `json:"reason"`
	Tokens int    `json:"tokens"`
}

// RemovedPrefix is the reason of a [Removal] of reasoning whose prefix has changed.
const RemovedPrefix = "prefix_mismatch"

// ReportMembers are the members of an answer that [Reported] is read from. They are members of
// the Messages API (@anthropic-ai/sdk 1.14.0, BetaMessage) or of the Responses API (openai
// 7.59.0, Response). In the Messages API input_transformations is in message_start and, after a
// change of the serving model, once more in message_delta.
type ReportMembers struct {
	Transformations json.RawMessage `json:"input_transformations"`
	Diagnostics     json.RawMessage `json:"diagnostics"`
	PromptCache     json.RawMessage `json:"prompt_cache_diagnostics"`
}

// Read returns the report of the members, nil if they report nothing. Read ignores a member of
// another shape, because no answer depends on these remarks.
func (m ReportMembers) Read() *Reported {
	if len(m.Transformations)+len(m.Diagnostics)+len(m.PromptCache) == 0 {
		return nil
	}
	var r Reported
	var changes []struct {
		Type   string `json:"type"`   // Messages: thinking_dropped; other types removed nothing
		Action string `json:"action"` // Responses: removed
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(m.Transformations, &changes)
	for _, c := range changes {
		if c.Type == "thinking_dropped" || c.Action == "removed" {
			// prefix_binding_mismatch is the Messages API's word for prefix_mismatch
			r.Add(Removal{strings.Replace(c.Reason, "_binding_mismatch", "_mismatch", 1), 1})
		}
	}
	var anthropic struct {
		Miss struct {
			Type   string `json:"type"`
			Tokens int    `json:"cache_missed_input_tokens"`
		} `json:"cache_miss_reason"`
	}
	var openai struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
		Tokens int    `json:"cache_missed_tokens"`
	}
	switch {
	case json.Unmarshal(m.PromptCache, &openai) == nil && openai.Type == "cache_miss":
		r.Miss = &CacheMiss{openai.Reason, max(0, openai.Tokens)}
	case json.Unmarshal(m.Diagnostics, &anthropic) == nil && anthropic.Miss.Type != "":
		r.Miss = &CacheMiss{anthropic.Miss.Type, max(0, anthropic.Miss.Tokens)}
	}
	if r.Removed == nil && r.Miss == nil {
		return nil
	}
	return &r
}

// Add adds a count to the entry of Removed that has the same reason. The entries stay sorted by
// reason.
func (r *Reported) Add(more Removal) {
	at, found := slices.BinarySearchFunc(r.Removed, more.Reason, func(r Removal, reason string) int { return strings.Compare(r.Reason, reason) })
	if !found {
		r.Removed = slices.Insert(r.Removed, at, more)
		return
	}
	r.Removed[at].Items += more.Items
}

// Of returns the number of items that were removed for a reason. With reason "" it counts the
// items of all reasons. It returns 0 for a nil report.
func (r *Reported) Of(reason string) (n int) {
	if r == nil {
		return 0
	}
	for _, removed := range r.Removed {
		if reason == "" || removed.Reason == reason {
			n += removed.Items
		}
	}
	return n
}
