package hook

// command is a hook as the hosts' settings have it.
type command struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	// Timeout is in the host's own unit.
	Timeout int `json:"timeout"`
}

// group is what is in the list of an event. Without a matcher it is for all
// sources and triggers.
type group struct {
	Hooks []command `json:"hooks"`
}

// hostWait is how long a host waits for a hook, in seconds: twice DefaultDeadline.
const hostWait = 10

// hookCommand returns the hook of a host.
func hookCommand(h Host, run string) command {
	c := command{Type: "command", Command: run, Timeout: hostWait}
	if h.row().named {
		c.Name, c.Timeout = "memkernel", hostWait*1000
	}
	return c
}

func hookGroup(h Host, run string) group { return group{Hooks: []command{hookCommand(h, run)}} }
