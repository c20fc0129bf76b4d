package main

import (
	"context"
	"encoding/json"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
	"github.com/memkernel/memkernel/tools"
)

// residentKernel opens the kernel for a program that keeps running, with all that the
// configuration allows: vectors, notes, and an index that follows the files.
func (a *app) residentKernel(ctx context.Context, book *cachelayout.Book) (*kernel.Kernel, error) {
	p, err := a.embedder()
	if err != nil {
		return nil, err
	}
	o, err := a.kernelOptions(book, p)
	if err != nil {
		return nil, err
	}
	o.Memory.Sync = syncOptions(&a.config.Index.Sync)
	if o.Summary, err = a.summaryOptions(); err != nil {
		return nil, err
	}
	k, err := kernel.Open(ctx, a.workspace, o)
	if err != nil {
		return nil, hint(err, "name the project's folder with --workspace")
	}
	return k, nil
}

// servedTools are memory's tools as the daemon hands them out.
type servedTools struct{ *tools.Set }

// Definitions are in MCP's form where the host names none.
func (t servedTools) Definitions(format string) (json.RawMessage, error) {
	if format == "" {
		format = string(tools.MCP)
	}
	return t.Set.Tools(tools.Format(format))
}

// toolsOf binds the tools to sessions of a kernel.
func toolsOf(k *kernel.Kernel) serve.ToolMaker {
	return func(sessionKey string, private bool) (serve.Toolset, error) {
		s, err := tools.New(k, tools.Options{SessionKey: sessionKey, Private: private})
		return servedTools{s}, err
	}
}
