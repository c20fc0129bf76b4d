package main

import (
	"encoding/json"
	"fmt"
	"slices"
)

// node is an object of JSON.
type node map[string]any

func ref(name string) node { return node{"$ref": "#/components/schemas/" + name} }

// plainTypes has the kinds whose schema is only a type.
var plainTypes = map[kind]string{kindString: "string", kindOpen: "string", kindInt: "integer", kindFloat: "number", kindBool: "boolean", kindObject: "object"}

func (s *shape) schema() node {
	if t := plainTypes[s.kind]; t != "" {
		return node{"type": t}
	}
	switch s.kind {
	case kindWord:
		return node{"type": "string", "enum": s.words}
	case kindWordOr:
		return node{"oneOf": []node{{"type": "string", "enum": s.words}, {"type": "number"}}}
	case kindTexts:
		return node{"oneOf": []node{{"type": "string"}, {"type": "array", "items": node{"type": "object"}}}}
	case kindList:
		return node{"type": "array", "items": s.elem.schema()}
	case kindPair:
		return node{"type": "array", "items": s.elem.schema(), "minItems": 2, "maxItems": 2}
	case kindMap:
		return node{"type": "object", "additionalProperties": s.elem.schema()}
	case kindStruct:
		return ref(s.ref.name)
	case kindNull:
		inner := s.elem.schema()
		if _, is := inner["$ref"]; is {
			return node{"nullable": true, "allOf": []node{inner}}
		}
		inner["nullable"] = true
		return inner
	}
	return node{}
}

// schema returns the schema of an object. A call's schema refuses unknown members.
func (o *object) schema(call bool) node {
	out := node{"type": "object"}
	if o.doc != "" {
		out["description"] = o.doc
	}
	props, required := node{}, []string{}
	for _, f := range o.fields {
		s := f.shape.schema()
		if _, is := s["$ref"]; f.doc != "" && is {
			s = node{"allOf": []node{s}}
		}
		if f.doc != "" {
			s["description"] = f.doc
		}
		props[f.name] = s
		if f.always {
			required = append(required, f.name)
		}
	}
	out["properties"] = props
	if len(required) > 0 {
		out["required"] = required
	}
	if call {
		out["additionalProperties"] = false
	}
	return out
}

// refusals holds the statuses of requests that were refused or failed.
var refusals = []struct{ status, why string }{
	{"400", "the body is no JSON, or no message"},
	{"401", "there is no token, or it is unknown, revoked or expired"},
	{"403", "the token may not do this"},
	{"404", "there is nothing at this path"},
	{"405", "the path takes other methods, which Allow names"},
	{"413", "the body is too large"},
	{"415", "the body is not application/json in UTF-8"},
	{"429", "there is no room now: nothing was done, and Retry-After says when to deliver it again"},
	{"503", "the server ends, or is not ready: nothing was done, and Retry-After says when to deliver it again"},
}

// answers returns the responses of a path that requires a token: good for the status ok, and kind for
// each of the refusals that is not in except.
func answers(ok string, good node, kind node, except ...string) node {
	out := node{ok: good}
	for _, r := range refusals {
		if slices.Contains(except, r.status) {
			continue
		}
		response := node{"description": r.why, "content": node{"application/json": node{"schema": kind}}}
		if r.status == "429" || r.status == "503" {
			response["headers"] = node{"Retry-After": node{"description": "seconds", "schema": node{"type": "integer"}}}
		}
		out[r.status] = response
	}
	return out
}

func content(schema node) node { return node{"application/json": node{"schema": schema}} }

