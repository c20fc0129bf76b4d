package embed

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// The providers.
const (
	providerNone    = "none"
	providerAuto    = "auto"
	providerLocal   = "local"
	providerOpenAI  = "openai"
	providerGemini  = "gemini"
	providerVoyage  = "voyage"
	providerMistral = "mistral"
	providerOllama  = "ollama"
)

// The defaults of Config.
const (
	// defaultBaseURL is OpenAI's own API.
	defaultBaseURL = "https://api.openai.com/v1"
	// defaultModel is the default model at defaultBaseURL. Other servers with OpenAI's API have no
	// default.
	defaultModel = "text-embedding-3-small"
	// defaultAPIKeyEnv is the default variable of the key for api.openai.com only.
	defaultAPIKeyEnv = "OPENAI_API_KEY"
	// defaultBatchSize is small enough to lose little when a run is killed.
	defaultBatchSize = 64
	// defaultBatchBytes stays below the 300,000 tokens that OpenAI takes in one request.
	// Providers with smaller limits have smaller defaults.
	defaultBatchBytes = 256 << 10 // 256 KiB
	// maxTextBytes is the number of bytes of a text that are sent, including its prefix. The rest is
	// cut off between two runes. It stays below the 8,192 tokens that OpenAI takes in one text.
	maxTextBytes = 8191
	// defaultTimeout bounds one try.
	defaultTimeout = 30 * time.Second
	// defaultMaxTries is the number of tries, including the first.
	defaultMaxTries = 5

	// maxBatchSize is the largest number of texts that OpenAI takes in one request.
	maxBatchSize = 2048
)

// Config chooses and describes a provider. Errors name a setting by its field's name in snake
// case, as in configuration files. Zero fields mean the defaults.
type Config struct {
	// Provider is "openai" (any server with OpenAI's API), "gemini", "voyage", "mistral",
	// "ollama", "local", "auto", "none", or "", which means none. "auto" takes the first provider
	// that is available. It tries openai at BaseURL, if BaseURL is set and has a key or is on
	// this machine. It then tries local, if ModelDir is set. It then tries openai, gemini, voyage
	// and mistral, each if its usual key is in the environment and Model, if set, is not another
	// provider's model. Otherwise it takes none.
	Provider string
	// BaseURL is the server's address. The default is the provider's own address. It must be
	// https unless it is on this machine or AllowInsecure is set. It must not hold a user or a
	// query.
	BaseURL string
	// Model is the model's name at the server. The default is the provider's usual model. Model
	// is required for servers with OpenAI's API other than api.openai.com.
	Model string
	// ModelDir is the folder of the model that the provider "local" loads.
	ModelDir string
	// Dimensions is the length to which the server must shorten the vectors. 0 means the model's
	// own length.
	Dimensions int
	// APIKeyEnv is the environment variable that holds the key. "" means the provider's usual
	// variable for its own host, and no key for any other host.
	APIKeyEnv string
	// QueryPrefix and DocumentPrefix are put before questions and texts, such as "query: " and
	// "passage: ". Set them if the model needs them. If both are "", the known prefixes of some
	// models of gemini and ollama are used.
	QueryPrefix, DocumentPrefix string
	// BatchSize is the largest number of texts in a request, at most 2,048. The default is
	// defaultBatchSize. Providers with smaller limits get fewer.
	BatchSize int
	// Timeout bounds one try. The default is 30 s. The context bounds all tries
	// together.
	Timeout time.Duration
	// MaxTries is the largest number of times that one request is sent. The default is 5.
	MaxTries int
	// AllowInsecure allows plain http to another machine. Others can then read the texts and the
	// key on the way.
	AllowInsecure bool
}

// suffix returns the settings of a provider's vectors that differ from the defaults, each after a
// space. Prefixes are quoted, so that different settings have different names.
func (c *Config) suffix() (s string) {
	if c.Dimensions != 0 {
		s += fmt.Sprintf(" dimensions=%d", c.Dimensions)
	}
	if c.QueryPrefix != "" {
		s += fmt.Sprintf(" query=%q", c.QueryPrefix)
	}
	if c.DocumentPrefix != "" {
		s += fmt.Sprintf(" document=%q", c.DocumentPrefix)
	}
	return s
}

