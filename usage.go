package memkernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Usage is a provider's bill for one call, in tokens. The four input fields are disjoint: their
// sum is the prompt's size.
type Usage struct {
	// InputTokens is uncached input: neither read from nor written to a cache.
	InputTokens int `json:"input_tokens"`
	// CacheReadTokens is the input that was read from the cache.
	CacheReadTokens int `json:"cache_read_tokens"`
	// CacheWrite5mTokens is the input that was written to the cache with a lifetime of five
	// minutes. Providers with only one lifetime use this field.
	CacheWrite5mTokens int `json:"cache_write_5m_tokens"`
	// CacheWrite1hTokens is the input that was written to the cache with a lifetime of an hour.
	CacheWrite1hTokens int `json:"cache_write_1h_tokens"`
	// OutputTokens as recorded. Streaming hosts often record a stub: never
	// rely on it for context size.
	OutputTokens int `json:"output_tokens"`
}

// InputTotal returns the size of the prompt that was billed, in tokens.
func (u Usage) InputTotal() int {
	return u.InputTokens + u.CacheReadTokens + u.CacheWrite5mTokens + u.CacheWrite1hTokens
}

// A usage object has some of these counts. Each count has one of a few names. A figure of the
// cache is part of the prompt's figure (Within) or in addition to it (Beside).
const (
	whole         = iota // the prompt with all that a cache had or took of it
	rest                 // that, or the prompt without: the figures of the cache decide
	tools                // prompts of the provider's own tools, in addition to the prompt
	missed               // the part of the prompt that the cache did not have
	readWithin           // read from the cache
	readBeside           //
	writtenWithin        // written to it, of any lifetime
	writtenBeside        //
	written5m            // and by lifetime: parts of that, or all of it
	written1h            //
	output               //
	thoughts             // output that is counted apart
	counts
)

// members are the names of the counts in the Messages API, in chat completions and their
// extensions, in the Responses API and Codex, in Gemini, in Pi, OpenCode and Gemini's command line,
// and in this package. The name after a dot is a member of an object.
var members = [counts][]string{
	whole:         {"prompt_tokens", "promptTokenCount", "prompt_token_count"},
	rest:          {"input_tokens", "input"},
	tools:         {"toolUsePromptTokenCount", "tool_use_prompt_token_count", "tool"},
	missed:        {"prompt_cache_miss_tokens"},
	readWithin:    {"prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "prompt_cache_hit_tokens", "cached_tokens", "cached_input_tokens", "cachedContentTokenCount", "cached_content_token_count", "cached"},
	readBeside:    {"cache_read_input_tokens", "cache_read_tokens", "cacheRead", "cache.read"},
	writtenWithin: {"prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_tokens", "input_tokens_details.cache_write_tokens", "cache_write_input_tokens"},
	writtenBeside: {"cache_creation_input_tokens", "cacheWrite", "cache.write"},
	written5m:     {"cache_creation.ephemeral_5m_input_tokens", "cache_write_5m_tokens"},
	written1h:     {"cache_creation.ephemeral_1h_input_tokens", "cache_write_1h_tokens", "cacheWrite1h"},
	output:        {"output_tokens", "completion_tokens", "candidatesTokenCount", "candidates_token_count", "output"},
	thoughts:      {"thoughtsTokenCount", "thoughts_token_count", "thoughts"},
}

// UnmarshalJSON reads a usage object as a provider writes it: of the Messages API, chat
// completions (with the additions of DeepSeek, OpenRouter and LiteLLM), the Responses API, and
// Gemini's usageMetadata; as Codex, Pi, OpenCode and Gemini CLI record it; or with the members of this
// type. It subtracts the cached tokens from a figure that includes them, so that the fields are
// disjoint. It ignores unknown members and members that are null. An empty object is no usage.
// UnmarshalJSON returns an error that names the member if a figure is not a whole number, is
// negative or is impossibly large. It also returns an error if figures contradict each other, or
// if it knows none of an object's members.
func (u *Usage) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	f, err := readFigures(data)
	if err == nil {
		*u, err = f.usage()
	}
	if err != nil {
		return fmt.Errorf("usage: %w", err)
	}
	return nil
}

