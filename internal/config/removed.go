package config

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// removed has the settings and masking rules that earlier versions had, by full name, with what holds now.
var removed = map[string]string{
	"repeats": "results are always shown whole",

	"proxy.deadline":       "a plan has three seconds",
	"proxy.defer_tools":    "definitions of tools stay where the client has them; Claude Code, Codex and their like let them wait themselves",
	"proxy.grace":          "answers under way get half a minute",
	"proxy.max_body":       "requests of up to 64 MiB are taken",
	"proxy.one_shots":      "a request with the header X-Memkernel-Session is planned",
	"proxy.retry_overflow": "a refused request is always planned anew and sent once more",

	disabledRule + "azure-sas":        "the rule signed-url finds the same and stays on",
	disabledRule + "chat-webhook":     "the rules private-url and signed-url find the same and stay on",
	disabledRule + "command-token":    "the rule named-secret finds the same and stays on",
	disabledRule + "discord-webhook":  "the rule private-url finds the same and stays on",
	disabledRule + "fly-token":        "the rule flyio-access-token finds the same and stays on",
	disabledRule + "kubernetes-token": "the rule named-secret finds the same and stays on",
	disabledRule + "solana-key":       "the rule key-bytes finds the same and stays on",
	disabledRule + "terraform-token":  "the rule hashicorp-tf-api-token finds the same and stays on",
	disabledRule + "zapier-webhook":   "the rule private-url finds the same and stays on",
}

// disabledRule precedes the name of a masking rule in removed.
const disabledRule = "redact.disable_rules: "

// removedIn returns whether name was removed, and adds a warning for its line if so.
func (f *file) removedIn(line int, name string) bool {
	now, was := removed[strings.TrimPrefix(name, Experiments+".")]
	if was {
		f.warnings = append(f.warnings, fmt.Sprintf("%s:%d: %s: this setting was removed: %s; take it out", f.name, line, name, now))
	}
	return was
}

// removedKey returns whether a key of a file was removed, or is a section of which every key
// was. It adds a warning for each.
func (f *file) removedKey(k, v *yaml.Node, name string) bool {
	if f.removedIn(k.Line, name) {
		return true
	}
	v = target(v)
	if v.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		if !f.removedKey(v.Content[i], v.Content[i+1], name+"."+v.Content[i].Value) {
			return false
		}
	}
	return len(v.Content) > 0
}
