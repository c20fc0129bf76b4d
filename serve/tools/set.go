package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// citations reports whether results of memory_search name their source in a form to be
// quoted.
type citations string

// The settings.
const (
	// citationsAuto shows citations in private sessions.
	citationsAuto citations = "auto"
	citationsOn   citations = "on"
	citationsOff  citations = "off"
)

// defaultTimeout is how long a call may take.
const defaultTimeout = 15 * time.Second

// Options bind a Set to a session.
type Options struct {
	// SessionKey names the session that calls. "" is the session "default".
	SessionKey string
	// Agent is the agent whose past sessions may be found. "" is the agent that SessionKey names,
	// or else the kernel's agent.
	Agent string
	// Private means that the session belongs to one person. Without Private the session is
	// shared.
	Private bool
	// Citations is citationsAuto by default.
	Citations citations
	// ReadOnly leaves out memory_append and the tools that edit.
	ReadOnly bool
	// Disabled, if not "", is the reason why memory may not be used. The tools are still listed
	// and answer DISABLED with this reason.
	Disabled string
	// Timeout is how long a call may take. Default: 15 s.
	Timeout time.Duration
}

// Set is the tools of one session. It is safe for concurrent use.
type Set struct {
	k    *kernel.Kernel
	opts Options
}

// New makes the tools of a session.
func New(k *kernel.Kernel, o Options) (*Set, error) {
	o.Citations, o.SessionKey = cmp.Or(o.Citations, citationsAuto), cmp.Or(o.SessionKey, api.DefaultSession)
	if !slices.Contains([]citations{citationsAuto, citationsOn, citationsOff}, o.Citations) {
		return nil, fmt.Errorf("tools: unknown citations %q: give auto, on or off", o.Citations)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Set{k: k, opts: o}, nil
}

// errUnknownTool is returned for a call of a tool that the set doesn't have.
var errUnknownTool = errors.New("there is no such tool")

// Call answers a call. The error is an argumentError, errUnknownTool, the error of the context, or
// the error of a closed kernel. All other failures are in the answer, because the model can act on
// them.
func (s *Set) Call(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	sp := s.spec(name)
	if sp == nil {
		return nil, fmt.Errorf("%s: %w", name, errUnknownTool)
	}
	a, err := sp.read(arguments)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	out, err := sp.run(s, limited, a)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		out.say(said{Reason: reasonBackend, Detail: fmt.Sprintf("it took more than %v", s.opts.Timeout) + sp.unknown})
		if f, ok := out.(*found); ok {
			f.Unavailable, f.TimedOut = true, true
		}
	case err != nil && (failed(limited, err) || errors.As(err, new(*argumentError))):
		return nil, fmt.Errorf("%s: %w", name, err)
	case err != nil:
		out.say(broken(err))
	}
	return json.Marshal(out)
}

// disabled returns the reason why memory may not be used, "" if it may be used.
func (s *Set) disabled() string {
	if s.opts.Disabled == "" && !s.k.MemoryEnabled() {
		return "memory is switched off"
	}
	return s.opts.Disabled
}

// said is the part that every answer has.
type said struct {
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	// Disabled reports that memory may not be used.
	Disabled bool `json:"disabled,omitempty"`
}

func (s *said) say(what said) { *s = what }

// answer is the answer of a tool.
type answer interface{ say(said) }

// disabledBy is the answer if memory may not be used.
func disabledBy(why string) said { return said{reasonDisabled, why, true} }

// broken is the answer after an error.
func broken(err error) said { return said{Reason: reasonBackend, Detail: err.Error()} }

func (s *Set) spec(name string) *spec {
	for sp := range s.specs() {
		if sp.name == name {
			return sp
		}
	}
	return nil
}

// has reports whether a tool is in the set. The set has no writing tools if writing is not
// allowed, and no editing tools if agents may not edit.
func (s *Set) has(sp *spec) bool {
	switch {
	case sp.write && s.opts.ReadOnly:
		return false
	case sp.edit && s.k.MemoryEnabled():
		return s.k.Editor().Rule() != api.EditNone
	}
	return true
}
