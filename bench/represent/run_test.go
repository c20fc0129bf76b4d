package represent

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// All is the kind under which a report sums up all others.
const All = "all"

// Mean is a mean of shares, between 0 and 1, over N results.
type Mean struct {
	N   int     `json:"n"`
	Sum float64 `json:"sum"`
}

// Value returns the mean, 0 of nothing.
func (m Mean) Value() float64 {
	if m.N == 0 {
		return 0
	}
	return m.Sum / float64(m.N)
}

func (m *Mean) add(v float64) { m.N, m.Sum = m.N+1, m.Sum+v }

// Row is what one level comes to over the results of one kind.
type Row struct {
	// Results counts the results that have the level, Full and Shown are the
	// tokens of these in full and as shown.
	Results     int `json:"results"`
	Full, Shown int
	// Survival is by Class; Cut is that of the first and last bytes.
	Survival, Cut [classes]Mean
}

// Share returns the tokens shown over those of the whole.
func (r *Row) Share() float64 { return float64(r.Shown) / float64(max(r.Full, 1)) }

// Report is by level, then by content kind, with All among the kinds.
type Report map[pagevm.Level]map[string]*Row

// Results returns the tool results of a conversation as an ingest hands them on,
// with the secrets masked. Those that hold no text are left out.
func Results(msgs []memkernel.Message, resolver string) (out []represent.EvidenceInput) {
	calls := map[string]*memkernel.ToolCall{}
	for i := range msgs {
		for j := range msgs[i].Parts {
			p := &msgs[i].Parts[j]
			if p.Call != nil {
				calls[p.Call.ID] = p.Call
			}
			if p.Result == nil || p.Result.Synthetic {
				continue
			}
			call := calls[p.Result.CallID]
			if call == nil {
				call = &memkernel.ToolCall{Name: p.Result.Name}
			}
			if in := input(call, p.Result, resolver); in.Text != "" {
				out = append(out, in)
			}
		}
	}
	return out
}

func input(call *memkernel.ToolCall, r *memkernel.ToolResult, resolver string) represent.EvidenceInput {
	var text strings.Builder
	for i := range r.Content {
		text.WriteString(r.Content[i].Text)
	}
	masked, n := new(mask.Masker).Mask(text.String())
	args, _ := new(mask.Masker).Mask(call.Input)
	sum := sha256.Sum256([]byte(masked))
	hash := hex.EncodeToString(sum[:])
	return represent.EvidenceInput{Tool: call.Name, Input: args, Text: masked, IsError: r.IsError,
		PageID: "ev-" + hash[:10], Blob: hash, Masked: n, Resolver: resolver}
}

// Run represents results and judges what is left of them.
func Run(results []represent.EvidenceInput) (Report, error) {
	count, err := budget.For("o200k")
	if err != nil {
		return nil, err
	}
	out := Report{}
	for i := range results {
		in := &results[i]
		reps := represent.Evidence(*in)
		if len(reps) == 0 {
			continue
		}
		all, full := facts(in.Text), count.Count(in.Text).Tokens
		for _, r := range reps {
			tokens := count.Count(r.Text).Tokens
			cut := headAndTail(in.Text, len(r.Text))
			for _, kind := range [...]string{represent.ContentKind(in.Text), All} {
				out.row(r.Level, kind).add(&all, full, tokens, r.Text, cut)
			}
		}
	}
	return out, nil
}

func (r Report) row(l pagevm.Level, kind string) *Row {
	if r[l] == nil {
		r[l] = map[string]*Row{}
	}
	if r[l][kind] == nil {
		r[l][kind] = &Row{}
	}
	return r[l][kind]
}

func (r *Row) add(all *[classes]map[string]bool, full, tokens int, shown, cut string) {
	r.Results++
	r.Full += full
	r.Shown += tokens
	for c, set := range all {
		if len(set) > 0 {
			r.Survival[c].add(survival(set, shown))
			r.Cut[c].add(survival(set, cut))
		}
	}
}
