package config

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// removed has the settings and masking rules of earlier versions, by full name, with their
// replacements.
var removed = map[string]string{
	"repeats": "results are always shown whole",

	"audit.file_age":          "a file of memory is stale after seven days",
	"audit.file_limit":        "audit.host names whose limits hold",
	"audit.job_age":           "a job's failure is told for fourteen days",
	"audit.jobs":              "the flag --jobs of audit and nightly says it",
	"audit.log_grace":         "the day's log may be missing for six hours",
	"audit.memory_age":        "MEMORY.md is stale three days after its newest date",
	"audit.near_duplicate":    "entries that share four fifths of their words, in threes, say the same",
	"audit.observation_lines": "observations.md may have 100 lines",
	"audit.size_warning":      "files are large from nine tenths of the host's limits on",
	"audit.skip":              "the flag --skip of audit says it",
	"audit.state_age":         "SESSION-STATE.md is stale after a day",
	"audit.total_limit":       "audit.host names whose limits hold",

	"checkpoint.agent":          "a call, or the session's key, names the agent",
	"checkpoint.channel":        "a call names the channel",
	"checkpoint.restore_tokens": "a restore text takes 700 tokens at most",
	"checkpoint.save":           "checkpoint.enabled false keeps none of the working state",
	"checkpoint.session_file":   "a call names the host's transcript",

	"compaction.futile":         "two cuts in a row may come to nothing",
	"compaction.min_tokens":     "a cut that reclaims 1,000 tokens is progress",
	"compaction.overflow_tries": "a refused request is planned anew three times",
	"compaction.spiral_cuts":    "three compactions within ten minutes are a warning",
	"compaction.spiral_within":  "three compactions within ten minutes are a warning",
	"compaction.turns":          "after ten user turns a cut is tried again",

	"embedding.batch_size":          "a request holds 64 texts, fewer where the provider takes fewer",
	"embedding.confirm_cost":        "a reindex sends what costs half a dollar without --yes",
	"embedding.confirm_tokens":      "a reindex sends up to ten million tokens without --yes",
	"embedding.daily_tokens":        "a reindex that would cost half a dollar asks first; limits of a day are set at the provider",
	"embedding.max_text_bytes":      "chunking.tokens says how large a text is that is sent",
	"embedding.requests_per_minute": "a provider that is asked too often says so, and is waited for",
	"embedding.tokens_per_minute":   "a reindex that would cost half a dollar asks first",

	"flush.at_cuts":          "a plan writes nothing to the day's log",
	"flush.soft_share":       "a flush turn is asked for a twentieth of the window early, at most 10,000 tokens",
	"flush.soft_tokens":      "a flush turn is asked for a twentieth of the window early, at most 10,000 tokens",
	"flush.transcript_bytes": "a flush turn is asked for after 2 MiB of conversation",

	"index.busy_timeout":               "another process's lock is waited for for five seconds",
	"index.gitignore":                  "what .gitignore leaves out is left out, unless index.include names it",
	"index.sync.debounce":              "a change counts when nothing more has changed for a second and a half",
	"index.sync.wait":                  "a search and a plan wait two seconds; the flag --wait of search says another time",
	"index.max_files":                  "250,000 files and folders are looked at",
	"index.postgres.connect_timeout":   "a connection may take five seconds",
	"index.postgres.max_connections":   "a process opens four connections",
	"index.postgres.schema":            "the tables are in the schema memkernel",
	"index.postgres.statement_timeout": "a statement may take thirty seconds",
	"index.qmd.collection":             "the collection has the workspace folder's name",
	"index.qmd.mode":                   "the last word of index.qmd.command says it, as in [qmd, query]",
	"index.qmd.timeout":                "an answer may take five seconds",

	"output.color": "the flag --color says it, or NO_COLOR in the environment",

	"plan.fixed_tokens": "the flag --fixed-tokens says it",
	"plan.model":        "the flag --model says it",
	"plan.prices":       "the flag --prices says it",
	"plan.resolver":     "the flag --resolver says it",
	"plan.view":         "the flag --view says it",

	"proxy.allow_origins":       "the flag --allow-origin of proxy says it",
	"proxy.deadline":            "a plan has three seconds",
	"proxy.defer_tools":         "definitions of tools stay where the client has them; Claude Code, Codex and their like let them wait themselves",
	"proxy.grace":               "answers under way get half a minute",
	"proxy.max_body":            "requests of up to 64 MiB are taken",
	"proxy.one_shots":           "a request with the header X-Memkernel-Session is planned",
	"proxy.provider_compaction": "the flag --provider-compaction of proxy says it",
	"proxy.retry_overflow":      "a refused request is always planned anew and sent once more",

	"retrieval.candidates":              "each side hands on 20 chunks",
	"retrieval.decay":                   "retrieval.half_life 0s has no note lose score with age",
	"retrieval.decay_floor":             "a note keeps nine tenths of its score",
	"retrieval.keyword_weight":          "the score by words has the rest of retrieval.vector_weight",
	"retrieval.max_items":               "a user turn gets six items at most",
	"retrieval.min_score":               "a prompt gets nothing whose best hit scores less than .25",
	"retrieval.min_share":               "hits below .3 of the best one's score are left out",
	"retrieval.mmr":                     "retrieval.mmr_lambda 1 moves no hit back",
	"retrieval.session_spans":           "messages that left the prompt are searched",
	"retrieval.sessions.agent":          "a session's key names its agent, as agent:NAME:REST does; without one it is main's",
	"retrieval.sessions.delta_messages": "50 lines are enough for a session to be read again",
	"retrieval.sessions.own":            "sessions that have a journal here are searched",
	"retrieval.sessions.settle":         "a session that rested for an hour is read",

	"retention.backups_days": "retention.days holds for backups, too",
	"retention.blobs_days":   "retention.days holds for large results and media, too",
	"retention.trace_days":   "retention.days holds for traces, too",
	"retention.usage_days":   "retention.days holds for calls, too",

	"session_state.max_size": "the kernel's section has about 8 KiB",

	"summary.model.close_wait": "an answer is waited for for two seconds at the end",
	"summary.model.facts":      "summary.model.provider none asks for no facts",
	"summary.model.max_age":    "the model is asked about less after fifteen minutes",
	"summary.model.max_tokens": "a request sends about 24,000 tokens",
	"summary.model.min_tokens": "the model is asked after 4,000 tokens",
	"summary.model.timeout":    "a request may take a minute",

	"trace.enabled":   "the decisions behind every plan are written down, as hashes and sizes",
	"trace.max_bytes": "a trace is put aside at 64 MiB",

	"upkeep.done_days":        "a task that is done may leave MEMORY.md after seven days",
	"upkeep.gap":              "the steps of nightly follow each other at once",
	"upkeep.git":              "memkernel history and undo keep what an entry was, without git",
	"upkeep.include":          "the flag --include of prune and nightly says it",
	"upkeep.memory_lines":     "MEMORY.md may have 50 lines",
	"upkeep.log_days":         "decisions of a log are brought into topic files after fourteen days",
	"upkeep.loss_share":       "a change may take a quarter of MEMORY.md's lines out for good",
	"upkeep.observation_days": "an observation without a tag may go after seven days",
	"upkeep.observation_rest": "observations.md is trimmed to 60 lines",
	"upkeep.owners":           "stable facts may move to USER.md, TOOLS.md and IDENTITY.md",

	"workspace.daily_logs":    "logs of today and yesterday are shown when a session starts",
	"workspace.max_file_size": "larger files than 32 MiB are not indexed",
	"workspace.memory":        "MEMORY.md and USER.md are shown when a private session starts",

	"working_buffer.at":       "the buffer is written from three fifths of the window on",
	"working_buffer.max_size": "the buffer holds 1 MiB at most",

	disabledRule + "azure-sas":        "the rule signed-url finds the same and stays on",
	disabledRule + "chat-webhook":     "the rules private-url and signed-url find the same and stay on",
	disabledRule + "command-token":    "the rule named-secret finds the same and stays on",
	disabledRule + "discord-webhook":  "the rule private-url finds the same and stays on",
	disabledRule + "fly-token":        "the rule flyio-access-token finds the same and stays on",
	disabledRule + "kubernetes-token": "the rule named-secret finds the same and stays on",
	disabledRule + "solana-key":       "the rule key-bytes finds the same and stays on",
	disabledRule + "terraform-token":  "the rule hashicorp-tf-api-token finds the same and stays on",
	disabledRule + "zapier-webhook":   "the rule private-url finds the same and stays on",

	"store.blobs": "the database keeps large contents itself",
}

