package transcript

import (
	"fmt"
	"strings"
)

// Dialect names how a host writes its transcripts.
type Dialect string

const (
	ClaudeCode Dialect = "claude-code"
	Pi         Dialect = "pi"
	Codex      Dialect = "codex"
	Anthropic  Dialect = "anthropic"
	OpenAI     Dialect = "openai"
)

// Dialects lists all dialects in a fixed order.
func Dialects() []Dialect { return []Dialect{ClaudeCode, Pi, Codex, Anthropic, OpenAI} }

// ParseDialect reads a dialect's name; "" and "auto" mean detection.
func ParseDialect(name string) (Dialect, error) {
	if name == "" || name == "auto" {
		return "", nil
	}
	for _, d := range Dialects() {
		if string(d) == name {
			return d, nil
		}
	}
	return "", fmt.Errorf("parse dialect: unknown name %q, want one of %v", name, Dialects())
}

// sniffLines is how many lines Detect looks at when the first ones are broken
// or say nothing.
const sniffLines = 50

// Detect tells the dialect from a file's first bytes; 64 KiB are plenty, and a
// cut inside a record does not matter. The error is ErrEmpty for blank input,
// else ErrUnknownDialect. Messages that would be good in both JSON dialects
// count as anthropic: the canonical form is the same.
func Detect(prefix []byte) (Dialect, error) {
	s := strings.TrimLeft(strings.TrimPrefix(string(prefix), bom), " \t\r\n")
	if s == "" {
		return "", ErrEmpty
	}
	if isGemini(s) {
		return "", fmt.Errorf("detect dialect: %w: it is a session of Gemini CLI, which its hooks read (memkernel hook --host gemini)", ErrUnknownDialect)
	}
	if s[0] == '[' || s[0] == '{' {
		if d := sniffDocument(s); d != "" {
			return d, nil
		}
	}
	for range sniffLines {
		line, rest, more := strings.Cut(s, "\n")
		if d := sniffLine(line); d != "" {
			return d, nil
		}
		if !more {
			break
		}
		s = rest
	}
	return "", fmt.Errorf("detect dialect: %w (known are %v)", ErrUnknownDialect, Dialects())
}

// isGemini tells a session file of Gemini CLI by its head.
func isGemini(s string) bool {
	c, has := scan(s), map[string]bool{}
	if c.peek() != '{' {
		return false
	}
	for k, ok := c.firstKey(); ok && k != "messages"; k, ok = c.nextKey() {
		has[k] = true
		c.skip()
	}
	return has["sessionId"] && has["projectHash"]
}

// sniffLine looks at the keys of one JSONL record. A broken record is judged
// by what stands before the break.
func sniffLine(line string) Dialect {
	c := scan(line)
	if c.peek() != '{' {
		return ""
	}
	var typ string
	has := map[string]bool{}
	for k := range c.fields {
		has[k] = true
		if k == "type" {
			typ = c.str()
		} else {
			c.skip()
		}
	}
	switch {
	case isCodexType(typ) || has["payload"] && has["type"], has["record_type"],
		has["instructions"] && has["id"] && has["timestamp"]:
		return Codex
	case has["uuid"], has["parentUuid"], has["sessionId"], has["isSidechain"],
		has["leafUuid"], isClaudeType(typ):
		return ClaudeCode
	case isPiType(typ):
		return Pi
	case isResponsesItem(typ):
		return Codex
	}
	return ""
}

// sniffDocument decides between the JSON dialects, "" if it is neither.
func sniffDocument(s string) Dialect {
	c := scan(s)
	var v vote
	if s[0] == '[' {
		v.messages(&c)
		return v.verdict()
	}
	for k := range c.fields {
		switch k {
		case "messages":
			v.messages(&c)
			v.known = true
		case "model":
			v.model(c.str())
		case "system", "anthropic_version", "anthropic_beta", "stop_sequences", "top_k", "thinking":
			v.anthropic += 2
			c.skip()
		case "max_completion_tokens", "response_format", "stream_options", "frequency_penalty",
			"presence_penalty", "reasoning_effort", "parallel_tool_calls", "logprobs", "seed":
			v.openai += 2
			c.skip()
		case "tools":
			v.tools(&c)
		default:
			c.skip()
		}
	}
	// A prefix may end before the messages, inside a long system prompt.
	if c.err != nil && v.anthropic+v.openai >= 2 {
		v.known = true
	}
	return v.verdict()
}

// vote collects evidence for either JSON dialect.
type vote struct {
	anthropic, openai int
	known             bool
}

func (v *vote) verdict() Dialect {
	switch {
	case !v.known:
		return ""
	case v.openai > v.anthropic:
		return OpenAI
	}
	return Anthropic
}

func (v *vote) model(id string) {
	switch {
	case strings.Contains(id, "claude"):
		v.anthropic++
	case strings.Contains(id, "gpt"), strings.Contains(id, "deepseek"), strings.Contains(id, "gemini"):
		v.openai++
	}
}

func (v *vote) tools(c *cursor) {
	for range c.elems {
		for k := range c.fields {
			switch k {
			case "input_schema", "cache_control":
				v.anthropic += 4
			case "function":
				v.openai += 4
			}
			c.skip()
		}
	}
}

func (v *vote) messages(c *cursor) {
	first := true
	for range c.elems {
		for k := range c.fields {
			switch k {
			case "role":
				v.role(c.str(), first)
				continue
			case "tool_calls", "tool_call_id", "refusal", "function_call", "reasoning_content":
				v.openai += 4
			case "content":
				if c.peek() == '[' {
					v.blocks(c)
					continue
				}
			}
			c.skip()
		}
		first = false
	}
}

func (v *vote) role(role string, first bool) {
	switch role {
	case "tool", "function", "developer":
		v.openai += 4
	case "system":
		// Anthropic takes system messages too, but never as the first.
		if first {
			v.openai += 4
		}
	case "user", "assistant":
	default:
		return
	}
	v.known = true
}

func (v *vote) blocks(c *cursor) {
	for range c.elems {
		for k := range c.fields {
			if k != "type" {
				if k == "cache_control" || k == "source" {
					v.anthropic += 4
				}
				c.skip()
				continue
			}
			switch c.str() {
			case "tool_use", "tool_result", "thinking", "redacted_thinking", "document":
				v.anthropic += 4
			case "image_url", "input_audio", "file", "refusal":
				v.openai += 4
			}
		}
	}
}
