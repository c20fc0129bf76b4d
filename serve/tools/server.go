package tools

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
)

// ServerOptions say which tools a server offers, and for which session.
type ServerOptions struct {
	// Tools bind the tools to a session.
	Tools Options
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

// Server is memory for clients of the Model Context Protocol. It is safe for several clients at
// once. The session and whether it is private are set when the server is made. A client can't
// choose them.
//
// A tool's answer is JSON as text. With [ServerOptions.AllTools] the same JSON is also structured
// content, which follows the tool's output schema. By default it is not, because some hosts show
// a model both forms. A call with wrong arguments is a tool error with the reason SCHEMA_INVALID,
// so that the model can correct the call.
type Server struct {
	k    *kernel.Kernel
	opts ServerOptions
	sdk  *sdk.Server
}

// NewServer makes a server on a kernel. The server does not close the kernel.
func NewServer(k *kernel.Kernel, o ServerOptions) (*Server, error) {
	s := &Server{k: k, opts: o}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "memkernel", Title: "memkernel memory", Version: o.Version},
		&sdk.ServerOptions{Logger: o.Logger, Capabilities: &sdk.ServerCapabilities{},
			// Memory belongs to one user, so an intermediate cache must not hand it to others.
			SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }})
	set, err := s.set()
	if err != nil {
		return nil, err
	}
	rare := map[string]bool{}
	for sp := range set.specs() {
		tool := &sdk.Tool{Name: sp.name, Title: sp.title, Description: sp.description, InputSchema: sp.schema(o.AllTools),
			// A repeated append or edit is carried out once. Each undo takes back one more edit.
			Annotations: &sdk.ToolAnnotations{Title: sp.title, ReadOnlyHint: !sp.write, DestructiveHint: &sp.edit, IdempotentHint: sp.name != memoryUndo, OpenWorldHint: new(bool)}}
		if o.AllTools {
			tool.OutputSchema = sp.output()
		}
		s.sdk.AddTool(tool, s.call)
		rare[sp.name] = sp.rare || sp.name == memoryGet // memory_search reads paths and ids, too
	}
	if !o.AllTools {
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

// set returns the tools of the current session.
func (s *Server) set() (*Set, error) {
	o := s.opts.Tools
	if s.opts.Session != nil {
		if key := s.opts.Session(); key != "" {
			o.SessionKey = key
		}
	}
	return New(s.k, o)
}

// call answers one call of a tool.
func (s *Server) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	set, err := s.set()
	if err != nil {
		return nil, err
	}
	answer, err := set.Call(ctx, req.Params.Name, req.Params.Arguments)
	var wrong *argumentError
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
