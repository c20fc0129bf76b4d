// Made by bench/clients from doc/schema.json. Don't edit.

import type { CallOptions } from "./index.js";

export interface InitializeParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `protocol` is the version that the client speaks; 0 doesn't say. */
  protocol?: number;
  client?: ClientInfo;
}

export interface ClientInfo {
  name?: string;
  version?: string;
}

export interface Initialized {
  protocol: number;
  server: ServerInfo;
  workspace: string;
  state_dir: string;
  capabilities: Capabilities;
}

export interface ServerInfo {
  name: string;
  version: string;
}

export interface Capabilities {
  methods: string[];
  dialects: string[];
  forms: string[];
  /** `private`: a call may say that its session is private. Without it all are shared. */
  private: boolean;
  tools: boolean;
  max_line_bytes: number;
  max_in_flight: number;
  max_batch: number;
}

/** CallerParams has the parameters that every call may have. */
export interface CallerParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
}

/** Stopping is the answer to shutdown. */
export type Stopping = Record<string, never>;

/** PlanParams asks for the messages to send with a model call. plan commits the new messages and records the plan. peek records nothing, and its pointers do not resolve. The conversation must end with a user message or tool results, unless there is a prompt. */
export interface PlanParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` are where the conversation comes from; checkpoints of the session name it from then on. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  /** `branch` is the id of a sidechain; "" is the main line. */
  branch?: string;
  /** `model` is the provider's id of the model. */
  model?: string;
  /** `context_window` is in tokens; 0 takes the price book's. */
  context_window?: number;
  /** `reserve` is the room for the answer, in tokens; 0 takes a fifth of the window, 8k to 40k. */
  reserve?: number;
  /** `fixed_tokens` is the size of a system prompt and tools that are not handed in. */
  fixed_tokens?: number;
  /** `system` is the system prompt. `tools` are the definitions in any provider's shape. The host sends its own in either case. */
  system?: string | object[];
  tools?: object[];
  /** `resolver` is the tool by which the model follows pointers; without one nothing is shown as a pointer. */
  resolver?: string;
  /** `tool_choice`, `thinking`, `effort` and `drop_option` are settings that the provider's cache depends on. */
  tool_choice?: string;
  thinking?: string;
  effort?: string;
  drop_option?: boolean;
  /** `format` is the format of the form body; by default the dialect's, for pi the model's. */
  format?: "anthropic" | "openai" | "responses";
  overflow?: Overflow;
  /** `economy` decides between memory and cost: a word, or a number from 0 (save) to 1 (keep); by default the setting. */
  economy?: "save" | "balanced" | "keep" | number;
  conversation?: Conversation;
  /** `prompt` is a user prompt that is not in the conversation yet. `turn` is its id, by which the later message is recognised. */
  prompt?: string;
  turn?: string;
  /** `ttl_seconds` is the cache lifetime that the host asks for; 0 is the one that was seen before, -1 lets the kernel choose. */
  ttl_seconds?: number;
  /** `memories` are the results of the host's own memory. */
  memories?: Memories[];
  /** `loaded` are files that the host shows its model by itself, by their names. */
  loaded?: string[];
  /** `form` is how messages are handed out; items by default. */
  form?: "items" | "body" | "none";
  /** `explain` adds layout, debug and deferred to the answer. */
  explain?: boolean;
  /** `max_tokens` is that of the body. */
  max_tokens?: number;
  /** `known_plan` is a plan whose items the caller still has. */
  known_plan?: string;
}

/** Overflow is a provider's refusal of the last call as too long, or for thinking of another conversation. */
export interface Overflow {
  text?: string;
  input_tokens?: number;
  limit_tokens?: number;
  plan_id?: string;
}

/** Conversation has the messages that a host hands in: all of them, or the new ones after those that the server holds. */
export interface Conversation {
  /** `dialect` is anthropic, openai, codex (items of the Responses API) or pi. */
  dialect?: "anthropic" | "openai" | "codex" | "pi";
  /** `base` is the mark of the conversation that an answer gave; `keep` is how many of its messages are kept, nil for all. */
  base?: string;
  keep?: number;
  /** `messages` are the rest, `keys` their ids, "" for one without. Members that are not known are kept. Those of chat completions may begin with system messages. */
  messages?: object[];
  keys?: string[];
}

/** Memories are the results of one memory of the host. */
export interface Memories {
  format?: "qmd" | "mem0" | "cognee" | "";
  answer: any;
  scope?: "session" | "project" | "";
}

/** Planned is the answer to plan and peek. */
export interface Planned {
  schema: string;
  /** `plan_id` names the plan. Hosts should hand it back in Turn.PlanID. It is "" for a plan that was only peeked at or could not be recorded: its pointers do not resolve yet. */
  plan_id: string;
  session_key: string;
  branch: string;
  model: string;
  /** `format` is the shape of request that the plan is for. */
  format: string;
  /** `generation` is the generation of the projection. It rises at every cut and host rewrite. */
  generation: number;
  /** `flush_due` asks for a flush turn before the next call (Kernel.FlushTurn): tokens or transcript_bytes; "" if none is due. */
  flush_due: string;
  budgets: Budgets;
  /** `regions` add up to `budgets`.PlannedInputTokens. */
  regions: Region[];
  /** `params` are settings that the request needs. */
  params: Params;
  /** `retrieval` is the outcome of recall for this call. */
  retrieval: Retrieval;
  /** `reduced` are the pages of the conversation that are not shown in full, or not at all, with the way back. */
  reduced: Reduced[];
  faults: Fault[];
  /** `alerts` are signs of trouble that no prompt could have prevented. */
  alerts: Fault[];
  /** `stats` is the kernel's own work for the plan. */
  stats: Stats;
  /** `cut` reports whether this plan removed older messages. `cold` reports whether the provider's cache is assumed to be empty. */
  cut: boolean;
  cold: boolean;
  /** `items` are the messages to send in the form "items"; a message that none covers is left out. A host whose provider does not merge messages of one role that follow each other does so. */
  items?: Item[];
  /** `count` is the number of messages in all items. */
  count: number;
  markers: Marker[];
  /** `body` is the request in the form "body". */
  body?: any;
  /** `notes` name the parts of the conversation that the body could not hold. */
  notes: Note[];
  conversation?: Mark;
  /** `layout` is the side of the provider's cache. */
  layout?: Layout;
  /** `debug` lists every page with its outcome. */
  debug?: Debug;
  /** `deferred` are changes that wait for a cut; nil unless asked for. */
  deferred?: Deferred[];
}

/** Budgets is the arithmetic of a plan, in tokens. */
export interface Budgets {
  /** `context_window` is 0 if it is not known. Then nothing is cut, and `margin_tokens` and `utilization` are 0. */
  context_window: number;
  /** `window_from` is the source of a plan's window. */
  window_from: "request" | "prices" | "server" | "refusal" | "unknown" | (string & {});
  /** `reserve_tokens` are kept free for the answer. */
  reserve_tokens: number;
  /** `planned_input_tokens` is the whole prompt. */
  planned_input_tokens: number;
  planned_cache_read_tokens: number;
  planned_cache_write_tokens: number;
  planned_uncached_tokens: number;
  /** `planned_cost_usd` is the cost of the input. */
  planned_cost_usd: number | null;
  /** `tokens_are` is how far the counts can be trusted. */
  tokens_are: "exact" | "calibrated" | "estimated" | (string & {});
  /** Margin is the room that was kept free for the counts' own error. */
  margin_tokens: number;
  /** `utilization` is the size of the call before any cut, over the window. */
  utilization: number;
}

/** Region is a part of the prompt and its size. */
export interface Region {
  /** `name` is tools, system, carry, working_set, retrieval or newest. */
  name: string;
  tokens: number;
}

/** Params are request settings that the plan asks for. */
export interface Params {
  /** `thinking_off`: thinking must be off for this call, because the open tool loop lost the thinking blocks that the provider would ask for. It asks for them with a thinking budget ("enabled") and not with adaptive thinking, which some models can't turn off. */
  thinking_off: boolean;
  /** `drop_option`: send thinking.block_binding.prefix_mismatch_behavior "drop_block" with the beta header in `betas`. */
  drop_option: boolean;
  betas: string[];
  /** `cache_key` is a stable key for providers that route by one. */
  cache_key?: string;
}

/** Retrieval is the outcome of recall for the newest user turn. */
export interface Retrieval {
  /** `reason` and `mode` are those of package retrieval. `detail` is why recall found nothing, or less than it could. */
  reason: string;
  mode: string;
  detail?: string;
  /** `page` is the block that shows recalled memory, "" if nothing was recalled. */
  page?: string;
  /** `items` and `tokens` are the size of the block. `citations` are the sources of its items. */
  items: number;
  tokens: number;
  citations: string[];
  /** `origins` name the system of each cited page's record, one for each citation; "" is our own. Nil if all are our own. */
  origins?: string[];
  /** `withheld` are parts of memory that were not searched since the session is shared. */
  withheld?: Withheld[];
}

/** Withheld is a part of memory that the user may not see: a file, or a class of files. */
export interface Withheld {
  /** `path` is a file. `class` is a class of files in its place: sessions, the conversations of other sessions; media; notes, Markdown that index.include does not name. */
  path?: string;
  class?: string;
  reason: string;
}

/** Reduced is a page of the conversation that the prompt does not show in full. */
export interface Reduced {
  /** `page` is its id; `key` and `call_id` are the host message and tool call. */
  page: string;
  key: string;
  call_id?: string;
  /** `level` is how much of it is shown: gone if it left. */
  level: string;
  /** `handle` is the id by which Kernel.Get restores the item, and that the prompt names: the page itself, or the span that it left with. A text that a host put in place of messages that had left was never shown: its page can be read, and no prompt names it. */
  handle: string;
}

/** Fault is a problem of the model's or ours, by name. */
export interface Fault {
  /** `code` names a fault or an alert: small letters and underscores. In addition to those listed here there are those of repairing. They are named after package transcript's notes, such as missing_result. */
  code: string;
  page?: string;
  /** `key` is the message that the fault is about. */
  key?: string;
  detail: string;
  /** `turn` is the user message of the turn in which the fault showed. `cause` is the decision that removed the page, and `plan` the plan that made it. Each is "" if there is none. */
  turn?: string;
  cause?: string;
  plan?: string;
  /** `budget_insufficient`: no policy could have helped, there was no room. */
  budget_insufficient?: boolean;
}

/** Stats is the kernel's own work for a plan. */
export interface Stats {
  /** `ingested` counts messages new to the session. `counted` counts the tokenised texts. */
  ingested: number;
  counted: number;
  /** `examined` counts the messages of an observed turn that were read, made valid or hashed: the new ones, and some before them. It does not count the messages of the turn before. */
  examined?: number;
  /** `blobs` and `blob_bytes` count the written blobs. `syncs` counts the calls to sync, which took `sync_ns`. */
  blobs: number;
  blob_bytes: number;
  /** `journal_bytes` were appended durably to the journal. `log_bytes` were appended to the projection's record and the trace, which are not synced. `files` is the number of files that these writes made or changed. */
  journal_bytes: number;
  log_bytes: number;
  files: number;
  /** `state_bytes` were written for the working state: its files, which are not synced, and checkpoints, which are. */
  state_bytes: number;
  /** `lifted_bytes` is the base64 that results held and that the prompt does not show: its content is a blob. */
  lifted_bytes: number;
  syncs: number;
  sync_ns: number;
}

/** Item is a run of messages: unchanged ones of the host, or one message that is new or replaces the host's. */
export interface Item {
  /** `host` are the messages from one index to before the other, byte for byte as the host has them. */
  host?: [number, number];
  /** `message` is JSON. */
  message?: any;
  /** `known` is an item of the plan that the caller said to have, in the place of the message that it spells. */
  known?: number;
  /** `replaces` are the host's messages in whose place the message is. */
  replaces?: [number, number];
}

/** Marker is a cache breakpoint after a message of the list that the items expand to; -1 is the system prompt, -2 the tools. */
export interface Marker {
  message: number;
  /** `ttl` is 5m, 1h or "". */
  ttl: string;
  why: string;
}

export interface Note {
  rule: string;
  text: string;
}

/** Mark names the conversation that is held after a call. */
export interface Mark {
  /** `base` must be handed in with the next call. `count` is the number of messages that are held. */
  base: string;
  count: number;
}

/** Layout is the cache side of a plan. */
export interface Layout {
  /** `breakpoints` are the cache markers, in prompt order. */
  breakpoints: Breakpoint[];
  /** `change` is the first difference from the last request. */
  change: Change;
  /** `bill` estimates the tokens that the call reads and writes, and their cost. */
  bill: Bill;
  /** `cold` reports whether the cache holds none of the messages. `clock` is the clock by which that is known. */
  cold: boolean;
  clock: string;
  /** `cut` is the cut planner's answer with its figures. `made` is the cut that the projection granted, nil if none. */
  cut: Cut;
  made: CutPoint | null;
  /** `refused` are wishes that the rules did not allow. */
  refused: Refusal[];
  /** `cuts` are all cuts of this projection so far. */
  cuts: CutPoint[];
  /** `notes` name the limits of the model's cache that this layout meets. */
  notes: string[];
  /** `reasoning` counts the model's reasoning that the plan loses. */
  reasoning: Reasoning;
  /** `reported` is the provider's report on the last request that was billed, nil for none. */
  reported: Reported | null;
  lifetimes: Lifetimes;
  pace: Pace;
  /** `advice` describes how to use the time until the next call. */
  advice: Advice;
}

/** Breakpoint is a cache marker. */
export interface Breakpoint {
  /** `block` is an index into the blocks of the request, `message` one into its messages: -1 is the system prompt, -2 the tools. */
  block: number;
  message: number;
  region: string;
  /** `why` is one of the `why` constants of package cachelayout. */
  why: string;
  ttl_seconds: number;
  /** `cumulative_tokens` is the size of the prompt up to and including the block. */
  cumulative_tokens: number;
}

/** Change is the first thing whose change broke a level of the cache. */
export interface Change {
  /** `kind` names the difference between a request and the one before. */
  kind: "first" | "none" | "append" | "identity" | "tools" | "system" | "messages" | (string & {});
  /** `breaks` is the level from which on nothing can be read; LevelNone if the whole last request can still be. */
  breaks: string;
  /** `field` is the identity field that changed, "" otherwise. */
  field?: string;
  /** `block` is the index of the first changed block, -1 if none changed. */
  block: number;
  /** `old` and `new` name the changed block ids, or the field's values. An empty name means that there was nothing, or is nothing now. */
  old?: string;
  new?: string;
  /** `kept_tokens` of the last request can still be read by their content and identity, `broken_tokens` can't. Lifetimes are not looked at. */
  kept_tokens: number;
  broken_tokens: number;
  /** `host` is the part of a warm cache that the host broke; nil if it broke nothing. */
  host: Broke | null;
}

/** Broke is a change by which a host made a provider's cache useless. */
export interface Broke {
  /** `what` names the part that changed: tools, system, messages, or a setting. */
  what: string;
  /** `place` is where, as exactly as is known: "tools3.description". */
  place: string;
  /** `tokens` could have been read and are written anew. `usd` is the extra cost of that. */
  tokens: number;
  usd: number | null;
}

/** Bill holds the tokens that a request is expected to read and write, and its expected cost. */
export interface Bill {
  /** The four buckets are disjoint and sum to the whole prompt. */
  read_tokens: number;
  /** `write_5m_tokens` are written with the provider's short lifetime, `write_1h_tokens` with its long one. */
  write_5m_tokens: number;
  write_1h_tokens: number;
  uncached_tokens: number;
  /** `a`, `b` and `c` are the borders of the package comment, in tokens. */
  a: number;
  b: number;
  c: number;
  /** `hit_block` is the last block that is read, -1 if none. */
  hit_block: number;
  /** `cost_usd` is the input side in dollars; nil if a price that it needs is unknown. */
  cost_usd: number | null;
  /** `no_layout_cost_usd` is the same prompt sent without any caching. */
  no_layout_cost_usd: number | null;
  /** `tier` is the AboveTokens of the tier that prices the request. */
  tier: number;
  /** `notes` are further remarks for the user. */
  notes?: string[];
}

/** Cut is the decision. */
export interface Cut {
  do: boolean;
  /** `reason` is one of the `reason` constants. */
  reason: string;
  /** `force` reports whether without a cut the prompt is over its limit. */
  force?: boolean;
  /** `target_tokens` is the size to which the cut should bring the whole prompt. */
  target_tokens: number;
  /** `most_tokens` is the size at which the prompt may stay if its content is worth its keep. `hurdle` is how often, per token, a call must be expected to need that content. */
  most_tokens: number;
  hurdle: number;
  /** `figures` are the numbers that decided it, in tokens. */
  figures: Figures;
  /** `economy` is the user's preference, "" for Balanced. */
  economy?: string;
}

/** Figures are the numbers on which a decision rests, in tokens unless named otherwise. */
export interface Figures {
  planned: number;
  /** `budget` is window − reserve. `cliff` is the price cliff that is respected (0: none). `limit` is the smaller of them. */
  budget: number;
  cliff: number;
  limit: number;
  /** `high_water`, `low_water` and `cold_low_water` are whole-prompt marks. `high_water` is the smaller of `room_mark`, above which the next call may not fit, and `eoq_high_water`, above which reading on costs more than cutting. */
  high_water: number;
  room_mark: number;
  low_water: number;
  cold_low_water: number;
  /** `max_growth` is that of the last ten calls. */
  max_growth: number;
  median_growth: number;
  /** `mean_growth` is per call, over all growth that was given and the prior. */
  mean_growth: number;
  /** `cold_rate` is the chance that a call finds the cache cold. */
  cold_rate: number;
  /** `call_cost` is the cost of an average call with these marks. `memory_cost` is the part of it for keeping the low-water conversation. `miss_cost` is the cost of fetching again. All are in base input tokens. */
  call_cost: number;
  memory_cost: number;
  miss_cost: number;
  /** `saved` and `rewritten` are the tokens that a warm cut to the low-water mark removes and causes to be written again. `break_even_turns` is the number of calls after which that has paid. (−1: never). */
  saved: number;
  rewritten: number;
  break_even_turns: number;
  expected_turns: number;
  /** `eoq_batch` is how far the prompt may grow above the low-water mark before cutting is cheaper than reading on. `eoq_high_water` is the mark there (−1: no limit). */
  eoq_batch: number;
  eoq_high_water: number;
  /** `write_ratio` is the price of a write over that of input. */
  write_ratio: number;
  read_ratio: number;
  /** `ratios_assumed` reports whether the model is unpriced. */
  ratios_assumed?: boolean;
}

/** CutPoint records one cut. */
export interface CutPoint {
  generation: number;
  reason: string;
  /** `covers` counts the host messages seen when the cut was made; `chain` is the hash chain over their keys and contents. */
  covers: number;
  chain: string;
  /** `event` names the cold event that the cut used up, "" for a warm cut. */
  event?: string;
  time?: string;
  /** `before` and `after` are the tokens of all items around the cut. */
  before: number;
  after: number;
}

/** Refusal is a wish, or a part of one, that the rules did not allow. */
export interface Refusal {
  /** `page` or `atom` is the subject of the wish: "" and -1 for the cut itself. */
  page?: string;
  atom: number;
  rule: string;
}

/** Reasoning is the thinking that a request no longer shows the model although the message stays that held it. Thinking that leaves with its whole message is not counted. */
export interface Reasoning {
  /** `binding` is the model's. */
  binding: "none" | "refuses" | "drops" | (string & {});
  /** `left_out_items` are blocks that the request does not send again. */
  left_out_items: number;
  left_out_tokens: number;
  /** `dropped_items` are blocks that it sends and the provider drops. */
  dropped_items: number;
  dropped_tokens: number;
  /** `stale_items` are blocks that it sends and the provider drops since an earlier cut. They were counted then. */
  stale_items: number;
  /** `lost_usd` is the price of all these tokens as output: they were billed so when the model produced them, and cost as much if it must think them again. It is part of no other cost. Nil if nothing is lost or the price is unknown. */
  lost_usd: number | null;
}

/** Reported has a provider's remarks on a request in the answer to it, in addition to usage. */
export interface Reported {
  /** `removed` counts the reasoning items that were withheld from the model, by reason. */
  removed?: Removal[];
  /** `cache_miss` is why the provider's cache was not read; nil if the answer does not say. */
  cache_miss?: CacheMiss;
}

/** Removal counts reasoning items that a provider withheld from the model for one reason. */
export interface Removal {
  /** `reason` is prefix_mismatch, turn_boundary, model_mismatch, organization_mismatch or end_user_mismatch. */
  reason: string;
  items: number;
}

/** CacheMiss is a provider's own diagnosis of a cache that was not read, which it makes where the request names an earlier answer to compare with. */
export interface CacheMiss {
  /** `reason` is the provider's reason. `tokens` is the number of tokens that were not read from the cache. */
  reason: string;
  tokens: number;
}

/** Lifetimes are the cache lifetimes that the breakpoints ask for, and the reasons: one for tools and system prompt, one for the messages. */
export interface Lifetimes {
  fixed_seconds: number;
  fixed_why: string;
  messages_seconds: number;
  messages_why: string;
}

/** Pace describes the gaps between the calls of a session, including the planned one. */
export interface Pace {
  calls: number;
  /** `idle_seconds` are the gaps of a minute and more, oldest first. */
  idle_seconds: number[];
}

/** Advice lists the actions that a host can take in the time between two calls. Times are by the clock that planned the call; costs are in base input tokens. */
export interface Advice {
  /** `expires_at` is when the messages of this request leave the cache, unless another request has started before; zero where none of them is cached. */
  expires_at?: string;
  /** `summarise_by` is the latest time at which a model that writes a summary can still read the prompt from the cache; zero if the next call in a cold cache would cut nothing. `summary_warm` and `summary_cold` are the cost in base tokens of its input before and after that time, without its answer. */
  summarise_by?: string;
  summary_warm: number;
  summary_cold: number;
  /** `keep_alive` reports whether repeating the request with no answer asked for, every `keep_alive_seconds` and not after `keep_alive_until`, is expected to cost less than letting the messages expire. `ping` is the price of one repetition. `expiry` is the price of expiry if the session continues. */
  keep_alive: boolean;
  keep_alive_seconds: number;
  keep_alive_until?: string;
  ping: number;
  expiry: number;
}

/** Debug lists every page with its outcome. */
export interface Debug {
  included: Included[];
  excluded: Excluded[];
}

/** Included is a page that the prompt shows. */
export interface Included {
  /** `kind` is tools, system, conversation, evidence, retrieval, carry, or the page type of a file of the workspace. */
  kind: string;
  /** `id` is the argument for memkernel get. */
  id: string;
  tokens: number;
  /** `level` is full, compressed, structured or pointer. */
  level: string;
  /** `full_tokens` is the size of the page in full. It differs from `tokens` for degraded pages only. */
  full_tokens: number;
  note?: string;
}

/** Excluded is a page, or the part of one, that the prompt does not show. */
export interface Excluded {
  kind: string;
  id: string;
  tokens: number;
  /** `reason` of a hit is shown_already, duplicate, over_items, over_budget or empty; of another system's record DENIED (private, and the session is shared), DISABLED or turn_recalled (it came after the recall), too. */
  reason: string;
}

/** Deferred is a change that would be right and has not been made, because making it now would rewrite bytes that the provider has cached. It is made at the next cut. The exception is a superseded result that names something that nothing else shows: it may be worth its room. */
export interface Deferred {
  /** `page` is the page that changes, `from` its current level and `to` its later one. */
  page: string;
  from: string;
  to: string;
  /** `saved_tokens` is the number of tokens that the change would remove from the prompt. */
  saved_tokens: number;
  /** `why` is superseded (a newer read, an edit or the same call made it stale) or changed_in_workspace (a note says something that the carry block does not say yet). */
  why: string;
  /** `waits_for` names the event that the change waits for, as the end of a sentence. */
  waits_for: string;
}

/** TurnParams hands in the conversation up to the end of a turn. It is one atomic commit, which is idempotent. observe_tool_result commits the messages in the middle of a turn. */
export interface TurnParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` are where the conversation comes from; checkpoints of the session name it from then on. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  branch?: string;
  model?: string;
  conversation?: Conversation;
  /** `plan_id` is the plan that was sent. */
  plan_id?: string;
  /** `usage` is the bill: the object of the provider's answer (Messages API, chat completions, Responses API, Gemini's usageMetadata), or input_tokens, cache_read_tokens, cache_write_5m_tokens and cache_write_1h_tokens, which add up to the prompt, and output_tokens. Without it the newest message's own counts are taken. Other members are ignored here; figures that contradict each other are refused. */
  usage?: object;
  /** `advancement_key` makes the delivery idempotent; by default a hash of session and last message. */
  advancement_key?: string;
  input_transformations?: any;
  diagnostics?: any;
  prompt_cache_diagnostics?: any;
  /** `updates` are as those of write. */
  updates?: Update[];
  /** `more`: another turn follows at once. */
  more?: boolean;
}

