package analysis

import "sync"

// Pool keeps analyzers between uses, since they remember words. Its zero value is
// empty; several goroutines may use one.
type Pool struct{ pool sync.Pool }

// Lend lends an Analyzer, which Give takes back.
func (p *Pool) Lend() (*Analyzer, error) {
	if a, ok := p.pool.Get().(*Analyzer); ok {
		return a, nil
	}
	return New()
}

// Give takes back an analyzer that Lend lent.
func (p *Pool) Give(a *Analyzer) { p.pool.Put(a) }
