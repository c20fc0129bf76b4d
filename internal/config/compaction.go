package config

// Flush holds the settings of automatic writes to memory.
type Flush struct {
	Enabled bool `key:"enabled" project:"false" default:"true" doc:"Whether decisions, lessons and the user's requests to remember are written before a compaction, at a reset and at a session's end. Where the host allows it, the model is also asked to add notes."`
}
