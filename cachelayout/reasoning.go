package cachelayout

// Reasoning is the thinking that a request no longer shows the model although the message with
// the thinking stays. Thinking that leaves with its whole message is not counted.
type Reasoning struct {
	// Binding is the model's binding.
	Binding Binding `json:"binding"`
	// LeftOutItems is the number of blocks that the request does not send again.
	LeftOutItems  int `json:"left_out_items"`
	LeftOutTokens int `json:"left_out_tokens"`
	// DroppedItems is the number of blocks that the request sends and the provider drops.
	DroppedItems  int `json:"dropped_items"`
	DroppedTokens int `json:"dropped_tokens"`
	// StaleItems is the number of blocks that the request sends and that the provider has dropped
	// since an earlier cut. They were counted as dropped at that cut.
	StaleItems int `json:"stale_items"`
	// LostUSD is the price of all lost tokens as output. They were billed as output when the
	// model produced them, and cost as much if the model must think them again. No other cost
	// includes LostUSD. It is nil if nothing is lost or the price is unknown.
	LostUSD *float64 `json:"lost_usd"`
}

// Items returns how many blocks are lost.
func (r Reasoning) Items() int { return r.LeftOutItems + r.DroppedItems }

// Tokens returns the size of all lost thinking.
func (r Reasoning) Tokens() int { return r.LeftOutTokens + r.DroppedTokens }

// Priced returns r with its price in a prompt of the given size.
func (r Reasoning) Priced(m Model, prompt int) Reasoning {
	if out := m.TierFor(prompt).Output; out != nil && r.Tokens() > 0 {
		r.LostUSD = new(float64(r.Tokens()) * *out / 1e6)
	}
	return r
}

// Binding says whether and how a provider binds a model's thinking to its prefix.
type Binding string

const (
	// BindingNone: thinking may be sent after any prefix.
	BindingNone Binding = "none"
	// BindingRefuses: a request with thinking whose prefix changed is refused, unless the request
	// tells the provider to drop the thinking.
	BindingRefuses Binding = "refuses"
	// BindingDrops: such thinking is dropped, and the answer says so.
	BindingDrops Binding = "drops"
)

// Binding returns how the provider binds the model's thinking to its prefix.
func (m Model) Binding() Binding {
	switch {
	case !m.PreservedThinking:
		return BindingNone
	case m.DropsThinking:
		return BindingDrops
	}
	return BindingRefuses
}

// Shown returns the binding that an answer shows, if it differs from the model's, and ""
// otherwise. removed reports whether the provider removed thinking because of a changed prefix.
// asked reports whether the request told it to.
func (m Model) Shown(removed, asked bool) Binding {
	switch b := m.Binding(); {
	case !removed:
	case !asked && b != BindingDrops:
		return BindingDrops
	case asked && b == BindingNone:
		return BindingRefuses
	}
	return ""
}

// Bind returns m with a binding that the provider has shown. An empty binding changes nothing.
func (m Model) Bind(b Binding) Model {
	if b != "" {
		m.PreservedThinking, m.DropsThinking = b != BindingNone, b == BindingDrops
	}
	return m
}
