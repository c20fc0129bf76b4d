package config

// Upkeep holds the settings of the verbs that keep memory's files good.
type Upkeep struct {
	MemoryLines     int      `key:"memory_lines" default:"50" range:"10..100000" empty:"any" doc:"Lines that MEMORY.md may have: of what memkernel wrote into it, what there is no room for moves to the files that own it."`
	ObservationRest int      `key:"observation_rest" experimental:"yes" default:"60" range:"1..1000000" doc:"Lines that observations.md is trimmed to, once it has more than audit.observation_lines."`
	ObservationDays int      `key:"observation_days" experimental:"yes" default:"7" range:"1..36500" doc:"Days after which an observation without a tag may go, where include names observations.md."`
	DoneDays        int      `key:"done_days" experimental:"yes" default:"7" range:"1..36500" doc:"Days after which a task that is done may leave MEMORY.md, where that is over its limit."`
	LogDays         int      `key:"log_days" experimental:"yes" default:"14" range:"1..36500" empty:"never" doc:"Days after which the decisions and lessons of a log that memory does not have are brought into topic files."`
	Owners          []string `key:"owners" experimental:"yes" default:"USER.md,TOOLS.md,IDENTITY.md" empty:"none" doc:"Files that stable facts of MEMORY.md may move to, if they exist and are far enough from the host's limit; all else goes to topic files in memory/."`
	Include         []string `key:"include" project:"never" empty:"none" doc:"What somebody else than memkernel wrote and prune may take out as well: files (MEMORY.md, memory/observations.md), headings with all below them, or entries by the names that prune suggests. The flag --include of prune and nightly adds to it."`
	LossShare       float64  `key:"loss_share" project:"less" experimental:"yes" default:"0.25" range:"0..1" doc:"Share of its lines that a change may take out of MEMORY.md for good; 1 lets everything go."`
	Gap             Duration `key:"gap" experimental:"yes" default:"0s" flag:"gap" range:"0s..6h" doc:"Wait between two steps of nightly."`
	Git             bool     `key:"git" project:"false" default:"false" flag:"git" doc:"Whether nightly commits the workspace before and after, where it is a git repository."`
}
