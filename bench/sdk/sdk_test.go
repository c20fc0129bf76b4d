// Package sdk_test runs programs that use the providers' SDKs through package transport, and
// an agent of eino with a middleware.
package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/transport"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	gopenai "github.com/sashabaranov/go-openai"
	"google.golang.org/genai"
)

const (
	tool   = "read_ledger"
	turns  = 8
	window = 24_000
)

var (
	system     = strings.Repeat("You keep the ledger of a harbour, and name each ship. ", 80)
	parameters = map[string]any{"type": "object", "properties": map[string]any{"day": map[string]any{"type": "integer"}}}
)

// ledger is a day's ledger. That of the second day does not fit the window.
func ledger(day int) string {
	size := 9_000
	if day == 1 {
		size = 120_000
	}
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%02d:%02d berth %d ship Osprey-%d-%d unloaded %d crates of grade %c\n", i/60%24, i%60, i%7, day, i, 20+i*day%31, 'A'+i%4)
	}
	return b.String()
}

// model calls the tool for a user's words, and then answers.
func model(turn fakemodel.Turn) fakemodel.Reply {
	if len(turn.Results) > 0 {
		return fakemodel.Reply{Text: "the ledger is in order"}
	}
	return fakemodel.Reply{Calls: []fakemodel.Call{{ID: fmt.Sprintf("call_%d", turn.N), Name: tool, Input: json.RawMessage(`{"day":1}`)}}}
}

// talk is a program's conversation. say takes a user's words to the answer, over one call of
// the tool, which returns result.
type talk interface {
	say(ctx context.Context, words, result string, stream bool) (answer string, err error)
}

// counted notes what became of each request.
type counted struct {
	http.RoundTripper
	mu       sync.Mutex
	outcomes []string
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		c.mu.Lock()
		c.outcomes = append(c.outcomes, res.Header.Get("X-Memkernel"))
		c.mu.Unlock()
	}
	return res, err
}

// TestSDKs holds conversations with a tool, one of whose results is larger than the window.
func TestSDKs(t *testing.T) {
	for name, open := range map[string]func(*testing.T, *http.Client, string) talk{
		"anthropic-sdk-go": newAnthropic, "openai-go chat": newChat, "openai-go responses": newResponses,
		"go-openai": newGoOpenAI, "genai": newGenAI,
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", name, stream), func(t *testing.T) {
				server := fakemodel.New(fakemodel.Options{Script: model})
				up := httptest.NewServer(server)
				defer up.Close()
				k, err := kernel.Open(t.Context(), t.TempDir(), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer k.Close()
				via := &transport.Transport{Kernel: k, Private: true, ContextWindow: window, Deadline: 5 * time.Minute}
				count := &counted{RoundTripper: via}
				program := open(t, &http.Client{Transport: count}, up.URL)
				ctx := transport.WithSession(t.Context(), "harbour")
				for day := range turns {
					answer, err := program.say(ctx, fmt.Sprintf("what does the ledger of day %d say?", day), ledger(day), stream)
					if err != nil || answer != "the ledger is in order" {
						t.Fatalf("day %d: %q, %v", day, answer, err)
					}
				}
				if err := via.Close(); err != nil {
					t.Fatal(err)
				}
				check(t, server, k, count.outcomes)
			})
		}
	}
}

func check(t *testing.T, server *fakemodel.Server, k *kernel.Kernel, outcomes []string) {
	t.Helper()
	cuts := 0
	for i, o := range outcomes {
		if !strings.HasPrefix(o, "planned; ") {
			t.Errorf("request %d: %q", i, o)
		}
		if !strings.Contains(o, "cut=none") {
			cuts++
		}
	}
	all := server.Requests()
	if len(all) != 2*turns || len(outcomes) != 2*turns {
		t.Fatalf("%d requests, %d outcomes", len(all), len(outcomes))
	}
	kept := 0
	for i, r := range all {
		if err := r.Pairs(); err != nil {
			t.Errorf("request %d: %v", i, err)
		}
		if r.Tokens() > window {
			t.Errorf("request %d has %d tokens of a window of %d", i, r.Tokens(), window)
		}
		if i > 0 && r.Parts(all[i-1]) == "" {
			kept++
		}
	}
	if cuts == 0 || kept < len(all)-1-cuts {
		t.Errorf("%d of %d requests go on from the one before, with %d cuts", kept, len(all)-1, cuts)
	}
	if v := server.Violations(); len(v) > 0 {
		t.Errorf("violations: %v", v)
	}
	bills, err := k.Usage(t.Context(), billing.Options{})
	if err != nil || bills.Total.Calls != 2*turns || bills.Total.Turns != turns {
		t.Errorf("%d calls of %d turns have a bill: %v", bills.Total.Calls, bills.Total.Turns, err)
	}
	t.Logf("planned %d, cuts %d, prefix kept %d of %d, read %d of %d tokens from the cache", len(outcomes), cuts, kept, len(all)-1,
		bills.Total.Billed.CacheReadTokens, bills.Total.Billed.InputTokens)
}

