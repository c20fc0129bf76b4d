package index

import "strings"

// OwnedPath is how the path of another agent's file is written, where an index
// holds files of several: "@agent/memory/x.md". It names no file of this workspace.
func OwnedPath(agent, path string) string { return "@" + agent + "/" + path }

// SplitOwner takes the agent off a path; agent is "" for files of one's own.
func SplitOwner(path string) (agent, rest string) {
	if strings.HasPrefix(path, "@") {
		if agent, rest, ok := strings.Cut(path[1:], "/"); ok && agent != "" {
			return agent, rest
		}
	}
	return "", path
}
