package serve

import (
	"encoding/json"
	"time"

	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
)

func doStatus(c *call, _ *caller) (*document.Doc[*api.Status], error) {
	st, err := c.k.Status(c.ctx, nil)
	return documented(st, err, document.Of)
}

func doCheck(c *call, _ *caller) (*document.Check, error) {
	found, err := c.k.Check(c.ctx)
	return documentedBy(c.k.StateDir(), found, err, document.OfCheck)
}

type usageCall struct {
	caller
	SessionKey string    `json:"session_key"`
	Since      time.Time `json:"since"`
}

func doUsage(c *call, p *usageCall) (*document.Stats, error) {
	st, err := c.k.Usage(c.ctx, billing.Options{Session: p.SessionKey, Since: p.Since, Location: c.opt.Location})
	return documented(st, err, document.OfUsage)
}

type retainCall struct {
	caller
	// Apply removes data that is older than the configuration keeps. Without Apply the answer
	// lists the data that would be removed.
	Apply bool      `json:"apply"`
	Now   time.Time `json:"now"`
}

// doRetain removes the data that is older than the configuration keeps, as the verb does.
func doRetain(c *call, p *retainCall) (*document.Doc[*api.Retained], error) {
	req := c.opt.Retain
	req.Apply, req.Now = p.Apply, p.Now
	out, err := c.k.Retain(c.ctx, req)
	return documented(out, err, document.Of)
}

type reindexCall struct {
	caller
	// Full makes the index anew.
	Full bool `json:"full"`
	// WaitMS is how long to wait for another process that is indexing.
	WaitMS int64 `json:"wait_ms"`
	// Progress requests $/progress notifications before the answer. They have the members id,
	// stage (index or embed), done, total, files and chunks.
	Progress bool `json:"progress"`
}

// progress is the parameter of a notification.
type progress struct {
	ID     json.RawMessage `json:"id"`
	Stage  string          `json:"stage"`
	Done   int64           `json:"done"`
	Total  int64           `json:"total"`
	Files  int             `json:"files"`
	Chunks int             `json:"chunks"`
}

// progressEvery is the shortest time between two notifications of a call.
const progressEvery = 100 * time.Millisecond

func doReindex(c *call, p *reindexCall) (*document.Reindex, error) {
	if p.WaitMS < 0 {
		return nil, badParams("give milliseconds", "wait_ms is negative")
	}
	opts := &api.ReindexOptions{Full: p.Full, Wait: time.Duration(p.WaitMS) * time.Millisecond}
	if p.Progress {
		var last time.Time
		opts.Progress = func(r api.ReindexProgress) {
			if now := time.Now(); now.Sub(last) >= progressEvery || r.Done == r.Total {
				last = now
				c.notify("$/progress", progress{json.RawMessage(c.id), r.Stage, r.Done, r.Total, r.Files, r.Chunks})
			}
		}
	}
	r, err := c.k.Reindex(c.ctx, opts)
	if err != nil {
		return nil, err
	}
	return document.OfReindex(r, c.k.IndexPath()), nil
}