type anthropicTalk struct {
	client anthropic.Client
	params anthropic.MessageNewParams
}

func newAnthropic(_ *testing.T, c *http.Client, url string) talk {
	return &anthropicTalk{anthropic.NewClient(anthropicoption.WithHTTPClient(c), anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("none")),
		anthropic.MessageNewParams{Model: "claude-sonnet-4-6", MaxTokens: 1024, System: []anthropic.TextBlockParam{{Text: system}},
			Tools: []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: parameters["properties"]}, tool)}}}
}

func (a *anthropicTalk) say(ctx context.Context, words, result string, stream bool) (string, error) {
	a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(anthropic.NewTextBlock(words)))
	for {
		m, err := a.call(ctx, stream)
		if err != nil {
			return "", err
		}
		a.params.Messages = append(a.params.Messages, m.ToParam())
		last := m.Content[len(m.Content)-1]
		if last.Type != "tool_use" {
			return last.Text, nil
		}
		a.params.Messages = append(a.params.Messages, anthropic.NewUserMessage(anthropic.NewToolResultBlock(last.ID, result, false)))
	}
}

func (a *anthropicTalk) call(ctx context.Context, stream bool) (*anthropic.Message, error) {
	if !stream {
		return a.client.Messages.New(ctx, a.params)
	}
	s := a.client.Messages.NewStreaming(ctx, a.params)
	defer s.Close()
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			return nil, err
		}
	}
	return &m, s.Err()
}

type chatTalk struct {
	client openai.Client
	params openai.ChatCompletionNewParams
}

func newOpenAI(c *http.Client, url string) openai.Client {
	return openai.NewClient(openaioption.WithHTTPClient(c), openaioption.WithBaseURL(url+"/v1"), openaioption.WithAPIKey("none"))
}

func newChat(_ *testing.T, c *http.Client, url string) talk {
	return &chatTalk{newOpenAI(c, url), openai.ChatCompletionNewParams{Model: "gpt-5", Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system)},
		Tools:         []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: tool, Parameters: parameters})},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{}}}
}

func (c *chatTalk) say(ctx context.Context, words, result string, stream bool) (string, error) {
	c.params.Messages = append(c.params.Messages, openai.UserMessage(words))
	for {
		a, err := c.call(ctx, stream)
		if err != nil {
			return "", err
		}
		m := a.Choices[0].Message
		c.params.Messages = append(c.params.Messages, m.ToParam())
		if len(m.ToolCalls) == 0 {
			return m.Content, nil
		}
		c.params.Messages = append(c.params.Messages, openai.ToolMessage(result, m.ToolCalls[0].ID))
	}
}

func (c *chatTalk) call(ctx context.Context, stream bool) (*openai.ChatCompletion, error) {
	if !stream {
		return c.client.Chat.Completions.New(ctx, c.params)
	}
	params := c.params
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	s := c.client.Chat.Completions.NewStreaming(ctx, params)
	defer s.Close()
	var all openai.ChatCompletionAccumulator
	for s.Next() {
		if !all.AddChunk(s.Current()) {
			return nil, errors.New("a chunk does not fit the others")
		}
	}
	return &all.ChatCompletion, s.Err()
}

type responsesTalk struct {
	client openai.Client
	params responses.ResponseNewParams
}

func newResponses(_ *testing.T, c *http.Client, url string) talk {
	return &responsesTalk{newOpenAI(c, url), responses.ResponseNewParams{Model: "gpt-5", Instructions: openai.String(system), Store: openai.Bool(false),
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: tool, Parameters: parameters}}}}}
}

func (r *responsesTalk) say(ctx context.Context, words, result string, stream bool) (string, error) {
	in := &r.params.Input.OfInputItemList
	*in = append(*in, responses.ResponseInputItemParamOfMessage(words, responses.EasyInputMessageRoleUser))
	for {
		a, err := r.call(ctx, stream)
		if err != nil {
			return "", err
		}
		open := false
		for i := range a.Output {
			switch o := a.Output[i].AsAny().(type) {
			case responses.ResponseFunctionToolCall:
				open = true
				output := responses.ResponseInputItemParamOfFunctionCallOutput(result)
				output.OfFunctionCallOutput.CallID = openai.String(o.CallID)
				*in = append(*in, responses.ResponseInputItemParamOfFunctionCall(o.Arguments, o.CallID, o.Name), output)
			case responses.ResponseOutputMessage:
				said := o.ToParam()
				*in = append(*in, responses.ResponseInputItemUnionParam{OfOutputMessage: &said})
			}
		}
		if !open {
			return a.OutputText(), nil
		}
	}
}