/** Update is one staged change of one field. */
export interface Update {
  /** `id` names the update in its transaction; "" becomes "u1", "u2", ... by position. */
  id?: string;
  /** `key` names the page, `type` its type. A page keeps its type for life; `type` may be "" for an existing page. */
  key: string;
  type?: "bootstrap" | "constraint" | "plan" | "preference" | "evidence" | "conversation";
  field: string;
  /** `op` is how an update changes a field. */
  op: "append" | "merge" | "set_with_version";
  value?: any;
  /** `version` is the version of the field that a set_with_version was made from. */
  version?: number;
  /** `scope` is the scope that the page belongs to. `session` is the session whose private state it is, "" for the principal's own. `session` means nothing in the project's scope. */
  scope: "session" | "project";
  session?: string;
  /** `evidence_ref` names where it comes from: whatever the Resolver knows, or a committed update, as update:TX#UPDATE. */
  evidence_ref: string;
}

/** Observed is the answer to the calls that observe. */
export interface Observed {
  schema: string;
  session_key: string;
  /** `outcome` is the outcome of an observed turn. */
  outcome: "committed" | "duplicate" | "conflict" | "open_turn" | (string & {});
  advancement_key: string;
  /** `ingested` counts the pages that were new. */
  ingested: number;
  /** `turns` counts the committed turns of the session. */
  turns: number;
  /** `rejected` are the refused updates of the turn. */
  rejected?: Rejection[];
  /** `stats` counts the ingested messages and the bytes written. */
  stats: Stats;
  /** `faults` name the parts of the turn that were not learned. It is committed all the same. */
  faults?: Fault[];
  conversation?: Mark;
}

