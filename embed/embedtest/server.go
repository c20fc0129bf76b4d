package embedtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Asked is a request that a Server received.
type Asked struct {
	// Path is the path of the request. Key is the key that was sent.
	Path, Key string
	// Model, Task and Dimensions are zero if the request doesn't set them.
	Model, Task string
	Dimensions  int
	// Texts are the texts to embed. Media are the types of the files among them.
	Texts, Media []string
}

// Server implements the protocol of a provider on this machine, and returns the vectors of Provider.
// It refuses requests whose path, members or key the provider would refuse.
type Server struct {
	*httptest.Server
	provider, key string

	mu     sync.Mutex
	asked  []Asked
	refuse http.HandlerFunc
}

// NewServer starts a server with the protocol of a provider of package embed. It requires the key,
// unless key is "". The caller must close the server.
func NewServer(provider, key string) *Server {
	s := &Server{provider: provider, key: key}
	s.Server = httptest.NewServer(s)
	return s
}

// BaseURL returns the value for a configuration's base_url.
func (s *Server) BaseURL() string {
	switch s.provider {
	case "gemini":
		return s.URL + "/v1beta"
	case "ollama":
		return s.URL
	}
	return s.URL + "/v1"
}

// Asked returns the requests so far.
func (s *Server) Asked() []Asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked{}, s.asked...)
}

// Refuse sets a handler that answers all later requests in place of the server. nil removes it.
func (s *Server) Refuse(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = h
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, err := s.read(r)
	a.Path = r.URL.Path
	s.mu.Lock()
	s.asked = append(s.asked, a)
	refuse := s.refuse
	s.mu.Unlock()
	switch {
	case refuse != nil:
		refuse(w, r)
	case a.Key != s.key:
		s.say(w, http.StatusUnauthorized, "the API key is not valid")
	case err != nil:
		s.say(w, http.StatusBadRequest, err.Error())
	default:
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(s.answer(a.Texts))
	}
}

func (s *Server) say(w http.ResponseWriter, status int, what string) {
	w.WriteHeader(status)
	var body any
	switch s.provider {
	case "voyage":
		body = map[string]any{"detail": what}
	case "ollama":
		body = map[string]any{"error": what}
	case "mistral":
		body = map[string]any{"object": "error", "message": what}
	default:
		body = map[string]any{"error": map[string]any{"message": what, "code": status}}
	}
	json.NewEncoder(w).Encode(body)
}

func (s *Server) read(r *http.Request) (Asked, error) {
	if s.provider == "gemini" {
		return readGemini(r)
	}
	a := Asked{Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	path := "/v1/embeddings"
	members := map[string]any{"model": &a.Model, "input": &a.Texts}
	switch s.provider {
	case "ollama":
		path = "/api/embed"
		members["truncate"], members["dimensions"] = new(bool), &a.Dimensions
	case "voyage":
		members["input_type"], members["truncation"], members["output_dimension"] = &a.Task, new(bool), &a.Dimensions
	case "mistral":
		members["output_dimension"] = &a.Dimensions
	default:
		members["dimensions"] = &a.Dimensions
	}
	var body map[string]json.RawMessage
	err := json.NewDecoder(r.Body).Decode(&body)
	for name, raw := range body {
		into, known := members[name]
		if !known {
			return a, fmt.Errorf("%s has no member %s", s.provider, name)
		}
		err = errors.Join(err, json.Unmarshal(raw, into))
	}
	if err == nil && (r.Method != http.MethodPost || r.URL.Path != path) {
		err = fmt.Errorf("%s %s is not known", r.Method, r.URL.Path)
	}
	return a, err
}

func readGemini(r *http.Request) (Asked, error) {
	a := Asked{Key: r.Header.Get("X-Goog-Api-Key")}
	var b struct {
		Requests []struct {
			Model      string `json:"model"`
			Task       string `json:"taskType"`
			Dimensions int    `json:"outputDimensionality"`
			Content    struct {
				Parts []struct {
					Text string `json:"text"`
					Data struct {
						Type string `json:"mimeType"`
						Data []byte `json:"data"`
					} `json:"inlineData"`
				} `json:"parts"`
			} `json:"content"`
		} `json:"requests"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return a, err
	}
	for _, q := range b.Requests {
		a.Model, a.Task, a.Dimensions = q.Model, q.Task, q.Dimensions
		var text []string
		for _, p := range q.Content.Parts {
			text = append(text, p.Text)
			if p.Data.Type != "" {
				a.Media = append(a.Media, p.Data.Type)
			}
		}
		a.Texts = append(a.Texts, strings.Join(text, ""))
	}
	if want := "/v1beta/" + a.Model + ":batchEmbedContents"; r.URL.Path != want {
		return a, fmt.Errorf("%s is not %s", r.URL.Path, want)
	}
	return a, nil
}

// answer returns the vectors in the provider's form.
func (s *Server) answer(texts []string) any {
	tokens := 0
	vectors := make([][]float32, len(texts))
	for i, t := range texts {
		vectors[i] = Vector(t)
		tokens += len(strings.Fields(t))
	}
	switch s.provider {
	case "gemini":
		all := make([]any, len(vectors))
		for i, v := range vectors {
			all[i] = map[string]any{"values": v}
		}
		return map[string]any{"embeddings": all}
	case "ollama":
		return map[string]any{"model": "m", "embeddings": vectors, "total_duration": 1, "prompt_eval_count": tokens}
	}
	var data []any
	for i, v := range vectors {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	return map[string]any{"object": "list", "data": data, "usage": map[string]any{"total_tokens": tokens}}
}
