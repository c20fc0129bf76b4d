package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
)

// This file reads requests of Gemini's generateContent, and rewrites a client's body. The
// model is in the request's path and not in its body.

// geminiDialect are requests of generateContent. It is no dialect of files.
var geminiDialect = dialectRow{Name: "gemini", Parse: geminiParse, Known: "text " + geminiServerParts, API: &api{Format: "gemini", List: "contents", System: "systemInstruction",
	Names: geminiNames, Instructions: geminiInstructions, Definitions: geminiDefinitions, ModelAside: true,
	Element: readOne(geminiParse), Pair: func() func([]memkernel.Message, *memkernel.Message) { return new(geminiPairs).take },
	Render: geminiRender, Append: appendGeminiPart, Takes: geminiTakes, Refuses: geminiRefuses, Rewrite: geminiRewrite}}

// geminiNames are the other spellings of members that the API accepts. They are the names in the
// source of its protocol.
var geminiNames = map[string]string{
	"system_instruction": "systemInstruction", "tool_config": "toolConfig", "generation_config": "generationConfig",
	"cached_content": "cachedContent", "safety_settings": "safetySettings",
	"inline_data": "inlineData", "file_data": "fileData", "mime_type": "mimeType", "file_uri": "fileUri",
	"function_call": "functionCall", "function_response": "functionResponse", "function_declarations": "functionDeclarations",
	"executable_code": "executableCode", "code_execution_result": "codeExecutionResult", "tool_call": "toolCall", "tool_response": "toolResponse",
	"thought_signature": "thoughtSignature", "video_metadata": "videoMetadata", "media_resolution": "mediaResolution",
	"will_continue": "willContinue", "partial_args": "partialArgs", "part_metadata": "partMetadata", "display_name": "displayName",
}

// scanGemini is [scan] for a text with either spelling.
func scanGemini(s string) cursor { return cursor{S: s, Names: geminiNames} }

// geminiParse reads a content.
func geminiParse(e *Record) error {
	m := &memkernel.Message{Role: memkernel.RoleUser, Raw: strings.TrimSpace(e.Raw)}
	c, err := scanObject(e.Raw)
	if err != nil {
		return err
	}
	c.Names = geminiNames
	listed := false
	c.Read("role", func() { m.Role = geminiRoleOf(c.Str()) }, "parts", func() {
		listed = c.Peek() == '['
		m.Parts = append(m.Parts, readGeminiList(&c)...)
	})
	if err := c.End(); err != nil {
		return err
	}
	if !listed {
		return errors.New("content has no parts")
	}
	markTyped(m, false)
	e.Type, e.Message = string(m.Role), m
	return nil
}