/** Rejection is an update that validation refused. */
export interface Rejection {
  /** `id` names the update, `code` is a rejection code such as "DESTRUCTIVE_OP", `detail` describes the fault. */
  id: string;
  code: string;
  detail?: string;
  body?: any;
}

/** BoundaryParams is a moment of a session's life. Without a conversation it uses the messages that were planned or observed. A session without a record is refused as NO_SESSION, except by start_session and if a conversation or updates are handed in. */
export interface BoundaryParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` are where the conversation comes from; checkpoints of the session name it from then on. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  branch?: string;
  model?: string;
  conversation?: Conversation;
  updates?: Update[];
  /** `key` makes the delivery idempotent. */
  key?: string;
  reason?: string;
}

/** Passed is the answer to the calls at a boundary. */
export interface Passed {
  schema: string;
  session_key: string;
  /** `outcome` is committed, or duplicate if nothing was new. */
  outcome: "committed" | "duplicate" | "conflict" | "open_turn" | (string & {});
  /** `ingested` counts the new pages, `turns` the session's committed turns. */
  ingested: number;
  turns: number;
  /** `epoch` counts the resets of the session. */
  epoch: number;
  /** `checkpoint` is the newest checkpoint, "" if there is none. */
  checkpoint?: string;
  /** `pinned` are the pages that hosts wrote and that every prompt shows. */
  pinned: string[];
  /** `rejected` are updates that were refused, with their codes. The journal keeps them. */
  rejected?: Rejection[];
  faults?: Fault[];
  /** `flushed` counts the entries that were appended to the day's log. */
  flushed: number;
  /** `compaction` is the outcome of Kernel.Compact, nil at every other boundary. */
  compaction?: Compaction;
  /** `stats` counts the ingested messages and the bytes written. */
  stats: Stats;
  conversation?: Mark;
}

/** Compaction is the outcome of a compaction on demand. Token counts are the plan's: of the whole prompt, calibrated, without the constant that the provider's own count would add to either figure. */
export interface Compaction {
  /** `reason` is the outcome of a compaction on demand. */
  reason: "OK" | "NOTHING_TO_CUT" | "ALREADY_AT_FLOOR" | "OPEN_LOOP" | "NO_PROGRESS" | "AT_NEXT_PLAN" | "NOT_PLANNED" | "BUDGET_INSUFFICIENT" | (string & {});
  /** `detail` gives the reason in words, and what can be done. */
  detail?: string;
  /** `tokens_before` is the size that the next plan's prompt would have had, `tokens_after` the size that it will have. Reclaimed is their difference. */
  tokens_before: number;
  tokens_after: number;
  reclaimed_tokens: number;
  /** `target_tokens` is the size that the prompt should have been reduced to. */
  target_tokens: number;
  /** `fixed_tokens` is the part of them that the host declared as system prompt and tools without handing them in. */
  fixed_tokens: number;
  /** `context_window` is 0 if it is not known. */
  context_window: number;
  /** `atoms` and `messages` left with this compaction; `lowered` results are shown shorter than before. */
  atoms: number;
  messages: number;
  lowered: number;
  /** `spans` are the ids by which Kernel.Get restores the messages that left. */
  spans: string[];
  /** `first_kept` is the first message after all that ever left. A host that replaces its history by `summary` keeps the messages from here on. Nil if none is known. */
  first_kept: KeptMessage | null;
  /** `summary` is the past in the words of the carry block. `summary_version` counts its changes. `restore` is the working state from which the model continues. A host that calls a summariser of its own should hand it both texts. */
  summary: string;
  summary_version: number;
  restore: string;
  /** `checkpoint` is the newest one, "" if there is none. */
  checkpoint: string;
  /** `generation` is the generation of the projection after the cut. */
  generation: number;
  /** `largest` lists the largest items of the prompt where nothing could be reclaimed. `pinned_tokens` is then the size of pins and the workspace's files. */
  largest: BudgetItem[];
  pinned_tokens: number;
  /** `warning` names a session that is compacted again and again; "" if this one is not. */
  warning?: string;
  /** `refusal` is the parsed refusal of a provider, nil if there was none. */
  refusal?: BudgetOverflow;
}

/** KeptMessage is a message of the host's, by its key and its index. */
export interface KeptMessage {
  key: string;
  /** `index` counts from 0. */
  index: number;
}

/** BudgetItem is a named part of a prompt and its size in tokens. */
export interface BudgetItem {
  name: string;
  tokens: number;
}

/** BudgetOverflow is a provider's report about a request that it refused as too long. All figures are tokens by the provider's own count, 0 if it names none. */
export interface BudgetOverflow {
  /** `input_tokens` is the size of the request and `limit_tokens` the model's limit for input. `answer_tokens` is the size reserved for the answer if the limit is about both. */
  input_tokens: number;
  limit_tokens: number;
  answer_tokens: number;
}

export interface CompactParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` are where the conversation comes from; checkpoints of the session name it from then on. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  branch?: string;
  model?: string;
  conversation?: Conversation;
  updates?: Update[];
  /** `key` makes the delivery idempotent. */
  key?: string;
  reason?: string;
  /** `target_tokens` and `target_share` are the size to which the prompt should shrink, in tokens or as a share of the window; the smaller one counts. */
  target_tokens?: number;
  target_share?: number;
  /** `force` cuts inside an open tool loop, too. Without it a loop is only cut when the cache is cold. */
  force?: boolean;
  /** `call` has the settings of the next call. Missing ones are taken from the last plan. */
  call?: CallSettings;
}