// disabledRule precedes the name of a masking rule in removed.
const disabledRule = "redact.disable_rules: "

// earlier is a section below which earlier versions had some of the settings. It is still read.
const earlier = "experimental"

// removedIn reports whether name was removed. If so, it adds a warning for the line.
func (f *file) removedIn(line int, name string) bool {
	full := strings.TrimPrefix(name, earlier+".")
	if !server && (strings.HasPrefix(full, "store.") || strings.HasPrefix(full, "index.postgres.")) {
		f.warnings = append(f.warnings, fmt.Sprintf("%s:%d: %s: this setting is memkernel-server's, which keeps state and index in PostgreSQL; take it out, or run that program", f.name, line, name))
		return true
	}
	now, was := removed[full]
	if was {
		f.warnings = append(f.warnings, fmt.Sprintf("%s:%d: %s: this setting was removed: %s; take it out", f.name, line, name, now))
	}
	return was
}

// removedKey reports whether a key of a file was removed, or is a section whose keys were all
// removed. It adds a warning for each removed key.
func (f *file) removedKey(k, v *yaml.Node, name string) bool {
	if f.removedIn(k.Line, name) {
		return true
	}
	v = target(v)
	if v.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		if !f.removedKey(v.Content[i], v.Content[i+1], name+"."+v.Content[i].Value) {
			return false
		}
	}
	return len(v.Content) > 0
}
