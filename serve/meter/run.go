package meter

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/proxy"
)

// lack has the unknown properties of a model.
type lack struct{ window, price bool }

// Unknown names the models whose window or price is unknown, in order. Window names models that
// were planned without a known window. Price names models whose calls no cost includes.
type Unknown struct{ Window, Price []string }

// Unknown names the models of the calls whose window or price was unknown at the model's last call.
func (m *Meter) Unknown() (u Unknown) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, model := range slices.Sorted(maps.Keys(m.models)) {
		if m.models[model].window {
			u.Window = append(u.Window, model)
		}
		if m.models[model].price {
			u.Price = append(u.Price, model)
		}
	}
	return u
}

// maxModels bounds the models that are remembered, because clients choose the names.
const maxModels = 100

// lacks notes which properties of a call's model are unknown. A call without a plan says nothing
// about the window.
func (m *Meter) lacks(b *proxy.Billed, unpriced bool) {
	old, met := m.models[b.Model]
	if b.Model == "" || !met && len(m.models) >= maxModels {
		return
	}
	if b.Plan != nil {
		old.window = b.Plan.Budgets.WindowFrom == api.WindowUnknown
	}
	m.models[b.Model] = lack{old.window, unpriced}
}
