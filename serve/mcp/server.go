// Package mcp offers memory to any client of the Model Context Protocol, by the tools of package
// tools.
//
//	client ── frames ──► sdk ──► Server ──► tools.Set ──► kernel
//
// A tool's answer is JSON as text. With [Options.AllTools] the same JSON is also structured
// content, which follows the tool's output schema. By default it is not, because some hosts show
// a model both forms. An answer always has a reason. A call with wrong arguments is a tool error
// with the reason SCHEMA_INVALID, so that the model can correct the call. The session and whether
// it is private are set when the server is made. A client can't choose them.
//
// The package plans nothing. A Server is safe for several clients at once. Sizes are bytes.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve/tools"
)

// Options set which tools a server offers. Nil means the defaults.
type Options struct {
	// Tools bind the tools to a session.
	Tools tools.Options
	// AllTools is for clients that edit no files. It also lists the tools and arguments that few
	// conversations need, and adds structured answers.
	AllTools bool
	// Session, if set, returns the session of each call. If it returns "", Tools decide.
	Session func() string
	// Version is the program's.
	Version string
	// Logger receives the messages of the protocol's library. A nil Logger discards them.
	Logger *slog.Logger
}

// Server is memory for clients of the protocol.
type Server struct {
	k    *kernel.Kernel
	opts Options
	sdk  *sdk.Server
}

// New makes a server on a kernel. The server does not close the kernel.
func New(k *kernel.Kernel, opts *Options) (*Server, error) {
	s := &Server{k: k}
	if opts != nil {
		s.opts = *opts
	}
	o := &sdk.ServerOptions{Logger: s.opts.Logger, Capabilities: &sdk.ServerCapabilities{},
		// Memory belongs to one user, so an intermediate cache must not hand it to others.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "memkernel", Title: "memkernel memory", Version: s.opts.Version}, o)
	set, err := s.set()
	if err != nil {
		return nil, err
	}
	rare := map[string]bool{}
	for _, d := range set.Definitions(s.opts.AllTools) {
		tool := &sdk.Tool{Name: d.Name, Title: titles[d.Name], Description: d.Description, InputSchema: d.Schema,
			// A repeated append or edit is carried out once. Each undo takes back one more edit.
			Annotations: &sdk.ToolAnnotations{Title: titles[d.Name], ReadOnlyHint: d.ReadOnly, DestructiveHint: &d.Destructive, IdempotentHint: d.Name != tools.MemoryUndo, OpenWorldHint: new(bool)}}
		if s.opts.AllTools {
			tool.OutputSchema = tools.Output(d.Name)
		}
		s.sdk.AddTool(tool, s.call)
		rare[d.Name] = d.Rare || d.Name == tools.MemoryGet // memory_search reads paths and ids, too
	}
	if !s.opts.AllTools {
		s.sdk.AddReceivingMiddleware(unlist(rare))
	}
	return s, nil
}

// unlist leaves tools out of the list that a model is shown, because each definition costs tokens
// with every call. A call of such a tool is still answered.
func unlist(rare map[string]bool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			res, err := next(ctx, method, req)
			if list, ok := res.(*sdk.ListToolsResult); ok && err == nil {
				list.Tools = slices.DeleteFunc(list.Tools, func(t *sdk.Tool) bool { return rare[t.Name] })
			}
			return res, err
		}
	}
}

// Serve speaks the protocol over a pair of streams, one frame per line, until the client hangs up
// or ctx ends. It still answers the requests that were sent before the client hung up. It writes
// nothing but frames to w.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	st := &stream{from: r, to: w}
	st.silent = sync.NewCond(&st.mu)
	return s.Run(ctx, st)
}

// Run speaks over a transport until the client hangs up or ctx ends.
func (s *Server) Run(ctx context.Context, t sdk.Transport) error {
	session, err := s.sdk.Connect(ctx, t, nil)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { session.Close() })
	defer stop()
	if err := session.Wait(); ctx.Err() == nil {
		return err
	}
	return nil // asked to stop
}

// set binds the tools to the session of this moment.
func (s *Server) set() (*tools.Set, error) {
	o := s.opts.Tools
	if s.opts.Session != nil {
		if key := s.opts.Session(); key != "" {
			o.SessionKey = key
		}
	}
	return tools.New(s.k, o)
}

// titles are the tools' names for people.
var titles = map[string]string{
	tools.MemorySearch:  "Search memory",
	tools.MemoryGet:     "Read memory, or what an id points to",
	tools.MemoryAppend:  "Add to memory",
	tools.MemoryUpdate:  "Change memory",
	tools.MemoryDelete:  "Delete from memory",
	tools.MemoryList:    "List memory",
	tools.MemoryUndo:    "Undo a change of memory",
	tools.ContextStatus: "Context status",
}

// call answers one call of a tool.
func (s *Server) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	set, err := s.set()
	if err != nil {
		return nil, err
	}
	answer, err := set.Call(ctx, req.Params.Name, req.Params.Arguments)
	var wrong *tools.ArgumentError
	switch {
	case errors.As(err, &wrong):
		text, _ := json.Marshal(struct { // strings always can
			Reason   string `json:"reason"`
			Argument string `json:"argument,omitempty"`
			Detail   string `json:"detail"`
		}{"SCHEMA_INVALID", wrong.Argument, wrong.Error()})
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil
	case err != nil:
		return nil, err
	}
	res := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(answer)}}}
	if s.opts.AllTools {
		res.StructuredContent = answer
	}
	return res, nil
}
