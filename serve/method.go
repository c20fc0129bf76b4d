package serve

import (
	"context"
	"maps"
	"slices"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// method is a name that can be called.
type method struct {
	params func() params
	run    func(context.Context, *call, params) (any, error)
}

// define makes a method of a function with parameters of its own.
func define[P any, PP interface {
	*P
	params
}](run func(context.Context, *call, PP) (any, error)) method {
	return method{
		params: func() params { return PP(new(P)) },
		run:    func(ctx context.Context, c *call, p params) (any, error) { return run(ctx, c, p.(PP)) },
	}
}

// table is every method but $/cancelRequest, which is no call.
func (s *Server) table() map[string]method {
	return map[string]method{
		"initialize":          define(s.initialize),
		"shutdown":            define(s.stopAll),
		"plan":                define(s.plan),
		"peek":                define(s.peek),
		"observe_turn":        define(s.observeTurn),
		"observe_tool_result": define(s.observeToolResult),
		"start_session":       boundary(s, s.k.StartSession),
		"end_session":         define(s.endSession),
		"flush":               boundary(s, s.k.Flush),
		"reset":               boundary(s, s.k.Reset),
		"compact":             define(s.compact),
		"checkpoint":          define(s.checkpoint),
		"restore":             define(s.restore),
		"flush_turn":          define(s.flushTurn),
		"observe_flush":       define(s.observeFlush),
		"remember":            define(s.remember),
		"forget":              define(s.forget),
		"retain":              define(s.retain),
		"search":              define(s.search),
		"read":                define(s.read),
		"get":                 define(s.get),
		"write":               define(s.write),
		"pages":               define(s.pages),
		"status":              define(s.status),
		"check":               define(s.check),
		"usage":               define(s.usage),
		"reindex":             define(s.reindex),
		"tools.list":          define(s.toolsList),
		"tools.call":          define(s.toolsCall),
	}
}

type initializeCall struct {
	caller
	// Protocol is the version that the client speaks; 0 doesn't say.
	Protocol int `json:"protocol"`
	Client   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"client"`
}

type initialized struct {
	Protocol     int          `json:"protocol"`
	Server       serverInfo   `json:"server"`
	Workspace    string       `json:"workspace"`
	StateDir     string       `json:"state_dir"`
	Capabilities capabilities `json:"capabilities"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type capabilities struct {
	Methods  []string `json:"methods"`
	Dialects []string `json:"dialects"`
	Forms    []string `json:"forms"`
	// Private: a call may say that its session is private. Without it all are shared.
	Private      bool `json:"private"`
	Tools        bool `json:"tools"`
	MaxLineBytes int  `json:"max_line_bytes"`
	MaxInFlight  int  `json:"max_in_flight"`
	MaxBatch     int  `json:"max_batch"`
}

func (s *Server) initialize(_ context.Context, _ *call, p *initializeCall) (any, error) {
	if p.Protocol != 0 && p.Protocol != Protocol {
		return nil, newError(codeVersion, "PROTOCOL_VERSION", "the server speaks version 1 of the protocol only", "use a client and a memkernel of the same protocol")
	}
	return initialized{Protocol: Protocol, Server: serverInfo{"memkernel", s.opt.Version}, Workspace: s.opt.Workspace, StateDir: s.opt.StateDir,
		Capabilities: capabilities{Methods: slices.Sorted(maps.Keys(s.methods)), Dialects: names(transcript.Intakes()), Forms: forms, Private: s.opt.Private, Tools: s.opt.Tools != nil,
			MaxLineBytes: s.opt.LineBytes, MaxInFlight: s.opt.InFlight, MaxBatch: maxBatch}}, nil
}

// stopAll asks whoever runs the server to end it. The answer is out before it ends.
func (s *Server) stopAll(context.Context, *call, *caller) (any, error) {
	s.shutdownOnce.Do(func() { close(s.shutdown) })
	return struct{}{}, nil
}

// private tells whether a call's session is one person's own.
func (s *Server) private(said bool) bool { return said && s.opt.Private }

func orDefault(key string) string {
	if key == "" {
		return kernel.DefaultSession
	}
	return key
}

// list is s, or the empty list: a document has no null where a list belongs.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
