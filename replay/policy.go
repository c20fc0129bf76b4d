package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay/recall"
)

// The policies, by name.
const (
	Memkernel  = "memkernel"
	AppendLate = "append-late"
	Turns      = "turns"
	Sliding    = "sliding"
	CacheTTL   = "cache-ttl"
	ClearTools = "clear-tool-uses"
	Fullest    = "fullest"
	Oracle     = "oracle"
)

// Policies lists the names of all policies.
func Policies() []string {
	return []string{Memkernel, AppendLate, Turns, Sliding, CacheTTL, ClearTools, Fullest, Oracle}
}

// ParsePolicy takes a policy's name apart: the policy itself, and the figure that a
// name may end with, such as 32000 in sliding-32k; 0 is the policy's default.
//
//	memkernel-N        N tokens of conversation stay at a cut
//	append-late-N      N tokens of messages stay at a compaction
//	turns-N            N user turns are shown
//	sliding-N          N tokens of messages are shown
//	cache-ttl-N        results are cleared from N per cent of the window on
//	clear-tool-uses-N  N tool results stay
//	oracle-N           N per cent of the references are to be shown
func ParsePolicy(name string) (policy string, figure int, err error) {
	if slices.Contains(Policies(), name) {
		return name, 0, nil
	}
	i := strings.LastIndexByte(name, '-')
	if i > 0 && name[:i] != Fullest && slices.Contains(Policies(), name[:i]) {
		digits, k := strings.CutSuffix(name[i+1:], "k")
		n, err := strconv.Atoi(digits)
		if k {
			n *= 1000
		}
		if err == nil && n > 0 && n <= 10_000_000 {
			return name[:i], n, nil
		}
	}
	return "", 0, fmt.Errorf("%q is none of %s, with a figure behind it as in sliding-32k or without", name, strings.Join(Policies(), ", "))
}

// policy plans the calls of a recording in turn.
type policy interface {
	plan(ctx context.Context, n int) (*prompt, error)
	close() error
}

// prompt is what a policy shows for one call.
type prompt struct {
	texts  []string
	behind func(recall.Place) bool
	bill   cachelayout.Bill
	// extra is the price of what else the policy called a model for; nil with an
	// extra call is unknown.
	extra *float64
	call  Call
}

// newPolicy makes a policy; goal is what the oracle has to show.
func newPolicy(ctx context.Context, name string, rec *recording, goal int) (policy, error) {
	base, n, err := ParsePolicy(name)
	if err != nil {
		return nil, err
	}
	var by chooser
	switch base {
	case Memkernel:
		return newKernelPolicy(ctx, rec, n)
	case AppendLate:
		by = newAppendLate(rec, n)
	case Turns:
		by = newTurns(rec, n)
	case Sliding:
		by = newSliding(rec, n)
	case CacheTTL:
		by = newCacheTTL(rec, n)
	case ClearTools:
		by = newClearTools(rec, n)
	case Fullest:
		by = &fullest{newHistory(rec)}
	case Oracle:
		by = newOracle(rec, goal)
	}
	return &hostPolicy{rec: rec, by: by}, nil
}
