package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/cachelayout"
)

// Config holds all settings. Make one with [Default] or [Read]. Reading
// it is safe for concurrent use, [Config.Set] is not. The meaning of every field
// below is in its doc tag.
type Config struct {
	Economy       cachelayout.Economy `key:"economy" default:"balanced" flag:"economy" doc:"Whether to save money or to keep more in the prompt. save cuts early and keeps little. keep cuts only if the window is full. Numbers lie between save (0) and keep (1); balanced is 0.5. doc/economics.md has what each choice has cost and kept."`
	Plan          plan                `key:"plan" doc:"Assumptions of plan, replay and observe."`
	Workspace     workspace           `key:"workspace" doc:"The workspace's Markdown in prompts."`
	Chunking      chunking            `key:"chunking" doc:"How files are cut for the index. A change makes the next reindex read every file again."`
	Retrieval     retrieval           `key:"retrieval" doc:"The search of memory for a prompt."`
	Embedding     embedding           `key:"embedding" project:"never" doc:"The source of vectors. memkernel sends text of the workspace to every provider except none and local."`
	Index         index               `key:"index" doc:"Which files are indexed, and where the index is kept."`
	Store         store               `key:"store" server:"yes" project:"never" doc:"Where the state is kept: journals, blobs, checkpoints, locks."`
	Checkpoint    checkpoint          `key:"checkpoint" doc:"The working state of a session."`
	SessionState  sessionState        `key:"session_state" doc:"SESSION-STATE.md in the workspace shows people the state of private sessions. memkernel rewrites its marked section after every observed turn."`
	WorkingBuffer workingBuffer       `key:"working_buffer" doc:"memory/working-buffer.md keeps the turns of private sessions whose context fills up. Search skips this file."`
	Flush         flush               `key:"flush" doc:"Notes that are written to the day's log before a compaction."`
	Summary       summary             `key:"summary" doc:"The summary of a session's past."`
	Redact        redact              `key:"redact" project:"never" doc:"Secrets are masked before anything is stored. A mark names the rule, such as [masked:github-pat]."`
	Audit         audit               `key:"audit" doc:"The limits of audit, curate, prune, nightly and guard."`
	Retention     retention           `key:"retention" doc:"When the verb retain removes stored data. Data that a prompt or memory points to is never removed."`

	origin   map[string]Origin
	warnings []string
	ignored  []ignored
}

// Warnings names the file's settings that only earlier versions had. Such settings have no
// effect.
func (c *Config) Warnings() []string { return c.warnings }

// ignored is a setting of a project's own file that has no effect, because it would trust others more
// than the user's own settings do. Another person may have written that file.
type ignored struct {
	Key    string
	Origin Origin
}

// Ignored returns the ignored settings in the order of the file.
func (c *Config) Ignored() []ignored { return c.ignored }

// plan holds the defaults of the planning verbs.
type plan struct {
	ContextWindow Tokens `key:"context_window" flag:"context-window" empty:"the window in the price book" doc:"The model's window."`
	Reserve       Tokens `key:"reserve" flag:"reserve" empty:"by the answers, at most a fifth" doc:"Tokens that stay free for the answer."`
	Door          bool   `key:"door" experimental:"yes" default:"true" doc:"Whether a large JSON result is shortened before the model sees it for the first time, if it can read the whole by a resolver. Errors, files that were read and results under 8,000 bytes are always shown whole."`
}

// workspace holds the settings of the user's Markdown.
type workspace struct {
	Enabled    bool   `key:"enabled" project:"false" default:"true" doc:"Whether the workspace's files are shown and searched. plan --no-memory turns this off for one call."`
	Timezone   zone   `key:"timezone" default:"local" doc:"The time zone in which days begin."`
	Private    bool   `key:"private" project:"false" default:"true" doc:"Whether sessions are private. Shared sessions don't see MEMORY.md and USER.md. The flag --shared makes a session shared."`
	MaxTokens  Tokens `key:"max_tokens" default:"8k" range:"100..1m" doc:"Limit for all files shown at a session's start together, at most an eighth of the window."`
	AgentEdits string `key:"agent_edits" project:"own,none" experimental:"yes" default:"own" of:"own|any|none" doc:"What agents may change in memory's files, beside adding to them: own is what agents, tools and upkeep wrote, any what people wrote, too, none nothing. What is changed is backed up and can be taken back."`
	// Bootstrap lists the files of standing instructions that tell an agent who it is and how to
	// work.
	Bootstrap []string `key:"bootstrap" default:"AGENTS.md,SOUL.md,IDENTITY.md,TOOLS.md" empty:"none" doc:"The files of standing instructions that a session's start shows, most important first. Only the four files of the default are allowed."`
}

