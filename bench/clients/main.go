// Command clients writes doc/schema.json from the types of documents and of the daemon's methods,
// with their comments. From that file it writes the protocol's methods, parameters and answers as
// types of Go, TypeScript and Python, and as OpenAPI for the server over HTTP.
//
//	go run -C bench ./clients ..
//
// The argument is the checkout to write to. The same source gives the same bytes.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/memkernel/memkernel/internal/contract"
	"github.com/memkernel/memkernel/internal/verbs"
	"github.com/memkernel/memkernel/serve"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "clients: name the checkout to write to")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "clients:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// schemaOf returns the text of doc/schema.json.
func schemaOf(root string) (string, error) {
	s := contract.Source{Root: root, Description: "The documents of memkernel, and the methods of its daemon. doc/json.md has the rules.", Documents: verbs.Documents()}
	for _, m := range serve.Methods() {
		s.Methods = append(s.Methods, contract.Method(m))
	}
	return s.Schema()
}

// generate returns the files by their paths from the root.
func generate(root string) (map[string]string, error) {
	schema, err := schemaOf(root)
	if err != nil {
		return nil, err
	}
	p, err := read(schema)
	if err != nil {
		return nil, err
	}
	api, err := p.openapi()
	if err != nil {
		return nil, err
	}
	types, err := p.golangTypes()
	if err != nil {
		return nil, err
	}
	calls, err := p.golangMethods()
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"doc/schema.json":                            schema,
		"service/web/openapi.json":                   api,
		"client/protocol/types.go":                   types,
		"client/methods.go":                          calls,
		"integrations/typescript/protocol.d.ts":      p.typescript(),
		"integrations/typescript/methods.js":         p.javascript(),
		"integrations/python/memkernel/_protocol.py": p.python(),
		"integrations/python/memkernel/_methods.py":  p.pythonMethods(),
	}, nil
}
