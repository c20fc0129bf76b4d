package markdownstore

import (
	"regexp"
	"strings"
)

// A flush writes a block into a day's log: a line that names the session, and a list.
var (
	logLead = regexp.MustCompile(`^Session (.+), (?:cp_\d+|by what was captured of it):$`)
	ownLine = regexp.MustCompile(`^- (?:\[[a-z]+\] )*(?:\[open\] |agent: )`)
)

// blocksOf returns, for each line of a log, the key of the session in whose block it is, or "".
func blocksOf(lines []string) []string {
	keys := make([]string, len(lines))
	key := ""
	for i, l := range lines {
		l = strings.TrimRight(l, "\r\n")
		if m := logLead.FindStringSubmatch(l); m != nil {
			key = m[1]
		} else if !strings.HasPrefix(l, "- ") && !strings.HasPrefix(l, "<!-- ") && !strings.HasPrefix(l, "  ") {
			key = ""
		}
		keys[i] = key
	}
	return keys
}

// SessionOf returns the key of the session whose agent's decision or open task line n of a day's
// log records. Lines count from 1. It returns "" for all other lines, which belong to the
// project.
func SessionOf(log string, n int) string {
	lines := strings.Split(log, "\n")
	if n < 1 || n > len(lines) || !ownLine.MatchString(lines[n-1]) {
		return ""
	}
	return blocksOf(lines[:n])[n-1]
}

// ProjectLog returns a day's log for the session with the key own. It blanks the lines about
// decisions of other sessions' agents and about open items of other sessions, so that the
// remaining lines keep their numbers.
func ProjectLog(log, own string) string {
	lines := strings.SplitAfter(log, "\n")
	lead := -1 // the first line of a block, while nothing of the block is kept
	end := func() {
		if lead >= 0 {
			lines[lead] = "\n"
		}
		lead = -1
	}
	for i, key := range blocksOf(lines) {
		switch l := lines[i]; {
		case key == "" || key == own:
			end()
		case ownLine.MatchString(l):
			lines[i] = "\n"
		case strings.HasPrefix(l, "- "):
			lead = -1
		case logLead.MatchString(strings.TrimRight(l, "\r\n")):
			end()
			lead = i
		}
	}
	end()
	return strings.Join(lines, "")
}
