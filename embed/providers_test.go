package embed_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/embed/embedtest"
)

const providerKey = "pk-0123456789abcdef0123456789"

// noKeys takes all usual keys from the environment.
func noKeys(t *testing.T) {
	for _, env := range []string{"OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "VOYAGE_API_KEY", "MISTRAL_API_KEY"} {
		t.Setenv(env, "")
	}
}

func fromConfig(t *testing.T, c embed.Config) embed.Provider {
	t.Helper()
	p, err := embed.FromConfig(c)
	if err != nil || p == nil {
		t.Fatalf("%v, %v", p, err)
	}
	return p
}

func serverOf(t *testing.T, provider string) (*embedtest.Server, embed.Config) {
	t.Helper()
	t.Setenv("PROVIDER_KEY", providerKey)
	s := embedtest.NewServer(provider, providerKey)
	t.Cleanup(s.Close)
	c := embed.Config{Provider: provider, BaseURL: s.BaseURL(), APIKeyEnv: "PROVIDER_KEY", MaxTries: 1}
	if provider == "openai" {
		c.Model = "m"
	}
	return s, c
}

// Every provider is asked in its own format, questions and texts apart, with the
// key where it wants it.
func TestWires(t *testing.T) {
	for provider, want := range map[string][2]embedtest.Asked{
		"openai": {
			{Path: "/v1/embeddings", Model: "m", Texts: []string{"why tea"}},
			{Path: "/v1/embeddings", Model: "m", Texts: []string{"ana likes tea", "漢"}}},
		"gemini": {
			{Path: "/v1beta/models/gemini-embedding-001:batchEmbedContents", Model: "models/gemini-embedding-001", Task: "RETRIEVAL_QUERY", Texts: []string{"why tea"}},
			{Path: "/v1beta/models/gemini-embedding-001:batchEmbedContents", Model: "models/gemini-embedding-001", Task: "RETRIEVAL_DOCUMENT", Texts: []string{"ana likes tea", "漢"}}},
		"voyage": {
			{Path: "/v1/embeddings", Model: "voyage-4-large", Task: "query", Texts: []string{"why tea"}},
			{Path: "/v1/embeddings", Model: "voyage-4-large", Task: "document", Texts: []string{"ana likes tea", "漢"}}},
		"mistral": {
			{Path: "/v1/embeddings", Model: "mistral-embed", Texts: []string{"why tea"}},
			{Path: "/v1/embeddings", Model: "mistral-embed", Texts: []string{"ana likes tea", "漢"}}},
		"ollama": {
			{Path: "/api/embed", Model: "nomic-embed-text", Texts: []string{"search_query: why tea"}},
			{Path: "/api/embed", Model: "nomic-embed-text", Texts: []string{"search_document: ana likes tea", "search_document: 漢"}}},
	} {
		t.Run(provider, func(t *testing.T) {
			s, c := serverOf(t, provider)
			p := fromConfig(t, c)
			q, err := p.EmbedQuery(t.Context(), "why tea")
			if err != nil {
				t.Fatal(err)
			}
			res, err := p.EmbedDocuments(t.Context(), []string{"ana likes tea", "漢"})
			if err != nil {
				t.Fatal(err)
			}
			want[0].Key, want[1].Key = providerKey, providerKey
			if d := cmp.Diff(want[:], s.Asked()); d != "" {
				t.Errorf("asked (-want +got):\n%s", d)
			}
			if !slices.Equal(q, embedtest.Vector(want[0].Texts[0])) || len(res.Vectors) != 2 || !slices.Equal(res.Vectors[1], embedtest.Vector(want[1].Texts[1])) {
				t.Error("the vectors are not those of the texts")
			}
			if provider != "gemini" && res.Tokens == 0 {
				t.Errorf("usage %+v", res.Usage)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", p, p, p), providerKey) {
				t.Error("the key is printed")
			}
			checkDimensions(t, s, c)
		})
	}
}

