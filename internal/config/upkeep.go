package config

// Upkeep holds the settings of the verbs that keep memory's files good.
type Upkeep struct {
	MemoryLines int      `key:"memory_lines" default:"50" range:"10..100000" empty:"any" doc:"Lines that MEMORY.md may have: of what memkernel wrote into it, what there is no room for moves to the files that own it."`
	Include     []string `key:"include" project:"never" empty:"none" doc:"What somebody else than memkernel wrote and prune may take out as well: files (MEMORY.md, memory/observations.md), headings with all below them, or entries by the names that prune suggests. The flag --include of prune and nightly adds to it."`
}
