package model

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel/internal/endpoint"
	"github.com/memkernel/memkernel/summary"
)

// The providers.
const (
	providerNone      = "none"
	providerOpenAI    = "openai"
	providerAnthropic = "anthropic"
)

// The defaults of [Config]. Each default model is the provider's cheapest in the price book of
// package cachelayout as of 2026-11-10. OpenAI's costs 0.05 dollars per million input tokens and
// 0.40 per million output tokens. Anthropic's costs 0.10 and 0.50 up to 100,000 tokens of input.
const (
	defaultOpenAIModel    = "gpt-5-nano"
	defaultAnthropicModel = "claude-haiku-5-5"

	defaultOpenAIURL    = "https://api.openai.com/v1"
	defaultAnthropicURL = "https://api.anthropic.com"
	openAIHost          = "api.openai.com"
	anthropicHost       = "api.anthropic.com"

	// defaultTimeout bounds the whole request.
	defaultTimeout = 60 * time.Second
)

// Config chooses and describes a provider. Errors name a setting by its field's name in snake
// case. A zero field means the default.
type Config struct {
	// Provider is openai (any server with OpenAI's API), anthropic, none or "". "" means none.
	// Neither a key nor a URL chooses a provider.
	Provider string
	// BaseURL is the address to which "/chat/completions" or "/v1/messages" is appended. It must
	// be https unless it is on this machine or AllowInsecure is set. It must not contain a user
	// or a query. Default: the provider's own.
	BaseURL string
	// Model is the model's name at the server. It is required if BaseURL is not the provider's
	// own.
	Model string
	// APIKeyEnv is the environment variable that holds the key. "" means the
	// provider's usual one for its own host, and no key for any other.
	APIKeyEnv string
	// Timeout bounds the whole request.
	Timeout time.Duration
	// AllowInsecure allows plain http to another machine.
	AllowInsecure bool
}

// FromConfig makes the model that c chooses, nil if it chooses none. It reads the
// environment for the key and sends nothing.
func FromConfig(c Config) (summary.Model, error) {
	switch c.Provider {
	case "", providerNone:
		return nil, nil
	case providerOpenAI:
		e, err := c.server(defaultOpenAIURL, openAIHost, defaultOpenAIModel, "OPENAI_API_KEY")
		if err != nil {
			return nil, err
		}
		return &openAI{e}, nil
	case providerAnthropic:
		e, err := c.server(defaultAnthropicURL, anthropicHost, defaultAnthropicModel, "ANTHROPIC_API_KEY")
		if err != nil {
			return nil, err
		}
		return &anthropic{e}, nil
	}
	return nil, fmt.Errorf("summary model provider %q is not known: use openai, anthropic or none", c.Provider)
}

// server fills in the defaults of a provider at its own host.
func (c Config) server(ownURL, ownHost, ownModel, ownKey string) (*server, error) {
	c.BaseURL = cmp.Or(c.BaseURL, ownURL)
	base, err := endpoint.Parse("summary model", c.BaseURL, c.AllowInsecure)
	if err != nil {
		return nil, err
	}
	own := endpoint.Own(base, ownHost)
	if own {
		c.Model, c.APIKeyEnv = cmp.Or(c.Model, ownModel), cmp.Or(c.APIKeyEnv, ownKey)
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	key, err := endpoint.Key(c.APIKeyEnv)
	switch {
	case err != nil:
		return nil, err
	case c.Model == "" || strings.ContainsFunc(c.Model, unicode.IsSpace):
		return nil, fmt.Errorf("summary model %q: name one that %s serves", c.Model, base)
	case c.Timeout < 0:
		return nil, fmt.Errorf("summary model timeout %v: it can't be negative", c.Timeout)
	case own && key == "":
		return nil, fmt.Errorf("summary model provider %s has no key: put it into the environment variable %s, or set provider to none", c.Provider, c.APIKeyEnv)
	}
	return &server{base: base.String(), model: c.Model, key: key, keyEnv: c.APIKeyEnv, timeout: c.Timeout, own: own,
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}
