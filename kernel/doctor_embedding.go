package kernel

import (
	"fmt"

	"github.com/memkernel/memkernel/embed"
	mem "github.com/memkernel/memkernel/kernel/internal/memory"
)

// embedding looks at where vectors come from.
func (d *doctor) embedding() {
	if d.k.memory == nil {
		return
	}
	p := d.k.memory.opts.Embedder
	if p == nil {
		d.Add(AreaEmbedding, Healthy, "no provider: search is by words alone, and nothing leaves this machine", "")
		return
	}
	about := embed.Describe(p)
	d.dayBudget(about.Budget)
	if about.Provider == embed.ProviderLocal {
		d.Add(AreaEmbedding, Healthy, fmt.Sprintf("%s was loaded: %s; nothing leaves this machine", about.Model, about.Note), "")
		d.vectorLength(p, about.Dim)
		return
	}
	if !d.opts.Network {
		d.Add(AreaEmbedding, Healthy, p.Model()+" is configured; it was not asked", "--network asks it for one vector")
		return
	}
	v, err := p.EmbedQuery(d.ctx, mem.ProbeText)
	if err != nil {
		d.Add(AreaEmbedding, Failing, err.Error(), "until it answers, search is by words alone")
		return
	}
	d.Add(AreaEmbedding, Healthy, fmt.Sprintf("%s answered with a vector of %d numbers", p.Model(), len(v)), "")
	d.vectorLength(p, len(v))
}

// vectorLength compares the model's vectors with those of the index.
func (d *doctor) vectorLength(p embed.Provider, length int) {
	ix, err := d.k.memory.Index(d.ctx)
	if err != nil {
		return // which index says
	}
	if model, dim, err := ix.Model(d.ctx); err == nil && model == p.Model() && dim != length {
		d.Add(AreaEmbedding, Warning, fmt.Sprintf("the index has vectors of %d numbers by the same name: search is by words alone", dim),
			"run 'memkernel reindex --full', which embeds every chunk again")
	}
}

// dayBudget says what is left of the day's tokens.
func (d *doctor) dayBudget(b *embed.Budget) {
	if b == nil {
		return
	}
	if n, tokens, err := d.k.memory.NeverEmbedded(d.ctx); err == nil && n > 0 { // which index can't be read says another check
		d.Add(AreaEmbedding, Warning, fmt.Sprintf("%d texts will never get a vector: the longest takes about %d tokens, more than a whole day has", n, tokens),
			fmt.Sprintf("raise embedding.daily_tokens to %d at least", tokens))
	}
	spent, perDay, err := b.Spent()
	switch {
	case err != nil:
		d.Add(AreaEmbedding, Failing, err.Error(), "until it can be read, nothing is embedded")
	case spent >= perDay:
		d.Add(AreaEmbedding, Warning, fmt.Sprintf("the day's %d tokens are used up", perDay), "it goes on after midnight; or raise embedding.daily_tokens")
	default:
		d.Add(AreaEmbedding, Healthy, fmt.Sprintf("%d of the day's %d tokens were sent", spent, perDay), "")
	}
}