func checkDimensions(t *testing.T, s *embedtest.Server, c embed.Config) {
	c.Dimensions = embedtest.Dim
	if _, err := fromConfig(t, c).EmbedQuery(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if all := s.Asked(); all[len(all)-1].Dimensions != embedtest.Dim {
		t.Errorf("%+v", all[len(all)-1])
	}
	c.Dimensions = 3
	if _, err := fromConfig(t, c).EmbedQuery(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "has length 256, not 3") {
		t.Errorf("a vector of another length: %v", err)
	}
}

// What waiting doesn't mend is returned at once and with the way out, by each
// provider's answer; what passes with time is not.
func TestProvidersRefusals(t *testing.T) {
	for _, c := range []struct {
		provider string
		status   int
		body     string
		want     string
		texts    bool
	}{
		{"gemini", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, "PROVIDER_KEY holds a valid key", false},
		{"gemini", 404, `{"error":{"code":404,"message":"models/x is not found for API version v1beta"}}`, "gemini-embedding-2", false},
		{"gemini", 429, `{"error":{"code":429,"message":"Quota exceeded","details":[{"quotaId":"EmbedContentRequestsPerDayPerUser"}]}}`, "credit is used up", false},
		{"gemini", 400, `{"error":{"code":400,"message":"The input is too long"}}`, "chunking.tokens", true},
		{"voyage", 401, `{"detail":"Provided API key is invalid."}`, "PROVIDER_KEY", false},
		{"voyage", 400, `{"detail":"Model foo is not supported. Supported models are [...]"}`, "check model", false},
		{"voyage", 400, `{"detail":"Your batch has too many tokens"}`, "chunking.tokens", true},
		{"mistral", 401, `{"message":"Unauthorized","request_id":"x"}`, "PROVIDER_KEY", false},
		{"mistral", 400, `{"object":"error","message":"Invalid model: foo","type":"invalid_model","code":"1500"}`, "check model", false},
		{"ollama", 404, `{"error":"model \"nomic-embed-text\" not found, try pulling it first"}`, "ollama pull nomic-embed-text", false},
		{"openai", 429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`, "check the account", false},
		{"openai", 200, `<html><body>Sign in</body></html>`, "the answer can't be read", false},
		{"gemini", 200, `{"embeddings":[]}`, "0 vectors for 1 texts", false},
		{"gemini", 200, `{"embeddings":[{"values":[]}]}`, "vector 1 of 1 is empty", false},
		{"ollama", 200, `{"embeddings":[[1,null,3]]}`, "null for a number", true},
		{"ollama", 200, `{"embeddings":[[NaN,1]]}`, "the answer can't be read", false},
		{"ollama", 200, `{"embeddings":[[1,2],[3,4]]}`, "2 vectors for 1 texts", false},
		{"voyage", 200, `{"data":[{"index":4,"embedding":[1,2]}]}`, "numbers a vector 4", false},
		{"mistral", 502, strings.Repeat("<p>bad gateway</p>", 12_000), "502 Bad Gateway: <p>bad gateway</p>", false},
		{"voyage", 307, "", "redirects are not followed", false},
	} {
		s, conf := serverOf(t, c.provider)
		conf.MaxTries = 0
		if c.status == 502 {
			conf.MaxTries = 1
		}
		s.Refuse(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://elsewhere.example/x")
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, err := fromConfig(t, conf).EmbedQuery(t.Context(), "a")
		var e *embed.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || e.Texts != c.texts || len(err.Error()) > 1000 {
			t.Errorf("%s %d %.60s: %v, want %q in it, texts %v", c.provider, c.status, c.body, err, c.want, c.texts)
		}
		if n := len(s.Asked()); n != 1 {
			t.Errorf("%s %d: asked %d times", c.provider, c.status, n)
		}
	}
}

// auto takes what the configuration names, else the first whose key is there, in
// the order openai, gemini, voyage, mistral; a model's name narrows that.
func TestAuto(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := embedtest.WriteModel(dir, 4, "tea"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keys   string
		config embed.Config
		want   string // the model, "" for none
	}{
		{"", embed.Config{}, ""},
		{"VOYAGE MISTRAL GEMINI OPENAI", embed.Config{}, "text-embedding-3-small"},
		{"VOYAGE MISTRAL GEMINI", embed.Config{}, "gemini-embedding-001 by=gemini"},
		{"VOYAGE GOOGLE", embed.Config{}, "gemini-embedding-001 by=gemini"},
		{"VOYAGE MISTRAL", embed.Config{}, "voyage-4-large by=voyage"},
		{"MISTRAL", embed.Config{}, "mistral-embed by=mistral"},
		{"OPENAI MISTRAL", embed.Config{Model: "codestral-embed"}, "codestral-embed by=mistral"},
		{"OPENAI", embed.Config{Model: "voyage-4"}, ""},
		{"VOYAGE", embed.Config{Model: "something"}, ""},
		{"OPENAI", embed.Config{ModelDir: dir}, `"tiny" by=local`},
		{"VOYAGE", embed.Config{BaseURL: "http://localhost:1/v1", Model: "m"}, "m at=http://localhost:1/v1"},
		{"GEMINI", embed.Config{Model: "gemini-embedding-2"}, `gemini-embedding-2 by=gemini query="task: search result | query: " document="title: none | text: "`},
	} {
		noKeys(t)
		for _, k := range strings.Fields(c.keys) {
			t.Setenv(k+"_API_KEY", providerKey)
		}
		c.config.Provider = "auto"
		p, err := embed.FromConfig(c.config)
		if err != nil || (p == nil) != (c.want == "") || p != nil && !strings.HasPrefix(p.Model(), c.want) {
			t.Errorf("%q with %+v: %v, %v; want %q", c.keys, c.config, p, err, c.want)
		}
	}
}

// A key in the environment goes to nobody but its own provider's host.
func TestKeysStayAtHome(t *testing.T) {
	for _, env := range []string{"OPENAI_API_KEY", "GEMINI_API_KEY", "VOYAGE_API_KEY", "MISTRAL_API_KEY"} {
		t.Setenv(env, providerKey)
	}
	for _, provider := range []string{"openai", "gemini", "voyage", "mistral", "ollama"} {
		s := embedtest.NewServer(provider, "")
		p := fromConfig(t, embed.Config{Provider: provider, BaseURL: s.BaseURL(), Model: "m"})
		if _, err := p.EmbedQuery(t.Context(), "a"); err != nil {
			t.Errorf("%s: %v", provider, err)
		}
		for _, a := range s.Asked() {
			if a.Key != "" {
				t.Errorf("%s: the key was sent", provider)
			}
		}
		s.Close()
	}
}

func TestBatchesKeepToTheProvider(t *testing.T) {
	for provider, most := range map[string]int{"gemini": 100, "mistral": 10, "voyage": 29} {
		s, c := serverOf(t, provider)
		c.BatchSize = 2000
		texts := make([]string, 210)
		for i := range texts {
			texts[i] = fmt.Sprint(i)
			if provider != "gemini" {
				texts[i] += strings.Repeat(" x", 2048)
			}
		}
		res, err := fromConfig(t, c).EmbedDocuments(t.Context(), texts)
		if err != nil || len(res.Vectors) != len(texts) {
			t.Fatalf("%s: %d vectors, %v", provider, len(res.Vectors), err)
		}
		for _, a := range s.Asked() {
			if len(a.Texts) > most {
				t.Errorf("%s was sent %d texts at a time", provider, len(a.Texts))
			}
		}
		for i, v := range res.Vectors {
			if !slices.Equal(v, embedtest.Vector(texts[i])) {
				t.Fatalf("%s: vector %d is another text's", provider, i)
			}
		}
	}
}

func TestMedia(t *testing.T) {
	s, c := serverOf(t, "gemini")
	c.Model = "gemini-embedding-2"
	p, ok := fromConfig(t, c).(embed.MediaProvider)
	if !ok {
		t.Fatal("the model takes no media")
	}
	v, use, err := p.EmbedMedia(t.Context(), embed.Media{Type: "image/png", Data: []byte("\x89PNG"), Caption: "shed.png"})
	if err != nil || len(v) == 0 || use.Requests != 1 {
		t.Fatalf("%v %+v %v", v, use, err)
	}
	if a := s.Asked()[0]; !slices.Equal(a.Media, []string{"image/png"}) || a.Texts[0] != "shed.png" || a.Task != "" {
		t.Errorf("%+v", a)
	}
	for _, bad := range []error{p.TakesMedia("video/mp4", 10), p.TakesMedia("image/png", 1<<30), p.TakesMedia("image/png", 0)} {
		if bad == nil {
			t.Error("taken")
		}
	}
	_, c = serverOf(t, "gemini")
	if _, ok := fromConfig(t, c).(embed.MediaProvider); ok {
		t.Error("gemini-embedding-001 takes texts only")
	}
}

func TestDescribe(t *testing.T) {
	noKeys(t)
	t.Setenv("VOYAGE_API_KEY", providerKey)
	d := embed.Describe(fromConfig(t, embed.Config{Provider: "voyage"}))
	if d.Provider != "voyage" || d.Free || d.Price == nil || d.Price.USD != 0.12 || d.Price.AsOf == "" {
		t.Errorf("%+v", d)
	}
	_, c := serverOf(t, "voyage")
	if d := embed.Describe(fromConfig(t, c)); !d.Free || d.Price != nil {
		t.Errorf("on this machine: %+v", d)
	}
	c.BaseURL = "https://proxy.example/v1"
	if d := embed.Describe(fromConfig(t, c)); d.Free || d.Price != nil {
		t.Errorf("a price that is not known: %+v", d)
	}
	if d := embed.Describe(embedtest.Provider{}); d.Model != "embedtest/256" {
		t.Errorf("%+v", d)
	}
}

func TestLocal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := embedtest.WriteModel(dir, 4, "tea", "ana"); err != nil {
		t.Fatal(err)
	}
	p := fromConfig(t, embed.Config{Provider: "local", ModelDir: dir})
	q, err := p.EmbedQuery(t.Context(), "Tea!")
	res, derr := p.EmbedDocuments(t.Context(), []string{"tea", "ana tea", "coffee", "ana"})
	var e *embed.Error
	if err != nil || !errors.As(derr, &e) || !e.Texts || len(res.Vectors) != 2 || !slices.Equal(q, res.Vectors[0]) || slices.Equal(q, res.Vectors[1]) {
		t.Errorf("%v, %v, %+v, %v", q, err, res, derr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.EmbedQuery(ctx, "tea"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	short := fromConfig(t, embed.Config{Provider: "local", ModelDir: dir, Dimensions: 2})
	if v, err := short.EmbedQuery(t.Context(), "tea"); err != nil || !slices.Equal(v, q[:2]) || short.Model() == p.Model() {
		t.Errorf("%v, %v", v, err)
	}
	for _, c := range []embed.Config{{ModelDir: ""}, {ModelDir: dir, Dimensions: 5}, {ModelDir: t.TempDir()}} {
		c.Provider = "local"
		if p, err := embed.FromConfig(c); err == nil {
			t.Errorf("%+v: %v", c, p)
		}
	}
}
