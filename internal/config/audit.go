package config

// Audit holds the thresholds of the verb audit.
type Audit struct {
	Host string `key:"host" default:"openclaw" flag:"host" of:"openclaw|codex|claude|claude-code" doc:"The host whose size limits apply to the files that a session begins with. The host hides text over its limit from the model."`
}
