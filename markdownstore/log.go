package markdownstore

import (
	"regexp"
	"strings"
)

// Flushes write blocks into a day's log. A block is a line that names the session, and a list.
var (
	logLead = regexp.MustCompile(`^Session (.+), (?:cp_\d+|by what was captured of it):$`)
	ownLine = regexp.MustCompile(`^- (?:\[[a-z]+\] )*(?:\[open\] |agent: )`)
)

// SessionOf returns the key of the session whose agent's decision or open task line n of a day's
// log records. Lines count from 1. It returns "" for all other lines, which belong to the
// project.
func SessionOf(log string, n int) string {
	lines := strings.Split(log, "\n")
	if n < 1 || n > len(lines) || !ownLine.MatchString(lines[n-1]) {
		return ""
	}
	for i := n - 2; i >= 0; i-- {
		l := strings.TrimRight(lines[i], "\r")
		if m := logLead.FindStringSubmatch(l); m != nil {
			return m[1]
		}
		if !inBlock(l) {
			break
		}
	}
	return ""
}

// inBlock reports whether a line may follow the first one of a block.
func inBlock(l string) bool {
	return l != "" && (strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "<!-- ") || strings.HasPrefix(l, "  "))
}

// ProjectLog returns a day's log for the session with the key own. It blanks the lines about
// decisions of other sessions' agents and about open items of other sessions, so that the
// remaining lines keep their numbers.
func ProjectLog(log, own string) string {
	lines := strings.SplitAfter(log, "\n")
	lead, kept := -1, false
	end := func() {
		if lead >= 0 && !kept {
			lines[lead] = "\n"
		}
		lead, kept = -1, false
	}
	for i, l := range lines {
		l = strings.TrimRight(l, "\r\n")
		switch {
		case logLead.MatchString(l):
			if end(); logLead.FindStringSubmatch(l)[1] != own {
				lead = i
			}
		case lead >= 0 && ownLine.MatchString(l):
			lines[i] = "\n"
		case lead >= 0 && strings.HasPrefix(l, "- "):
			kept = true
		case !inBlock(l):
			end()
		}
	}
	end()
	return strings.Join(lines, "")
}
