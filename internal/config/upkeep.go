package config

// Upkeep holds the settings of the verbs that keep memory's files good.
type Upkeep struct {
	MemoryLines int `key:"memory_lines" default:"50" range:"10..100000" empty:"any" doc:"Lines that MEMORY.md may have: of what memkernel wrote into it, what there is no room for moves to the files that own it."`
}
