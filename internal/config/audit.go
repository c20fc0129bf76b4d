package config

// Audit holds the thresholds of the verb audit.
type Audit struct {
	Host string   `key:"host" default:"openclaw" flag:"host" of:"openclaw|codex|claude|claude-code" doc:"The host whose limits hold for the files that a session begins with: what is over them is not shown to the model."`
	Jobs []string `key:"jobs" project:"never" empty:"none" doc:"Records of jobs beside the state folder's own jobs.jsonl: a host's cron/jobs.json, or lines of JSON with job, time and error. Paths are relative to the current folder."`
}
