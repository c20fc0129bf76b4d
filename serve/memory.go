package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/serve/tools"
)

type rememberCall struct {
	sessionCall
	// Text is Markdown.
	Text string `json:"text" rpc:"required"`
	// Path is a file of memory. Default: today's log.
	Path string `json:"path"`
	// ID makes the call idempotent.
	ID string `json:"id"`
	// Evidence is where the entry comes from.
	Evidence string `json:"evidence"`
}

type remembered struct {
	Schema     string `json:"schema" rpc:"memkernel/rpc_remember/v1"`
	SessionKey string `json:"session_key"`
	*api.Remembered
}

func doRemember(c *call, p *rememberCall) (*remembered, error) {
	if strings.TrimSpace(p.Text) == "" {
		return nil, badParams("text is what to remember, in Markdown", "there is no text to remember")
	}
	r, err := c.k.Remember(c.ctx, api.RememberRequest{SessionKey: p.SessionKey, Text: p.Text, Path: p.Path, ID: p.ID, Evidence: p.Evidence, Private: c.opt.private(p.Private), Now: p.Now, Undo: true})
	if err != nil {
		return nil, err
	}
	return &remembered{"memkernel/rpc_remember/v1", p.key(), r}, nil
}

type forgetCall struct {
	sessionCall
	// IDs name the pages, spans and blobs to forget.
	IDs []string `json:"ids"`
	// All forgets the whole session.
	All    bool   `json:"all"`
	Reason string `json:"reason"`
	// Apply removes the data. Without Apply the answer only lists the data that would be removed.
	Apply bool `json:"apply"`
}

func doForget(c *call, p *forgetCall) (*document.Forget, error) {
	if p.All == (len(p.IDs) > 0) {
		return nil, badParams("give ids of pages, spans or blobs, or all for the whole session", "forget needs ids, or all")
	}
	out, err := c.k.Forget(c.ctx, api.ForgetRequest{SessionKey: p.SessionKey, IDs: p.IDs, Session: p.All, Reason: p.Reason, Apply: p.Apply, Now: p.Now})
	return documentedBy(p.key(), out, err, document.OfForgotten)
}

// searchCall searches memory. The first search builds the index and waits up to two seconds for
// it. If the index is not complete after that time, the reason is INDEXING, and a later search
// finds more.
type searchCall struct {
	caller
	// SessionKey is the session whose past sessions are also searched. "" searches only files.
	SessionKey string `json:"session_key"`
	Private    bool   `json:"private"`
	// Query is the question in the user's words.
	Query      string  `json:"query" rpc:"required"`
	MaxResults int     `json:"max_results"`
	MinScore   float64 `json:"min_score"`
	// Scope names the folders, tags or projects to look in. "-name" leaves one out.
	Scope []string `json:"scope"`
	// Lines returns a result for each passage, instead of one result for each place.
	Lines bool      `json:"lines"`
	Now   time.Time `json:"now"`
}

func doSearch(c *call, p *searchCall) (*document.Search, error) {
	switch {
	case strings.TrimSpace(p.Query) == "":
		return nil, badParams("query is the question in the user's words", "there is no query")
	case p.MaxResults < 0 || !(p.MinScore >= 0 && p.MinScore <= 1):
		return nil, badParams("max_results is a number from 1, min_score lies in 0 to 1", "max_results %d, min_score %v: out of range", p.MaxResults, p.MinScore)
	}
	r, err := c.k.Search(c.ctx, api.SearchRequest{Query: p.Query, SessionKey: p.SessionKey, Private: c.opt.private(p.Private), MaxResults: p.MaxResults, MinScore: p.MinScore, Scope: p.Scope, Lines: p.Lines, Now: p.Now})
	return documentedBy(p.Query, r, err, document.OfSearch)
}

type readCall struct {
	caller
	// SessionKey is the session whose past sessions may be read.
	SessionKey string `json:"session_key"`
	Private    bool   `json:"private"`
	// Path is a file of memory, or a past session of the session's agent.
	Path string `json:"path" rpc:"required"`
	// From is the first line to read, counted from 1.
	From  int `json:"from"`
	Lines int `json:"lines"`
}

func doRead(c *call, p *readCall) (*document.Get, error) {
	if p.From < 0 || p.Lines < 0 {
		return nil, badParams("lines are counted from 1", "from %d, lines %d: out of range", p.From, p.Lines)
	}
	got, err := c.k.Read(c.ctx, api.ReadRequest{SessionKey: p.SessionKey, Path: p.Path, From: p.From, Lines: p.Lines, Private: c.opt.private(p.Private)})
	if errors.Is(err, markdownstore.ErrDenied) {
		doc := document.OfDenied(p.Path, p.Path, err)
		return &doc, nil
	}
	return documentedBy(p.Path, got, err, document.OfLines)
}

type getCall struct {
	caller
	SessionKey string `json:"session_key"`
	// ID is the id of a page, a span or a blob.
	ID string `json:"id" rpc:"required"`
}

func doGet(c *call, p *getCall) (*document.Get, error) {
	if p.ID == "" {
		return nil, badParams("id is what a prompt, a plan or a search names", "there is no id")
	}
	got, err := c.k.Get(c.ctx, p.SessionKey, p.ID)
	return documentedBy(orDefault(p.SessionKey), got, err, document.OfPage)
}