// chunking holds the settings for cutting files into chunks. Tokens are counted with the index's
// own fixed counter, never with a model's.
type chunking struct {
	Tokens  Tokens `key:"tokens" experimental:"yes" default:"400" range:"20..8k" doc:"Size of a chunk, by the index's fixed counter."`
	Overlap Tokens `key:"overlap" experimental:"yes" default:"80" range:"0..4k" doc:"What a chunk repeats of the one before; less than chunking.tokens, of which it gets half at most."`
}

// retrieval holds the settings of search: the searched texts and the ranking of hits.
type retrieval struct {
	Enabled      bool         `key:"enabled" project:"false" default:"true" doc:"Whether memory is searched for every user turn. The verb search always works."`
	MaxTokens    Tokens       `key:"max_tokens" default:"2k" range:"100..1m" doc:"Limit for the text that the search adds to a user turn."`
	VectorWeight float64      `key:"vector_weight" experimental:"yes" default:"0.7" range:"0..1" doc:"Weight of the score by meaning, which takes an embedding.provider; the score by words has the rest. 0 searches by words alone, 1 by meaning alone if there is a provider. Where one side finds nothing, the other counts in full."`
	HalfLife     Duration     `key:"half_life" default:"30d" range:"1h..36500d" empty:"never" doc:"Age at which a dated note has lost a tenth of its score. No note loses more than a fifth."`
	MMRLambda    float64      `key:"mmr_lambda" experimental:"yes" default:"0.7" range:"0..1" doc:"How far a hit that repeats a better one is moved back: 1 is not at all, 0 as far as can be."`
	HostMemories bool         `key:"host_memories" experimental:"yes" project:"false" default:"true" doc:"Whether private sessions search what Claude Code and Codex remember by themselves about the workspace."`
	Sessions     pastSessions `key:"sessions" doc:"Past sessions as memory. Private sessions of the same agent find them, with secrets masked."`
}

// pastSessions holds the settings that choose the searched past sessions.
type pastSessions struct {
	Enabled bool `key:"enabled" project:"false" default:"true" doc:"Whether past sessions are searched."`
	// Folders are folders with transcripts of hosts.
	Folders    []string `key:"folders" project:"never" empty:"none" doc:"Transcripts of hosts, or folders of transcripts, such as ~/.claude/projects/-home-me-shop. Relative paths begin at the workspace. AGENT=FOLDER names the transcripts' agent."`
	DeltaBytes Size     `key:"delta_bytes" experimental:"yes" default:"100KiB" range:"1..1GiB" doc:"What must have been added to a session for it to be read again in the background; or 50 lines."`
}

