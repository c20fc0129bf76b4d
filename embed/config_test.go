package embed

import (
	"strings"
	"testing"
)

func TestFromConfig(t *testing.T) {
	const remote, local = "https://a.example/v1", "http://127.0.0.1:11434/v1"
	for _, c := range []struct {
		name   string
		config Config
		env    map[string]string
		model  string // "" is no provider
		key    string
		want   string // in the error
	}{
		{"nothing", Config{}, map[string]string{DefaultAPIKeyEnv: testKey}, "", "", ""},
		{"none", Config{Provider: "none", BaseURL: "::"}, nil, "", "", ""},
		{"unknown", Config{Provider: "gemini"}, nil, "", "", `"gemini" is not known: use openai, auto or none`},
		{"openai", Config{Provider: "openai"}, map[string]string{DefaultAPIKeyEnv: " " + testKey + "\n"}, DefaultModel, testKey, ""},
		{"openai without key", Config{Provider: "openai"}, nil, "", "", "environment variable OPENAI_API_KEY"},
		{"openai without its key", Config{Provider: "openai", APIKeyEnv: "MY_KEY"}, map[string]string{DefaultAPIKeyEnv: testKey}, "", "", "environment variable MY_KEY"},
		{"a region of openai", Config{Provider: "openai", BaseURL: "https://EU.api.openai.com/v1"}, nil, "", "", "OPENAI_API_KEY"},
		{"another host", Config{Provider: "openai", BaseURL: remote, Model: "m"}, map[string]string{DefaultAPIKeyEnv: testKey}, "m at=" + remote, "", ""},
		{"a host that looks alike", Config{Provider: "openai", BaseURL: "https://api.openai.com.example", Model: "m"}, map[string]string{DefaultAPIKeyEnv: testKey}, "m at=https://api.openai.com.example", "", ""},
		{"another host's key", Config{Provider: "openai", BaseURL: remote, Model: "m", APIKeyEnv: "MY_KEY"}, map[string]string{"MY_KEY": "k"}, "m at=" + remote, "k", ""},
		{"openai in the clear", Config{Provider: "openai", BaseURL: "http://api.openai.com/v1", Model: "m", AllowInsecure: true}, map[string]string{DefaultAPIKeyEnv: testKey}, "m at=http://api.openai.com/v1", "", ""},
		{"no model", Config{Provider: "openai", BaseURL: local}, nil, "", "", "name one that " + local + " serves"},
		{"auto without anything", Config{Provider: "auto"}, nil, "", "", ""},
		{"auto with a key", Config{Provider: "auto"}, map[string]string{DefaultAPIKeyEnv: testKey}, DefaultModel, testKey, ""},
		{"auto with another key", Config{Provider: "auto", APIKeyEnv: "MY_KEY"}, map[string]string{DefaultAPIKeyEnv: testKey}, "", "", ""},
		{"auto on this machine", Config{Provider: "auto", BaseURL: local, Model: "m"}, nil, "m at=" + local, "", ""},
		{"auto elsewhere", Config{Provider: "auto", BaseURL: remote, Model: "m"}, map[string]string{DefaultAPIKeyEnv: testKey}, "", "", ""},
		{"auto elsewhere with a key", Config{Provider: "auto", BaseURL: remote, Model: "m", APIKeyEnv: "MY_KEY"}, map[string]string{"MY_KEY": "k"}, "m at=" + remote, "k", ""},
		{"a key on two lines", Config{Provider: "openai"}, map[string]string{DefaultAPIKeyEnv: "sk-secret\nsk-secret"}, "", "", "OPENAI_API_KEY is no API key"},
		{"model with a space", Config{Provider: "openai", Model: "a b"}, nil, "", "", "white space"},
		{"negative dimensions", Config{Provider: "openai", Dimensions: -1}, nil, "", "", "dimensions -1"},
		{"too many texts", Config{Provider: "openai", BatchSize: 2049}, nil, "", "", "batch_size 2049"},
		{"no room", Config{Provider: "openai", MaxTextBytes: 10, QueryPrefix: "query: "}, nil, "", "", "max_text_bytes 10"},
		{"negative timeout", Config{Provider: "openai", Timeout: -1}, nil, "", "", "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(DefaultAPIKeyEnv, "")
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
			if o, ok := p.(*openAI); ok && (o.Model() != c.model || o.key != c.key) {
				t.Errorf("model %q with key %q, want %q with %q", o.Model(), o.key, c.model, c.key)
			}
		})
	}
}

func TestBaseURL(t *testing.T) {
	for _, c := range []struct {
		raw, want string // want is the base, or begins with "!" and is in the error
		insecure  bool
	}{
		{raw: "", want: DefaultBaseURL},
		{raw: " https://A.Example:8443/v1// ", want: "https://a.example:8443/v1"},
		{raw: "https://a.example", want: "https://a.example"},
		{raw: "https://a.example/x%2Fy/", want: "https://a.example/x%2Fy"},
		{raw: "http://localhost:8080/", want: "http://localhost:8080"},
		{raw: "HTTP://LocalHost/v1", want: "http://localhost/v1"},
		{raw: "http://127.9.9.9/v1", want: "http://127.9.9.9/v1"},
		{raw: "http://[::1]:1/v1", want: "http://[::1]:1/v1"},
		{raw: "http://10.0.0.1/v1", want: "!set allow_insecure"},
		{raw: "http://10.0.0.1/v1", want: "http://10.0.0.1/v1", insecure: true},
		{raw: "http://0.0.0.0/v1", want: "!set allow_insecure"},
		{raw: "http://127.0.0.1.example/v1", want: "!set allow_insecure"},
		{raw: "http://localhost.example", want: "!set allow_insecure"},
		{raw: "ftp://a.example", want: "!https://"},
		{raw: "a.example/v1", want: "!https://"},
		{raw: "localhost:8080", want: "!https://"},
		{raw: "https:///v1", want: "!no host"},
		{raw: "https://a.example/v1?key=x", want: "!behind ?"},
		{raw: "https://a.example/v1#x", want: "!behind ?"},
		{raw: "https://user:sk-secret@a.example/v1", want: "!api_key_env"},
		{raw: "https://user:sk-secret@a.ex ample/v1", want: "!api_key_env"},
	} {
		u, err := parseBase(c.raw, c.insecure)
		want, fails := strings.CutPrefix(c.want, "!")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want %q in it", c.raw, err, want)
		case fails && strings.Contains(err.Error(), "sk-secret"):
			t.Errorf("%q: the password is in %v", c.raw, err)
		case !fails && (err != nil || u.String() != want):
			t.Errorf("%q: got %v, %v, want %q", c.raw, u, err, want)
		}
	}
}
