package serve

import (
	"encoding/json"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
)

// editCall is an edit of memory. It must name the text that the caller has read. There are two
// ways to name the text. With Path and Old, Old must be in the file once or begin on line From.
// With Path and the Version that read returned, From and Lines name a passage. Without From and
// Lines the text is the whole file. memory.delete removes the text. If the file has changed since
// the caller read it, the edit fails with CONFLICT, and current in the error's data has the
// file's present state. PERSON refuses an edit of text that a person wrote, SECRET an edit of a
// file that holds a secret.
type editCall struct {
	sessionCall
	Path    string `json:"path" rpc:"required"`
	Old     string `json:"old"`
	Version string `json:"version"`
	From    int    `json:"from"`
	Lines   int    `json:"lines"`
}

type updateCall struct {
	editCall
	// Text replaces the old text.
	Text string `json:"text" rpc:"required"`
}

type editDocument struct {
	Schema     string `json:"schema" rpc:"memkernel/rpc_edit/v1"`
	SessionKey string `json:"session_key"`
	*api.Edited
}

type undoDocument struct {
	Schema     string `json:"schema" rpc:"memkernel/rpc_undo/v1"`
	SessionKey string `json:"session_key"`
	*api.EditUndone
}

func doMemoryUpdate(c *call, p *updateCall) (*editDocument, error) {
	return editPassage(c, &p.editCall, p.Text, false)
}

func doMemoryDelete(c *call, p *editCall) (*editDocument, error) {
	return editPassage(c, p, "", true)
}

func editPassage(c *call, p *editCall, text string, gone bool) (*editDocument, error) {
	switch {
	case p.Path == "":
		return nil, badParams("path is a file of memory, as search cites it", "there is no path")
	case p.From < 0 || p.Lines < 0:
		return nil, badParams("from counts lines from 1, lines says how many", "from %d, lines %d: out of range", p.From, p.Lines)
	}
	e, err := c.k.Editor().Passage(c.ctx, api.PassageRequest{SessionKey: p.SessionKey, Path: p.Path, Old: p.Old, Version: p.Version, From: p.From, Lines: p.Lines,
		Text: text, Delete: gone, Private: c.opt.private(p.Private), Now: p.Now})
	if err != nil {
		return nil, err
	}
	e.Files = document.List(e.Files)
	return &editDocument{"memkernel/rpc_edit/v1", p.key(), e}, nil
}

// listCall asks for the entries of memory, the newest first.
type listCall struct {
	sessionCall
	// Path is a file or a folder of memory. "" is all of memory.
	Path       string `json:"path"`
	MaxResults int    `json:"max_results"`
}

func doMemoryList(c *call, p *listCall) (*document.Entries, error) {
	if p.MaxResults < 0 {
		return nil, badParams("max_results is a number from 1", "max_results %d: out of range", p.MaxResults)
	}
	l, err := c.k.Editor().List(c.ctx, api.ListRequest{Path: p.Path, Max: p.MaxResults, Private: c.opt.private(p.Private)})
	return documented(l, err, document.OfList)
}

type undoCall struct {
	sessionCall
	// Edit is the edit to undo. "" is the session's newest edit.
	Edit string `json:"edit"`
}

func doMemoryUndo(c *call, p *undoCall) (*undoDocument, error) {
	u, err := c.k.Editor().Undo(c.ctx, api.UndoRequest{SessionKey: p.SessionKey, Edit: p.Edit, Private: c.opt.private(p.Private), Now: p.Now})
	if err != nil {
		return nil, err
	}
	return &undoDocument{"memkernel/rpc_undo/v1", p.key(), u}, nil
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
