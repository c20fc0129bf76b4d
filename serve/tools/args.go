package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxResults bounds the results of one search.
const maxResults = 100

// maxArgs bounds the arguments of one call, in bytes.
const maxArgs = 2 << 20

// argumentError names the wrong argument of a call, and the values that are allowed.
type argumentError struct {
	Tool string
	// Argument is the name of the argument, "" for all arguments.
	Argument string
	Problem  string
}

func (e *argumentError) Error() string {
	if e.Argument == "" {
		return fmt.Sprintf("%s: %s", e.Tool, e.Problem)
	}
	return fmt.Sprintf("%s: argument %s: %s", e.Tool, e.Argument, e.Problem)
}

// args are the arguments of a call that were checked against its schema.
type args map[string]any

// read checks the arguments of a call. Missing arguments count as an empty object.
func (s *spec) read(raw json.RawMessage) (args, error) {
	wrong := func(name, format string, a ...any) error {
		return &argumentError{Tool: s.name, Argument: name, Problem: fmt.Sprintf(format, a...)}
	}
	if len(raw) > maxArgs {
		return nil, wrong("", "the arguments have %d bytes; at most %d are read", len(raw), maxArgs)
	}
	out := args{}
	if len(bytes.TrimSpace(raw)) > 0 { // null is an empty object, too
		if err := json.Unmarshal(raw, &out); err != nil {
			return nil, wrong("", "the arguments are no JSON object: %v", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		p, ok := s.properties[name]
		if !ok {
			return nil, wrong(name, "there is no such argument; there are %s", s.names())
		}
		if problem := p.check(out[name]); problem != "" {
			return nil, wrong(name, "%s", problem)
		}
	}
	for _, name := range s.required {
		if _, ok := out[name]; !ok {
			return nil, wrong(name, "it is missing")
		}
	}
	return out, nil
}

func (s *spec) names() string {
	return strings.Join(slices.Sorted(maps.Keys(s.properties)), ", ")
}

// check returns the fault of a value, "" if it has none.
func (p property) check(v any) string {
	switch p.Type {
	case "string":
		if s, ok := v.(string); !ok {
			return "it must be a string"
		} else if p.Enum != nil && !slices.Contains(p.Enum, s) {
			return "it must be one of " + strings.Join(p.Enum, ", ")
		}
		return ""
	case "boolean":
		if _, ok := v.(bool); !ok {
			return "it must be true or false"
		}
		return ""
	}
	n, ok := v.(float64)
	switch {
	case !ok:
		return "it must be a number"
	case p.Type == "integer" && n != math.Trunc(n):
		return "it must be a whole number"
	case p.Minimum != nil && n < *p.Minimum:
		return fmt.Sprintf("it must be at least %v", *p.Minimum)
	case p.Maximum != nil && n > *p.Maximum:
		return fmt.Sprintf("it must be at most %v", *p.Maximum)
	case n > math.MaxInt32:
		return fmt.Sprintf("it must be at most %d", math.MaxInt32)
	}
	return ""
}

// text returns a string argument, "" if it was left out.
func (a args) text(name string) string {
	s, _ := a[name].(string)
	return s
}

// names returns the parts of a string argument between commas.
func (a args) names(name string) (out []string) {
	for n := range strings.SplitSeq(a.text(name), ",") {
		if n = strings.TrimSpace(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// number returns a number, 0 if it was left out.
func (a args) number(name string) float64 {
	n, _ := a[name].(float64)
	return n
}

// flag returns a boolean, false if it was left out.
func (a args) flag(name string) bool { return a[name] == true }