// writeCall stages, checks and commits updates of pages.
type writeCall struct {
	sessionCall
	// Key makes the delivery idempotent.
	Key     string `json:"key"`
	Point   string `json:"point"`
	By      string `json:"by"`
	Project bool   `json:"project"`
	// AllOrNothing commits no update if any update is rejected.
	AllOrNothing bool             `json:"all_or_nothing"`
	Updates      []journal.Update `json:"updates" rpc:"required"`
}

type receipt struct {
	Schema     string `json:"schema" rpc:"memkernel/rpc_write/v1"`
	SessionKey string `json:"session_key"`
	*journal.Receipt
}

func doWrite(c *call, p *writeCall) (*receipt, error) {
	if len(p.Updates) == 0 {
		return nil, badParams(`an update is {"key":…,"type":…,"field":…,"op":…,"value":…,"scope":…}`, "there are no updates")
	}
	r, err := c.k.Write(c.ctx, api.WriteRequest{SessionKey: p.SessionKey, Key: p.Key, Point: journal.CommitPoint(p.Point), By: p.By, Project: p.Project,
		AllOrNothing: p.AllOrNothing, Updates: p.Updates, Now: p.Now})
	if err != nil {
		return nil, err
	}
	return &receipt{"memkernel/rpc_write/v1", p.key(), r}, nil
}

type pagesDocument struct {
	Schema     string               `json:"schema" rpc:"memkernel/rpc_pages/v1"`
	SessionKey string               `json:"session_key"`
	Pages      []journal.StoredPage `json:"pages"`
}

func doPages(c *call, p *sessionCall) (*pagesDocument, error) {
	pages, err := c.k.Pages(c.ctx, p.SessionKey)
	if err != nil {
		return nil, err
	}
	return &pagesDocument{"memkernel/rpc_pages/v1", p.key(), document.List(pages)}, nil
}

// toolsListCall requests the memory tools for a model.
type toolsListCall struct {
	sessionCall
	Format string `json:"format" rpc:"anthropic|mcp"`
	// All also lists the tools and arguments that few conversations need.
	All bool `json:"all"`
}

type toolsCall struct {
	sessionCall
	Name      string          `json:"name" rpc:"required"`
	Arguments json.RawMessage `json:"arguments" rpc:"object"`
}

// toolDefinitions is the answer to tools.list.
type toolDefinitions struct {
	Schema string `json:"schema" rpc:"memkernel/rpc_tools/v1"`
	Tools  any    `json:"tools" rpc:"objects"`
}

// toolAnswer is the answer to tools.call.
type toolAnswer struct {
	Schema  string `json:"schema" rpc:"memkernel/rpc_tool/v1"`
	Name    string `json:"name"`
	Content any    `json:"content"`
}

func (c *call) toolset(p *sessionCall) (*tools.Set, error) {
	return tools.New(c.k, tools.Options{SessionKey: p.SessionKey, Private: c.opt.private(p.Private)})
}

func doToolsList(c *call, p *toolsListCall) (*toolDefinitions, error) {
	set, err := c.toolset(&p.sessionCall)
	if err != nil {
		return nil, err
	}
	defs, err := set.Tools(cmp.Or(p.Format, "mcp"), p.All)
	if err != nil {
		return nil, badParams("format is anthropic or mcp", "tools.list: %s", err)
	}
	return &toolDefinitions{"memkernel/rpc_tools/v1", defs}, nil
}

func doToolsCall(c *call, p *toolsCall) (*toolAnswer, error) {
	set, err := c.toolset(&p.sessionCall)
	if err != nil {
		return nil, err
	}
	out, err := set.Call(c.ctx, p.Name, p.Arguments)
	switch {
	case err != nil && c.ctx.Err() == nil && !errors.Is(err, api.ErrClosed):
		return nil, badParams("tools.list describes the arguments", "tools.call %s: %s", p.Name, err)
	case err != nil:
		return nil, err
	}
	return &toolAnswer{"memkernel/rpc_tool/v1", p.Name, out}, nil
}

// memoryToolCall is a call of Anthropic's memory tool (memory_20250818).
// /memories/MEMORY.md is MEMORY.md, /memories/deploys.md is memory/deploys.md.
type memoryToolCall struct {
	sessionCall
	// Input is the input of the tool call, as the model wrote it.
	Input json.RawMessage `json:"input" rpc:"required"`
}

// memoryToolDocument is the result of the model's call.
type memoryToolDocument struct {
	Schema  string `json:"schema" rpc:"memkernel/rpc_memory_tool/v1"`
	Content string `json:"content"`
	IsError bool   `json:"is_error"`
}

// doMemoryTool answers a call of Anthropic's memory tool. A mistake of the model is reported in
// the answer, and is not a protocol error.
func doMemoryTool(c *call, p *memoryToolCall) (*memoryToolDocument, error) {
	if len(p.Input) == 0 {
		return nil, badParams(`input is the tool call's, such as {"command":"view","path":"/memories"}`, "there is no input")
	}
	set, err := c.toolset(&p.sessionCall)
	if err != nil {
		return nil, err
	}
	text, failed, err := set.Memory(c.ctx, p.Input)
	if err != nil {
		return nil, err
	}
	return &memoryToolDocument{"memkernel/rpc_memory_tool/v1", text, failed}, nil
}
