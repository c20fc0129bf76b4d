package picoclaw

// AssembleRequest asks for the history of a session's next call.
type AssembleRequest struct {
	SessionKey string
	// Budget is the model's context window. MaxTokens is the room for its answer.
	Budget, MaxTokens int
	// ReserveTokens is the size of system prompt and tools, 0 if the host gives none.
	ReserveTokens int
}

// AssembleResponse is the history, without the user's new message.
type AssembleResponse[M any] struct {
	History []M
	// Summary goes into the host's system prompt. It stays empty: removed messages are summed up
	// in the history's first message, which changes only at a cut and so keeps the cache.
	Summary string
}

// Reason is why the host wants less.
type Reason string

// PicoClaw's reasons.
const (
	// Proactive: by the host's own estimate the call will not fit.
	Proactive Reason = "proactive_budget"
	// Retry: the provider refused the call as too long.
	Retry Reason = "llm_retry"
	// Summarize: a turn has ended.
	Summarize Reason = "summarize"
)

// CompactRequest asks for a shorter history.
type CompactRequest struct {
	SessionKey string
	Reason     Reason
	// Budget is the model's context window.
	Budget int
	// Manual: the user asked for it.
	Manual bool
}

// IngestRequest describes a message that the host has just recorded.
type IngestRequest[M any] struct {
	SessionKey string
	Message    M
}
