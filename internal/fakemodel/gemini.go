package fakemodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// gemini is Gemini's generateContent. The path holds the model and says whether the answer is
// streamed.
type gemini struct {
	model        string
	streams, sse bool
	count        bool
	repeats      bool // repeated results are accepted
}

// geminiOf reads the path of a call. ok is false if the call is not Gemini's.
func geminiOf(r *http.Request) (g gemini, ok bool) {
	_, last, ok := strings.Cut(r.URL.Path, "/models/")
	model, method, called := strings.Cut(last, ":")
	if !ok || !called {
		return g, false
	}
	g = gemini{model: model, streams: method == "streamGenerateContent", sse: r.URL.Query().Get("alt") == "sse", count: method == "countTokens"}
	return g, g.streams || g.count || method == "generateContent"
}

// geminiCaches returns the length of the shortest prefix that is cached implicitly.
func geminiCaches(model string) int {
	if strings.Contains(model, "gemini-2.5") {
		return 2048
	}
	return 4096
}

type geminiPart struct {
	Text      *string         `json:"text"`
	Inline    json.RawMessage `json:"inlineData"`
	File      json.RawMessage `json:"fileData"`
	Call      *geminiFunction `json:"functionCall"`
	Response  *geminiFunction `json:"functionResponse"`
	Code      json.RawMessage `json:"executableCode"`
	Ran       json.RawMessage `json:"codeExecutionResult"`
	Signature string          `json:"thoughtSignature"`
	Thought   bool            `json:"thought"`
}

type geminiFunction struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"args"`
	Response json.RawMessage `json:"response"`
	Parts    json.RawMessage `json:"parts"`
}

type geminiContent struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
	parts []geminiPart
}

func (g gemini) segments(body []byte, contents []json.RawMessage) ([]segment, error) {
	var head struct {
		System *geminiContent  `json:"systemInstruction"`
		Model  json.RawMessage `json:"model"`
		Cached string          `json:"cachedContent"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return nil, err
	}
	if head.Model != nil {
		return nil, errors.New(`Invalid JSON payload received. Unknown name "model": Cannot find field.`)
	}
	var out []segment
	if head.System != nil {
		for i, raw := range head.System.Parts {
			out = append(out, segmentOf(fmt.Sprintf("systemInstruction.parts[%d]", i), raw))
		}
	}
	list := make([]geminiContent, len(contents))
	for i, raw := range contents {
		if err := list[i].read(raw); err != nil {
			return nil, fmt.Errorf("contents[%d]: %w", i, err)
		}
	}
	if err := g.rules(list); err != nil {
		return nil, err
	}
	ids := geminiIDs(list)
	for i := range list {
		for j, p := range list[i].parts {
			s := segmentOf(fmt.Sprintf("contents[%d].parts[%d]", i, j), list[i].Parts[j])
			if j == 0 { // the role counts as a part of the first segment
				s.Bytes = append([]byte(list[i].role()+"\n"), s.Bytes...)
			}
			s.role = list[i].role()
			switch {
			case p.Call != nil:
				s.Call = ids[[2]int{i, j}]
			case p.Response != nil:
				s.Result, s.text = ids[[2]int{i, j}], geminiResult(p.Response.Response)
			case p.Text != nil:
				s.text = *p.Text
			}
			out = append(out, s)
		}
	}
	return out, nil
}

// geminiResult returns the result of a function.
func geminiResult(raw json.RawMessage) string {
	var r struct{ Output, Error string }
	if json.Unmarshal(raw, &r) != nil || r.Output+r.Error == "" {
		return string(raw)
	}
	return r.Output + r.Error
}

// read reads a content as strictly as the API does. A part must hold exactly one kind of content
// and no unknown members.
func (c *geminiContent) read(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, c); err != nil {
		return err
	}
	if len(c.Parts) == 0 {
		return errors.New("parts must not be empty")
	}
	if !slices.Contains([]string{"user", "model", "function"}, c.Role) {
		return fmt.Errorf("Please use a valid role: user, model. Got %q", c.Role)
	}
	for j, raw := range c.Parts {
		var p geminiPart
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.DisallowUnknownFields()
		if err := d.Decode(&p); err != nil {
			return fmt.Errorf("Invalid JSON payload received. parts[%d]: %w", j, err)
		}
		n := 0
		for _, has := range []bool{p.Text != nil, p.Inline != nil, p.File != nil, p.Call != nil, p.Response != nil, p.Code != nil, p.Ran != nil} {
			if has {
				n++
			}
		}
		if n != 1 {
			return fmt.Errorf("parts[%d].data: required oneof field 'data' must have one initialized field", j)
		}
		if (p.Call != nil && c.role() != "model") || (p.Response != nil && c.role() != "user") {
			return fmt.Errorf("parts[%d]: a function call is the model's, its response the user's", j)
		}
		c.parts = append(c.parts, p)
	}
	return nil
}

