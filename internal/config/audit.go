package config

// Audit holds the thresholds of the verb audit.
type Audit struct {
	Host             string   `key:"host" default:"openclaw" flag:"host" of:"openclaw|codex|claude|claude-code" doc:"The host whose limits hold for the files that a session begins with: what is over them is not shown to the model."`
	FileLimit        int      `key:"file_limit" experimental:"yes" range:"100..100000000" empty:"the host's: 20,000 characters for openclaw, 32,768 bytes for codex, 25,000 bytes for claude-code" doc:"Most that the host shows of one file, in characters or, for codex and claude-code, bytes."`
	TotalLimit       int      `key:"total_limit" experimental:"yes" range:"100..100000000" empty:"the host's: 150,000 characters for openclaw, 32,768 bytes for codex" doc:"Most that the host shows of all such files together."`
	SizeWarning      float64  `key:"size_warning" experimental:"yes" default:"0.9" range:"0..1" doc:"Share of these limits from which files are found too large; 0 for never."`
	StateAge         Duration `key:"state_age" experimental:"yes" default:"24h" range:"1m..36500d" empty:"never" doc:"Age from which SESSION-STATE.md is found stale."`
	ObservationLines int      `key:"observation_lines" experimental:"yes" default:"100" range:"1..1000000" empty:"never" doc:"Lines from which observations.md is found too long."`
	LogGrace         Duration `key:"log_grace" experimental:"yes" default:"6h" range:"0s..24h" doc:"How far into a day its log may be missing."`
	FileAge          Duration `key:"file_age" experimental:"yes" default:"7d" range:"1m..36500d" empty:"never" doc:"Age from which a file in memory/ without a date in its name is found stale."`
	MemoryAge        Duration `key:"memory_age" experimental:"yes" default:"3d" range:"1m..36500d" empty:"never" doc:"Age of the newest date in MEMORY.md from which it is found out of date."`
	NearDuplicate    float64  `key:"near_duplicate" experimental:"yes" default:"0.8" range:"0.3..1" doc:"Share of their words, in threes, from which two entries are found to say the same; 1 finds equal ones only."`
	JobAge           Duration `key:"job_age" experimental:"yes" default:"14d" range:"1m..36500d" empty:"for ever" doc:"How long after its last run the failure of a job is told."`
	Jobs             []string `key:"jobs" project:"never" empty:"none" doc:"Records of jobs beside the state folder's own jobs.jsonl: a host's cron/jobs.json, or lines of JSON with job, time and error. Paths are relative to the current folder."`
	Skip             []string `key:"skip" project:"never" empty:"none" doc:"Checks that are not run, by name; audit --list names them."`
}