/** CallSettings are the settings of a model call. */
export interface CallSettings {
  /** `branch` is the id of a sidechain; "" is the main line. */
  branch?: string;
  /** `model` is the provider's id of the model. */
  model?: string;
  /** `context_window` is in tokens; 0 takes the price book's. */
  context_window?: number;
  /** `reserve` is the room for the answer, in tokens; 0 takes a fifth of the window, 8k to 40k. */
  reserve?: number;
  /** `fixed_tokens` is the size of a system prompt and tools that are not handed in. */
  fixed_tokens?: number;
  /** `system` is the system prompt. `tools` are the definitions in any provider's shape. The host sends its own in either case. */
  system?: string | object[];
  tools?: object[];
  /** `resolver` is the tool by which the model follows pointers; without one nothing is shown as a pointer. */
  resolver?: string;
  /** `tool_choice`, `thinking`, `effort` and `drop_option` are settings that the provider's cache depends on. */
  tool_choice?: string;
  thinking?: string;
  effort?: string;
  drop_option?: boolean;
  /** `format` is the format of the form body; by default the dialect's, for pi the model's. */
  format?: "anthropic" | "openai" | "responses";
  overflow?: Overflow;
  /** `economy` decides between memory and cost: a word, or a number from 0 (save) to 1 (keep); by default the setting. */
  economy?: "save" | "balanced" | "keep" | number;
}

/** Checkpointed is the answer to checkpoint. */
export interface Checkpointed {
  schema: string;
  session_key: string;
  /** `id` is the id of the newest checkpoint, "" if nothing was captured. */
  id: string;
  /** `text` is YAML. Its meta names the session's source. Its token_usage is the provider's bill for the newest call that was observed, or without one the kernel's estimate. */
  text: string;
  conversation?: Mark;
}

export interface RestoreParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `occasion` is compaction, resume or new, which it is without. */
  occasion?: string;
  /** `resolver` is the tool or command by which the reader gets the content of an id; without it the text names no ids. */
  resolver?: string;
}

/** Restore is the document of restore. */
export interface Restore {
  schema: string;
  session_key: string;
  /** `checkpoint` is the newest one, "" if there is none. */
  checkpoint: string;
  /** `net` is the record that the text was made from, "" if there is none; `text` is empty then. */
  net: string;
  text: string;
  /** `damaged` are checkpoints and state files that could not be used. */
  damaged: string[];
}

/** FlushTurnParams asks for the prompts of a silent turn in which the host's model writes down the facts that should outlive a compaction. With a session the prompt shows the messages since the last such turn, with secrets masked and at most about 20,000 tokens, so that one completion without tools is enough. An empty prompt in the answer means that there is nothing to ask. */
export interface FlushTurnParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` are where the conversation comes from; checkpoints of the session name it from then on. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  branch?: string;
  model?: string;
  conversation?: Conversation;
  /** `system` and `prompt` are prompts of the host's own. */
  system?: string;
  prompt?: string;
}

export interface FlushTurn {
  schema: string;
  system: string;
  /** `prompt` is the user message of the turn. It is "" if the named session has nothing new, or if this process was not shown its conversation: there is nothing to ask. Where flushes are switched off, `section` is "" as well. */
  prompt: string;
  /** `section` asks for the same in a text that a model writes anyway, such as the host's own summary; see FlushReply.Section. */
  section: string;
  /** `path` is the file that the answer will be appended to. */
  path: string;
  /** `max_tokens` is the limit of the answer, in tokens. */
  max_tokens: number;
  conversation?: Mark;
}

/** ObserveFlushParams hands in the model's answer to a flush turn. */
export interface ObserveFlushParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  text: string;
  /** `section`: the text is a longer one, in which memories are between a line <memory> and a line </memory>. */
  section?: boolean;
}

export interface Flushed {
  schema: string;
  /** `reason` is OK, NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE. */
  reason: string;
  /** `items` counts the memories that were new. */
  items: number;
  path?: string;
  /** `unwritten` is why the file does not have them yet, "" if it has; see Remembered. */
  unwritten?: string;
  /** `line` describes the outcome to people, in one line: flush: 4 entries to memory/2026-11-23.md. */
  line: string;
}

export interface RememberParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `text` is Markdown. */
  text: string;
  /** `path` is a file of memory; by default today's log. */
  path?: string;
  /** `id` makes the call idempotent. */
  id?: string;
  /** `evidence` is where the entry comes from. */
  evidence?: string;
}

export interface Remembered {
  schema: string;
  session_key: string;
  /** `id` is the entry's; its marker follows it in the file. */
  id: string;
  /** `ref` is the entry's text. */
  ref: Ref;
  /** `duplicate`: the file had the entry before. */
  duplicate: boolean;
  /** `late` is the past day's log that the entry was meant for. It is in today's log. */
  late?: string;
  /** `masked` counts the secrets that were masked. */
  masked: number;
  /** `unwritten` is why the file does not have the entry yet, "" if it has. The session's journal keeps the entry. It will be written with the session's next call during which the file can be written. */
  unwritten?: string;
}

/** Ref cites a place in a document. */
export interface Ref {
  /** `path` is relative to the workspace, with forward slashes. */
  path: string;
  /** `start_line` and `end_line` are 1-based and inclusive. */
  start_line: number;
  end_line: number;
  /** `hash` is the sha256 of the cited bytes, in hex. */
  hash: string;
}

export interface UpdateParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  path: string;
  old?: string;
  version?: string;
  from?: number;
  lines?: number;
  /** `text` replaces the old text. */
  text: string;
}

export interface EditDocument {
  schema: string;
  session_key: string;
  /** `edit` is the id of the edit, "" if there was nothing to change. */
  edit: string;
  files: EditedFile[];
  duplicate: boolean;
  masked: number;
}

/** EditedFile is a file as an edit left it. */
export interface EditedFile {
  path: string;
  /** `version` is "" for a file that is gone. */
  version: string;
  start_line: number;
  end_line: number;
}

/** EditParams is an edit of memory. It must name the text that the caller has read. Either `path` and `old` name it: `old` must be in the file once or begin on line `from`. Or `path` and `version`, from read, name it: a passage with `from` and `lines`, the whole file without them. memory.delete removes the text. If the file has changed since, nothing is changed: the error is CONFLICT, with the file's present state as current in its data. PERSON refuses an edit of text that a person wrote, SECRET an edit of a file that holds a secret. */
export interface EditParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  path: string;
  old?: string;
  version?: string;
  from?: number;
  lines?: number;
}

export interface UndoParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `edit` is the edit to undo; "" is the session's newest. */
  edit?: string;
}

export interface UndoDocument {
  schema: string;
  session_key: string;
  edit: string;
  time: string;
  files: EditedFile[];
}

/** MemoryToolParams is a call of Anthropic's memory tool (memory_20250818). /memories/MEMORY.md is MEMORY.md, /memories/deploys.md is memory/deploys.md. */
export interface MemoryToolParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `input` is the tool call's, as the model wrote it. */
  input: any;
}

/** MemoryToolDocument is the result of the model's call. */
export interface MemoryToolDocument {
  schema: string;
  content: string;
  is_error: boolean;
}

export interface ForgetParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `ids` are pages, spans and blobs; `all` is the whole session. */
  ids?: string[];
  all?: boolean;
  reason?: string;
  /** `apply` carries it out. Without it the answer lists the data that would be removed. */
  apply?: boolean;
}

/** Forget is the document of forget. */
export interface Forget {
  schema: string;
  session_key: string;
  /** `applied` reports whether it was done. */
  applied: boolean;
  pages: ForgottenPage[];
  /** `blobs` are the removed blobs. `kept_blobs` are blobs of these pages that other pages need too. */
  blobs: string[];
  kept_blobs: string[];
  /** `backups` are those backups of memory's files that quote the pages, by hash. They are removed, and their prunings can't be undone. */
  backups: string[];
  /** `bytes` is the size of the pages. */
  bytes: number;
  /** `already` are ids that were forgotten before. */
  already: string[];
  /** `elsewhere` names places that say the same in other words, and stay: pages of equal content, texts that hosts wrote, entries of memory files. */
  elsewhere: string[];
  /** `transcripts` are searchable documents that were made from the session. Their source transcripts stay, and are not read again. */
  transcripts: Forgotten[];
  /** `memory` are files of facts that the session imported from other programs: its entries are removed. */
  memory: ForgottenFacts[];
}

/** ForgottenPage is a page that was forgotten. */
export interface ForgottenPage {
  /** `session` is the key of its session. */
  session: string;
  id: string;
  /** `type` is the kind of a page. Everything in a prompt belongs to a page, and a page has exactly one type for life. */
  type: "bootstrap" | "constraint" | "plan" | "preference" | "evidence" | "conversation" | (string & {});
  /** `tool` is "" for a message, `path` "" if the call names none. */
  tool: string;
  path: string;
  bytes: number;
  created?: string;
}

/** Forgotten is a conversation that was forgotten, or would be. */
export interface Forgotten {
  agent: string;
  key: string;
  /** `path` is the transcript that it was read from, which is not touched. */
  path: string;
  /** `turns` counts the turns that could be found. */
  turns: number;
}

/** ForgottenFacts are entries of a file of memory that were forgotten. */
export interface ForgottenFacts {
  path: string;
  entries: number;
}

export interface RetainParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `apply` removes data that is older than the configuration keeps. Without it the answer lists the data that would be removed. */
  apply?: boolean;
  now?: string;
}

/** Retain is the document of retain. */
export interface Retain {
  schema: string;
  /** `applied` reports whether it was done. */
  applied: boolean;
  /** `ended` are sessions that are removed as a whole. `cited` are the keys of equally old sessions that stay, because memory names pages of them. */
  ended: EndedSession[];
  cited: string[];
  /** `sessions` are those that lose data, or that are old and stay. */
  sessions: RetainedSession[];
  /** `unreadable` are sessions that can't be read. None of their data is removed, and no blob at all, since they may hold it. */
  unreadable: Finding[];
  /** `blobs` and `blob_bytes` are the removed blobs, orphans among them: a kill between two writes leaves blobs that no page of any session holds. */
  blobs: number;
  blob_bytes: number;
  /** `orphans` are blobs that no page holds. */
  orphans: number;
  orphan_bytes: number;
  /** `backups` and `backup_bytes` are those of memory's files that are removed. */
  backups: number;
  backup_bytes: number;
}

/** EndedSession is a session that is removed. */
export interface EndedSession {
  /** `session` is its key, `last` when it was used last. */
  session: string;
  last: string;
  /** `bytes` is the size of its folder, without blobs. */
  bytes: number;
}

/** RetainedSession is the data of one session that is removed. */
export interface RetainedSession {
  /** `session` is its key. */
  session: string;
  /** `pages` lose their content. `pointed` are equally old pages that keep it, because a prompt or memory points to them. */
  pages: number;
  pointed: number;
  /** `idle`: the session has not been planned for so long that it has no prompt left. */
  idle: boolean;
  /** `usage_rows` is the number of rows that leave usage.jsonl. `trace_bytes` is the size of the removed trace. */
  usage_rows: number;
  trace_bytes: number;
}

/** Finding is one result of a check. Its JSON is that of a finding in the state folder; other documents have their own form. */
export interface Finding {
  /** `session` is the session's key, or its folder if the key is not known; "" for a finding about no session. */
  session: string;
  /** `what` describes the finding, `hint` the remedy; "" if there is nothing to mend. */
  what: string;
  hint: string;
}

/** SearchParams searches memory. The first search makes the index and waits up to two seconds for it; past that the reason is INDEXING, and asking again finds more. */
export interface SearchParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` is whose past sessions are searched, too; "" searches files only. */
  session_key?: string;
  private?: boolean;
  /** `query` is the question in the user's words. */
  query: string;
  max_results?: number;
  min_score?: number;
  /** `lines` has a result for each passage, not one for each place. */
  lines?: boolean;
  now?: string;
}