func (c *geminiContent) role() string {
	if c.Role == "model" {
		return "model"
	}
	return "user"
}

func (c *geminiContent) calls() (out []geminiPart) {
	for _, p := range c.parts {
		if p.Call != nil {
			out = append(out, p)
		}
	}
	return out
}

func (c *geminiContent) responses() (out []geminiFunction) {
	for _, p := range c.parts {
		if p.Response != nil {
			out = append(out, *p.Response)
		}
	}
	return out
}

// rules checks the rules of a conversation. User and model must take turns. Results must directly
// follow their calls, in the same number and with the same names. The model's thought must come
// with the first call of each step of the current turn.
func (g gemini) rules(list []geminiContent) error {
	for i := range list {
		c := &list[i]
		if i > 0 && c.role() == list[i-1].role() {
			return fmt.Errorf("Please ensure that multiturn requests alternate between user and model: contents[%d]", i)
		}
		calls, answers := []geminiPart(nil), c.responses()
		if i > 0 {
			calls = list[i-1].calls()
		}
		if len(calls) != len(answers) && !(g.repeats && len(answers) > len(calls) && len(calls) > 0) {
			return fmt.Errorf("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: contents[%d] has %d for %d", i, len(answers), len(calls))
		}
		for _, p := range calls {
			n := slices.IndexFunc(answers, func(a geminiFunction) bool { return a.Name == p.Call.Name && a.ID == p.Call.ID })
			if n < 0 {
				return fmt.Errorf("Please ensure that function response turn comes immediately after a function call turn: contents[%d] has none for %s", i, p.Call.Name)
			}
			answers = slices.Delete(answers, n, n+1)
		}
	}
	switch {
	case list[0].role() == "model":
		return errors.New("Please ensure that function call turn comes immediately after a user turn or after a function response turn: contents begin with a model turn")
	case list[len(list)-1].role() == "model":
		return errors.New("Please ensure that multiturn requests end with a user role or a function response")
	}
	return g.signatures(list)
}

func (g gemini) signatures(list []geminiContent) error {
	if strings.Contains(g.model, "gemini-2") {
		return nil
	}
	start := 0
	for i := range list {
		if list[i].role() == "user" && len(list[i].responses()) == 0 {
			start = i
		}
	}
	for i := start; i < len(list); i++ {
		if calls := list[i].calls(); len(calls) > 0 && calls[0].Signature == "" {
			return fmt.Errorf("Function call is missing a thought_signature in functionCall parts: contents[%d], function call %s", i, calls[0].Call.Name)
		}
	}
	for i := range list {
		for _, p := range list[i].calls() {
			if own, ok := strings.CutPrefix(p.Signature, geminiSigned); ok && own != geminiSum(p.Call.Name) {
				return fmt.Errorf("Thought signature is not valid: contents[%d]", i)
			}
		}
	}
	return nil
}

// geminiSigned begins the server's signatures. A signature ends with the geminiSum of the signed
// name.
const geminiSigned = "c2lnbmVk"

// geminiSum returns the end of the signature for a name. It is valid base64, because clients
// decode the API's signatures.
func geminiSum(name string) string { return fmt.Sprintf("%x", name+"\x00"[:len(name)%2]) }

// geminiIDs matches calls to results by their ids, or else by name and order.
func geminiIDs(list []geminiContent) map[[2]int]string {
	out := map[[2]int]string{}
	for i := range list {
		taken := map[int]bool{}
		for j, p := range list[i].parts {
			switch {
			case p.Call != nil:
				out[[2]int{i, j}] = fmt.Sprintf("%s@%d.%d", p.Call.Name, i, j)
			case p.Response != nil && i > 0:
				for k, q := range list[i-1].parts {
					if q.Call != nil && !taken[k] && q.Call.Name == p.Response.Name && q.Call.ID == p.Response.ID {
						taken[k] = true
						out[[2]int{i, j}] = out[[2]int{i - 1, k}]
						break
					}
				}
			}
		}
	}
	return out
}

