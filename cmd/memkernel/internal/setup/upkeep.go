package setup

import (
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/maintenance"
	"github.com/memkernel/memkernel/kernel/retention"
)

// Retention is how long things are kept, as the configuration says.
func (s *Settings) Retention() retention.RetainRequest {
	c := &s.Config.Retention
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	return retention.RetainRequest{Sessions: days(c.SessionsDays), Blobs: days(c.BlobsDays), Usage: days(c.UsageDays), Traces: days(c.TraceDays), Backups: days(c.BackupsDays)}
}

// PruneOptions brings the sections upkeep and audit together, with more names of what
// may leave.
func (s *Settings) PruneOptions(include []string) maintenance.PruneOptions {
	c, audit := &s.Config.Upkeep, s.auditHost()
	o := maintenance.PruneOptions{MemoryLines: orNone(c.MemoryLines), ObservationLines: orNone(s.Config.Audit.ObservationLines), ObservationRest: c.ObservationRest,
		ObservationDays: c.ObservationDays, DoneDays: c.DoneDays, LogDays: orNone(c.LogDays), NearDuplicate: s.Config.Audit.NearDuplicate, Owners: document.List(c.Owners),
		Include: slices.Concat(c.Include, include)}
	if share := s.Config.Audit.SizeWarning; share > 0 {
		o.OwnerChars = int(share * float64(audit.FileLimit))
	}
	return o
}

// CurateRequest has what the configuration says of curation: the model is that of
// section summary.model, at the prices of a book.
func (s *Settings) CurateRequest(book *cachelayout.Book) (maintenance.CurateRequest, error) {
	o, err := s.summaryOptions()
	req := maintenance.CurateRequest{NearDuplicate: s.Config.Audit.NearDuplicate, Model: o.Model, FactTokens: o.DeltaTokens}
	if o.NoFacts {
		req.FactTokens = -1
	}
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
	c := &s.Config.Audit
	h, _ := consolidation.HostByName(c.Host)
	h.FileLimit, h.TotalLimit = firstInt(c.FileLimit, h.FileLimit), firstInt(c.TotalLimit, h.TotalLimit)
	return h
}

func firstInt(a, b int) int {
	if a > 0 {
		return a
	}
	return b
}

// AuditOptions are the thresholds of an audit, and the host whose limits hold.
func (s *Settings) AuditOptions() maintenance.AuditOptions {
	c := &s.Config.Audit
	return maintenance.AuditOptions{Host: s.auditHost(), Prune: s.PruneOptions(nil), JobFiles: c.Jobs, Limits: consolidation.Limits{
		StateAge: time.Duration(c.StateAge), ObservationLines: c.ObservationLines, LogGrace: time.Duration(c.LogGrace),
		FileAge: time.Duration(c.FileAge), MemoryAge: time.Duration(c.MemoryAge), SizeWarning: c.SizeWarning,
		NearDuplicate: c.NearDuplicate, JobAge: time.Duration(c.JobAge)}}
}
