package main

import (
	"fmt"
	"go/format"
	"slices"
	"strings"
)

// addPlumbing adds what is not an entity, and formats all Go files.
func (w *world) addPlumbing() {
	for path, text := range plumbing {
		w.files[path] = strings.ReplaceAll(strings.TrimPrefix(text, "\n"), "~", "`")
	}
	w.files["internal/httpapi/api.go"] = routesFile()
	w.files["api/openapi.json"] = openAPI(w.r)
	for _, p := range w.paths("") {
		if strings.HasSuffix(p, ".go") {
			if out, err := format.Source([]byte(w.files[p])); err == nil {
				w.files[p] = string(out)
			}
		}
	}
}

func sorted(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return slices.Compact(out)
}

// routesFile wires every handler.
func routesFile() string {
	var b strings.Builder
	b.WriteString("package httpapi\n\nimport (\n\t\"encoding/json\"\n\t\"log/slog\"\n\t\"net/http\"\n\t\"time\"\n\n")
	for i := range entities {
		fmt.Fprintf(&b, "\t%q\n", module+"/internal/"+entities[i].pkg)
	}
	b.WriteString(")\n\n// API holds what the handlers need.\ntype API struct {\n\tlog *slog.Logger\n")
	for i := range entities {
		fmt.Fprintf(&b, "\t%s *%s.Service\n", entities[i].plural, entities[i].pkg)
	}
	b.WriteString("}\n\n// Routes returns the handler of the whole API.\nfunc (a *API) Routes() http.Handler {\n\tmux := http.NewServeMux()\n")
	for i := range entities {
		e := &entities[i]
		fmt.Fprintf(&b, "\tmux.HandleFunc(\"GET /v1/%s/{id}\", a.get%s)\n\tmux.HandleFunc(\"POST /v1/%s\", a.create%s)\n", e.plural, e.name, e.plural, e.name)
	}
	b.WriteString("\tmux.HandleFunc(\"GET /healthz\", a.health)\n\treturn a.logged(a.recovered(mux))\n}\n")
	b.WriteString(`
// problem answers with an application/problem+json document.
func (a *API) problem(w http.ResponseWriter, r *http.Request, code int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]any{
		"status": code, "title": http.StatusText(code), "detail": detail, "instance": r.URL.Path,
	})
}

// fail hides the error from the client and keeps it in the log.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	a.log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "err", err)
	a.problem(w, r, http.StatusInternalServerError, "something went wrong on our side")
}

func (a *API) json(w http.ResponseWriter, r *http.Request, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		a.log.WarnContext(r.Context(), "answer cut short", "err", err)
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
`)
	return b.String()
}

// openAPI describes the API in JSON, one path pair per entity.
func openAPI(r *rng) string {
	var b strings.Builder
	b.WriteString("{\n  \"openapi\": \"3.1.0\",\n  \"info\": {\"title\": \"Harborline\", \"version\": \"1.14.2\"},\n  \"paths\": {\n")
	for i := range entities {
		e := &entities[i]
		fmt.Fprintf(&b, "    \"/v1/%s/{id}\": {\n      \"get\": {\n        \"operationId\": \"get%s\",\n        \"parameters\": [{\"name\": \"id\", \"in\": \"path\", \"required\": true, \"schema\": {\"type\": \"string\"}}],\n        \"responses\": {\n          \"200\": {\"description\": \"%s\", \"content\": {\"application/json\": {\"schema\": {\"$ref\": \"#/components/schemas/%s\"}}}},\n          \"404\": {\"$ref\": \"#/components/responses/NotFound\"}\n        }\n      }\n    },\n",
			e.plural, e.name, e.doc, e.name)
	}
	b.WriteString("    \"/healthz\": {\"get\": {\"operationId\": \"health\", \"responses\": {\"200\": {\"description\": \"alive\"}}}}\n  },\n  \"components\": {\n    \"schemas\": {\n")
	for i := range entities {
		e := &entities[i]
		fmt.Fprintf(&b, "      %q: {\n        \"type\": \"object\",\n        \"required\": [\"id\", \"status\"],\n        \"properties\": {\n          \"id\": {\"type\": \"string\", \"example\": \"%s_%s\"},\n", e.name, e.pkg[:2], r.hex(10))
		for _, f := range e.fields {
			fmt.Fprintf(&b, "          %q: {%s, \"description\": %q},\n", f.column, jsonType(f.typ), f.doc)
		}
		fmt.Fprintf(&b, "          \"status\": {\"type\": \"string\", \"enum\": [%s]}\n        }\n      }", quotedList(e.statuses))
		if i < len(entities)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("    }\n  }\n}\n")
	return b.String()
}

func jsonType(goType string) string {
	switch goType {
	case "int", "int64":
		return `"type": "integer"`
	case "float64":
		return `"type": "number"`
	case "time.Time":
		return `"type": "string", "format": "date-time"`
	}
	return `"type": "string"`
}

func quotedList(words []string) string {
	out := make([]string, len(words))
	for i, s := range words {
		out[i] = fmt.Sprintf("%q", snake(s))
	}
	return strings.Join(out, ", ")
}

// migrationFile makes the table of an entity.
func migrationFile(e *entity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s: %s\nBEGIN;\n\nCREATE TABLE %s (\n    id          text PRIMARY KEY,\n", e.plural, e.doc, e.plural)
	for _, f := range e.fields {
		typ := map[string]string{"int": "integer", "int64": "bigint", "float64": "double precision", "time.Time": "timestamptz"}[f.typ]
		if typ == "" {
			typ = "text"
		}
		fmt.Fprintf(&b, "    %-16s %s NOT NULL,\n", f.column, typ)
	}
	fmt.Fprintf(&b, "    status      text NOT NULL CHECK (status IN (%s)),\n    created_at  timestamptz NOT NULL DEFAULT now(),\n    updated_at  timestamptz NOT NULL DEFAULT now()\n);\n\nCREATE INDEX %s_%s_idx ON %s (%s);\nCREATE INDEX %s_created_idx ON %s (created_at DESC);\n\nCOMMIT;\n",
		strings.ReplaceAll(quotedList(e.statuses), `"`, "'"), e.plural, e.fields[0].column, e.plural, e.fields[0].column, e.plural, e.plural)
	return b.String()
}
