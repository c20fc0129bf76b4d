package hook

import (
	"fmt"
	"strings"
)

// Host is a harness that runs commands at moments of its own.
type Host string

// The hosts.
const (
	Claude Host = "claude"
	Codex  Host = "codex"
	Gemini Host = "gemini"
)

// Hosts lists all hosts.
func Hosts() []Host { return []Host{Claude, Codex, Gemini} }

// HostNames are the hosts as text.
func HostNames() []string {
	var out []string
	for _, h := range Hosts() {
		out = append(out, string(h))
	}
	return out
}

// ParseHost reads a host's name.
func ParseHost(name string) (Host, error) {
	for _, h := range Hosts() {
		if string(h) == name {
			return h, nil
		}
	}
	return "", fmt.Errorf("unknown host %q: give one of %s", name, strings.Join(HostNames(), ", "))
}

// Title is what the host calls itself.
func (h Host) Title() string {
	return map[Host]string{Claude: "Claude Code", Codex: "Codex", Gemini: "Gemini CLI"}[h]
}

// Key is the key of a session of the host's.
func (h Host) Key(sessionID string) string { return string(h) + ":" + sessionID }