// embedding holds the settings for the source of vectors.
type embedding struct {
	Provider       string   `key:"provider" project:"none" default:"none" of:"none|auto|local|openai|gemini|voyage|mistral|ollama" doc:"none uses no network. local is a model in this process. openai is any endpoint with OpenAI's API. auto takes openai if base_url is set and usable, else local if model_dir is set. Otherwise auto takes the first of openai, gemini, voyage and mistral whose usual key is in the environment, or none."`
	BaseURL        address  `key:"base_url" empty:"the provider's own" doc:"The endpoint, such as http://localhost:11434/v1."`
	Model          string   `key:"model" empty:"text-embedding-3-small, gemini-embedding-001, voyage-4-large, mistral-embed, nomic-embed-text; for provider openai with an endpoint other than api.openai.com, name a model" doc:"The id of the embedding model. After a change the next reindex embeds every chunk again; until then the old vectors stay in use."`
	ModelDir       filePath `key:"model_dir" empty:"no folder" doc:"The folder that holds the model of provider local (doc/embedding.md)."`
	Dimensions     int      `key:"dimensions" experimental:"yes" range:"1..65536" empty:"the model's own" doc:"Length of the vectors, for models that can shorten them."`
	APIKeyEnv      envName  `key:"api_key_env" empty:"OPENAI_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY, VOYAGE_API_KEY, MISTRAL_API_KEY for the providers' own hosts, and no key for any other endpoint" doc:"The environment variable that holds the key, never the key itself."`
	Timeout        Duration `key:"timeout" experimental:"yes" default:"30s" range:"100ms..10m" doc:"How long one request may take."`
	QueryTimeout   Duration `key:"query_timeout" experimental:"yes" default:"2s" range:"10ms..10m" doc:"How long the vector of a question may take; past it the question is searched by words alone."`
	QueryPrefix    string   `key:"query_prefix" experimental:"yes" empty:"none, or where both are empty what a known model of gemini and ollama wants" doc:"Text put before a question, for models that treat questions and documents differently."`
	DocumentPrefix string   `key:"document_prefix" experimental:"yes" empty:"likewise" doc:"Text put before a chunk, for the same models."`
	MediaPaths     []string `key:"media_paths" empty:"none" doc:"Folders of the workspace whose images and sounds private sessions find by meaning. This needs provider gemini with model gemini-embedding-2. The provider receives the files; with shed.png it also receives the text of shed.md or shed.png.md."`
	AllowInsecure  bool     `key:"allow_insecure" default:"false" doc:"Whether plain http may leave this machine."`
}

// index holds the settings for the place and the kind of the index.
type index struct {
	// Include, Exclude and Folders choose which Markdown is memory.
	Include  []string      `key:"include" empty:"memory's own files alone: MEMORY.md, USER.md and memory/**/*.md" doc:"Globs of Markdown that counts as memory in addition to memory's own files, such as notes/**/*.md. If the setting is absent, all Markdown counts. If memory's own files exist, private sessions alone search the other Markdown. If not, shared sessions search it too, also once memory's own files come."`
	Exclude  []string      `key:"exclude" empty:"none" doc:"Globs of files that are not searched."`
	Folders  []string      `key:"folders" project:"never" empty:"none" doc:"Further folders whose Markdown is searched and never written to, such as ~/notes. Relative paths begin at the workspace. NAME=FOLDER gives a folder a name; its files are cited as NAME:sub/file.md."`
	Backend  string        `key:"backend" project:"sqlite" default:"sqlite" of:"sqlite|postgres|qmd" doc:"sqlite keeps the index in a file. postgres keeps it in a database that hosts share, and needs memkernel-server. qmd asks the program qmd; if qmd fails, the SQLite index answers. doc/backends.md compares them."`
	Postgres indexPostgres `key:"postgres" server:"yes" project:"never" doc:"The database of index.backend postgres. With it, text of the workspace is sent to its server."`
	QMD      indexQMD      `key:"qmd" project:"never" doc:"The program of index.backend qmd."`
	Sync     indexSync     `key:"sync" doc:"When programs that keep running, such as mcp, update the index. Every search also updates the words in the index."`
}

// indexSync holds the settings that keep the index up to date.
type indexSync struct {
	OnSessionStart bool     `key:"on_session_start" experimental:"yes" default:"true" doc:"Whether a session's start updates the index."`
	OnSearch       bool     `key:"on_search" experimental:"yes" default:"true" doc:"Whether a search that found chunks without vectors updates the index."`
	Interval       Duration `key:"interval" experimental:"yes" default:"5m" range:"1s..365d" empty:"never" doc:"How often a timer updates the index."`
	Watch          bool     `key:"watch" default:"true" doc:"Whether a changed file updates the index at once. If the system can't watch so many folders, a timer does."`
}

