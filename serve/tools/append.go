package tools

import (
	"context"
	"errors"
	"strings"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// kept is the answer of memory_append.
type kept struct {
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	// ID is the id of the entry. Path and the lines are the place of the entry.
	ID        string `json:"id,omitempty"`
	Path      string `json:"path,omitempty"`
	StartLine int    `json:"startLine,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	// Duplicate reports whether the entry existed before. Late is the past day's log that the
	// entry was meant for. Masked counts secrets that were masked.
	Duplicate bool   `json:"duplicate,omitempty"`
	Late      string `json:"late,omitempty"`
	Masked    int    `json:"masked,omitempty"`
	Disabled  bool   `json:"disabled,omitempty"`
}

func (s *Set) append(ctx context.Context, a args) (any, error) {
	if off := s.disabled(); off != "" {
		return &kept{Reason: reasonDisabled, Detail: off, Disabled: true}, nil
	}
	text := a.text("text")
	if strings.TrimSpace(text) == "" {
		return nil, &ArgumentError{Tool: MemoryAppend, Argument: "text", Problem: "it is empty"}
	}
	r, err := s.k.Remember(ctx, api.RememberRequest{SessionKey: s.opts.SessionKey, Text: text, Path: a.text("path"), Private: s.opts.Private, Undo: true})
	var refused *journal.RejectionError
	switch {
	case errors.Is(err, markdownstore.ErrDenied):
		return &kept{Reason: reasonDenied, Detail: err.Error(), Path: a.text("path")}, nil
	case errors.As(err, &refused):
		return &kept{Reason: refused.Code, Detail: refused.Detail, Path: a.text("path")}, nil
	case failed(ctx, err):
		return nil, err
	case err != nil:
		return &kept{Reason: reasonBackend, Detail: err.Error(), Path: a.text("path")}, nil
	}
	return &kept{Reason: reasonOK, Detail: r.Unwritten, ID: r.ID, Path: r.Ref.Path, StartLine: r.Ref.StartLine, EndLine: r.Ref.EndLine,
		Duplicate: r.Duplicate, Late: r.Late, Masked: r.Masked}, nil
}
