package contract

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

type inner struct {
	Size string `json:"size"`
	Left int    `json:"left"`
}

// sampleDocument is what is printed.
type sampleDocument struct {
	Schema string `json:"schema"`
	*inner
	Size  int       `json:"size"`
	Cost  *float64  `json:"cost"`
	Known *int      `json:"known,omitempty"`
	Count int       `json:"count,omitempty"`
	Time  time.Time `json:"time,omitzero"`
	Parts []part    `json:"parts"`
}

type part struct {
	Name string  `json:"name"`
	Span *[2]int `json:"span,omitempty"`
}

type sampleCall struct {
	Query string `json:"query" rpc:"required"`
	Form  string `json:"form" rpc:"long|short"`
}

// sample is a schema of the types above.
func sample(t *testing.T) string {
	t.Helper()
	s := Source{Root: "../..", Description: "A sample.", Documents: map[string][]any{"memkernel/sample/v1": {sampleDocument{}}},
		Methods: []Method{{"ask", "ask for it", reflect.TypeFor[sampleCall](), reflect.TypeFor[part]()}}}
	text, err := s.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSchemaOfTypes: what Go's types say of JSON is in the schema.
func TestSchemaOfTypes(t *testing.T) {
	text := sample(t)
	if !json.Valid([]byte(text)) {
		t.Fatalf("it is no JSON:\n%s", text)
	}
	for _, want := range []string{
		`{"name":"ask","description":"ask for it","params":{"$ref":"#/$defs/SampleParams"},"result":{"$ref":"#/$defs/Part"}}`,
		`"schema": {"type":"string","const":"memkernel/sample/v1"}`,
		`"size": {"type":"integer"}`,
		`"cost": {"type":["number","null"]}`,
		`"known": {"type":"integer"}`,
		`"count": {"type":"integer","default":0}`,
		`"time": {"type":"string","format":"date-time"}`,
		`"parts": {"type":"array","items":{"$ref":"#/$defs/Part"}}`,
		`"span": {"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}`,
		`"form": {"type":"string","enum":["long","short"]}`,
		`"required":["query"],"additionalProperties":false`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestValidationIsStrict: a document with one member too many, too few or of another type is
// refused.
func TestValidationIsStrict(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(path, []byte(sample(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if names := d.Names(); len(names) != 1 || names[0] != "memkernel/sample/v1" {
		t.Errorf("the documents are %v", names)
	}
	good, err := json.Marshal(sampleDocument{Schema: "memkernel/sample/v1", inner: &inner{}, Parts: []part{{Span: &[2]int{}}}})
	if err != nil {
		t.Fatal(err)
	}
	for change, ok := range map[string]bool{
		`{}`: true, `{"cost":1.5}`: true, `{"count":2}`: true,
		`{"more":1}`: false, `{"cost":"1"}`: false, `{"size":null}`: false, `{"size":1.5}`: false, `{"parts":null}`: false, `{"parts":[{}]}`: false,
		`{"parts":[{"name":"","more":1}]}`: false, `{"schema":"memkernel/other/v1"}`: false, `{"schema":""}`: false,
	} {
		var doc map[string]any
		if err := json.Unmarshal(good, &doc); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(change), &doc); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(doc); (err == nil) != ok {
			t.Errorf("%s: %v", change, err)
		}
	}
	var doc map[string]any
	if err := json.Unmarshal(good, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "size")
	if d.Check(doc) == nil {
		t.Error("a document without a member that it must have is taken")
	}
	for form, ok := range map[string]bool{"long": true, "wide": false} {
		if err := d.Validate("SampleParams", map[string]any{"query": "q", "form": form}); (err == nil) != ok {
			t.Errorf("form %s: %v", form, err)
		}
	}
}
