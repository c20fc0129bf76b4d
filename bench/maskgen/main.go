// Command maskgen turns gitleaks' rules for secrets (config/gitleaks.toml, MIT
// licence) into the file that package mask embeds, pagevm/mask/data/gitleaks.json.
//
//	gitleaks.toml ──► review ──► rules as JSON: id, expression, keywords,
//	                             entropy, exceptions, how far a match reaches
//
// The review is in this package: review.go names every rule that is left out or
// changed, and why. Each remaining rule must compile as a Go expression, must have a
// keyword of at least three bytes, and must bound the length of a match. The same
// input gives the same bytes. The command reads one file, writes one file, and never uses
// the network. "make mask-rules" fetches the module before it runs the command.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Source is the module that the embedded rules come from.
const Source = "github.com/zricethezav/gitleaks/v8@v8.30.1"

func main() {
	in := flag.String("in", "", "gitleaks.toml of "+Source)
	out := flag.String("o", "../pagevm/mask/data/gitleaks.json", "file to write")
	flag.Parse()
	if err := run(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "maskgen: error:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	raw, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	data, err := Generate(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return os.WriteFile(out, data, 0o644)
}

// theirs holds the parts of a gitleaks configuration that are used.
type theirs struct {
	Allowlist allowlist
	Rules     []theirRule
}

type theirRule struct {
	ID, Regex, Path string
	Keywords        []string
	Entropy         any // an integer or a floating-point number
	SecretGroup     int
	Allowlists      []allowlist
}

type allowlist struct {
	RegexTarget, Condition string
	Regexes, Stopwords     []string
	Paths                  []string
}

// ours is the embedded file.
type ours struct {
	Source  string `json:"source"`
	Licence string `json:"licence"`
	// Allow holds expressions and Stop holds words. A match that contains one of them is no secret.
	Allow []string `json:"allow"`
	Stop  []string `json:"stop"`
	Rules []rule   `json:"rules"`
}

type rule struct {
	ID       string   `json:"id"`
	Regex    string   `json:"regex"`
	Keywords []string `json:"keywords"`
	Entropy  float64  `json:"entropy,omitempty"`
	Group    int      `json:"group,omitempty"`
	// Reach is the greatest length of a match in bytes, 0 if nothing bounds the length.
	Reach int `json:"reach,omitempty"`
	// Named reports that the rule recognizes a secret by the name before it, and not by its shape.
	Named bool     `json:"named,omitempty"`
	Allow []string `json:"allow,omitempty"`
	Stop  []string `json:"stop,omitempty"`
}

// Generate makes the embedded file from a gitleaks.toml.
func Generate(raw []byte) ([]byte, error) {
	var t theirs
	if _, err := toml.Decode(string(raw), &t); err != nil {
		return nil, err
	}
	o := ours{Source: Source, Licence: "MIT, Copyright (c) 2019 Zachary Rice; see LICENSE", Allow: t.Allowlist.Regexes, Stop: t.Allowlist.Stopwords}
	for _, r := range t.Rules {
		kept, ok, err := reviewed(r)
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		if ok {
			o.Rules = append(o.Rules, kept)
		}
	}
	if err := allMet(t.Rules); err != nil {
		return nil, err
	}
	slices.SortFunc(o.Rules, func(a, b rule) int { return cmp.Compare(a.ID, b.ID) })
	return encode(&o)
}

func encode(o *ours) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	err := e.Encode(o)
	return leading.ReplaceAll(b.Bytes(), nil), err
}

// leading matches the indentation of lines. encode removes it to keep the embedded file small.
var leading = regexp.MustCompile(`(?m)^\t+`)

// allMet fails if the review names a rule that gitleaks no longer has.
func allMet(rules []theirRule) error {
	var gone []string
	for id := range left {
		if !slices.ContainsFunc(rules, func(r theirRule) bool { return r.ID == id }) {
			gone = append(gone, id)
		}
	}
	for id := range changed {
		if !slices.ContainsFunc(rules, func(r theirRule) bool { return r.ID == id }) {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	if len(gone) > 0 {
		return fmt.Errorf("the review names rules that are gone: %s; look at review.go", strings.Join(gone, ", "))
	}
	return nil
}
