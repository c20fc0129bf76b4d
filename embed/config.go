package embed

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The defaults of Config.
const (
	// DefaultBaseURL is OpenAI's own API.
	DefaultBaseURL = "https://api.openai.com/v1"
	// DefaultModel is the model for DefaultBaseURL. Other servers have none.
	DefaultModel = "text-embedding-3-small"
	// DefaultAPIKeyEnv is read for api.openai.com only.
	DefaultAPIKeyEnv = "OPENAI_API_KEY"
	// DefaultBatchSize is small enough to lose little when a run is killed.
	DefaultBatchSize = 64
	// DefaultBatchBytes stays below the 300,000 tokens that OpenAI takes in one
	// request.
	DefaultBatchBytes = 256 << 10 // 256 KiB
	// DefaultMaxTextBytes stays below the 8,192 tokens that OpenAI takes in one
	// text.
	DefaultMaxTextBytes = 8191
	// DefaultTimeout is for one try.
	DefaultTimeout = 30 * time.Second
	// DefaultMaxTries includes the first.
	DefaultMaxTries = 5

	// maxBatchSize is the most texts that OpenAI takes in one request.
	maxBatchSize = 2048
)

// Config chooses and describes a provider. Errors call a setting by its field's
// name in snake case, as configuration files do. Zero fields mean the defaults.
type Config struct {
	// Provider is "openai" (any server with OpenAI's API), "auto", "none" or
	// "", which is none. "auto" is openai if there is a key for BaseURL or
	// BaseURL is on this machine, else none.
	Provider string
	// BaseURL is what "/embeddings" is appended to; default DefaultBaseURL. It
	// must be https unless it is on this machine or AllowInsecure is set, and
	// hold neither user nor query.
	BaseURL string
	// Model is the model's name at the server; default DefaultModel for
	// api.openai.com, and required for any other server.
	Model string
	// Dimensions asks the server to shorten the vectors to this length; 0 for
	// the model's own.
	Dimensions int
	// APIKeyEnv is the environment variable that holds the key. "" means
	// DefaultAPIKeyEnv for api.openai.com and no key for any other host.
	APIKeyEnv string
	// QueryPrefix and DocumentPrefix are put before questions and texts, such
	// as "query: " and "passage: ", where the model wants that.
	QueryPrefix, DocumentPrefix string
	// BatchSize is the most texts of a request, at most 2,048; BatchBytes the
	// most bytes of them together (one text always goes); defaults
	// DefaultBatchSize and DefaultBatchBytes.
	BatchSize, BatchBytes int
	// MaxTextBytes is how much of a text is sent, with its prefix; the rest is
	// cut off between two runes. Default DefaultMaxTextBytes; models with a
	// small window need less, about 1,500 for 512 tokens of English.
	MaxTextBytes int
	// Timeout is for one try; default DefaultTimeout. The context bounds the
	// whole.
	Timeout time.Duration
	// MaxTries is how often one request is sent at most; default
	// DefaultMaxTries.
	MaxTries int
	// AllowInsecure allows plain http to another machine. Texts and key can
	// then be read on the way.
	AllowInsecure bool
}

// FromConfig makes the provider that c chooses, nil if it chooses none. It reads
// the environment for the key and sends nothing.
func FromConfig(c Config) (Provider, error) {
	switch c.Provider {
	case "", "none":
		return nil, nil
	case "openai", "auto":
		return openAIFromConfig(c)
	}
	return nil, fmt.Errorf("embedding provider %q is not known: use openai, auto or none", c.Provider)
}

// openAIFromConfig is FromConfig for "openai" and "auto".
func openAIFromConfig(c Config) (Provider, error) {
	base, err := parseBase(c.BaseURL, c.AllowInsecure)
	if err != nil {
		return nil, err
	}
	c.setDefaults(base)
	if err := c.validate(); err != nil {
		return nil, err
	}
	key, err := apiKey(c.APIKeyEnv)
	switch {
	case err != nil:
		return nil, err
	case key == "" && c.Provider == "auto" && !loopback(base):
		return nil, nil
	case key == "" && isOpenAI(base):
		return nil, fmt.Errorf("embedding provider openai has no key: put it into the environment variable %s, or set provider to none", c.APIKeyEnv)
	}
	return newOpenAI(c, base, key), nil
}

func (c *Config) setDefaults(base *url.URL) {
	if isOpenAI(base) {
		orDefault(&c.Model, DefaultModel)
		orDefault(&c.APIKeyEnv, DefaultAPIKeyEnv)
	}
	orDefault(&c.BatchSize, DefaultBatchSize)
	orDefault(&c.BatchBytes, DefaultBatchBytes)
	orDefault(&c.MaxTextBytes, DefaultMaxTextBytes)
	orDefault(&c.Timeout, DefaultTimeout)
	orDefault(&c.MaxTries, DefaultMaxTries)
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (c *Config) validate() error {
	prefix := max(len(c.QueryPrefix), len(c.DocumentPrefix))
	switch {
	case c.Model == "":
		return fmt.Errorf("embedding model is missing: name one that %s serves", c.BaseURL)
	case strings.ContainsFunc(c.Model, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return fmt.Errorf("embedding model %q has white space in it: give the name as the server lists it", c.Model)
	case c.Dimensions < 0:
		return fmt.Errorf("embedding dimensions %d: give 0 for the model's own, or a length", c.Dimensions)
	case c.BatchSize < 0 || c.BatchSize > maxBatchSize:
		return fmt.Errorf("embedding batch_size %d: give 1 to %d", c.BatchSize, maxBatchSize)
	case c.MaxTextBytes < prefix+utf8.UTFMax:
		return fmt.Errorf("embedding max_text_bytes %d leaves no room for text behind a prefix of %d bytes", c.MaxTextBytes, prefix)
	case c.BatchBytes < 0 || c.Timeout < 0 || c.MaxTries < 0:
		return fmt.Errorf("embedding batch_bytes %d, timeout %v, max_tries %d: none may be negative", c.BatchBytes, c.Timeout, c.MaxTries)
	}
	return nil
}

// apiKey reads a key. White space around it comes from files and is no part of
// it; anything that can't stand in a header makes an error here, because the
// one that net/http makes would not name the variable.
func apiKey(env string) (string, error) {
	if env == "" {
		return "", nil
	}
	key := strings.TrimSpace(os.Getenv(env))
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("the environment variable %s is no API key: it has white space or other characters that can't be sent", env)
	}
	return key, nil
}