// indexPostgres names the database that keeps the index, and the owner of the index.
type indexPostgres struct {
	DSN       dsn     `key:"dsn" empty:"dsn_env names a variable that holds it" doc:"Server and database without a password, such as postgres://me@localhost/memory."`
	DSNEnv    envName `key:"dsn_env" empty:"no variable is read" doc:"The environment variable that holds a DSN with a password."`
	Workspace string  `key:"workspace" empty:"an error" doc:"The workspace's name in the database, the same on every host."`
	Agent     string  `key:"agent" default:"default" doc:"The agent that owns this host's files. A host with other files must use another name."`
	Share     bool    `key:"share" default:"true" doc:"Whether the workspace's other agents see this agent's files. MEMORY.md and USER.md are never shared."`
}

// store holds the settings for the place of the state.
type store struct {
	Backend   string        `key:"backend" default:"files" of:"files|postgres" doc:"files keeps the state in the state folder. postgres keeps it in a database that several machines share (doc/scaling.md)."`
	Postgres  storePostgres `key:"postgres" doc:"The database of store.backend postgres. The full content of sessions is sent to it."`
	Workspace string        `key:"workspace" experimental:"yes" default:"folder" of:"folder|rows" doc:"Where the workspace's Markdown is: in the project's folder, or in rows of the database. 'memkernel-server migrate --memory' moves it."`
}

// storePostgres names the database that keeps the state, and the owner of the state.
type storePostgres struct {
	DSNEnv envName  `key:"dsn_env" empty:"an error" doc:"The environment variable that holds the DSN, such as postgres://me:secret@host/memory."`
	Root   string   `key:"root" empty:"the value of index.postgres.workspace; an error if both are empty" doc:"The state's name in the database, the same on every machine."`
	Lease  Duration `key:"lease" experimental:"yes" default:"15s" range:"1s..1h" doc:"How long a lock stays valid after its machine stops. A machine that is paused for longer loses its locks."`
}

// indexQMD holds the settings for running the program qmd.
type indexQMD struct {
	Command []string `key:"command" default:"qmd" doc:"The program, its arguments and its verb. search, the default, searches by words, vsearch by vectors, and query by both with models. QMD needs a collection named like the workspace's folder."`
}

// checkpoint holds the settings of the gauge and of checkpoints.
type checkpoint struct {
	Enabled   bool    `key:"enabled" project:"false" default:"true" doc:"Whether checkpoints are kept."`
	ShowAt    float64 `key:"show_at" experimental:"yes" default:"0.7" range:"0.01..1" doc:"Share of the window from which the gauge is shown."`
	At        float64 `key:"at" experimental:"yes" default:"0.8" range:"0.01..1" doc:"Share of the window from which a checkpoint is written before the next call."`
	CompactAt float64 `key:"compact_at" range:"0.01..1" empty:"where the reserve begins" doc:"Share of the window at which the host compacts. memkernel shows the gauge and writes a checkpoint before this point."`
}

// sessionState holds the settings of SESSION-STATE.md.
type sessionState struct {
	Enabled bool `key:"enabled" project:"false" default:"true" doc:"Whether memkernel writes the section."`
}

// workingBuffer holds the settings of the working buffer.
type workingBuffer struct {
	Enabled bool `key:"enabled" project:"false" default:"true" doc:"Whether memkernel writes the file."`
}

// summary holds the settings for notes that are made in addition to the mechanical summary.
type summary struct {
	Model summaryModel `key:"model" project:"never" doc:"A model that makes notes of a session in the background. Every provider except none receives the conversation. Secrets are masked."`
}

// summaryModel holds the settings of the model that makes notes.
type summaryModel struct {
	Provider      string  `key:"provider" project:"none" default:"none" of:"none|openai|anthropic" doc:"none uses no network. openai is any endpoint with the chat completions API. anthropic is any endpoint with the Messages API."`
	BaseURL       address `key:"base_url" empty:"the provider's own" doc:"The endpoint, such as http://localhost:11434/v1."`
	Name          string  `key:"name" empty:"gpt-5-nano at api.openai.com, claude-haiku-5-5 at api.anthropic.com; for any other endpoint, name a model" doc:"The model's id. A cheap model is enough."`
	APIKeyEnv     envName `key:"api_key_env" empty:"OPENAI_API_KEY and ANTHROPIC_API_KEY for the providers' own hosts, and no key for any other endpoint" doc:"The environment variable that holds the key, never the key itself."`
	AllowInsecure bool    `key:"allow_insecure" default:"false" doc:"Whether plain http may leave this machine."`
}

