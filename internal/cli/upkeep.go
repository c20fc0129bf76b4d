package cli

import (
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// Retention is how long things are kept, as the configuration says.
func (s *Settings) Retention() api.RetainRequest {
	c := &s.Config.Retention
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return api.RetainRequest{Sessions: days(c.SessionsDays), Blobs: days(c.Days), Usage: days(c.Days), Traces: days(c.Days), Backups: days(c.Days)}
}

// PruneOptions returns the limits of the host, with further names of entries that may leave.
func (s *Settings) PruneOptions(include []string) api.PruneOptions {
	return api.PruneOptions{OwnerChars: int(consolidation.SizeWarning * float64(s.auditHost().FileLimit)), Include: include}
}

func (s *Settings) CurateRequest(book *cachelayout.Book) (api.CurateRequest, error) {
	o, err := s.summaryOptions()
	req := api.CurateRequest{Model: o.Model}
	if o.Model != nil {
		req.Price = priceOf(book, o.Model.Name())
	}
	return req, err
}

// priceOf tells what a request to a model costs, by its name with where it is asked.
func priceOf(book *cachelayout.Book, name string) func(input, output int) (float64, bool) {
	id, _, _ := strings.Cut(name, " at ")
	m, _ := book.Lookup(id, time.Time{})
	return func(input, output int) (float64, bool) {
		t := m.TierFor(input)
		if t.Input == nil || t.Output == nil {
			return 0, false
		}
		return (float64(input)**t.Input + float64(output)**t.Output) / 1e6, true
	}
}

// auditHost is the host whose limits hold.
func (s *Settings) auditHost() consolidation.Host {
	h, _ := consolidation.HostByName(s.Config.Audit.Host)
	return h
}

// AuditOptions returns the options of an audit: the host whose limits hold, and the records of
// jobs that it reads in addition to the state folder's own.
func (s *Settings) AuditOptions(jobs []string) api.AuditOptions {
	return api.AuditOptions{Host: s.auditHost(), Prune: s.PruneOptions(nil), JobFiles: jobs}
}
