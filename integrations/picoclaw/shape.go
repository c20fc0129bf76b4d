package picoclaw

// AssembleRequest is a request for the history of a session's next call.
type AssembleRequest struct {
	SessionKey string
	// Budget is the model's context window. MaxTokens is the room for its answer.
	Budget, MaxTokens int
	// ReserveTokens is the size of the system prompt and the tools. It is 0 if the host does not
	// give the size.
	ReserveTokens int
}

// AssembleResponse is the history, without the user's new message.
type AssembleResponse[M any] struct {
	History []M
	// Summary goes into the host's system prompt. It stays empty. Removed messages are summed up
	// in the history's first message, which changes only at a cut and so keeps the cache.
	Summary string
}

// Reason is the reason why the host wants a shorter history.
type Reason string

// PicoClaw's reasons.
const (
	// Proactive means that by the host's own estimate the call will not fit.
	Proactive Reason = "proactive_budget"
	// Retry means that the provider refused the call as too long.
	Retry Reason = "llm_retry"
	// Summarize means that a turn has ended.
	Summarize Reason = "summarize"
)

// CompactRequest is a request for a shorter history.
type CompactRequest struct {
	SessionKey string
	Reason     Reason
	// Budget is the model's context window.
	Budget int
	// Manual reports whether the user requested the compaction.
	Manual bool
}

// IngestRequest describes a message that the host has just recorded.
type IngestRequest[M any] struct {
	SessionKey string
	Message    M
}