// readGeminiList reads a list of parts.
func readGeminiList(c *cursor) (parts []memkernel.Part) {
	for range c.Elems {
		if p := readGeminiPart(c); c.Err == nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// geminiRoleOf returns the role of a content, the user's by default. Results are in a content of
// the role user, or function in the first versions.
func geminiRoleOf(role string) memkernel.Role {
	switch role {
	case "model":
		return memkernel.RoleAssistant
	case "user", "":
		return memkernel.RoleUser
	case "function":
		return memkernel.RoleTool
	}
	return memkernel.Role("gemini-" + role) // no role that a request has
}

// readGeminiPart reads a part. A part with an unknown member keeps its JSON; calls and results that
// arrive in pieces have such members. An empty text may carry a signature, so it must not be left
// out.
func readGeminiPart(c *cursor) memkernel.Part {
	var text, signature string
	var has, thought, odd bool
	var typ, data, url string
	var call *memkernel.ToolCall
	var result *memkernel.ToolResult
	start, held, media := c.Start(), 0, false // held counts the members that hold something
	holds := func(read func()) func() { return func() { held++; read() } }
	read := func(members ...any) { odd = c.Read(members...) > 0 || odd }
	medium := holds(func() { media = true; c.Read("mimeType", &typ, "data", &data, "fileUri", &url) })
	known := []any{"text", holds(func() { has, text = c.Peek() == '"', c.Str() }), "inlineData", medium, "fileData", medium,
		"functionCall", holds(func() {
			args := jsonText("")
			call = &memkernel.ToolCall{Input: "{}"}
			if read("id", &call.ID, "name", &call.Name, "args", &args); args != "" && args != "null" {
				call.Input = string(args)
			}
		}),
		"functionResponse", holds(func() {
			response := jsonText("")
			var shown []memkernel.Part
			result = &memkernel.ToolResult{}
			read("id", &result.CallID, "name", &result.Name, "response", &response, "parts", func() { shown = append(shown, readGeminiList(c)...) })
			if response != "" { // a text in a member that the API knows, or else all of the object
				text, failed := geminiSaid(string(response))
				result.Content, result.Text, result.IsError = []memkernel.Part{textPart(text)}, true, failed
			}
			if len(shown) > 0 {
				result.Content, result.Text = append(result.Content, shown...), false
			}
		}),
		"thought", &thought, "thoughtSignature", &signature}
	for _, name := range geminiDescribed {
		known = append(known, name, c.Skip)
	}
	read(known...)
	p := memkernel.Part{Kind: memkernel.PartOther, Raw: c.Since(start)}
	switch {
	case odd || held != 1:
	case has && thought:
		p.Kind, p.Text, p.Signature = memkernel.PartThinking, text, signature
	case has && strings.TrimSpace(text) != "":
		p.Kind, p.Text = memkernel.PartText, text
	case call != nil && call.Name != "":
		p.Kind, p.Call, p.Signature = memkernel.PartToolUse, call, signature
	case result != nil && result.Name != "":
		p.Kind, p.Result = memkernel.PartToolResult, result
	case media:
		p.Kind, p.Media = memkernel.PartDocument, inlineMedia(typ, data)
		if p.Media.URL = url; strings.HasPrefix(typ, "image/") {
			p.Kind = memkernel.PartImage
		}
	}
	return p
}

// geminiSaid returns the text of a response.
func geminiSaid(response string) (text string, failed bool) {
	c := scan(response)
	n := 0
	for k := range c.Fields {
		if n++; c.Peek() != '"' || k != "output" && k != "error" && k != "result" && k != "content" {
			return response, false
		}
		text, failed = c.Str(), k == "error"
	}
	if n != 1 {
		return response, false
	}
	return text, failed
}

// geminiInstructions reads the system prompt: a content, or a text.
func geminiInstructions(c *cursor) (parts []memkernel.Part) {
	if c.Peek() == '"' {
		return geminiParts(c)
	}
	c.Read("parts", func() { parts = append(parts, geminiParts(c)...) })
	return parts
}

// geminiParts reads the parts of a content: a text, a part, or a list of these.
func geminiParts(c *cursor) (parts []memkernel.Part) {
	switch c.Peek() {
	case '"':
		return []memkernel.Part{textPart(c.Str())}
	case '{':
		return []memkernel.Part{readGeminiPart(c)}
	}
	for range c.Elems {
		if list := geminiParts(c); c.Err == nil {
			parts = append(parts, list...)
		}
	}
	return parts
}

// geminiDefinitions reads the tools. Functions are declared in lists. Any other member is a tool
// that the provider runs.
func geminiDefinitions(c *cursor) (tools []memkernel.Tool) {
	for range c.Elems {
		for k := range c.Fields {
			if k != "functionDeclarations" && k != "function_declarations" || c.Peek() != '[' {
				if raw := c.Raw(); c.Err == nil {
					tools = append(tools, memkernel.Tool{Name: k, Raw: `{` + string(appendString(nil, k)) + `:` + raw + `}`})
				}
				continue
			}
			for range c.Elems {
				raw := c.Raw()
				if d := scan(raw); c.Err == nil {
					tools = append(tools, memkernel.Tool{Name: d.Text("name"), Raw: raw})
				}
			}
		}
	}
	return tools
}

// geminiPairs pairs calls without ids with their results. A result without an id answers the first
// unanswered call of the same name in the model's last content.
type geminiPairs struct {
	seen map[string]int
	open []memkernel.ToolCall
}

// geminiUnnamed begins the ids of calls that have none in the request.
const geminiUnnamed = "gemini-call-"

// take pairs the calls and results of the next message. It copies the message's parts before it
// changes them, since an earlier request may share them.
func (s *geminiPairs) take(_ []memkernel.Message, m *memkernel.Message) {
	said := m.Role == memkernel.RoleAssistant
	if said {
		s.open = nil
	}
	if !HasCalls(*m) && !HasResults(*m) {
		return
	}
	m.Parts = slices.Clone(m.Parts)
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case said && p.Call != nil:
			c := *p.Call
			if c.ID == "" {
				c.ID = s.id(&c)
			}
			p.Call, s.open = &c, append(s.open, c)
		case !said && p.Result != nil:
			r := *p.Result
			n := slices.IndexFunc(s.open, func(c memkernel.ToolCall) bool {
				return r.CallID == c.ID || r.CallID == "" && r.Name == c.Name
			})
			if n >= 0 {
				r.CallID = s.open[n].ID
				s.open = slices.Delete(s.open, n, n+1)
			} else if r.CallID == "" {
				r.CallID = geminiUnnamed + r.Name // answers nothing
			}
			p.Result = &r
		}
	}
}

// id returns the id of a call without one. It is made from the call's name and input, so it stays
// the same when the client leaves out earlier messages.
func (s *geminiPairs) id(c *memkernel.ToolCall) string {
	sum := sha256.Sum256([]byte(c.Name + "\x00" + c.Input))
	id := geminiUnnamed + hex.EncodeToString(sum[:6])
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	if s.seen[id]++; s.seen[id] > 1 {
		id += "-" + strconv.Itoa(s.seen[id])
	}
	return id
}
