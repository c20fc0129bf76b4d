package replay

import (
	"context"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/transcript"
)

// Document is a session under several policies.
type Document struct {
	Schema   string   `json:"schema"`
	View     string   `json:"view"`
	Recorded Recorded `json:"recorded"`
	// Door is the bill of the session's own calls. It is nil if the calls did not go through
	// memkernel. The results are a simulation in either case.
	Door    *Door     `json:"door"`
	Results []*Result `json:"results"`
}

// Door is the bill of those calls of a session that went through memkernel, and an estimate of
// their cost without memkernel.
type Door struct {
	Calls int `json:"calls"`
	// BilledUSD is the cost of the calls with their answers, null if a price is unknown.
	BilledUSD *float64 `json:"billed_usd"`
	// WithoutUSD estimates their cost without memkernel.
	WithoutUSD *float64 `json:"without_usd"`
}

// NewDocument begins the document of a session. If prices is nil, the embedded price book is
// used.
func NewDocument(s *transcript.Session, view transcript.View, prices *cachelayout.Book) *Document {
	if prices == nil {
		prices = cachelayout.DefaultBook()
	}
	return &Document{Schema: "memkernel/replay/v1", View: view.String(), Recorded: Bill(s, prices), Results: []*Result{}}
}

// Add runs one more policy. Callers must [Align] the results after they have added all. A policy with Rivals is compared with the kernel's run if that run
// was added before.
func (d *Document) Add(ctx context.Context, s *transcript.Session, policy string, opt Options) error {
	for _, r := range d.Results {
		if r.Policy == Memkernel {
			opt.Rival = r
		}
	}
	result, err := Run(ctx, s, policy, opt)
	if err != nil {
		return err
	}
	d.Results = append(d.Results, result)
	return nil
}