// redact holds the texts that masking leaves alone because they are not secrets.
type redact struct {
	Allow        []string `key:"allow" empty:"none" doc:"Values that are never masked: literals, or expressions between slashes, such as /^test-/."`
	DisableRules []string `key:"disable_rules" empty:"none" doc:"Names of masking rules to turn off."`
}

// retention holds the settings for deleting old data. 0 days keep the data for ever.
type retention struct {
	SessionsDays int `key:"sessions_days" range:"0..36500" empty:"for ever" doc:"Days after its last use when a whole session is removed. A session is kept if memory names one of its pages."`
	Days         int `key:"days" range:"0..36500" empty:"for ever" doc:"Days after which other data is removed: large results and media of sessions, calls in usage.jsonl, traces, and backups that the newest undo does not need."`
}

// Default returns the settings of a user who has no configuration file.
func Default() *Config {
	c := &Config{origin: map[string]Origin{}}
	for _, k := range c.Keys() {
		if k.def == "" {
			continue
		}
		if err := parse(k.value, k.def); err != nil {
			panic("config: default of " + k.Name + ": " + err.Error()) // a mistake in a tag, which every test would meet
		}
	}
	return c
}

// Validate checks every value by itself and then the values that depend on each other. The error
// is an [*Error]. [Config.Over] and [Read] call Validate themselves.
func (c *Config) Validate() error {
	for _, k := range c.Keys() {
		if err := k.check(); err != nil {
			return c.errorAt(err, "", k.Name)
		}
	}
	return c.checkTogether()
}

// checkTogether checks values that depend on each other.
func (c *Config) checkTogether() error {
	p := &c.Plan
	switch {
	case p.ContextWindow > 0 && p.Reserve >= p.ContextWindow:
		return c.errorAt(fmt.Errorf("%s leaves nothing of plan.context_window %s", p.Reserve, p.ContextWindow),
			"make it smaller", "plan.reserve", "plan.context_window")
	case c.Chunking.Overlap >= c.Chunking.Tokens:
		return c.errorAt(fmt.Errorf("%s is not less than chunking.tokens %s", c.Chunking.Overlap, c.Chunking.Tokens),
			"set both; an overlap of a fifth is usual", "chunking.overlap", "chunking.tokens")
	}
	return cmp.Or(c.checkAllow(), c.checkStore(), c.checkIndex(), c.checkChoice(), c.checkFiles())
}

// checkAllow checks that the regular expressions among the allowed values follow Go's syntax.
func (c *Config) checkAllow() error {
	const key = "redact.allow"
	for _, a := range c.Redact.Allow {
		if len(a) < 3 || a[0] != '/' || a[len(a)-1] != '/' {
			continue
		}
		if _, err := regexp.Compile(a[1 : len(a)-1]); err != nil {
			return c.errorAt(err, "expressions have Go's syntax, RE2; a literal has no slashes round it", key)
		}
	}
	return nil
}

// standing lists the instruction files that a workspace may have.
var standing = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md"}

// checkFiles checks that every bootstrap file is an instruction file.
func (c *Config) checkFiles() error {
	const key = "workspace.bootstrap"
	seen := map[string]bool{}
	for _, f := range c.Workspace.Bootstrap {
		switch {
		case !slices.Contains(standing, f):
			return c.errorAt(fmt.Errorf("%q is no file of standing instructions", f), "they are "+strings.Join(standing, ", "), key)
		case seen[f]:
			return c.errorAt(fmt.Errorf("%q stands twice", f), "name each file once", key)
		}
		seen[f] = true
	}
	return nil
}

// audit holds the thresholds of the verb audit.
type audit struct {
	Host string `key:"host" default:"openclaw" flag:"host" of:"openclaw|codex|claude|claude-code" doc:"The host whose size limits apply to the files that a session begins with. The host hides text over its limit from the model."`
}

// flush holds the settings of automatic writes to memory.
type flush struct {
	Enabled bool `key:"enabled" project:"false" default:"true" doc:"Whether decisions, lessons and the user's requests to remember are written before a compaction, at a reset and at a session's end. Where the host allows it, the model is also asked to add notes."`
}