// ReadUsage is [Usage.UnmarshalJSON] for an object that may be missing. It returns nil if raw is
// empty or null, or if no figure is over 0.
func ReadUsage(raw []byte) (*Usage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var u Usage
	if err := json.Unmarshal(raw, &u); err != nil || u == (Usage{}) {
		return nil, err
	}
	return &u, nil
}

// StreamUsage collects the usage of a streamed answer from its events, of any provider that
// [Usage] reads. The zero value is ready to use.
type StreamUsage struct{ sum json.RawMessage }

// Add reads an event: its JSON, or its line in the stream, which begins with "data:". A figure of
// a later event replaces the figure of an earlier event. Add ignores events without usage.
func (s *StreamUsage) Add(event []byte) {
	if !bytes.Contains(event, []byte(`"usage`)) {
		return
	}
	type holder struct {
		Usage    json.RawMessage `json:"usage"`
		Metadata json.RawMessage `json:"usageMetadata"`
	}
	var e struct {
		holder
		Message  holder `json:"message"`  // message_start of the Messages API
		Response holder `json:"response"` // the last event of the Responses API
	}
	_ = json.Unmarshal(bytes.TrimPrefix(event, []byte("data:")), &e) // a member of another shape has no usage
	for _, usage := range []json.RawMessage{e.Usage, e.Metadata, e.Message.Usage, e.Response.Usage} {
		s.sum = over(s.sum, usage)
	}
}

// Usage returns the usage of the events so far, as [ReadUsage] reads it. It returns nil if they
// have none.
func (s *StreamUsage) Usage() (*Usage, error) { return ReadUsage(s.sum) }

// over returns a usage object with the members of a later one in place of its own.
func over(earlier, later json.RawMessage) json.RawMessage {
	var was, is map[string]json.RawMessage
	switch {
	case len(later) == 0 || string(later) == "null":
		return earlier
	case json.Unmarshal(later, &is) != nil || json.Unmarshal(earlier, &was) != nil:
		return later
	}
	maps.DeleteFunc(is, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	maps.Copy(was, is)
	sum, err := json.Marshal(was)
	if err != nil {
		return earlier
	}
	return sum
}

// figures are the counts of a usage object, and the names under which they are found.
type figures struct {
	n    [counts]int
	name [counts]string
}

func readFigures(data []byte) (*figures, error) {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil, errors.New("it is not an object: hand in what the provider's answer says as usage")
	}
	inner := map[string]map[string]json.RawMessage{}
	f, known := &figures{}, len(all) == 0
	for c, names := range members {
		for _, name := range names {
			raw, in := all[name], ""
			if object, member, ok := strings.Cut(name, "."); ok {
				if _, read := inner[object]; !read && all[object] != nil {
					var m map[string]json.RawMessage
					_ = json.Unmarshal(all[object], &m) // a value that is no object has no figures
					inner[object] = m
				}
				raw, in = inner[object][member], object+"."
				name = in + member
			}
			if raw == nil {
				continue
			}
			known = true
			n, err := tokens(raw)
			if err != nil {
				return nil, fmt.Errorf("%s %w", name, err)
			}
			if err := f.take(c, n, name); err != nil {
				return nil, err
			}
		}
	}
	if !known {
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, strconv.Quote(name))
		}
		slices.Sort(names)
		return nil, fmt.Errorf("of its members (%s) none is known: hand in the provider's own object, or input_tokens, cache_read_tokens, cache_write_5m_tokens, cache_write_1h_tokens and output_tokens",
			strings.Join(names[:min(len(names), 8)], ", "))
	}
	return f, nil
}

// take notes a figure. Gateways fill members of several providers, some with 0. A 0 does not
// contradict another name's figure.
func (f *figures) take(count, n int, name string) error {
	switch {
	case n == 0:
	case f.n[count] == 0:
		f.n[count], f.name[count] = n, name
	case f.n[count] != n:
		return fmt.Errorf("%s is %d and %s is %d, which are the same tokens", f.name[count], f.n[count], name, n)
	}
	return nil
}

