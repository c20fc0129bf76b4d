// Package policies has the context policies that memkernel is measured against: rules of hosts
// and providers, simple rules, and an oracle. Importing the package registers the policies with
// package replay. The package never calls a model. A policy decides only by the recorded
// messages, prices and times.
package policies

import "github.com/memkernel/memkernel/replay"

// The policies, by name.
const (
	claudeCodeRule     = "claude-code"
	contextEditingRule = "context-editing"
	ClearTools         = "clear-tool-uses"
	CacheTTL           = "cache-ttl"
	maskingBatch       = "masking-batch"
	maskingRule        = "masking"
	batch              = "batch"
	Turns              = "turns"
	Sliding            = "sliding"
)

// A policy's name may end in a figure:
//
//	clear-tool-uses-N  N tool results stay
//	cache-ttl-N        results are cleared once the prompt takes N per cent of the window
//	masking-batch-N    results are masked N at a time
//	masking-N          N tool results stay
//	batch-HIGH-LOW     if the messages have over HIGH tokens, LOW tokens stay
//	turns-N            N user turns are shown
//	sliding-N          N tokens of messages are shown
//	oracle-N           N per cent of the references are shown
func init() {
	one := func(name, about string, make func(rec *replay.Recording, figure int) replay.Chooser) replay.Policy {
		return replay.Policy{Name: name, About: about, Figures: 1, New: func(rec *replay.Recording, figures []int, _ *replay.Result) replay.Chooser {
			return make(rec, replay.Figure(figures))
		}}
	}
	none := func(name, about string, make func(rec *replay.Recording) replay.Chooser) replay.Policy {
		return replay.Policy{Name: name, About: about, New: func(rec *replay.Recording, _ []int, _ *replay.Result) replay.Chooser { return make(rec) }}
	}
	replay.Register(
		none(claudeCodeRule, "append until 33k are left, then a summary of 4.5k and the five files read last", newClaudeCode),
		none(contextEditingRule, "Anthropic's server-side clearing from 100k on and compaction from 150k on", newContextEditing),
		one(ClearTools, "append-late, and all but 3 tool results cleared from 100k on, if that is worth it", newClearTools),
		one(CacheTTL, "append-late; old tool results shortened by a cold cache", newCacheTTL),
		one(maskingBatch, "append-late; results but the newest 10 masked, 30 at a time or by a cold cache", newMaskingBatch),
		one(maskingRule, "append-late; results but the newest 10 masked, by every call", newMasking),
		replay.Policy{Name: batch, About: "append until 80k of messages, then the newest 30k", Figures: 2, New: newBatch},
		one(Turns, "the newest 10 user turns", newTurns),
		one(Sliding, "the newest 64k tokens of messages", newSliding),
		replay.Policy{Name: replay.Oracle, About: "the cheapest cuts that show as many references as memkernel, found with the whole session known",
			Figures: 1, Ends: true, Rivals: true, New: newOracle},
	)
}