func (r *responsesTalk) call(ctx context.Context, stream bool) (*responses.Response, error) {
	if !stream {
		return r.client.Responses.New(ctx, r.params)
	}
	s := r.client.Responses.NewStreaming(ctx, r.params)
	defer s.Close()
	var last responses.Response
	for s.Next() {
		if e := s.Current(); e.Type == "response.completed" {
			last = e.Response
		}
	}
	return &last, s.Err()
}

type goOpenAITalk struct {
	client  *gopenai.Client
	request gopenai.ChatCompletionRequest
}

func newGoOpenAI(_ *testing.T, c *http.Client, url string) talk {
	config := gopenai.DefaultConfig("none")
	config.HTTPClient, config.BaseURL = c, url+"/v1"
	return &goOpenAITalk{gopenai.NewClientWithConfig(config), gopenai.ChatCompletionRequest{Model: "gpt-5",
		Messages: []gopenai.ChatCompletionMessage{{Role: gopenai.ChatMessageRoleSystem, Content: system}},
		Tools:    []gopenai.Tool{{Type: gopenai.ToolTypeFunction, Function: &gopenai.FunctionDefinition{Name: tool, Parameters: parameters}}}}}
}

func (g *goOpenAITalk) say(ctx context.Context, words, result string, stream bool) (string, error) {
	g.request.Messages = append(g.request.Messages, gopenai.ChatCompletionMessage{Role: gopenai.ChatMessageRoleUser, Content: words})
	for {
		m, err := g.call(ctx, stream)
		if err != nil {
			return "", err
		}
		g.request.Messages = append(g.request.Messages, m)
		if len(m.ToolCalls) == 0 {
			return m.Content, nil
		}
		g.request.Messages = append(g.request.Messages, gopenai.ChatCompletionMessage{Role: gopenai.ChatMessageRoleTool, ToolCallID: m.ToolCalls[0].ID, Content: result})
	}
}

func (g *goOpenAITalk) call(ctx context.Context, stream bool) (gopenai.ChatCompletionMessage, error) {
	m := gopenai.ChatCompletionMessage{Role: gopenai.ChatMessageRoleAssistant}
	if !stream {
		a, err := g.client.CreateChatCompletion(ctx, g.request)
		if err != nil {
			return m, err
		}
		return a.Choices[0].Message, nil
	}
	request := g.request
	request.StreamOptions = &gopenai.StreamOptions{IncludeUsage: true}
	s, err := g.client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return m, err
	}
	defer s.Close()
	for {
		piece, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return m, err
		}
		for _, c := range piece.Choices {
			m.Content += c.Delta.Content
			for _, call := range c.Delta.ToolCalls {
				if len(m.ToolCalls) == 0 {
					m.ToolCalls = []gopenai.ToolCall{{Type: gopenai.ToolTypeFunction}}
				}
				m.ToolCalls[0].ID += call.ID
				m.ToolCalls[0].Function.Name += call.Function.Name
				m.ToolCalls[0].Function.Arguments += call.Function.Arguments
			}
		}
	}
}

type genAITalk struct {
	client   *genai.Client
	contents []*genai.Content
	config   *genai.GenerateContentConfig
}

func newGenAI(t *testing.T, c *http.Client, url string) talk {
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPClient: c, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	return &genAITalk{client: client, config: &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(system, genai.RoleUser),
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: tool, ParametersJsonSchema: parameters}}}}}}
}

func (g *genAITalk) say(ctx context.Context, words, result string, stream bool) (string, error) {
	g.contents = append(g.contents, genai.NewContentFromText(words, genai.RoleUser))
	for {
		said := &genai.Content{Role: genai.RoleModel}
		answers := g.client.Models.GenerateContentStream(ctx, "gemini-3-flash", g.contents, g.config)
		if !stream {
			answers = func(yield func(*genai.GenerateContentResponse, error) bool) {
				yield(g.client.Models.GenerateContent(ctx, "gemini-3-flash", g.contents, g.config))
			}
		}
		for a, err := range answers {
			if err != nil {
				return "", err
			}
			for _, p := range a.Candidates[0].Content.Parts {
				if p.Text != "" || p.FunctionCall != nil { // the last piece of a stream may be empty
					said.Parts = append(said.Parts, p)
				}
			}
		}
		g.contents = append(g.contents, said)
		text, open := "", false
		for _, p := range said.Parts {
			text += p.Text
			if p.FunctionCall != nil {
				open = true
				part := genai.NewPartFromFunctionResponse(tool, map[string]any{"output": result})
				part.FunctionResponse.ID = p.FunctionCall.ID
				g.contents = append(g.contents, genai.NewContentFromParts([]*genai.Part{part}, genai.RoleUser))
			}
		}
		if !open {
			return text, nil
		}
	}
}
