package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// prefix begins the URIs of memory files.
const prefix = "memkernel://memory/"

const markdown = "text/markdown"

// maxResource is the largest file that is read as a resource. Clients can read the lines of a
// larger file with memory_get.
const maxResource = 4 << 20 // 4 MiB

// uriOf returns the URI of a memory file.
func uriOf(file string) string {
	parts := strings.Split(file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return prefix + strings.Join(parts, "/")
}

// pathOf returns the file that a URI names, in the URI's spelling. It does not decide whether the
// file may be read.
func pathOf(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, prefix)
	if !ok || rest == "" {
		return "", false
	}
	file, err := url.PathUnescape(rest)
	return file, err == nil
}

// offerResources lets clients list and read memory files.
func (s *Server) offerResources() {
	if s.opts.Store == nil {
		return
	}
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{Name: "memory", Title: "Memory files", URITemplate: prefix + "{+path}", MIMEType: markdown,
		Description: "A file of memory by its path in the workspace, such as memory/deploys.md."}, s.read)
	s.sdk.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "resources/list" {
				if err := s.list(ctx); err != nil {
					return nil, err
				}
			}
			return next(ctx, method, req)
		}
	})
}

// list brings the listed resources up to date with the files.
func (s *Server) list(ctx context.Context) error {
	found := map[string]bool{}
	var added []markdownstore.File
	for f, err := range s.opts.Store.Walk(ctx) {
		var denied *markdownstore.DeniedError
		switch {
		case errors.As(err, &denied):
			continue // a link that leads out, a folder in a file's place
		case err != nil:
			return fmt.Errorf("list memory files: %w", err)
		}
		if !s.listable(&f) {
			continue
		}
		found[uriOf(f.Path)] = true
		added = append(added, f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range added {
		if uri := uriOf(f.Path); !s.listed[uri] {
			s.listed[uri] = true
			s.sdk.AddResource(resourceOf(&f), s.read)
		}
	}
	for uri := range s.listed {
		if !found[uri] {
			delete(s.listed, uri)
			s.sdk.RemoveResources(uri)
		}
	}
	return nil
}

// listable reports whether a file is curated memory or the log of a day.
func (s *Server) listable(f *markdownstore.File) bool {
	if !f.Memory || f.Shadowed || f.Private && !s.opts.Tools.Private {
		return false
	}
	return f.Private || f.Date != "" && path.Base(f.Path) == f.Date+".md"
}

func resourceOf(f *markdownstore.File) *sdk.Resource {
	r := &sdk.Resource{URI: uriOf(f.Path), Name: f.Path, MIMEType: markdown, Description: "Curated memory"}
	if f.Date != "" {
		r.Description = "Log of " + f.Date
	}
	return r
}

// read returns the text of a memory file by the same rules as memory_get.
func (s *Server) read(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	file, ok := pathOf(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if !s.k.MemoryEnabled() || s.opts.Tools.Disabled != "" {
		return nil, fmt.Errorf("%s: DISABLED: memory is switched off", uri)
	}
	c, err := s.k.Read(ctx, api.ReadRequest{Path: file, Private: s.opts.Tools.Private, SessionKey: s.opts.Tools.SessionKey, Agent: s.opts.Tools.Agent})
	switch {
	case errors.Is(err, markdownstore.ErrDenied):
		return nil, fmt.Errorf("%s: DENIED: %w", uri, err)
	case err != nil:
		return nil, fmt.Errorf("%s: BACKEND_ERROR: %w", uri, err)
	case c.Reason != markdownstore.ReasonOK:
		return nil, sdk.ResourceNotFoundError(uri)
	case c.Truncated || len(c.Text) > maxResource:
		return nil, fmt.Errorf("%s: the file is larger than %d bytes: read lines of it with memory_get", uri, maxResource)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: markdown, Text: strings.ToValidUTF8(c.Text, "�")}}}, nil
}
