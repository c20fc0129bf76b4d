package hook

import "fmt"

// command is a hook as the hosts' settings have it.
type command struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	// Timeout is in the host's own unit.
	Timeout int `json:"timeout"`
}

// group is an element in the list of an event. Without a matcher it is for all sources and
// triggers.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

// hostWait is how long a host waits for a hook, in seconds: twice DefaultDeadline.
const hostWait = 10

// onlyLarge precedes the command of a hook that runs after each call of a tool. The program
// is started for a large event alone: to start it costs more than a small one is worth. An
// event is one line, which the shell reads without a program of its own.
var onlyLarge = fmt.Sprintf(`LC_ALL=C; IFS= read -r e; [ ${#e} -lt %d ] || printf %%s "$e" | `, smallEvent)

// hookCommand returns the hook of a host's event.
func hookCommand(h Host, event, run string) command {
	c := command{Type: "command", Command: run, Timeout: hostWait}
	if h.row().moments[event] == toolResult {
		c.Command = onlyLarge + run
	}
	if h.row().named {
		c.Name, c.Timeout = "memkernel", hostWait*1000
	}
	return c
}

func hookGroup(h Host, event, run string) group {
	g := group{Hooks: []command{hookCommand(h, event, run)}}
	if h.row().moments[event] == toolResult {
		g.Matcher = matcher(h.row().tools)
	}
	return g
}