/** Search is the document of search. */
export interface Search {
  schema: string;
  query: string;
  /** `results` are places, the best first, each with its best lines, at most five of a turn, an item or a paragraph; with --lines all such lines. */
  results: Hit[];
  /** `reason` is how the search of memory ended. */
  reason: "OK" | "NO_MATCH" | "DENIED" | "BACKEND_ERROR" | "DISABLED" | "INDEXING" | "STALE_INDEX" | (string & {});
  /** `mode` is the means by which a question was answered. */
  mode: "hybrid" | "keyword" | "vector" | "disabled" | (string & {});
  /** `detail` says why there are no results, or which part of the search is missing; "" for nothing. */
  detail: string;
  /** `behind` is how far the index lags. It is absent if the index is up to date. */
  behind?: Lag;
  /** `progress` is the progress of the index, with the reason INDEXING. */
  progress?: Progress;
  /** `withheld` are parts of memory that a shared session may not see. */
  withheld?: Withheld[];
  /** `weak` reports whether the results are probably unrelated to the question, absent if not. */
  weak?: boolean;
  /** `also_asked` are the other texts that were searched for in addition to the words of the question. */
  also_asked?: Also[];
}

/** Hit is a piece of memory, or of the session, that answers a question. */
export interface Hit {
  /** `kind` is where a hit comes from. */
  kind: "memory" | "session" | "foreign" | (string & {});
  /** `source` is the part of memory that the hit is from, by the caller's name for it. */
  source?: string;
  /** `id` is the chunk's, the span's or the record's. */
  id: string;
  /** `path` is "" for spans and records. */
  path: string;
  /** `start_line` and `end_line` are 1-based and inclusive, in the file or in the span's text. */
  start_line: number;
  end_line: number;
  /** `trail` is the headings above it, outermost first; a span's label. */
  trail?: string[];
  /** `origin` is where a record of another system comes from, or the session whose agent made the decision, or left the task open, that a day's log records. Otherwise it is "". */
  origin?: string;
  /** `date` is YYYY-MM-DD or "". */
  date?: string;
  /** `score` is 0 to 1. Of passages the best hit's is the chance that the hits answer the question, where half of all questions have an answer: at .5 it is as likely that they do as that they don't. The others' scores are in proportion to the value of their `parts`. For chunks, and where the order is the index's own, the score is the value of `parts`. */
  score: number;
  parts: Parts;
  /** `snippet` is the part of the text that holds most of the question's words, at most MaxSnippet characters; "" if the Query wants none. */
  snippet: string;
  /** `snippet_start_line` and `snippet_end_line` are the lines that `snippet` is from. */
  snippet_start_line: number;
  snippet_end_line: number;
  /** `citation` names file and lines, or the span. */
  citation: string;
  /** `superseded_by` is the citation of the hit's replacement. It is the hit's own if it is itself marked as no longer valid, and "" if no replacement is known. */
  superseded_by?: string;
  /** `by_fact` is the citation of the fact whose words found the lines, as far as they lack those of the question; "" if none did. It is in no snippet. */
  by_fact?: string;
  /** `more` holds the other shown parts of the hit's place, in the order of their lines; the members above are about the best lines alone. nil if the Query wants lines. */
  more?: More[];
  /** `dates` are the days that its text or that of `more` names by their distance from the text's own day, or without their year. */
  dates?: Dated[];
}

/** Parts are the parts of a hit's score. */
export interface Parts {
  /** `keyword` and `vector` are the scores of the two searches, 0 if that search did not find it, with their ranks from 1, 0 likewise. */
  keyword: number;
  /** `keyword_rank` and `vector_rank` count from 1. */
  keyword_rank?: number;
  /** `vector` is the chunk's score by meaning, 0 if it was not found so. */
  vector: number;
  vector_rank?: number;
  /** `merged` is their weighted mean. `decay` is the factor that age puts on it. Hits are ranked by the product of both. */
  merged: number;
  decay: number;
  /** `age_days` is 0 for a hit that doesn't age. */
  age_days?: number;
  /** `rank` is the place by score alone, from 1. */
  rank: number;
  /** `similarity` is the overlap with the most similar of the hits above, by which diversity judged; 0 if that is off. */
  similarity?: number;
}

/** More is a further run of lines of a hit's place. */
export interface More {
  /** `start_line` and `end_line` are the lines that `text` is from, counted as the hit's are. */
  start_line: number;
  end_line: number;
  score: number;
  text: string;
  /** `trail` is the headings above it, nil if they are the hit's. */
  trail?: string[];
  /** `citation` names these lines. */
  citation: string;
  /** `superseded_by` and `by_fact` are as in Hit. */
  superseded_by?: string;
  by_fact?: string;
  /** `id` is the chunk's or the span's. */
  id: string;
}

/** Dated is a time that a text names, by its distance from the day on which it was written ("yesterday", "letzte Woche") or without its year ("on 7 May"), and when that is. */
export interface Dated {
  /** `line` is the date's line, counted as the hit's own lines are. */
  line: number;
  /** `text` is how it is named there. */
  text: string;
  /** `date` is YYYY-MM-DD, YYYY-MM or YYYY; of other stretches the first day and the last, with a slash between them. */
  date: string;
}

/** Lag counts the changes of the files that an index lacks. */
export interface Lag {
  /** `files` were written or came since they were indexed, `removed` are gone. */
  files: number;
  removed: number;
  /** `bytes` are the sizes of `files`. */
  bytes: number;
  /** `rules`: the index was made by other rules, so that the next Sync must read every file. */
  rules: boolean;
}

/** Progress is how far an index is: it has `files` of `total`. */
export interface Progress {
  files: number;
  total: number;
}

/** Also is a spelling in memory that was searched in addition to one or two words of the question. */
export interface Also {
  /** `typed` is as the question has it, `asked` as memory has it. */
  typed: string;
  asked: string[];
}

