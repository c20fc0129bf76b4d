package model

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel/summary"
)

// The providers.
const (
	ProviderNone      = "none"
	ProviderOpenAI    = "openai"
	ProviderAnthropic = "anthropic"
)

// The defaults of [Config]. The models are each provider's cheapest in the price
// book of package cachelayout (as of 2026-11-10): 0.05 and 0.40 dollars a million
// tokens in and out, and 0.10 and 0.50 up to 100,000 tokens of input.
const (
	DefaultOpenAIModel    = "gpt-5-nano"
	DefaultAnthropicModel = "claude-haiku-5-5"

	defaultOpenAIURL    = "https://api.openai.com/v1"
	defaultAnthropicURL = "https://api.anthropic.com"
	openAIHost          = "api.openai.com"
	anthropicHost       = "api.anthropic.com"

	// DefaultTimeout is for the whole request.
	DefaultTimeout = 60 * time.Second
)

// Config chooses and describes a provider. Errors call a setting by its field's
// name in snake case. Zero fields mean the defaults.
type Config struct {
	// Provider is openai (any server with OpenAI's API), anthropic, none or "",
	// which is none. There is no guessing: neither a key nor a URL is a choice.
	Provider string
	// BaseURL is what "/chat/completions" or "/v1/messages" is appended to. It must
	// be https unless it is on this machine or AllowInsecure is set, and hold
	// neither user nor query. Default: the provider's own.
	BaseURL string
	// Model is the model's name at the server; required where BaseURL is not the
	// provider's own.
	Model string
	// APIKeyEnv is the environment variable that holds the key. "" means the
	// provider's usual one for its own host, and no key for any other.
	APIKeyEnv string
	// Timeout is for the whole request.
	Timeout time.Duration
	// AllowInsecure allows plain http to another machine.
	AllowInsecure bool
}

// FromConfig makes the model that c chooses, nil if it chooses none. It reads the
// environment for the key and sends nothing.
func FromConfig(c Config) (summary.Model, error) {
	switch c.Provider {
	case "", ProviderNone:
		return nil, nil
	case ProviderOpenAI:
		e, err := c.endpoint(defaultOpenAIURL, openAIHost, DefaultOpenAIModel, "OPENAI_API_KEY")
		if err != nil {
			return nil, err
		}
		return &openAI{e}, nil
	case ProviderAnthropic:
		e, err := c.endpoint(defaultAnthropicURL, anthropicHost, DefaultAnthropicModel, "ANTHROPIC_API_KEY")
		if err != nil {
			return nil, err
		}
		return &anthropic{e}, nil
	}
	return nil, fmt.Errorf("summary model provider %q is not known: use openai, anthropic or none", c.Provider)
}

// endpoint fills in what a provider takes for granted at its own host.
func (c Config) endpoint(ownURL, ownHost, ownModel, ownKey string) (*endpoint, error) {
	if c.BaseURL == "" {
		c.BaseURL = ownURL
	}
	base, err := parseBase(c.BaseURL, c.AllowInsecure)
	if err != nil {
		return nil, err
	}
	own := base.Scheme == "https" && strings.HasSuffix("."+strings.ToLower(base.Hostname()), "."+ownHost)
	if own && c.Model == "" {
		c.Model = ownModel
	}
	if own && c.APIKeyEnv == "" {
		c.APIKeyEnv = ownKey
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	key, err := apiKey(c.APIKeyEnv)
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
	return &endpoint{base: base.String(), model: c.Model, key: key, keyEnv: c.APIKeyEnv, timeout: c.Timeout, own: own,
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// parseBase checks a base URL. What it refuses with a user in it is not repeated,
// since that may be a password.
func parseBase(raw string, insecure bool) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil || u.User != nil:
		return nil, errors.New("summary model base_url is no plain URL: give scheme, host and path, and the key by api_key_env")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("summary model base_url %q: it must be https:// or http:// and a host", raw)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("summary model base_url for %s: leave out what stands behind ? or #", u.Host)
	case u.Scheme == "http" && !loopback(u) && !insecure:
		return nil, fmt.Errorf("summary model base_url %q would send texts unencrypted to another machine: use https, or set allow_insecure", raw)
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, nil
}

// loopback tells whether a URL is on this machine by its spelling.
func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// apiKey reads a key. What can't stand in a header is an error here that names the
// variable and not the key.
func apiKey(env string) (string, error) {
	if env == "" {
		return "", nil
	}
	key := strings.TrimSpace(os.Getenv(env))
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("the environment variable %s is no API key: it has characters that can't be sent", env)
	}
	return key, nil
}
