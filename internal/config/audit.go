package config

// Audit holds the thresholds of the verb audit.
type Audit struct {
	Host string `key:"host" default:"openclaw" flag:"host" of:"openclaw|codex|claude|claude-code" doc:"The host whose limits hold for the files that a session begins with: what is over them is not shown to the model."`
}