// openapi returns the description of the server over HTTP in OpenAPI 3.0.
func (p *protocol) openapi() (string, error) {
	schemas := node{}
	call := map[*object]bool{}
	var mark func(o *object)
	mark = func(o *object) {
		if call[o] {
			return
		}
		call[o] = true
		for _, f := range o.fields {
			for s := f.shape; s != nil; s = s.elem {
				if s.ref != nil {
					mark(s.ref)
				}
			}
		}
	}
	for _, m := range p.methods {
		mark(m.params)
	}
	for _, o := range p.objects {
		schemas[o.name] = o.schema(call[o])
	}
	id := node{"oneOf": []node{{"type": "string"}, {"type": "number"}}, "nullable": true}
	var calls, results []node
	mapping, seen := node{}, map[string]bool{}
	for _, m := range p.methods {
		name := "call." + m.name
		required := []string{"jsonrpc", "method"}
		if len(m.params.needs()) > 0 {
			required = append(required, "params")
		}
		schemas[name] = node{"type": "object", "description": title(m.doc) + ". Its result is " + m.result.name + ".", "additionalProperties": false, "required": required,
			"properties": node{"jsonrpc": node{"type": "string", "enum": []string{"2.0"}}, "id": id, "method": node{"type": "string", "enum": []string{m.name}}, "params": ref(m.params.name)}}
		calls = append(calls, ref(name))
		mapping[m.name] = "#/components/schemas/" + name
		if !seen[m.result.name] {
			seen[m.result.name] = true
			results = append(results, ref(m.result.name))
		}
	}
	for _, own := range []string{"Call", "Answer", "Failure", "RefusedMessage"} {
		if schemas[own] != nil {
			return "", fmt.Errorf("two schemas are named %s: name the type otherwise", own)
		}
	}
	schemas["Call"] = node{"description": "A call, or without an id a notification.", "oneOf": calls, "discriminator": node{"propertyName": "method", "mapping": mapping}}
	schemas["Failure"] = node{"type": "object", "description": "Why a call was refused, or failed; doc/rpc.md has the codes.", "required": []string{"code", "message", "data"}, "properties": node{
		"code": node{"type": "integer"}, "message": node{"type": "string"},
		"data": node{"type": "object", "required": []string{"code", "hint"}, "properties": node{
			"code": node{"type": "string", "description": "The reason in one word."}, "hint": node{"type": "string", "description": "The way out, \"\" if there is none."},
			"started": node{"type": "boolean"}, "missing_tokens": node{"type": "integer"}}}}}
	envelope := node{"jsonrpc": node{"type": "string", "enum": []string{"2.0"}}, "id": id, "error": ref("Failure")}
	schemas["RefusedMessage"] = node{"type": "object", "required": []string{"jsonrpc", "id", "error"}, "properties": envelope}
	schemas["Answer"] = node{"type": "object", "description": "The answer to a call: its result, or an error.", "required": []string{"jsonrpc", "id"}, "properties": node{
		"jsonrpc": envelope["jsonrpc"], "id": id, "error": ref("Failure"), "result": node{"anyOf": results}}}
	paths := node{
		"/rpc": node{"post": node{"operationId": "rpc", "summary": "Carry out a call, or a list of them",
			"requestBody": node{"required": true, "content": content(node{"oneOf": []node{ref("Call"), {"type": "array", "items": ref("Call"), "minItems": 1, "maxItems": 1000}}})},
			"responses": func() node {
				out := answers("200", node{"description": "The answers; also what the kernel refused, as an error", "content": node{
					"application/json":  node{"schema": node{"oneOf": []node{ref("Answer"), {"type": "array", "items": ref("Answer")}}}},
					"text/event-stream": node{"schema": node{"type": "string", "description": "for a request with Accept: text/event-stream: each data: a message, first notifications of progress, last the answer"}}}}, ref("RefusedMessage"), "404")
				out["204"] = node{"description": "Notifications alone have no answer"}
				return out
			}()}},
		"/openapi.json": open("openapi", "This document", "the document"),
		"/healthz":      open("healthz", "Whether the process lives", "it does"),
		"/readyz":       open("readyz", "Whether calls would be answered", "they would"),
	}
	paths["/readyz"].(node)["get"].(node)["responses"].(node)["503"] = node{"description": "not now", "content": content(ref("RefusedMessage"))}
	doc := node{"openapi": "3.0.3",
		"info":     node{"title": "memkernel", "version": "1", "description": "The methods of doc/schema.json over HTTP; doc/service.md has the rest.", "license": node{"name": "MIT"}},
		"security": []node{{"bearer": []string{}}}, "paths": paths,
		"components": node{"schemas": schemas, "securitySchemes": node{"bearer": node{"type": "http", "scheme": "bearer", "description": "A token of 'memkernel token create'."}}}}
	text, err := json.Marshal(doc)
	return string(text) + "\n", err
}

// open returns a path that needs no token.
func open(id, summary, good string) node {
	return node{"get": node{"operationId": id, "summary": summary, "security": []node{}, "responses": node{"200": node{"description": good, "content": content(node{"type": "object"})}}}}
}
