package config

// Flush holds when memory is written by itself.
type Flush struct {
	Enabled bool `key:"enabled" project:"false" default:"true" doc:"Whether decisions, lessons and what the user asked to be remembered are written before a compaction, at a reset and at a session's end; and whether the model is asked for more, where the host allows it."`
}