// FromConfig makes the provider that c chooses, or returns nil if c chooses none. It reads the
// key from the environment, and for "local" the model's files. It sends nothing.
func FromConfig(c Config) (Provider, error) {
	switch c.Provider {
	case "", providerNone:
		return nil, nil
	case providerAuto:
		return auto(c)
	case providerLocal:
		return localFromConfig(c)
	}
	if s := serviceOf(c.Provider); s != nil {
		return remoteFromConfig(s, c)
	}
	return nil, fmt.Errorf("embedding provider %q is not known: use openai, gemini, voyage, mistral, ollama, local, auto or none", c.Provider)
}

// auto chooses a provider. It returns nil if no provider is available.
func auto(c Config) (Provider, error) {
	switch {
	case c.BaseURL != "":
		base, err := endpoint.Parse(subject, c.BaseURL, c.AllowInsecure)
		if err != nil {
			return nil, err
		}
		if c.setDefaults(openAI, base); !endpoint.Loopback(base) && !hasKey(c.APIKeyEnv) {
			return nil, nil
		}
		return remoteFromConfig(openAI, c)
	case c.ModelDir != "":
		return localFromConfig(c)
	}
	for _, s := range candidates(c.Model) {
		if hasKey(cmp.Or(c.APIKeyEnv, s.keyEnv())) {
			return remoteFromConfig(s, c)
		}
		if c.APIKeyEnv != "" {
			break // only for the first provider it is known whose key it is
		}
	}
	return nil, nil
}

// hasKey reports whether an environment variable holds a key or an unusable value. remoteFromConfig
// returns the error for an unusable value.
func hasKey(env string) bool {
	key, err := endpoint.Key(env)
	return key != "" || err != nil
}

// candidates returns the providers that "auto" may take for a model.
func candidates(model string) []*service {
	var all []*service
	for _, s := range services {
		switch {
		case s.knows(model):
			return []*service{s}
		case len(s.keyEnvs) > 0:
			all = append(all, s)
		}
	}
	if model != "" {
		return all[:1]
	}
	return all
}

// subject is the name of the settings in errors.
const subject = "embedding"

// remoteFromConfig makes a provider that is a server.
func remoteFromConfig(s *service, c Config) (Provider, error) {
	c.BaseURL = cmp.Or(c.BaseURL, s.baseURL)
	base, err := endpoint.Parse(subject, c.BaseURL, c.AllowInsecure)
	if err != nil {
		return nil, err
	}
	c.setDefaults(s, base)
	if err := c.validate(); err != nil {
		return nil, err
	}
	key, err := endpoint.Key(c.APIKeyEnv)
	switch {
	case err != nil:
		return nil, err
	case key == "" && s.own(base):
		return nil, fmt.Errorf("embedding provider %s has no key: put it into the environment variable %s, or set provider to none", s.name, c.APIKeyEnv)
	}
	r := newRemote(s, c, base, key)
	if s.name == providerGemini && geminiTwo(c.Model) {
		return &geminiMedia{r}, nil
	}
	return r, nil
}

func (c *Config) setDefaults(s *service, base *url.URL) {
	if s.own(base) || s != openAI {
		c.Model = cmp.Or(c.Model, s.model)
	}
	if s.own(base) {
		c.APIKeyEnv = cmp.Or(c.APIKeyEnv, s.keyEnv())
	}
	if c.QueryPrefix == "" && c.DocumentPrefix == "" {
		c.QueryPrefix, c.DocumentPrefix = s.prefixes(c.Model)
	}
	c.BatchSize = cmp.Or(c.BatchSize, defaultBatchSize)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.MaxTries = cmp.Or(c.MaxTries, defaultMaxTries)
}

func (c *Config) validate() error {
	switch {
	case c.Model == "":
		return fmt.Errorf("embedding model is missing: name one that %s serves", c.BaseURL)
	case strings.ContainsFunc(c.Model, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return fmt.Errorf("embedding model %q has white space in it: give the name as the server lists it", c.Model)
	case strings.ContainsAny(c.Model, "?#%\\") || strings.Contains(c.Model, ".."):
		return fmt.Errorf("embedding model %q is no model's name: give it as the server lists it", c.Model)
	case c.Dimensions < 0:
		return fmt.Errorf("embedding dimensions %d: give 0 for the model's own, or a length", c.Dimensions)
	case c.BatchSize < 0 || c.BatchSize > maxBatchSize:
		return fmt.Errorf("embedding batch_size %d: give 1 to %d", c.BatchSize, maxBatchSize)
	case c.Timeout < 0 || c.MaxTries < 0:
		return fmt.Errorf("embedding timeout %v, max_tries %d: neither may be negative", c.Timeout, c.MaxTries)
	}
	return nil
}
