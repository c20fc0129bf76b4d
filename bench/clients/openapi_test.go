package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/memkernel/memkernel/serve"
)

// described is the document as a validator reads it.
func described(t *testing.T) *openapi3.T {
	t.Helper()
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(files["service/web/openapi.json"]))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestOpenAPIIsValid: a validator of others takes it, and it has every method.
func TestOpenAPIIsValid(t *testing.T) {
	doc := described(t)
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, m := range serve.Methods() {
		if doc.Components.Schemas["call."+m.Name] == nil {
			t.Errorf("%s is missing", m.Name)
		}
	}
	for _, path := range []string{"/rpc", "/openapi.json", "/healthz", "/readyz"} {
		if doc.Paths.Find(path) == nil {
			t.Errorf("%s is missing", path)
		}
	}
}

// TestOpenAPIDescribesCalls: calls that the server takes are as it says, and what the server
// refuses is not.
func TestOpenAPIDescribesCalls(t *testing.T) {
	doc := described(t)
	body := doc.Paths.Find("/rpc").Post.RequestBody.Value.Content["application/json"].Schema.Value
	for text, ok := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"pages"}`:                                                                                                                                   true,
		`{"jsonrpc":"2.0","method":"remember","params":{"text":"We deploy on Tuesdays."}}`:                                                                                            true,
		`{"jsonrpc":"2.0","id":"a","method":"search","params":{"query":"deploy","private":true}}`:                                                                                     true,
		`[{"jsonrpc":"2.0","id":"a","method":"pages"},{"jsonrpc":"2.0","id":null,"method":"status"}]`:                                                                                 true,
		`{"jsonrpc":"2.0","id":1,"method":"read","params":{"path":"memory/none.md","from":1}}`:                                                                                        true,
		`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"economy":0.5,"prompt":"hi","system":[{"type":"text"}]}}`:                                                                  true,
		`{"jsonrpc":"2.0","id":1,"method":"plan","params":{"economy":"keep","conversation":{"dialect":"anthropic","base":"x","keep":1,"messages":[{"role":"user","content":"hi"}]}}}`: true,
		`{"jsonrpc":"2.0","id":1,"method":"search","params":{"quary":"deploy"}}`:                                                                                                      false,
		`{"jsonrpc":"2.0","id":1,"method":"search"}`:                                                                                                                                  false,
		`{"jsonrpc":"2.0","id":1,"method":"none"}`:                                                                                                                                    false,
		`{"jsonrpc":"1.0","id":1,"method":"pages"}`:                                                                                                                                   false,
		`{"jsonrpc":"2.0","id":1,"method":"read","params":{"path":7}}`:                                                                                                                false,
		`[]`: false,
		`{"jsonrpc":"2.0","id":1,"method":"pages","tenant":"b"}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if err := body.VisitJSON(v); (err == nil) != ok {
			t.Errorf("%s: %.300v", text, err)
		}
	}
	if strings.Contains(doc.Info.Title, " ") || len(doc.Security) == 0 {
		t.Error("it has no title, or asks for no token")
	}
}
