package model

import (
	"context"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/memkernel/memkernel/summary"
)

// openAI is a model on any server that implements OpenAI's chat completions.
type openAI struct{ *server }

// Complete implements [summary.Model].
//
// The request sets no response_format, since servers know different formats and refuse unknown
// ones. The prompt asks for JSON, and the answer is read strictly. The limit on the answer is sent
// as max_completion_tokens to api.openai.com and for OpenAI's reasoning models. Otherwise it is
// sent as max_tokens, which every server knows.
func (o *openAI) Complete(parent context.Context, p summary.Prompt) (summary.Completion, error) {
	ctx, cancel := context.WithTimeout(parent, o.timeout)
	defer cancel()
	conf := openai.DefaultConfig(o.key)
	conf.BaseURL = o.base
	conf.HTTPClient = exchange{o.server, p.Limit}
	req := openai.ChatCompletionRequest{Model: o.model, Messages: []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleSystem, Content: p.System}, {Role: openai.ChatMessageRoleUser, Content: p.User}}}
	//lint:ignore SA1019 the name that servers other than the provider's own know
	req.MaxTokens = p.MaxTokens
	if o.own || openai.NewReasoningValidator().Validate(req) != nil {
		//lint:ignore SA1019 see above
		req.MaxTokens, req.MaxCompletionTokens = 0, p.MaxTokens
	}
	resp, err := openai.NewClientWithConfig(conf).CreateChatCompletion(ctx, req)
	if err != nil {
		return summary.Completion{}, o.explain(parent, ctx, err)
	}
	out := summary.Completion{InputTokens: max(0, resp.Usage.PromptTokens), OutputTokens: max(0, resp.Usage.CompletionTokens)}
	var choice openai.ChatCompletionChoice
	if len(resp.Choices) > 0 {
		choice = resp.Choices[0]
	}
	out.Text, err = o.text(choice.Message.Content, choice.FinishReason == openai.FinishReasonLength,
		choice.FinishReason == openai.FinishReasonContentFilter || choice.Message.Refusal != "", p)
	return out, err
}

// exchange sends one request. It reads answers itself where the client library would read them
// without a bound, or would put a whole answer into its error.
type exchange struct {
	e     *server
	limit int64
}

func (x exchange) Do(req *http.Request) (*http.Response, error) { return x.e.do(req, x.limit) }