export interface ReadParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` is whose past sessions may be read. */
  session_key?: string;
  private?: boolean;
  /** `path` is a file of memory, or a past session of the session's agent; `from` counts lines from 1. */
  path: string;
  from?: number;
  lines?: number;
}

/** Get is the document of get and read, for pages and for files. */
export interface Get {
  schema: string;
  /** `session_key` is "" for a file, and where several sessions have an id with different content. */
  session_key: string;
  /** `sessions` lists the sessions that have the page, if the call named none. */
  sessions?: string[];
  /** `id` is the requested identifier. */
  id: string;
  /** `reason` is OK, or why there is no text: NO_MATCH, FORGOTTEN, DENIED for a path that is not memory, AMBIGUOUS where several sessions have an id with different content and none was named. `detail` says it in words. */
  reason: string;
  detail: string;
  /** `bytes` is the size of the content. */
  bytes: number;
  /** `encoding` is utf-8, or base64 for content that is no text. */
  encoding: string;
  text: string;
  /** `pages` are the members of a span, in order. */
  pages: string[];
  /** `path`, `start_line` and `end_line` describe a file. They are "" and 0 for a page. */
  path: string;
  /** `start_line` and `end_line` are the first and last line of the text, 0 for none. */
  start_line: number;
  end_line: number;
  /** `truncated` reports whether the text was cut at workspace.max_file_size. */
  truncated: boolean;
  /** `version` is the version of the whole file, for callers that edit it. It is "" for a page, and for a file of more than a mebibyte. */
  version: string;
  /** `references` are the parts of a page that are stored as blobs. */
  references: Reference[];
}

/** Reference names, by its hash, content that the blob store holds once. */
export interface Reference {
  /** `type` is tool_output_ref, text_ref for a message, image_ref, audio_ref, video_ref or document_ref. */
  type: string;
  page: string;
  tool_call_id?: string;
  /** `path` is relative to the state directory. */
  path: string;
  bytes: number;
  sha256: string;
  media_type?: string;
  /** `preview` is the beginning of a text, secrets masked. */
  preview?: string;
}

export interface GetParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  session_key?: string;
  /** `id` is the id of a page, a span or a blob. */
  id: string;
}

/** WriteParams stages, checks and commits updates of pages. */
export interface WriteParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  /** `key` makes the delivery idempotent. */
  key?: string;
  point?: string;
  by?: string;
  project?: boolean;
  /** `all_or_nothing` commits no update if one is rejected. */
  all_or_nothing?: boolean;
  updates: Update[];
}

export interface Receipt {
  schema: string;
  session_key: string;
  /** `outcome` is Refused if nothing was accepted, or if not all updates of an all-or-nothing transaction were. */
  outcome: "committed" | "duplicate" | "conflict" | "rejected" | (string & {});
  /** `seq` counts the journal's committed writebacks, from 1; 0 if this one is not. */
  seq?: number;
  /** `point` is the boundary at which a transaction was committed. */
  point?: "turn" | "eviction" | "downgrade" | "flush" | "compaction" | "reset" | "session_end" | "close" | (string & {});
  /** `accepted` are the updates that were committed. `rejected` are the others with their codes. A duplicate has those of the first delivery. */
  accepted?: string[];
  rejected?: Rejection[];
}

/** SessionParams has the common parameters of the calls of a session. */
export interface SessionParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
}

export interface PagesDocument {
  schema: string;
  session_key: string;
  pages: StoredPage[];
}

/** StoredPage is a page as committed. `version` counts the updates that changed it. */
export interface StoredPage {
  /** `scope` is who may see a page or a memory. */
  scope: "session" | "project" | (string & {});
  session?: string;
  key: string;
  /** `type` is the kind of a page. Everything in a prompt belongs to a page, and a page has exactly one type for life. */
  type: "bootstrap" | "constraint" | "plan" | "preference" | "evidence" | "conversation" | (string & {});
  version: number;
  fields: StoredField[];
}

/** StoredField is a field of a page: its entries in the order in which they were first committed. `version` counts the updates that changed it. */
export interface StoredField {
  name: string;
  /** `kind` says how a field grows, and by which operation. */
  kind: "list" | "map" | "scalar" | (string & {});
  version: number;
  entries: Entry[];
}

/** Entry is a list's entry, a map's member or, with `id` "", a scalar: all the versions that it had, oldest first, the last of them current. */
export interface Entry {
  id?: string;
  versions: Version[];
}

/** Version is one committed value, as it was and stays. */
export interface Version {
  /** `version` counts from 1. */
  version: number;
  value: any;
  /** `seq`, `tx` and `update` name the commit that it came by; `time` is the transaction's. */
  seq: number;
  tx: string;
  update: string;
  time?: string;
  /** `by` and `session` are the principal, `evidence_ref` is the provenance. */
  by?: string;
  session?: string;
  evidence_ref: string;
}

/** Status is the document of status. */
export interface Status {
  schema: string;
  state_dir: string;
  sessions: SessionStatus[];
  /** `others` are sessions that were not read, the newest first. `masked`, `forgotten` and `retired` do not count their content. */
  others: OtherSession[];
  /** `unreadable` are sessions that can't be read, and why. */
  unreadable: Finding[];
  /** `blobs` and `blob_bytes` count the content-addressed store. */
  blobs: number;
  blob_bytes: number;
  /** `masked` counts the secrets that were masked in stored pages, by rule. Pages of versions that did not record the rule are counted as "unknown". */
  masked: MaskCount[];
  /** `forgotten` are forgotten pages. `retired` are pages whose content retention removed. */
  forgotten: number;
  retired: number;
  /** `memory` describes the memory in the workspace's Markdown. */
  memory: MemoryStatus;
  /** `nets` describes the copies of the sessions' working state in that Markdown. */
  nets: NetsStatus;
  /** `summary_models` are the models that were asked for notes, with their cool-downs. */
  summary_models: Cooldown[];
}

/** SessionStatus describes the stored state of one session. */
export interface SessionStatus {
  /** `key` is the session's, as the host spells it. A folder from before December 2026 may not record its key: then `key` is the folder's name. `folder` is the name of the session's folder. */
  key: string;
  folder: string;
  pages: number;
  turns: number;
  /** `spans` are runs of messages that left a prompt. */
  spans: number;
  /** `lines` are branches, each planned for a model. */
  lines: LineStatus[];
  /** `model_summaries` are the branches that a model made notes on. */
  model_summaries: ModelSummary[];
  /** `life` counts the compactions, resets and flushes and their outcomes. */
  life: LifeStatus;
  /** `paging` sums up the paging of the plans of all its conversations. */
  paging: Report;
  /** `journal_bytes` and `projection_bytes` are file sizes. */
  journal_bytes: number;
  projection_bytes: number;
}

/** LineStatus is one conversation: a branch planned for a model. */
export interface LineStatus {
  branch: string;
  model: string;
  generation: number;
  messages: number;
  items: number;
  cuts: number;
  tokens: number;
  /** `fixed_tokens` is the size of system prompt and tools in the last call, in addition to `tokens`. */
  fixed_tokens: number;
  last_plan: string;
  last_start?: string;
  /** `last_cut` is the newest cut, nil if there was none. `futile_cuts` counts the newest cuts that reclaimed next to nothing. `breaker_open`: further cuts are refused until the prompt grows. */
  last_cut: LineCut | null;
  futile_cuts: number;
  breaker_open: boolean;
  /** `refusals` counts the provider's refusals in a row that were answered by smaller plans. `learned_window` is the window that the provider named, 0 if it never did. */
  refusals: number;
  learned_window: number;
}

/** LineCut is a cut of a line, its tokens without tools and system, as counted. */
export interface LineCut {
  time?: string;
  /** `reason` is high_water, cold, forced, payback or demand. */
  reason: string;
  tokens_before: number;
  tokens_after: number;
}

/** ModelSummary is the state of a model's notes on a branch of a session. */
export interface ModelSummary {
  branch: string;
  /** `model` is the model that was asked last, at `time`, about so many `messages`. It proposed so many `operations`. `reason` is OK, or why there are no notes on them. */
  model: string;
  time: string;
  messages: number;
  operations: number;
  reason: "OK" | "EMPTY" | "TOO_LARGE" | "INVALID" | "TIMEOUT" | "RATE_LIMITED" | "SERVER_ERROR" | "REFUSED" | "UNREACHABLE" | "CANCELLED" | "NOT_WRITTEN" | "COOLING" | (string & {});
  /** `deltas` counts how often a model answered. */
  deltas: number;
  /** `notes` counts all of them, open or closed. `closed` counts the closed ones. */
  notes: number;
  closed: number;
}

/** LifeStatus describes the boundaries of a session and their outcomes. */
export interface LifeStatus {
  /** `epoch` counts the resets. `compactions` counts the host's compactions since the last reset. `last_compaction` is the time of the newest. */
  epoch: number;
  compactions: number;
  last_compaction?: string;
  /** `checkpoints` are on disk, newest first. */
  checkpoints: string[];
  /** `flushed` counts the entries of the day's logs that flushes wrote. `last_flush` is the time of the newest. */
  flushed: number;
  last_flush?: string;
  /** `flushed_by_model` counts those of them that the session's model wrote down. `last_flush_items` and `last_flush_path` are the number of items of the newest flush and its file. */
  flushed_by_model: number;
  last_flush_items?: number;
  last_flush_path?: string;
  /** `cut_waiting`: a compaction was requested that the next plan will make. */
  cut_waiting: boolean;
  /** `warning` names a session that was compacted again and again of late. */
  warning?: string;
}

/** Report is the summary of counts. */
export interface Report {
  /** `explicit_faults` are all but pinned misses; `fault_codes` counts all, by code. */
  explicit_faults: number;
  fault_codes: { [name: string]: number };
  /** `alerts` counts duplicate_signature. */
  alerts: number;
  hits: number;
  /** `thrash` is as Totals.Thrash. */
  thrash: number;
}

/** OtherSession is a session that was not read. */
export interface OtherSession {
  key: string;
  /** `folder` is the name of its folder below sessions. */
  folder: string;
  /** `bytes` is the size of its journal and projections. `last` is the time of the last write to them. */
  bytes: number;
  last?: string;
}

/** MaskCount is how many secrets a rule found. */
export interface MaskCount {
  /** `rule` is unknown for pages of versions that did not say. */
  rule: string;
  count: number;
}

/** MemoryStatus holds the settings of memory and the size of its index. */
export interface MemoryStatus {
  /** `workspace` is the folder of the Markdown. If `enabled` is false, memory is off and all other fields are empty. */
  workspace: string;
  enabled: boolean;
  /** `bootstrap` names the files of standing instructions. `remembered` reports whether a session begins with MEMORY.md and USER.md, `daily_logs` whether it begins with the logs of two days. */
  bootstrap: string[];
  remembered: boolean;
  daily_logs: boolean;
  /** `workspace_tokens`, `recall_tokens` and `recall_items` limit the memory in a prompt; 0 allows none. */
  workspace_tokens: number;
  recall_tokens: number;
  recall_items: number;
  /** `embedder` is the model by which questions become vectors, "" for words alone. */
  embedder: string;
  /** `never_embedded` counts the texts that exceed the embedder's tokens of a whole day. */
  never_embedded: number;
  index: IndexStatus;
  /** `sync` is the state of the index's updates. `sessions` counts the past sessions that are searched. */
  sync: SyncStatus;
  sessions: PastSessions;
  /** `collections` are the names of the searched collections: the workspace, and folders outside it. */
  collections: string[];
  /** `searched_files` counts the files of the workspace that are searched. Only a report of Report counts them. */
  searched_files: number;
  /** `left_out` is the Markdown that is not searched: now in a Report, else when Reindex was last called. */
  left_out: LeftOut;
}

/** IndexStatus describes an index file. */
export interface IndexStatus {
  /** `backend` is the kind of index: sqlite, postgres or qmd. `path` is the file, or names the database. */
  backend: string;
  path: string;
  /** `state` is the state of an index file, in one word. */
  state: "ok" | "off" | "missing" | "foreign" | "newer" | "older" | "damaged" | "failed" | (string & {});
  /** `detail` is why `state` is none of the others. */
  detail?: string;
  files: number;
  /** `unread` are files that could not be read at the last try. */
  unread: number;
  chunks: number;
  /** `text_bytes` is the size of the chunks' text. `file_bytes` is the size of the file with its log. */
  text_bytes: number;
  file_bytes: number;
  /** `model` is the model that made the vectors. `vectors` counts the chunks that have one. */
  model: string;
  vectors: number;
  /** `behind`: files or the rules have changed since the files were indexed. */
  behind: boolean;
  /** `lag` is how far the index is behind. */
  lag: Lag;
}

/** SyncStatus is the state of the index's updates in the background. */
export interface SyncStatus {
  on_session_start: boolean;
  on_search: boolean;
  /** `interval_seconds` is 0 if updates do not follow the clock. */
  interval_seconds: number;
  watch: WatchStatus;
  /** `last` is the last run, of this kernel or else of another process; nil if none is known. */
  last?: SyncRun;
}

/** WatchStatus is the state of the watch over the workspace's folders. */
export interface WatchStatus {
  /** `on`: changes are seen as they happen. `folders` are watched. */
  on: boolean;
  folders: number;
  /** `detail` is why it is off, or sees only a part; "" if there is nothing to say. */
  detail?: string;
}

/** SyncRun is one update of the index. */
export interface SyncRun {
  /** `reason` is the event that started the syncer's last pass. */
  reason: string;
  /** `time` is when it ended. */
  time: string;
  /** `files` were read, `removed` are gone. */
  files: number;
  removed: number;
  /** `process` did it; `watching` whether it saw changes as they happened. */
  process: number;
  watching: boolean;
  /** `error` is why it failed, or why vectors are missing; "" if neither. */
  error?: string;
}

/** PastSessions counts the stored past sessions. */
export interface PastSessions {
  enabled: boolean;
  agent: string;
  /** `sources` are the folders of transcripts. `own` reports whether the kernel's own sessions are read too. */
  sources: string[];
  own: boolean;
  /** `sessions` can be found, `turns` are in them, `forgotten` counts keys that were forgotten. */
  sessions: number;
  turns: number;
  forgotten: number;
  /** `error` is why they can't be counted, "" if they can. */
  error?: string;
}

/** LeftOut counts the Markdown files that are left out, and names some. */
export interface LeftOut {
  files: number;
  /** `reasons` are those that there are, those of most interest first. */
  reasons: LeftCount[];
  /** `first` are at most ten files, in the order of their reasons. */
  first: LeftFile[];
  /** `more`: folders in which nothing is included were not all looked into, so that there may be more files than these. */
  more: boolean;
}

/** LeftCount is how many files are left out for a reason. */
export interface LeftCount {
  /** `reason` is why a Markdown file of the workspace is no memory. */
  reason: "too_large" | "name" | "link" | "excluded" | "gitignore" | "not_included" | "hidden" | "generated" | (string & {});
  files: number;
}

/** LeftFile is a file that is left out. */
export interface LeftFile {
  path: string;
  /** `reason` is why a Markdown file of the workspace is no memory. */
  reason: "too_large" | "name" | "link" | "excluded" | "gitignore" | "not_included" | "hidden" | "generated" | (string & {});
}

/** NetsStatus describes the copies of the sessions' working state in the workspace's Markdown. */
export interface NetsStatus {
  session_state: StateFileStatus;
  working_buffer: BufferStatus;
}

/** StateFileStatus describes SESSION-STATE.md. */
export interface StateFileStatus {
  path: string;
  /** `enabled` reports whether the kernel writes its section. */
  enabled: boolean;
  /** `size_bytes` is the file's size, 0 if there is none. `other_bytes` is the part of it that is not the kernel's. */
  size_bytes: number;
  other_bytes: number;
  /** `session` is the folder of the session whose section the file has, "" if there is none. `epoch`, `messages` and `time` are the state at which the section was written. */
  session: string;
  epoch: number;
  messages: number;
  time?: string;
  /** `edited`: somebody changed the section. */
  edited: boolean;
  /** `detail` is why the file can't be read. */
  detail?: string;
}

/** BufferStatus describes the working buffer. */
export interface BufferStatus {
  path: string;
  enabled: boolean;
  size_bytes: number;
  /** `entries` counts the kernel's entries. `newest` is the time of the last one. `last_dump` is the last time that all of the state was written. */
  entries: number;
  newest?: string;
  last_dump?: string;
  /** `detail` is why the file can't be read. */
  detail?: string;
}

/** Cooldown is the pause before a model that makes notes is asked again. All sessions of a state directory share it, since they have one account at one server. */
export interface Cooldown {
  model: string;
  /** `failures` counts the failures since the last usable answer. `until` is when the model is asked again. */
  failures: number;
  until?: string;
  /** `reason` and `detail` describe the last failure. `failed` is its time. */
  reason: "OK" | "EMPTY" | "TOO_LARGE" | "INVALID" | "TIMEOUT" | "RATE_LIMITED" | "SERVER_ERROR" | "REFUSED" | "UNREACHABLE" | "CANCELLED" | "NOT_WRITTEN" | "COOLING" | (string & {});
  detail?: string;
  failed?: string;
  /** `answered` is the time of the last usable answer. */
  answered?: string;
}

/** Check is the document of check. */
export interface Check {
  schema: string;
  state_dir: string;
  /** `ok` reports whether nothing was found; the exit code is 3 otherwise. */
  ok: boolean;
  findings: Finding[];
}

export interface UsageParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  session_key?: string;
  since?: string;
}

/** DocumentStats is the document of stats. */
export interface DocumentStats {
  schema: string;
  /** `total` sums all selected calls. */
  total: Sum;
  /** `sessions`, `days` and `models` are the same calls by folder of the session, by date, and by model id, each sorted by name. */
  sessions: Sum[];
  days: Sum[];
  models: Sum[];
  /** `torn` are files whose last line was cut off, as by a kill. That line is left out. */
  torn: string[];
  /** `calls` is sorted by time. */
  calls: StatsCall[];
}

/** Sum adds up calls. */
export interface Sum {
  /** `name` is total, the key of the session, the date, or the model. */
  name: string;
  calls: number;
  /** `turns` counts the user turns in which the calls were made, as far as that was logged. */
  turns: number;
  /** `compared_calls` counts the calls that have a plan to compare with. `planned`, `planned_cost_usd`, `billed_compared` and the errors are over these alone. */
  compared_calls: number;
  planned: Tokens;
  billed_compared: Tokens;
  /** `billed` is over all calls. */
  billed: Tokens;
  /** Costs are the input side of the calls that have a price, nil if none has. `unpriced_calls` counts the others. `billed_compared_cost_usd` is the bill of the compared ones. */
  planned_cost_usd: number | null;
  billed_compared_cost_usd: number | null;
  billed_cost_usd: number | null;
  /** `unpriced_calls` counts the calls that are in no cost. */
  unpriced_calls: number;
  /** `hit_ratio` is the share of billed input that was read from the cache; nil if nothing was billed. */
  hit_ratio: number | null;
  /** `cuts` counts the cuts that the plans made. `saved_tokens` is the number of tokens that they kept out of all prompts. */
  cuts: number;
  saved_tokens: number;
  /** `reasoning` counts the lost reasoning of the models. */
  reasoning: BillingReasoning;
  /** `broke` sums up the warm caches that hosts broke, by the part that they changed. */
  broke: Broken[];
  /** `first_sight` sums up the content that was left out of prompts at first sight, by kind. */
  first_sight: FirstSight[];
  /** `billed_usd` is the cost of the calls, answers included. `without_usd` is the estimate for the same calls without memkernel. Both are nil if no call has a price. `estimated_calls` counts the calls that the estimate was made for: the others cost the same in both. */
  billed_usd: number | null;
  without_usd: number | null;
  estimated_calls: number;
  /** `cold_expected` counts the calls that were planned as cold, `cold_seen` those billed as cold, `cold_expected_and_seen` those with both. `calls` for which this is not known are not counted. */
  cold_expected: number;
  cold_seen: number;
  cold_expected_and_seen: number;
  /** Errors are medians over compared calls of |planned − billed| / billed. */
  input_error_median: number | null;
  cache_read_error_median: number | null;
  cache_write_error_median: number | null;
}

/** Tokens are input tokens by how they were billed, and their sum. */
export interface Tokens {
  uncached_tokens: number;
  cache_read_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  /** `input_tokens` is the sum of all. */
  input_tokens: number;
}

/** BillingReasoning counts the lost reasoning of the models. */
export interface BillingReasoning {
  /** `left_out_items` and their tokens were left out by plans. `dropped_items` were sent for the provider to drop, by the plans' own count. `lost_usd` is the price of both as output, nil if nothing is lost or no price is known. */
  left_out_items: number;
  left_out_tokens: number;
  /** `dropped_items` are thinking blocks that plans sent for the provider to drop. */
  dropped_items: number;
  dropped_tokens: number;
  lost_usd: number | null;
  /** `removed` are the removals that the providers reported. An item that later calls send again, and that is removed again, counts once. */
  removed: Removal[];
}

/** Broken sums up changes by which hosts broke warm caches. */
export interface Broken {
  /** `what` names the part that they changed, as in cachelayout.Broke. */
  what: string;
  times: number;
  /** `tokens` is the number of tokens that could have been read and were written anew. `usd` is their additional cost. */
  tokens: number;
  usd: number | null;
}

/** FirstSight sums up results of a kind that were shortened before the model saw them. */
export interface FirstSight {
  /** `kind` is the kind of content, as of represent.Door. */
  kind: string;
  results: number;
  /** `tokens` were left out of the prompts that were the first with the results. `fetched_tokens` were added back when the model read the results whole. */
  tokens: number;
  fetched_tokens: number;
}

/** StatsCall is one call. */
export interface StatsCall {
  /** `time` is the time of the plan. */
  time: string;
  session: string;
  branch: string;
  model: string;
  plan: string;
  /** `planned` is null where it was not recorded. */
  planned: Tokens | null;
  billed: Tokens;
  planned_cost_usd: number | null;
  /** `billed_cost_usd` is null for a model without a price. */
  billed_cost_usd: number | null;
  /** `cut` reports whether the plan made a cut. */
  cut: boolean;
  /** `saved_tokens` counts the tokens that cuts kept out of this prompt. */
  saved_tokens: number;
  /** `billed_usd` is the bill, answers included; `without_usd` is about what the call would have cost without memkernel, null for a call that memkernel did not send. */
  billed_usd: number | null;
  without_usd: number | null;
  cold_expected: boolean | null;
  /** `cold_seen` is null at a first call, after a cut, and where nothing could be cached. */
  cold_seen: boolean | null;
  /** `reasoning` is the model's reasoning that the plan lost, null if none. `reported` is the provider's report on the request. */
  reasoning: Reasoning | null;
  reported: Reported | null;
  /** `broke` is the part of a warm cache that the host broke, null for nothing. */
  broke: Broke | null;
}

export interface ReindexParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `full` makes the index anew. */
  full?: boolean;
  /** `wait_ms` is how long to wait for another process that is indexing. */
  wait_ms?: number;
  /** `progress` asks for notifications $/progress before the answer: id, stage (index or embed), done, total, files and chunks. */
  progress?: boolean;
}

/** Reindex is the document of reindex. */
export interface Reindex {
  schema: string;
  /** `index` is the index file, or the database without its password. */
  index: string;
  /** `rebuilt` is the reason why the index was made anew, "" if it was not. */
  rebuilt: string;
  /** `aside` is the place of the old file, "" if it is not kept. */
  aside: string;
  files: ReindexFiles;
  chunks: ReindexChunks;
  vectors: ReindexVectors;
  /** `sessions` were read, if past sessions are searched. */
  sessions: ReindexSessions;
  /** `skipped` lists the files that were not indexed. `notes` lists oddities of the indexed files. */
  skipped: SkippedFile[];
  notes: SkippedFile[];
  /** `left_out` is the Markdown of the workspace that is no memory. */
  left_out: DocumentLeftOut;
  /** `bytes` were read in `seconds`. */
  bytes: number;
  seconds: number;
  /** `mb_per_second` counts 10⁶ bytes, `chunks_per_second` the added chunks. */
  mb_per_second: number;
  chunks_per_second: number;
  /** `index_bytes` is the size of the index on disk, afterwards. */
  index_bytes: number;
}

/** ReindexFiles counts files. */
export interface ReindexFiles {
  listed: number;
  added: number;
  changed: number;
  removed: number;
  unchanged: number;
  /** `read` counts the files that were opened. */
  read: number;
}

/** ReindexChunks counts chunks. */
export interface ReindexChunks {
  added: number;
  removed: number;
  /** `kept` counts the unchanged chunks of changed files. */
  kept: number;
  /** `reanalysed` counts the chunks whose words were made again by newer rules. */
  reanalysed: number;
  /** `total` is how many there are afterwards. */
  total: number;
}

/** ReindexVectors counts vectors. */
export interface ReindexVectors {
  /** `model` is "" without vectors. */
  model: string;
  embedded: number;
  /** `refused` are texts that the provider does not take, or that no day has tokens for. */
  refused: number;
  /** `refused_reason` is the reason for the first refusal, "" if there was none. */
  refused_reason: string;
  /** `total` is how many chunks have a vector afterwards. */
  total: number;
  /** `estimate` is the amount of text to embed, as counted before; null without a provider. */
  estimate: Estimate | null;
  /** `error` is the reason why vectors are missing, "" if none are. */
  error: string;
}

/** Estimate counts the texts without a vector, and the price of their vectors. */
export interface Estimate {
  texts: number;
  /** `tokens` is the approximate number of tokens. */
  tokens: number;
  /** `cost_usd` is null if the price is not known. */
  cost_usd: number | null;
  /** `price_source` is "" without a price. */
  price_source: string;
  price_as_of: string;
}

/** ReindexSessions counts past sessions. */
export interface ReindexSessions {
  listed: number;
  /** `read` counts the new, grown or rewritten ones, and `turns` the turns read from them. */
  read: number;
  turns: number;
  /** `forgotten` counts the forgotten sessions, which are not indexed again. */
  forgotten: number;
  /** `removed` counts the sessions that were removed because their transcript is gone or they were forgotten. */
  removed: number;
}

/** SkippedFile is a file that was skipped, with the reason. */
export interface SkippedFile {
  /** `path` ends in :line if the reason concerns one line. */
  path: string;
  reason: string;
}

/** DocumentLeftOut is the Markdown that is no memory. */
export interface DocumentLeftOut {
  files: number;
  /** `more` reports whether there may be more: not all folders without memory were looked into. */
  more: boolean;
  /** `reasons` have those of most interest first. */
  reasons: LeftCount[];
  /** `first` are at most ten of the files. */
  first: LeftFile[];
}

/** ToolsListParams asks for memory as tools for a model. It is refused as DISABLED if capabilities.tools is false. */
export interface ToolsListParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  format?: "anthropic" | "openai" | "responses" | "mcp";
  /** `all` lists the tools and arguments that few conversations need, too. */
  all?: boolean;
}

/** ToolDefinitions is the answer to tools.list. */
export interface ToolDefinitions {
  schema: string;
  tools: object[];
}

export interface ToolsParams {
  /** `deadline_ms` is how long the call may take, in milliseconds; 0 is the server's default. */
  deadline_ms?: number;
  /** `session_key` names the session; "" is "default". */
  session_key?: string;
  /** `now` is the time of the call; by default the server's. */
  now?: string;
  /** `private`: the session is one person's own, which MEMORY.md and USER.md are shown to. */
  private?: boolean;
  name: string;
  arguments?: object;
}

/** ToolAnswer is the answer to tools.call. */
export interface ToolAnswer {
  schema: string;
  name: string;
  content: any;
}

/** What every method takes and answers, by its name on the wire. */
export interface Methods {
  initialize: { params: InitializeParams; result: Initialized };
  shutdown: { params: CallerParams; result: Stopping };
  plan: { params: PlanParams; result: Planned };
  peek: { params: PlanParams; result: Planned };
  observe_turn: { params: TurnParams; result: Observed };
  observe_tool_result: { params: TurnParams; result: Observed };
  start_session: { params: BoundaryParams; result: Passed };
  end_session: { params: BoundaryParams; result: Passed };
  flush: { params: BoundaryParams; result: Passed };
  reset: { params: BoundaryParams; result: Passed };
  compact: { params: CompactParams; result: Passed };
  checkpoint: { params: BoundaryParams; result: Checkpointed };
  restore: { params: RestoreParams; result: Restore };
  flush_turn: { params: FlushTurnParams; result: FlushTurn };
  observe_flush: { params: ObserveFlushParams; result: Flushed };
  remember: { params: RememberParams; result: Remembered };
  "memory.update": { params: UpdateParams; result: EditDocument };
  "memory.delete": { params: EditParams; result: EditDocument };
  "memory.undo": { params: UndoParams; result: UndoDocument };
  "memory.tool": { params: MemoryToolParams; result: MemoryToolDocument };
  forget: { params: ForgetParams; result: Forget };
  retain: { params: RetainParams; result: Retain };
  search: { params: SearchParams; result: Search };
  read: { params: ReadParams; result: Get };
  get: { params: GetParams; result: Get };
  write: { params: WriteParams; result: Receipt };
  pages: { params: SessionParams; result: PagesDocument };
  status: { params: CallerParams; result: Status };
  check: { params: CallerParams; result: Check };
  usage: { params: UsageParams; result: DocumentStats };
  reindex: { params: ReindexParams; result: Reindex };
  "tools.list": { params: ToolsListParams; result: ToolDefinitions };
  "tools.call": { params: ToolsParams; result: ToolAnswer };
}

/** A call of every method. */
export interface Calls {
  /** Which protocol, workspace and bounds the server has */
  initialize(params?: InitializeParams, options?: CallOptions): Promise<Initialized>;
  /** End the daemon once what was taken is done */
  shutdown(params?: CallerParams, options?: CallOptions): Promise<Stopping>;
  /** What to send with the next call, recorded */
  plan(params?: PlanParams, options?: CallOptions): Promise<Planned>;
  /** The same, recording nothing */
  peek(params?: PlanParams, options?: CallOptions): Promise<Planned>;
  /** Commit what was said up to here */
  observeTurn(params?: TurnParams, options?: CallOptions): Promise<Observed>;
  /** Commit a result while the turn goes on */
  observeToolResult(params?: TurnParams, options?: CallOptions): Promise<Observed>;
  /** Begin a session, or go on with it */
  startSession(params?: BoundaryParams, options?: CallOptions): Promise<Passed>;
  /** End a session's use and let go of it */
  endSession(params?: BoundaryParams, options?: CallOptions): Promise<Passed>;
  /** Write down what a cut would lose */
  flush(params?: BoundaryParams, options?: CallOptions): Promise<Passed>;
  /** Begin a new generation of a session */
  reset(params?: BoundaryParams, options?: CallOptions): Promise<Passed>;
  /** Cut the prompt now */
  compact(params?: CompactParams, options?: CallOptions): Promise<Passed>;
  /** Write the working state */
  checkpoint(params?: BoundaryParams, options?: CallOptions): Promise<Checkpointed>;
  /** The text with which work is taken up again */
  restore(params?: RestoreParams, options?: CallOptions): Promise<Restore>;
  /** The prompt by which a model writes down what matters */
  flushTurn(params?: FlushTurnParams, options?: CallOptions): Promise<FlushTurn>;
  /** Take in what that model answered */
  observeFlush(params: ObserveFlushParams, options?: CallOptions): Promise<Flushed>;
  /** Append an entry to memory */
  remember(params: RememberParams, options?: CallOptions): Promise<Remembered>;
  /** Replace a passage of memory, if it is what was read */
  memoryUpdate(params: UpdateParams, options?: CallOptions): Promise<EditDocument>;
  /** Take a passage out of memory, if it is what was read */
  memoryDelete(params: EditParams, options?: CallOptions): Promise<EditDocument>;
  /** Take such a change back */
  memoryUndo(params?: UndoParams, options?: CallOptions): Promise<UndoDocument>;
  /** Answer a call of Anthropic's memory tool */
  memoryTool(params: MemoryToolParams, options?: CallOptions): Promise<MemoryToolDocument>;
  /** Tell what removing pages or a session for good takes, or do it */
  forget(params?: ForgetParams, options?: CallOptions): Promise<Forget>;
  /** Tell what is older than it is to be kept, or remove it */
  retain(params?: RetainParams, options?: CallOptions): Promise<Retain>;
  /** Find what memory says */
  search(params: SearchParams, options?: CallOptions): Promise<Search>;
  /** Lines of a memory file */
  read(params: ReadParams, options?: CallOptions): Promise<Get>;
  /** A page, a span or a checkpoint by its id */
  get(params: GetParams, options?: CallOptions): Promise<Get>;
  /** Commit validated updates */
  write(params: WriteParams, options?: CallOptions): Promise<Receipt>;
  /** The pages of a session */
  pages(params?: SessionParams, options?: CallOptions): Promise<PagesDocument>;
  /** What is where and how big */
  status(params?: CallerParams, options?: CallOptions): Promise<Status>;
  /** Verify everything on disk */
  check(params?: CallerParams, options?: CallOptions): Promise<Check>;
  /** What calls were planned and billed at */
  usage(params?: UsageParams, options?: CallOptions): Promise<DocumentStats>;
  /** Bring the index up to date, with progress */
  reindex(params?: ReindexParams, options?: CallOptions): Promise<Reindex>;
  /** The tools that a model can call */
  toolsList(params?: ToolsListParams, options?: CallOptions): Promise<ToolDefinitions>;
  /** Call one of them */
  toolsCall(params: ToolsParams, options?: CallOptions): Promise<ToolAnswer>;
}
