package config

// Flush holds when memory is written by itself.
type Flush struct {
	Enabled bool `key:"enabled" project:"false" default:"true" doc:"Whether decisions, learnings and what the user asked to be remembered are written to the day's log by themselves, before a compaction, at a reset and at a session's end; and whether the model is asked to write down more, where the host gives it a turn."`
}