// functions returns the definitions of all functions, and other tools as they are. A tool may declare
// several functions.
func (gemini) functions(tools []json.RawMessage) (out []json.RawMessage) {
	for _, raw := range tools {
		var t struct {
			Functions []json.RawMessage `json:"functionDeclarations"`
		}
		if json.Unmarshal(raw, &t) != nil || t.Functions == nil {
			out = append(out, raw)
		}
		out = append(out, t.Functions...)
	}
	return out
}

// bill counts as read the longest prefix that an earlier request to the model had, if that prefix
// is long enough to be cached.
func (g gemini) bill(c *cache, r Request, reply Reply) Usage {
	read := c.longest(r)
	if read < geminiCaches(g.model) {
		read = 0
	}
	return Usage{Read: read, Uncached: r.Tokens() - read, Output: reply.output() + geminiThoughts}
}

// geminiThoughts is the number of tokens that the model thinks before each answer.
const geminiThoughts = 5

func (g gemini) parts(r Request, reply Reply) []any {
	out := []any{}
	if reply.Text != "" || len(reply.Calls) == 0 {
		out = append(out, map[string]any{"text": reply.Text})
	}
	for i, c := range reply.Calls {
		call := map[string]any{"name": c.Name, "args": c.input()}
		if c.ID != "" {
			call["id"] = callID("call", r, i, c)
		}
		p := map[string]any{"functionCall": call}
		if i == 0 {
			p["thoughtSignature"] = geminiSigned + geminiSum(c.Name)
		}
		out = append(out, p)
	}
	return out
}

func (g gemini) piece(r Request, parts []any, finish string, output int) map[string]any {
	c := map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "index": 0}
	if finish != "" {
		c["finishReason"] = finish
	}
	u := r.Usage
	usage := map[string]any{"promptTokenCount": u.Input(), "totalTokenCount": u.Input() + output, "promptTokensDetails": []any{map[string]any{"modality": "TEXT", "tokenCount": u.Input()}}}
	if output > geminiThoughts {
		usage["candidatesTokenCount"] = output - geminiThoughts
	}
	if u.Read > 0 {
		usage["cachedContentTokenCount"] = u.Read
	}
	usage["thoughtsTokenCount"] = geminiThoughts
	return map[string]any{"candidates": []any{c}, "usageMetadata": usage, "modelVersion": r.Model, "responseId": fmt.Sprintf("r%d", r.N)}
}

func (g gemini) whole(w http.ResponseWriter, r Request, reply Reply) {
	writeJSON(w, http.StatusOK, g.piece(r, g.parts(r, reply), "STOP", r.Usage.Output))
}

// stream sends the parts one by one. It cuts a text into two pieces, and sends the end of the answer
// as a piece without text.
func (g gemini) stream(w http.ResponseWriter, r Request, reply Reply) {
	var pieces []map[string]any
	for _, p := range g.parts(r, reply) {
		if text, ok := p.(map[string]any)["text"].(string); ok && len(text) > 1 {
			half := strings.ToValidUTF8(text[:len(text)/2], "")
			pieces = append(pieces, g.piece(r, []any{map[string]any{"text": half}}, "", geminiThoughts))
			p = map[string]any{"text": text[len(half):]}
		}
		pieces = append(pieces, g.piece(r, []any{p}, "", geminiThoughts+1))
	}
	pieces = append(pieces, g.piece(r, []any{map[string]any{"text": ""}}, "STOP", r.Usage.Output))
	if !g.sse {
		writeJSON(w, http.StatusOK, pieces)
		return
	}
	e := newEvents(w)
	for _, p := range pieces {
		e.send("", p)
	}
}

func (gemini) fail(w http.ResponseWriter, status int, kind, text string) {
	name := map[int]string{400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
	if name == "" {
		name = strings.ToUpper(kind)
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{"code": status, "message": text, "status": name}})
}

func (gemini) tooLong(tokens, window int) string {
	return fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", tokens, window)
}
