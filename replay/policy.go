package replay

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/replay/recall"
)

// The policies of this package, and the oracle, which another package may register.
const (
	Memkernel  = "memkernel"
	AppendLate = "append-late"
	asRecorded = "recorded"
	Fullest    = "fullest"
	Oracle     = "oracle"
)

// Policy is a context policy. The kernel's own policy has no New.
type Policy struct {
	// Name is the policy's name. About describes it in a line or two.
	Name, About string
	// Figures is the number of figures in a name that has any. It is 1 for sliding-32k.
	Figures int
	// Ends must be set if the policy must know how a session ends. No conversation can be held
	// under it.
	Ends bool
	// Rivals must be set if a run without figures needs the result of a run under memkernel.
	Rivals bool
	// New returns the policy for a recording. figures are the numbers at the end of the policy's
	// name, nil if it has none. rival is the result under memkernel if Rivals is set, else nil.
	New func(rec *Recording, figures []int, rival *Result) Chooser
}

// policies are all policies: the kernel, the plain rules, and the registered policies.
var policies = []Policy{
	{Name: Memkernel, About: "this program: append; cut in batches or with a cold cache", Figures: 1},
	{Name: AppendLate, About: "append until full, then a summary and the newest messages", Figures: 1, New: func(rec *Recording, figures []int, _ *Result) Chooser { return NewLate(rec, Figure(figures)) }},
	{Name: asRecorded, About: "what the host really sent, with its own summaries", Ends: true, New: func(rec *Recording, _ []int, _ *Result) Chooser { return &recorded{History: History{Rec: rec}} }},
	{Name: Fullest, About: "everything ever said, however large", New: func(rec *Recording, _ []int, _ *Result) Chooser { return &fullest{History{Rec: rec}} }},
}

// Register adds policies that every replay can then name. Callers should call Register from an
// init function.
func Register(p ...Policy) { policies = append(policies, p...) }

// Figure returns the first figure of a policy's name, 0 if it has none.
func Figure(figures []int) int {
	if len(figures) == 0 {
		return 0
	}
	return figures[0]
}

// policyNamed returns the policy of a name without figures.
func policyNamed(name string) (p Policy, ok bool) {
	i := slices.IndexFunc(policies, func(p Policy) bool { return p.Name == name })
	if i < 0 {
		return p, false
	}
	return policies[i], true
}

// About lists all policies with their descriptions.
func About() []Policy { return slices.Clone(policies) }

// Policies lists the names of all policies.
func Policies() (names []string) {
	for _, p := range policies {
		names = append(names, p.Name)
	}
	return names
}

// ParsePolicy splits a policy's name into the policy itself and the figures with which a name may
// end, such as 32000 in sliding-32k. A name without figures means the policy's defaults.
//
//	memkernel-N    N tokens of conversation stay at a cut
//	memkernel-E    E is an economy, save, balanced, keep or such as 0.7, in place of
//	               Options.Economy
//	append-late-N  N tokens of messages stay at a compaction
func ParsePolicy(name string) (policy string, figures []int, err error) {
	if _, own := ownEconomy(name); own {
		return Memkernel, nil, nil
	}
	for _, p := range Policies() {
		rest, ok := strings.CutPrefix(name, p)
		if ok && (rest == "" || rest[0] == '-') && len(p) > len(policy) {
			policy = p
		}
	}
	p, ok := policyNamed(policy)
	if rest := strings.TrimPrefix(name, policy); ok && rest != "" {
		for s := range strings.SplitSeq(rest[1:], "-") {
			digits, k := strings.CutSuffix(s, "k")
			n, err := strconv.Atoi(digits)
			if k {
				n *= 1000
			}
			ok = ok && err == nil && n > 0 && n <= 10_000_000 && digits[0] != '+'
			figures = append(figures, n)
		}
		ok = ok && len(figures) == p.Figures && (p.Figures < 2 || figures[1] < figures[0])
	}
	if !ok {
		return "", nil, fmt.Errorf("%q is none of %s, with a figure behind it as in memkernel-20k, or without",
			name, strings.Join(Policies(), ", "))
	}
	return policy, figures, nil
}

// ownEconomy is the economy that a name ends with.
func ownEconomy(name string) (cachelayout.Economy, bool) {
	word, ours := strings.CutPrefix(name, Memkernel+"-")
	e := cachelayout.Economy(word)
	own := ours && (slices.Contains(cachelayout.Economies(), e) || strings.Contains(word, ".") && e.Check() == nil)
	return e, own
}

// policy plans the calls of a recording in turn.
type policy interface {
	plan(ctx context.Context, n int) (*prompt, error)
	close() error
}

// prompt lists the items that a policy shows for one call.
type prompt struct {
	texts  []string
	behind func(recall.Place) bool
	bill   cachelayout.Bill
	// messages are the request itself.
	messages []memkernel.Message
	// extra is the price of the policy's other model calls, nil if it is unknown.
	extra *float64
	call  Call
}

// newPolicy makes a policy. Rival is the result under memkernel, if there is one.
func newPolicy(ctx context.Context, name string, rec *Recording, rival *Result) (policy, error) {
	base, figures, err := ParsePolicy(name)
	if err != nil {
		return nil, err
	}
	if p, _ := policyNamed(base); p.New != nil {
		return &hostPolicy{rec: rec, by: p.New(rec, figures, rival)}, nil
	}
	p := &kernelPolicy{rec: rec, lowWater: Figure(figures), economy: rec.Opt.Economy}
	if own, ok := ownEconomy(name); ok {
		p.economy = own
	}
	return p, p.open(ctx)
}
