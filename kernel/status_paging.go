package kernel

import (
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/paging"
)

// paging sums up what the plans of the session's conversations told of paging.
func pagingReport(s *session.Session) paging.Report {
	var sum paging.Counts
	for _, l := range s.Branches.All {
		sum = sum.Plus(l.Paging)
	}
	return sum.Report()
}
