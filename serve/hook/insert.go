package hook

import "fmt"

// command is a hook in the form of the hosts' settings.
type command struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	// Timeout is in the host's own unit.
	Timeout int `json:"timeout"`
}

// group is an element in the list of an event. A group without a matcher is for all sources and
// triggers.
type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []command `json:"hooks"`
}

// hostWait is how long a host waits for a hook, in seconds. It is twice DefaultDeadline.
const hostWait = 10

// onlyLarge precedes the command of a hook that runs after each call of a tool. The shell starts
// the program only for a large event, because the start costs more than a small event is worth.
// An event is one line, which the shell reads without another program.
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