// mostTokens is more than any prompt holds, and leaves sums of bills far from overflow.
const mostTokens = min(1<<40, math.MaxInt/8)

// tokens reads a whole number, which may also be written as 1e3 or 1000.0.
func tokens(raw json.RawMessage) (int, error) {
	text := string(raw)
	if text == "null" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), n != math.Trunc(n):
		return 0, fmt.Errorf("is %s and not a whole number", text[:min(len(text), 40)])
	case n < 0:
		return 0, fmt.Errorf("is negative: %s", text[:min(len(text), 40)])
	case n > mostTokens:
		return 0, fmt.Errorf("is %s, which is more tokens than a call can have", text[:min(len(text), 40)])
	}
	return int(n), nil
}

// usage converts the figures to disjoint fields.
func (f *figures) usage() (Usage, error) {
	read, err := f.both(readWithin, readBeside)
	if err != nil {
		return Usage{}, err
	}
	written, err := f.both(writtenWithin, writtenBeside)
	if err != nil {
		return Usage{}, err
	}
	u := Usage{CacheReadTokens: read, CacheWrite5mTokens: f.n[written5m], CacheWrite1hTokens: f.n[written1h], OutputTokens: f.n[output] + f.n[thoughts]}
	byLifetime := f.n[written5m] + f.n[written1h]
	if written > 0 && byLifetime > written {
		return Usage{}, fmt.Errorf("%s has %d tokens and its parts by lifetime %d", f.any(writtenWithin, writtenBeside), written, byLifetime)
	}
	u.CacheWrite5mTokens += max(0, written-byLifetime) // without a lifetime it is the short one
	u.InputTokens, err = f.uncached(read, max(written, byLifetime))
	if u.InputTokens += f.n[tools]; err == nil && max(u.InputTokens, u.OutputTokens) > mostTokens {
		err = errors.New("its figures come to more tokens than a call can have")
	}
	return u, err
}

// both returns a figure of the cache, whether it is part of the prompt's figure or in addition to
// it.
func (f *figures) both(within, beside int) (int, error) {
	if a, b := f.n[within], f.n[beside]; a > 0 && b > 0 && a != b {
		return 0, fmt.Errorf("%s is %d and %s is %d, which are the same tokens", f.name[within], a, f.name[beside], b)
	}
	return max(f.n[within], f.n[beside]), nil
}

// uncached returns how many tokens of the prompt were neither read from the cache nor written to
// it.
func (f *figures) uncached(read, written int) (int, error) {
	prompt, name := f.n[whole], f.name[whole]
	if miss := f.n[missed]; miss > 0 {
		if prompt > 0 && prompt != read+miss {
			return 0, fmt.Errorf("%s is %d, and %d were in the cache and %d were not (%s)", name, prompt, read, miss, f.name[missed])
		}
		prompt, name = read+miss, f.name[missed]
	}
	within := f.any(readWithin, writtenWithin)
	switch {
	case prompt == 0 && within == "":
		return f.n[rest], nil // the cache's figures are in addition, or there is no cache
	case prompt == 0:
		if beside := f.any(readBeside, writtenBeside, written5m, written1h); beside != "" {
			return 0, fmt.Errorf("%s counts tokens that %s has in it, and %s tokens that it has not: hand in one of them", within, first(f.name[rest], "the prompt"), beside)
		}
		prompt, name = f.n[rest], first(f.name[rest], "the prompt")
	}
	left := prompt - read - written
	if left < 0 {
		return 0, fmt.Errorf("%s is %d, and more is told to be cached of it (%s): %d", name, prompt,
			f.any(readWithin, readBeside, writtenWithin, writtenBeside, written5m, written1h), read+written)
	}
	if n := f.n[rest]; n > 0 && n != prompt && n != left {
		return 0, fmt.Errorf("%s is %d and %s is %d, which are the same tokens", name, prompt, f.name[rest], n)
	}
	return left, nil
}

// any returns the first name under which one of the counts was found, "" if none was found.
func (f *figures) any(of ...int) string {
	for _, c := range of {
		if f.name[c] != "" {
			return f.name[c]
		}
	}
	return ""
}

func first(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}
