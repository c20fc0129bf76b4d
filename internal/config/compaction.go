package config

// Flush holds when memory is written by itself.
type Flush struct {
	Enabled         bool    `key:"enabled" project:"false" default:"true" doc:"Whether decisions, learnings and what the user asked to be remembered are written to the day's log by themselves, before a compaction, at a reset and at a session's end; and whether the model is asked to write down more, where the host gives it a turn."`
	AtCuts          bool    `key:"at_cuts" project:"false" experimental:"yes" default:"false" doc:"Whether that is done before the kernel's own cuts, too, so that planning a call may write to the workspace. A request that the provider refused as too long is flushed for in any case."`
	SoftTokens      Tokens  `key:"soft_tokens" experimental:"yes" range:"100..1m" empty:"flush.soft_share of the window" doc:"How far before the reserve begins, or a cut is due, the host is asked for a flush turn."`
	SoftShare       float64 `key:"soft_share" experimental:"yes" range:"0.001..0.9" empty:"5 %, at most 10k tokens" doc:"The same as a share of the window, where flush.soft_tokens says nothing."`
	TranscriptBytes Size    `key:"transcript_bytes" experimental:"yes" default:"2MiB" range:"16KiB..64GiB" doc:"A flush turn is asked for as well whenever the conversation has grown by so much since the last."`
}

// Compaction holds what keeps a session from being compacted for nothing.
type Compaction struct {
	MinTokens     Tokens   `key:"min_tokens" experimental:"yes" default:"1k" range:"1..1m" doc:"Least that a cut must reclaim to count as progress, and never over 5 % of the window."`
	Futile        int      `key:"futile" experimental:"yes" default:"2" range:"1..100" doc:"Cuts in a row that may reclaim less before more are refused, until the prompt has grown by that least."`
	Turns         int      `key:"turns" experimental:"yes" default:"10" range:"1..10000" doc:"User turns after which a cut is tried again in any case."`
	OverflowTries int      `key:"overflow_tries" experimental:"yes" default:"3" range:"1..20" doc:"How often in a row a request that the provider refused as too long is planned anew."`
	SpiralCuts    int      `key:"spiral_cuts" experimental:"yes" default:"3" range:"2..100" doc:"Compactions within compaction.spiral_within that are a warning."`
	SpiralWithin  Duration `key:"spiral_within" experimental:"yes" default:"10m" range:"1s..30d" doc:"See compaction.spiral_cuts."`
}
