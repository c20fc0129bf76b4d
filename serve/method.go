package serve

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// desk has the objects that methods use.
type desk struct {
	k    *kernel.Kernel
	opt  *Options
	held *shelf
	// shutdown requests the end of the server.
	shutdown func()
}

// handler answers a call. Each handler has its own type of parameters and its own type of answer.
type handler[P, R any] func(c *call, p P) (R, error)

// method is a method of the protocol: the permission that it needs, the data that it reaches, a short
// description, its parameters, and the function that answers.
type method struct {
	name   string
	need   need
	reach  reach
	doc    string
	params func() params
	result reflect.Type
	run    handler[params, any]
}

// define returns a row of the table.
func define[P, R any, PP interface {
	*P
	params
}](name string, need need, reach reach, doc string, run handler[PP, *R]) method {
	return method{name, need, reach, doc, func() params { return PP(new(P)) }, reflect.TypeFor[R](),
		func(c *call, p params) (any, error) { return run(c, p.(PP)) }}
}

// table returns every method except $/cancelRequest, which is not a call.
func table() []method {
	return []method{
		define("initialize", needRead, reachNone, "which protocol, workspace and bounds the server has", doInitialize),
		define("shutdown", needOperate, reachNone, "end the daemon once what was taken is done", doShutdown),
		define("plan", NeedWrite, reachSession, "what to send with the next call, recorded", planning((*kernel.Kernel).PlanContext)),
		define("peek", needRead, reachSession, "the same, recording nothing", planning((*kernel.Kernel).Peek)),
		define("observe_turn", NeedWrite, reachSession, "commit what was said up to here", observing((*kernel.Kernel).ObserveTurn)),
		define("observe_tool_result", NeedWrite, reachSession, "commit a result while the turn goes on", observing((*kernel.Kernel).ObserveToolResult)),
		define("start_session", NeedWrite, reachSession, "begin a session, or go on with it", passing((*kernel.Kernel).StartSession)),
		define("end_session", NeedWrite, reachSession, "end a session's use and let go of it", doEndSession),
		define("flush", NeedWrite, reachSession, "write down what a cut would lose", passing((*kernel.Kernel).Flush)),
		define("reset", NeedWrite, reachSession, "begin a new generation of a session", passing((*kernel.Kernel).Reset)),
		define("compact", NeedWrite, reachSession, "cut the prompt now", doCompact),
		define("checkpoint", NeedWrite, reachSession, "write the working state", doCheckpoint),
		define("restore", needRead, reachSession, "the text with which work is taken up again", doRestore),
		define("flush_turn", NeedWrite, reachSession, "the prompt by which a model writes down what matters", doFlushTurn),
		define("observe_flush", NeedWrite, reachSession, "take in what that model answered", doObserveFlush),
		define("remember", NeedWrite, reachSession, "append an entry to memory", doRemember),
		define("memory.tool", NeedWrite, reachSession, "answer a call of Anthropic's memory tool", doMemoryTool),
		define("forget", NeedWrite, reachSession, "tell what removing pages or a session for good takes, or do it", doForget),
		define("retain", NeedWrite, reachAll, "tell what is older than it is to be kept, or remove it", doRetain),
		define("search", needRead, reachSession, "find what memory says", doSearch),
		define("read", needRead, reachSession, "lines of a memory file", doRead),
		define("get", needRead, reachSession, "a page, a span or a checkpoint by its id", doGet),
		define("write", NeedWrite, reachSession, "commit validated updates", doWrite),
		define("pages", needRead, reachSession, "the pages of a session", doPages),
		define("status", needRead, reachAll, "what is where and how big", doStatus),
		define("check", needRead, reachAll, "verify everything on disk", doCheck),
		define("usage", needRead, reachAll, "what calls were planned and billed at", doUsage),
		define("reindex", NeedWrite, reachAll, "bring the index up to date, with progress", doReindex),
		define("tools.list", needRead, reachSession, "the tools that a model can call", doToolsList),
		define("tools.call", NeedWrite, reachSession, "call one of them", doToolsCall),
	}
}

// documented returns the document that of makes of an answer of the kernel.
func documented[T, D any](v T, err error, of func(T) D) (*D, error) {
	if err != nil {
		return nil, err
	}
	doc := of(v)
	return &doc, nil
}

// documentedBy is like documented, for a document that repeats the name that was asked for.
func documentedBy[T, D any](name string, v T, err error, of func(string, T) D) (*D, error) {
	return documented(v, err, func(v T) D { return of(name, v) })
}

// mostSmall bounds a call that hands in no text, in bytes: 64 KiB.
const mostSmall = 64 << 10

// mostOf bounds the parameters of methods that take neither conversations nor texts to keep, in
// bytes. The bound of all other methods is maxText.
var mostOf = map[string]int{
	"search":     api.MaxQuestion + mostSmall,
	"initialize": mostSmall, "shutdown": mostSmall, "restore": mostSmall, "retain": mostSmall,
	"read": mostSmall, "get": mostSmall, "pages": mostSmall, "status": mostSmall, "check": mostSmall,
	"usage": mostSmall, "reindex": mostSmall, "tools.list": mostSmall,
}

// Method is a method of the protocol, with a short description and the structs for its parameters
// and its answer.
type Method struct {
	Name, Doc      string
	Params, Result reflect.Type
}

// Methods lists the methods in the order of the protocol's document.
func Methods() []Method {
	var out []Method
	for _, m := range table() {
		out = append(out, Method{m.name, m.doc, reflect.TypeOf(m.params()).Elem(), m.result})
	}
	return out
}

type initializeCall struct {
	caller
	// Protocol is the version that the client speaks. It is 0 if the client does not say.
	Protocol int        `json:"protocol"`
	Client   clientInfo `json:"client"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
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
	// Private means that a call may say that its session is private. Without Private all sessions
	// are shared.
	Private      bool `json:"private"`
	MaxLineBytes int  `json:"max_line_bytes"`
	MaxInFlight  int  `json:"max_in_flight"`
}

func doInitialize(c *call, p *initializeCall) (*initialized, error) {
	if p.Protocol != 0 && p.Protocol != protocol {
		return nil, NewError("PROTOCOL_VERSION", "the server speaks version 1 of the protocol only", "use a client and a memkernel of the same protocol")
	}
	var methods []string
	for _, m := range table() {
		methods = append(methods, m.name)
	}
	slices.Sort(methods)
	return &initialized{Protocol: protocol, Server: serverInfo{"memkernel", c.opt.Version}, Workspace: c.opt.Workspace, StateDir: c.opt.StateDir,
		Capabilities: capabilities{Methods: methods, Dialects: names(transcript.Intakes()), Forms: forms, Private: c.opt.Private,
			MaxLineBytes: c.opt.LineBytes, MaxInFlight: c.opt.InFlight}}, nil
}

// stopping is the answer to shutdown.
type stopping struct{}

// doShutdown requests the end of the server. The server sends the answer before it ends.
func doShutdown(c *call, _ *caller) (*stopping, error) {
	c.shutdown()
	return &stopping{}, nil
}

// private reports whether a call's session belongs to one person.
func (o *Options) private(said bool) bool { return said && o.Private }

func orDefault(key string) string { return cmp.Or(key, api.DefaultSession) }
