package config

// Proxy holds the settings of the verb proxy. Where it listens and whose API it
// fronts are flags alone: a state folder may have come with somebody's
// repository, and keys pass through here.
type Proxy struct {
	ProviderCompaction bool `key:"provider_compaction" experimental:"yes" project:"never" doc:"Where a cut is near, have Anthropic or OpenAI compact the conversation by a request with the client's key. What such a compaction keeps can't be read."`
}
