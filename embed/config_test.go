package embed

import (
	"strings"
	"testing"
)

func TestFromConfig(t *testing.T) {
	const far, near = "https://a.example/v1", "http://127.0.0.1:11434/v1"
	for _, c := range []struct {
		name   string
		config Config
		env    map[string]string
		model  string // "" is no provider
		key    string
		want   string // in the error
	}{
		{"nothing", Config{}, map[string]string{defaultAPIKeyEnv: testKey}, "", "", ""},
		{"none", Config{Provider: "none", BaseURL: "::"}, nil, "", "", ""},
		{"unknown", Config{Provider: "cohere"}, nil, "", "", `"cohere" is not known: use openai, gemini, voyage, mistral, ollama, local, auto or none`},
		{"openai", Config{Provider: "openai"}, map[string]string{defaultAPIKeyEnv: " " + testKey + "\n"}, defaultModel, testKey, ""},
		{"openai without key", Config{Provider: "openai"}, nil, "", "", "environment variable OPENAI_API_KEY"},
		{"openai without its key", Config{Provider: "openai", APIKeyEnv: "MY_KEY"}, map[string]string{defaultAPIKeyEnv: testKey}, "", "", "environment variable MY_KEY"},
		{"a region of openai", Config{Provider: "openai", BaseURL: "https://EU.api.openai.com/v1"}, nil, "", "", "OPENAI_API_KEY"},
		{"another host", Config{Provider: "openai", BaseURL: far, Model: "m"}, map[string]string{defaultAPIKeyEnv: testKey}, "m at=" + far, "", ""},
		{"a host that looks alike", Config{Provider: "openai", BaseURL: "https://api.openai.com.example", Model: "m"}, map[string]string{defaultAPIKeyEnv: testKey}, "m at=https://api.openai.com.example", "", ""},
		{"another host's key", Config{Provider: "openai", BaseURL: far, Model: "m", APIKeyEnv: "MY_KEY"}, map[string]string{"MY_KEY": "k"}, "m at=" + far, "k", ""},
		{"openai in the clear", Config{Provider: "openai", BaseURL: "http://api.openai.com/v1", Model: "m", AllowInsecure: true}, map[string]string{defaultAPIKeyEnv: testKey}, "m at=http://api.openai.com/v1", "", ""},
		{"no model", Config{Provider: "openai", BaseURL: near}, nil, "", "", "name one that " + near + " serves"},
		{"auto without anything", Config{Provider: "auto"}, nil, "", "", ""},
		{"auto with a key", Config{Provider: "auto"}, map[string]string{defaultAPIKeyEnv: testKey}, defaultModel, testKey, ""},
		{"auto with another key", Config{Provider: "auto", APIKeyEnv: "MY_KEY"}, map[string]string{defaultAPIKeyEnv: testKey}, "", "", ""},
		{"auto on this machine", Config{Provider: "auto", BaseURL: near, Model: "m"}, nil, "m at=" + near, "", ""},
		{"auto elsewhere", Config{Provider: "auto", BaseURL: far, Model: "m"}, map[string]string{defaultAPIKeyEnv: testKey}, "", "", ""},
		{"auto elsewhere with a key", Config{Provider: "auto", BaseURL: far, Model: "m", APIKeyEnv: "MY_KEY"}, map[string]string{"MY_KEY": "k"}, "m at=" + far, "k", ""},
		{"a key on two lines", Config{Provider: "openai"}, map[string]string{defaultAPIKeyEnv: "sk-secret\nsk-secret"}, "", "", "OPENAI_API_KEY is no API key"},
		{"model with a space", Config{Provider: "openai", Model: "a b"}, nil, "", "", "white space"},
		{"negative dimensions", Config{Provider: "openai", Dimensions: -1}, nil, "", "", "dimensions -1"},
		{"too many texts", Config{Provider: "openai", BatchSize: 2049}, nil, "", "", "batch_size 2049"},
		{"negative timeout", Config{Provider: "openai", Timeout: -1}, nil, "", "", "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, env := range []string{defaultAPIKeyEnv, "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY", "MISTRAL_API_KEY"} {
				t.Setenv(env, "")
			}
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			p, err := FromConfig(c.config)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("error %v, want %q in it", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk-") {
				t.Errorf("the key is in %v", err)
			}
			if (p != nil) != (c.model != "") {
				t.Fatalf("got %v, want %q", p, c.model)
			}
			if o, ok := p.(*remote); ok && (o.Model() != c.model || o.key != c.key) {
				t.Errorf("model %q with key %q, want %q with %q", o.Model(), o.key, c.model, c.key)
			}
		})
	}
}
