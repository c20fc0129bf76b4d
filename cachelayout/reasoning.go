package cachelayout

// Reasoning is the thinking that a request no longer shows the model although the message stays
// that held it. Thinking that leaves with its whole message is not counted.
type Reasoning struct {
	// Binding is the model's.
	Binding Binding `json:"binding"`
	// LeftOutItems are blocks that the request does not send again.
	LeftOutItems  int `json:"left_out_items"`
	LeftOutTokens int `json:"left_out_tokens"`
	// DroppedItems are blocks that it sends and the provider drops.
	DroppedItems  int `json:"dropped_items"`
	DroppedTokens int `json:"dropped_tokens"`
	// StaleItems are blocks that it sends and the provider drops since an earlier cut. They
	// were counted then.
	StaleItems int `json:"stale_items"`
	// LostUSD is the price of all these tokens as output: they were billed so when the model
	// produced them, and cost as much if it must think them again. It is part of no other cost.
	// Nil if nothing is lost or the price is unknown.
	LostUSD *float64 `json:"lost_usd"`
}

// Items returns how many blocks are lost.
func (r Reasoning) Items() int { return r.LeftOutItems + r.DroppedItems }

// Tokens returns the size of all lost thinking.
func (r Reasoning) Tokens() int { return r.LeftOutTokens + r.DroppedTokens }

// Priced returns r with its price in a prompt of so many tokens.
func (r Reasoning) Priced(m Model, prompt int) Reasoning {
	if out := m.TierFor(prompt).Output; out != nil && r.Tokens() > 0 {
		r.LostUSD = new(float64(r.Tokens()) * *out / 1e6)
	}
	return r
}

// Binding is whether and how a provider holds a model's thinking to its prefix.
type Binding string

const (
	// BindingNone: thinking may be sent after any prefix.
	BindingNone Binding = "none"
	// BindingRefuses: a request with thinking whose prefix changed is refused, unless it
	// asks for the thinking to be dropped.
	BindingRefuses Binding = "refuses"
	// BindingDrops: such thinking is dropped, and the answer says so.
	BindingDrops Binding = "drops"
)

// Binding returns how the provider holds the model's thinking.
func (m Model) Binding() Binding {
	switch {
	case !m.PreservedThinking:
		return BindingNone
	case m.DropsThinking:
		return BindingDrops
	}
	return BindingRefuses
}

// Shown returns the binding that an answer shows and that is not the model's: whether the
// provider removed thinking for a changed prefix, and whether it was asked to. "" if it shows
// nothing new.
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

// Bind returns m with a binding that the provider has shown. An empty one changes nothing.
func (m Model) Bind(b Binding) Model {
	if b != "" {
		m.PreservedThinking, m.DropsThinking = b != BindingNone, b == BindingDrops
	}
	return m
}
