package analysis

import "sync"

// maxIdle is the number of analyzers that a Pool keeps. Each may take a few megabytes.
const maxIdle = 4

// Pool keeps analyzers between uses, since they remember words. A sync.Pool would lose the words at
// every collection. Its zero value is empty. Several goroutines may use one.
type Pool struct {
	mu   sync.Mutex
	idle []*Analyzer
}

// Lend lends an Analyzer, which Give takes back.
func (p *Pool) Lend() *Analyzer {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return New()
	}
	a := p.idle[last]
	p.idle = p.idle[:last]
	return a
}

// Give takes back an analyzer that Lend lent.
func (p *Pool) Give(a *Analyzer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < maxIdle {
		p.idle = append(p.idle, a)
	}
}
