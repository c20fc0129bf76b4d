package cli

import (
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// Retention returns the configured times for which the kernel keeps data.
func (s *Settings) Retention() api.RetainRequest {
	c := &s.Config.Retention
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return api.RetainRequest{Sessions: days(c.SessionsDays), Blobs: days(c.Days), Usage: days(c.Days), Traces: days(c.Days), Backups: days(c.Days)}
}

// PruneOptions returns the limits of the host. The parameter include names further entries that
// may leave.
func (s *Settings) PruneOptions(include []string) api.PruneOptions {
	return api.PruneOptions{OwnerChars: int(consolidation.SizeWarning * float64(s.auditHost().FileLimit)), Include: include}
}

// CurateRequest returns a request for the model and the prices of the configuration.
func (a *App) CurateRequest() (api.CurateRequest, error) {
	book, err := a.Book()
	if err != nil {
		return api.CurateRequest{}, err
	}
	o, err := a.summaryOptions()
	req := api.CurateRequest{Model: o.Model}
	if o.Model != nil {
		req.Price = priceOf(book, o.Model.Name())
	}
	return req, err
}

// priceOf returns a function for the cost of a request to a model. The name of the model includes
// its address.
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

// auditHost returns the host whose limits apply.
func (s *Settings) auditHost() consolidation.Host {
	h, _ := consolidation.HostByName(s.Config.Audit.Host)
	return h
}

// AuditOptions returns the options of an audit. It uses the limits of auditHost, and reads the
// records of jobs in addition to those in the state folder.
func (s *Settings) AuditOptions(jobs []string) api.AuditOptions {
	return api.AuditOptions{Host: s.auditHost(), JobFiles: jobs}
}
