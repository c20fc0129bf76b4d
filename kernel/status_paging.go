package kernel

import "github.com/memkernel/memkernel/pagevm/paging"

// paging sums up what the plans of the session's conversations told of paging.
func (s *session) paging() paging.Report {
	var sum paging.Counts
	for _, l := range s.lines {
		sum = sum.Plus(l.Paging)
	}
	return sum.Report()
}
