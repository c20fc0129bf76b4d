package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
)

// task is the purpose of a vector. Models that distinguish questions from texts give them
// different vectors.
type task int

const (
	forDocument task = iota
	forQuery
)

// wire is the format in which a kind of server is spoken to.
type wire interface {
	// request returns the path below the base URL and the body to send there as JSON.
	request(c *Config, t task, inputs []input) (path string, body any)
	// authorize puts the key into a request's header.
	authorize(h http.Header, key string)
	// answer returns a value to decode an answer into.
	answer() answer
}

// answer is a server's answer, decoded.
type answer interface {
	// rows returns the vectors as the answer holds them.
	rows() []row
	// tokens returns the number of billed tokens, or 0 if the server doesn't report the number.
	tokens() int
}

// row is a vector and the number of its text. Servers that don't number texts have zeros only.
type row struct {
	Index     int    `json:"index"`
	Embedding vector `json:"embedding"`
}

// input is the source of one vector: a text, or media with a name.
type input struct {
	text  string
	media *Media
}

// vector returns an error for a null among its numbers. Some servers write null for NaN, and
// encoding/json would read null as 0.
type vector []float32

func (v *vector) UnmarshalJSON(b []byte) error {
	if len(b) > len("null") && bytes.Contains(b, []byte("null")) {
		return &Error{Texts: true, Err: errors.New("a vector has null for a number"), Hint: "the model fails on this text: choose another model"}
	}
	return json.Unmarshal(b, (*[]float32)(v))
}

// bearer authorizes as in RFC 6750.
type bearer struct{}

func (bearer) authorize(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// list is the answer of OpenAI's API and of the APIs modelled on it.
type list struct {
	Data  []row `json:"data"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

func (l *list) rows() []row { return l.Data }
func (l *list) tokens() int { return max(l.Usage.Prompt, l.Usage.Total, 0) }

func texts(inputs []input) []string {
	out := make([]string, len(inputs))
	for i, in := range inputs {
		out[i] = in.text
	}
	return out
}
