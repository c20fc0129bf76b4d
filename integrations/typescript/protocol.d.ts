// Made by bench/clients from doc/schema.json. Don't edit.

import type { CallOptions } from "./index.js";

export interface InitializeParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `protocol` is the version that the client speaks. */
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
  /** `private` means that a call may say that its session is private. */
  private: boolean;
  max_line_bytes: number;
  max_in_flight: number;
}

/** CallerParams has the parameters that every call may have. */
export interface CallerParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
}

/** Stopping is the answer to shutdown. */
export type Stopping = Record<string, never>;

/** PlanParams requests the messages to send with a model call. */
export interface PlanParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` say where the conversation comes from. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  /** `branch` is the id of a sidechain. */
  branch?: string;
  /** `model` is the provider's id of the model. */
  model?: string;
  /** `context_window` is the size of the window in tokens. */
  context_window?: number;
  /** `reserve` is the room for the answer, in tokens. */
  reserve?: number;
  /** `fixed_tokens` is the size of a system prompt and tools that are not handed in. */
  fixed_tokens?: number;
  /** `system` is the system prompt. */
  system?: string | object[];
  tools?: object[];
  /** `resolver` is the tool by which the model follows pointers. */
  resolver?: string;
  /** `tool_choice`, `thinking`, `effort` and `drop_option` are settings that the provider's cache depends on. */
  tool_choice?: string;
  thinking?: string;
  effort?: string;
  drop_option?: boolean;
  /** `format` is the format of the form body. */
  format?: "anthropic" | "openai" | "responses";
  overflow?: Overflow;
  /** `economy` decides between memory and cost. */
  economy?: "save" | "balanced" | "keep" | number;
  conversation?: Conversation;
  /** `prompt` is a user prompt that is not in the conversation yet. */
  prompt?: string;
  turn?: string;
  /** `ttl_seconds` is the cache lifetime that the host requests. */
  ttl_seconds?: number;
  /** `memories` are the results of the host's own memory. */
  memories?: Memories[];
  /** `loaded` are the names of files that the host itself shows to its model. */
  loaded?: string[];
  /** `form` is the form in which messages are handed out. */
  form?: "items" | "body" | "none";
  /** `explain` adds layout and debug to the answer. */
  explain?: boolean;
  /** `max_tokens` is the max_tokens of the body, or of the request that the host sends itself. */
  max_tokens?: number;
}

/** Overflow is a provider's refusal of the last call, because the prompt was too long or contained thinking of another conversation. */
export interface Overflow {
  text?: string;
  input_tokens?: number;
  limit_tokens?: number;
  plan_id?: string;
}

/** Conversation has the messages that a host hands in. */
export interface Conversation {
  /** `dialect` is anthropic, openai, codex (items of the Responses API) or pi. */
  dialect?: "anthropic" | "openai" | "codex" | "pi";
  /** `base` is the mark of the held conversation, from the last answer. */
  base?: string;
  /** `keep` is how many messages of the held conversation are kept. */
  keep?: number;
  /** `messages` are the messages after the kept ones. */
  messages?: object[];
  /** `keys` are the ids of the messages, "" for a message without an id. */
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
  /** `plan_id` names the plan. */
  plan_id: string;
  session_key: string;
  branch: string;
  model: string;
  /** `format` is the shape of request that the plan is for. */
  format: "anthropic" | "openai" | "responses" | "gemini" | (string & {});
  /** `generation` is the generation of the projection. */
  generation: number;
  /** `flush_due` is the reason why a flush turn (Kernel.FlushTurn) is due before the next call: tokens or transcript_bytes. */
  flush_due: string;
  budgets: Budgets;
  /** `regions` add up to `budgets`.PlannedInputTokens. */
  regions: Region[];
  /** `params` are settings that the request needs. */
  params: Params;
  /** `retrieval` is the outcome of recall for this call. */
  retrieval: Retrieval;
  /** `reduced` are the pages of the conversation that are shortened or not shown, with the way to get their full content. */
  reduced: Reduced[];
  faults: Fault[];
  /** `alerts` are signs of trouble that no prompt could have prevented. */
  alerts: Fault[];
  /** `stats` is the kernel's own work for the plan. */
  stats: Stats;
  /** `cut` reports whether this plan removed older messages. */
  cut: boolean;
  /** `cold` reports whether the provider's cache is assumed to be empty. */
  cold: boolean;
  /** `items` are the messages to send in the form "items". */
  items?: Item[];
  /** `count` is the number of messages in all items. */
  count: number;
  markers: Marker[];
  /** `body` is the request in the form "body". */
  body?: any;
  /** `notes` name the parts of the conversation that the body could not hold. */
  notes: Note[];
  conversation?: Mark;
  /** `layout` describes the plan's use of the provider's cache. */
  layout?: Layout;
  /** `debug` lists every page with its outcome. */
  debug?: Debug;
}

/** Budgets is the arithmetic of a plan, in tokens. */
export interface Budgets {
  /** `context_window` is the size of the window, 0 if it is not known. */
  context_window: number;
  /** `window_from` is the source of a plan's window. */
  window_from: "request" | "prices" | "server" | "refusal" | "unknown" | (string & {});
  /** `reserve_tokens` is the number of tokens that are kept free for the answer. */
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
  /** `margin_tokens` is the room that was kept free for the error of the counts. */
  margin_tokens: number;
  /** `utilization` is the size of the call before any cut, divided by the window. */
  utilization: number;
}

/** Region is a part of the prompt and its size. */
export interface Region {
  /** `name` is one of the Region constants of package cachelayout. */
  name: string;
  tokens: number;
}

/** Params are request settings that a plan requires. */
export interface Params {
  /** `thinking_off` reports that thinking must be off for this call, because the open tool loop lost the thinking blocks that the provider would require. */
  thinking_off: boolean;
  /** `drop_option` tells the host to send thinking.block_binding.prefix_mismatch_behavior "drop_block" with the beta header in `betas`. */
  drop_option: boolean;
  betas: string[];
  /** `cache_key` is a stable key for providers that route requests by a key. */
  cache_key?: string;
}

/** Retrieval is the outcome of recall for the newest user turn. */
export interface Retrieval {
  /** `reason` is a reason of package retrieval. */
  reason: string;
  /** `mode` is a mode of package retrieval. */
  mode: string;
  /** `detail` is why recall found nothing, or less than it could. */
  detail?: string;
  /** `page` is the block that shows recalled memory, "" if nothing was recalled. */
  page?: string;
  /** `items` is the number of items in the block. */
  items: number;
  /** `tokens` is the size of the block. */
  tokens: number;
  /** `citations` are the sources of the items. */
  citations: string[];
  /** `origins` names the system that each citation comes from; "" is the kernel's own memory. */
  origins?: string[];
  /** `withheld` are the parts of memory that were not searched because the session is shared. */
  withheld?: Withheld[];
}

/** Withheld is a part of memory that the user may not see: a file, or a class of files. */
export interface Withheld {
  /** `path` is the withheld file, or "" for a class of files. */
  path?: string;
  /** `class` is a class of files: "sessions" for the conversations of other sessions, "media", "host memories" for the notes that hosts keep themselves, or "notes" for Markdown that index.include does not name. */
  class?: string;
  reason: string;
}

/** Reduced is a page of the conversation that the prompt does not show in full. */
export interface Reduced {
  /** `page` is the page's id. */
  page: string;
  /** `key` is the host's message. */
  key: string;
  /** `call_id` is the tool call. */
  call_id?: string;
  /** `level` is the level at which the page is shown, gone if it left the prompt. */
  level: string;
  /** `handle` is the id by which Kernel.Get restores the item. */
  handle: string;
}

/** Fault is a named problem of the model or of the kernel. */
export interface Fault {
  /** `code` names a fault or an alert. */
  code: string;
  page?: string;
  /** `key` is the message that the fault is about. */
  key?: string;
  detail: string;
  /** `turn` is the user message of the turn in which the fault showed, "" if it is not known. */
  turn?: string;
  /** `cause` is the decision that removed the page, "" if no decision did. */
  cause?: string;
  /** `plan` is the plan that made the decision, "" if no plan did. */
  plan?: string;
  /** `budget_insufficient`: there was no room, so that no policy could have helped. */
  budget_insufficient?: boolean;
}

/** Stats is the kernel's own work for a plan. */
export interface Stats {
  /** `ingested` counts messages new to the session. */
  ingested: number;
  /** `examined` counts the messages of an observed turn that were read, made valid or hashed. */
  examined?: number;
  /** `blobs` counts the written blobs. */
  blobs: number;
  /** `blob_bytes` is the size of the written blobs. */
  blob_bytes: number;
  /** `journal_bytes` is the number of bytes that were appended durably to the journal. */
  journal_bytes: number;
  /** `log_bytes` is the number of bytes that were appended to the projection's record and the trace. */
  log_bytes: number;
  /** `files` is the number of files that these writes made or changed. */
  files: number;
  /** `state_bytes` is the number of bytes that were written for the working state. */
  state_bytes: number;
  /** `lifted_bytes` is the size of the base64 text in results that the prompt does not show. */
  lifted_bytes: number;
  /** `syncs` counts the calls to sync. */
  syncs: number;
  /** `sync_ns` is the time that these calls took. */
  sync_ns: number;
}

/** Item is a run of unchanged messages of the host, or one message that is new or replaces messages of the host. */
export interface Item {
  /** `host` is a range of the host's messages, which stay byte for byte unchanged. */
  host?: [number, number];
  /** `message` is JSON that is written unchanged. */
  message?: any;
  /** `replaces` is the range of the host's messages that the message replaces. */
  replaces?: [number, number];
}

/** Marker is a cache breakpoint after a message of the list that the items expand to. */
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
  /** `base` must be handed in with the next call. */
  base: string;
  /** `count` is the number of messages that are held. */
  count: number;
}

/** Layout describes a plan's use of the provider's cache. */
export interface Layout {
  /** `breakpoints` are the cache markers, in prompt order. */
  breakpoints: Breakpoint[];
  /** `change` is the first difference from the last request. */
  change: Change;
  /** `bill` estimates the tokens that the call reads and writes, and their cost. */
  bill: Bill;
  /** `cold` reports whether the cache holds none of the messages. */
  cold: boolean;
  /** `clock` is the clock by which `cold` was decided. */
  clock: string;
  /** `cut` is the cut planner's answer with its figures. */
  cut: Cut;
  /** `made` is the cut that the projection granted, nil if it granted no cut. */
  made: CutPoint | null;
  /** `refused` are the wishes for cuts that the rules did not allow. */
  refused: Refusal[];
  /** `cuts` are all cuts of this projection so far. */
  cuts: CutPoint[];
  /** `notes` name the limits of the model's cache that this layout meets. */
  notes: string[];
  /** `reasoning` counts the model's reasoning that the plan loses. */
  reasoning: Reasoning;
  /** `reported` is the provider's report on the last request that was billed, nil if there is no report. */
  reported: Reported | null;
  lifetimes: Lifetimes;
  pace: Pace;
}

/** Breakpoint is a cache marker. */
export interface Breakpoint {
  /** `block` is an index into the blocks of the request. */
  block: number;
  message: number;
  region: string;
  /** `why` is one of the `why` constants of package cachelayout. */
  why: string;
  ttl_seconds: number;
  /** `cumulative_tokens` is the size of the prompt up to and including the block. */
  cumulative_tokens: number;
}

/** Change describes the first change in a request that broke a level of the cache. */
export interface Change {
  /** `kind` names the difference between a request and the previous one. */
  kind: "first" | "none" | "append" | "identity" | "tools" | "system" | "messages" | (string & {});
  /** `breaks` is the first level that the change breaks. */
  breaks: string;
  /** `field` is the identity field that changed, "" otherwise. */
  field?: string;
  /** `block` is the index of the first changed block, -1 if none changed. */
  block: number;
  /** `old` is the former block id, or the field's former value. */
  old?: string;
  /** `new` is the present block id, or the field's present value. */
  new?: string;
  /** `kept_tokens` is the number of tokens of the last request that can still be read by their content and identity. */
  kept_tokens: number;
  /** `broken_tokens` is the number of tokens of the last request that can no longer be read. */
  broken_tokens: number;
  /** `host` is the part of a warm cache that the host broke. */
  host: Broke | null;
}

/** Broke is a change by which a host made a provider's cache useless. */
export interface Broke {
  /** `what` names the part that changed: tools, system, messages, or a setting. */
  what: string;
  /** `place` is the place of the change, as exactly as is known, such as "tools3.description". */
  place: string;
  /** `tokens` is the number of tokens that could have been read and are written again. */
  tokens: number;
  /** `usd` is the extra cost of writing them. */
  usd: number | null;
}

/** Bill holds the tokens that a request is expected to read and write, and its expected cost. */
export interface Bill {
  /** The four buckets are disjoint and sum to the whole prompt. */
  read_tokens: number;
  /** `write_5m_tokens` are written with the provider's short lifetime. */
  write_5m_tokens: number;
  /** `write_1h_tokens` are written with the provider's long lifetime. */
  write_1h_tokens: number;
  uncached_tokens: number;
  /** `a`, `b` and `c` are the borders of the package comment, in tokens. */
  a: number;
  b: number;
  c: number;
  /** `hit_block` is the index of the last block that is read, -1 if no block is read. */
  hit_block: number;
  /** `cost_usd` is the cost of the input in dollars. */
  cost_usd: number | null;
  /** `no_layout_cost_usd` is the cost of the same prompt without any caching. */
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
  /** `force` reports whether the prompt exceeds its limit without a cut. */
  force?: boolean;
  /** `target_tokens` is the size to which the cut should bring the whole prompt. */
  target_tokens: number;
  /** `most_tokens` is the largest size that the prompt may keep if its content is worth the cost. */
  most_tokens: number;
  /** `hurdle` is how often, per token, a call must be expected to need the content above `target_tokens`. */
  hurdle: number;
  /** `figures` are the numbers that led to the decision, in tokens. */
  figures: Figures;
  /** `economy` is the user's preference, "" for Balanced. */
  economy?: string;
}

/** Figures are the numbers on which a decision rests, in tokens unless named otherwise. */
export interface Figures {
  planned: number;
  /** `budget` is window − reserve. */
  budget: number;
  /** `cliff` is the price cliff that limits the prompt, 0 if there is none. */
  cliff: number;
  /** `limit` is the smaller of `budget` and `cliff`. */
  limit: number;
  /** `high_water` and `low_water` are marks for the size of the whole prompt. */
  high_water: number;
  room_mark: number;
  low_water: number;
  /** `max_growth` is the largest growth of the last ten calls. */
  max_growth: number;
  median_growth: number;
  /** `mean_growth` is the mean growth per call, over the given growths and the prior. */
  mean_growth: number;
  /** `cold_rate` is the chance that a call finds the cache cold. */
  cold_rate: number;
  /** `call_cost` is the cost of an average call with these marks, in base input tokens. */
  call_cost: number;
  /** `memory_cost` is the part of `call_cost` for keeping the low-water conversation. */
  memory_cost: number;
  /** `miss_cost` is the cost of fetching hidden content again, in base input tokens. */
  miss_cost: number;
  /** `saved` is the number of tokens that a warm cut to the low-water mark removes. */
  saved: number;
  /** `rewritten` is the number of tokens that such a cut causes to be written again. */
  rewritten: number;
  /** `break_even_turns` is the number of calls after which such a cut has paid for itself (−1: never). */
  break_even_turns: number;
  expected_turns: number;
  /** `eoq_batch` is the number of tokens by which the prompt may grow above the low-water mark before it is cheaper to cut than to keep reading. */
  eoq_batch: number;
  /** `eoq_high_water` is the low-water mark plus `eoq_batch` (−1: no limit). */
  eoq_high_water: number;
  /** `write_ratio` is the price of a cache write divided by the price of input. */
  write_ratio: number;
  read_ratio: number;
  /** `ratios_assumed` reports whether the model is unpriced. */
  ratios_assumed?: boolean;
}

/** CutPoint records one cut. */
export interface CutPoint {
  generation: number;
  reason: string;
  /** `covers` is the number of host messages seen when the cut was made. */
  covers: number;
  /** `chain` is the hash chain over the keys and contents of these messages. */
  chain: string;
  /** `event` names the cold event that the cut used up, "" for a warm cut. */
  event?: string;
  time?: string;
  /** `before` is the number of tokens of all items before the cut. */
  before: number;
  /** `after` is the number of tokens of all items after the cut. */
  after: number;
}

/** Refusal is a wish, or a part of a wish, that the rules did not allow. */
export interface Refusal {
  /** `page` is the id of the page that the wish was about. */
  page?: string;
  /** `atom` is the number of the atom that the wish was about. */
  atom: number;
  rule: string;
}

/** Reasoning is the thinking that a request no longer shows the model although the message with the thinking stays. */
export interface Reasoning {
  /** `binding` is the model's binding. */
  binding: "none" | "refuses" | "drops" | (string & {});
  /** `left_out_items` is the number of blocks that the request does not send again. */
  left_out_items: number;
  left_out_tokens: number;
  /** `dropped_items` is the number of blocks that the request sends and the provider drops. */
  dropped_items: number;
  dropped_tokens: number;
  /** `stale_items` is the number of blocks that the request sends and that the provider has dropped since an earlier cut. */
  stale_items: number;
  /** `lost_usd` is the price of all lost tokens as output. */
  lost_usd: number | null;
}

/** Reported has a provider's remarks on a request in the answer to it, in addition to usage. */
export interface Reported {
  /** `removed` counts the reasoning items that were withheld from the model, by reason. */
  removed?: Removal[];
  /** `cache_miss` is the reason why the provider's cache was not read. */
  cache_miss?: CacheMiss;
}

/** Removal counts reasoning items that a provider withheld from the model for one reason. */
export interface Removal {
  /** `reason` is prefix_mismatch, turn_boundary, model_mismatch, organization_mismatch or end_user_mismatch. */
  reason: string;
  items: number;
}

/** CacheMiss is a provider's own diagnosis of a cache that was not read. */
export interface CacheMiss {
  /** `reason` is the provider's reason. */
  reason: string;
  tokens: number;
}

/** Lifetimes are the cache lifetimes that the breakpoints request, with the reasons. */
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
  /** `full_tokens` is the size of the page in full. */
  full_tokens: number;
  note?: string;
}

/** Excluded is a page, or a part of a page, that the prompt does not show. */
export interface Excluded {
  kind: string;
  id: string;
  tokens: number;
  /** `reason` is the reason why the page is not shown. */
  reason: string;
}

/** TurnParams hands in the conversation up to the end of a turn. */
export interface TurnParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` say where the conversation comes from. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  branch?: string;
  model?: string;
  conversation?: Conversation;
  /** `plan_id` is the plan that was sent. */
  plan_id?: string;
  /** `usage` is the bill: the object of the provider's answer (Messages API, chat completions, Responses API, Gemini's usageMetadata), or input_tokens, cache_read_tokens, cache_write_5m_tokens and cache_write_1h_tokens, which add up to the prompt, and output_tokens. */
  usage?: object;
  /** `advancement_key` makes the delivery idempotent. */
  advancement_key?: string;
  input_transformations?: any;
  diagnostics?: any;
  prompt_cache_diagnostics?: any;
  /** `updates` are updates of pages, in the form that the method write takes. */
  updates?: Update[];
  /** `more` means that another turn follows at once. */
  more?: boolean;
}

/** Update is one staged change of one field. */
export interface Update {
  /** `id` names the update in its transaction. */
  id?: string;
  /** `key` names the page. */
  key: string;
  /** `type` is the type of the page, which never changes. */
  type?: "bootstrap" | "constraint" | "plan" | "preference" | "evidence" | "conversation";
  field: string;
  /** `op` is how an update changes a field. */
  op: "append" | "merge" | "set_with_version";
  value?: any;
  /** `version` is the version of the field on which a set_with_version is based. */
  version?: number;
  /** `scope` is the scope that the page belongs to. */
  scope: "session" | "project";
  /** `session` is the session that owns a private page, "" for the principal's own session. */
  session?: string;
  /** `evidence_ref` names the source of the update: a reference that Rules.Resolves knows, or a committed update in the form update:TX#UPDATE. */
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
  /** `faults` name the parts of the turn that were not learned. */
  faults?: Fault[];
  conversation?: Mark;
}

/** Rejection is an update that validation refused. */
export interface Rejection {
  /** `id` names the update. */
  id: string;
  /** `code` is a rejection code such as "DESTRUCTIVE_OP". */
  code: string;
  /** `detail` describes the fault. */
  detail?: string;
  body?: any;
}

/** BoundaryParams has the parameters of a call at a boundary of a session, such as its start or its end. */
export interface BoundaryParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` say where the conversation comes from. */
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
  /** `ingested` counts the new pages. */
  ingested: number;
  /** `turns` counts the session's committed turns. */
  turns: number;
  /** `epoch` counts the resets of the session. */
  epoch: number;
  /** `checkpoint` is the newest checkpoint, "" if there is none. */
  checkpoint?: string;
  /** `pinned` are the pages that hosts wrote and that every prompt shows. */
  pinned: string[];
  /** `rejected` are updates that were refused, with their codes. */
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

/** Compaction is the outcome of a compaction on demand. */
export interface Compaction {
  /** `reason` is the outcome of a compaction on demand. */
  reason: "OK" | "NOTHING_TO_CUT" | "ALREADY_AT_FLOOR" | "OPEN_LOOP" | "NO_PROGRESS" | "AT_NEXT_PLAN" | "NOT_PLANNED" | "BUDGET_INSUFFICIENT" | (string & {});
  /** `detail` gives the reason in words, and what can be done. */
  detail?: string;
  /** `tokens_before` is the size that the next plan's prompt would have had without the compaction. */
  tokens_before: number;
  /** `tokens_after` is the size that the next plan's prompt will have. */
  tokens_after: number;
  reclaimed_tokens: number;
  /** `target_tokens` is the size that the prompt should have been reduced to. */
  target_tokens: number;
  /** `fixed_tokens` is the size of system prompt and tools that the host declared without handing in their texts. */
  fixed_tokens: number;
  /** `context_window` is 0 if it is not known. */
  context_window: number;
  /** `atoms` is the number of atoms that left with this compaction. */
  atoms: number;
  /** `messages` is the number of messages that left with this compaction. */
  messages: number;
  /** `lowered` is the number of results that are shown shorter than before. */
  lowered: number;
  /** `spans` are the ids by which Kernel.Get restores the messages that left. */
  spans: string[];
  /** `first_kept` is the first message after all messages that ever left, nil if it is not known. */
  first_kept: KeptMessage | null;
  /** `summary` is the past in the words of the carry block. */
  summary: string;
  /** `summary_version` counts the changes of the summary. */
  summary_version: number;
  /** `restore` is the working state from which the model continues. */
  restore: string;
  /** `checkpoint` is the id of the newest checkpoint, "" if there is none. */
  checkpoint: string;
  /** `generation` is the generation of the projection after the cut. */
  generation: number;
  /** `largest` lists the largest items of the prompt if nothing could be reclaimed. */
  largest: BudgetItem[];
  /** `pinned_tokens` is the size of pins and the workspace's files if nothing could be reclaimed. */
  pinned_tokens: number;
  /** `warning` is a text for a session that is compacted again and again, "" for any other. */
  warning?: string;
  /** `refusal` is the parsed refusal of a provider, nil if there was none. */
  refusal?: BudgetOverflow;
}

/** KeptMessage names a message of the host by its key and its index. */
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

/** BudgetOverflow is a provider's report about a request that it refused as too long. */
export interface BudgetOverflow {
  /** `input_tokens` is the size of the request. */
  input_tokens: number;
  limit_tokens: number;
  answer_tokens: number;
}

export interface CompactParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` say where the conversation comes from. */
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
  /** `target_tokens` is the size to which the prompt should shrink, in tokens. */
  target_tokens?: number;
  /** `target_share` is the size to which the prompt should shrink, as a share of the window. */
  target_share?: number;
  /** `force` also cuts inside an open tool loop. */
  force?: boolean;
  /** `call` has the settings of the next call. */
  call?: CallSettings;
}

/** CallSettings are the settings of a model call. */
export interface CallSettings {
  /** `branch` is the id of a sidechain. */
  branch?: string;
  /** `model` is the provider's id of the model. */
  model?: string;
  /** `context_window` is the size of the window in tokens. */
  context_window?: number;
  /** `reserve` is the room for the answer, in tokens. */
  reserve?: number;
  /** `fixed_tokens` is the size of a system prompt and tools that are not handed in. */
  fixed_tokens?: number;
  /** `system` is the system prompt. */
  system?: string | object[];
  tools?: object[];
  /** `resolver` is the tool by which the model follows pointers. */
  resolver?: string;
  /** `tool_choice`, `thinking`, `effort` and `drop_option` are settings that the provider's cache depends on. */
  tool_choice?: string;
  thinking?: string;
  effort?: string;
  drop_option?: boolean;
  /** `format` is the format of the form body. */
  format?: "anthropic" | "openai" | "responses";
  overflow?: Overflow;
  /** `economy` decides between memory and cost. */
  economy?: "save" | "balanced" | "keep" | number;
}

/** Checkpointed is the answer to checkpoint. */
export interface Checkpointed {
  schema: string;
  session_key: string;
  /** `id` is the id of the newest checkpoint, "" if nothing was captured. */
  id: string;
  /** `text` is YAML. */
  text: string;
  conversation?: Mark;
}

export interface RestoreParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `occasion` is compaction, resume or new. */
  occasion?: string;
  /** `resolver` is the tool or command by which the reader gets the content of an id. */
  resolver?: string;
}

/** Restore is the document of restore. */
export interface Restore {
  schema: string;
  session_key: string;
  /** `checkpoint` is the id of the newest checkpoint, "" if there is none. */
  checkpoint: string;
  /** `net` is the record from which the text was made, "" if there is no record. */
  net: string;
  text: string;
  /** `damaged` are checkpoints and state files that could not be used. */
  damaged: string[];
}

/** FlushTurnParams requests the prompts of a silent turn in which the host's model writes down the facts that should outlive a compaction. */
export interface FlushTurnParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `session_file`, `channel` and `agent_id` say where the conversation comes from. */
  session_file?: string;
  channel?: string;
  agent_id?: string;
  branch?: string;
  model?: string;
  conversation?: Conversation;
  /** `system` and `prompt` are the host's own prompts. */
  system?: string;
  prompt?: string;
}

export interface FlushTurn {
  schema: string;
  system: string;
  /** `prompt` is the user message of the turn. */
  prompt: string;
  /** `section` is the same request as `prompt`, for use inside another prompt whose answer is a text anyway, such as the host's own summary; see FlushReply.Section. */
  section: string;
  /** `path` is the file that the answer will be appended to. */
  path: string;
  /** `max_tokens` is the limit of the answer, in tokens. */
  max_tokens: number;
  conversation?: Mark;
}

/** ObserveFlushParams hands in the model's answer to a flush turn. */
export interface ObserveFlushParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  text: string;
  /** `section` means that `text` is longer than the memories. */
  section?: boolean;
}

export interface Flushed {
  schema: string;
  /** `reason` is OK or NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE. */
  reason: string;
  /** `items` counts the new memories. */
  items: number;
  path?: string;
  /** `unwritten` is why the file does not have the new memories yet, "" if the file has them; see Remembered. */
  unwritten?: string;
  /** `line` describes the outcome to people, in one line such as "flush: 4 entries to memory/2026-11-23.md". */
  line: string;
}

export interface RememberParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `text` is Markdown. */
  text: string;
  /** `path` is a file of memory. */
  path?: string;
  /** `id` makes the call idempotent. */
  id?: string;
  /** `evidence` is where the entry comes from. */
  evidence?: string;
}

export interface Remembered {
  schema: string;
  session_key: string;
  /** `id` is the entry's id. */
  id: string;
  /** `ref` is the place of the entry's text. */
  ref: Ref;
  /** `duplicate`: the file already had the entry. */
  duplicate: boolean;
  /** `late` is the past day's log that the entry was meant for. */
  late?: string;
  /** `masked` counts the secrets that were masked. */
  masked: number;
  /** `edit` names the change, for undo. */
  edit?: string;
  text?: string;
  /** `unwritten` is why the file does not have the entry yet, "" if the file has it. */
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

/** MemoryToolParams is a call of Anthropic's memory tool (memory_20250818). */
export interface MemoryToolParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `input` is the input of the tool call, as the model wrote it. */
  input: any;
}

/** MemoryToolDocument is the result of the model's call. */
export interface MemoryToolDocument {
  schema: string;
  content: string;
  is_error: boolean;
}

export interface ForgetParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `ids` name the pages, spans and blobs to forget. */
  ids?: string[];
  /** `all` forgets the whole session. */
  all?: boolean;
  reason?: string;
  /** `apply` removes the data. */
  apply?: boolean;
}

/** Forget is the document of forget. */
export interface Forget {
  schema: string;
  session_key: string;
  /** `applied` reports whether the pages were forgotten. */
  applied: boolean;
  pages: ForgottenPage[];
  /** `blobs` are the removed blobs. */
  blobs: string[];
  /** `kept_blobs` are the blobs of the forgotten pages that stay because other pages need them. */
  kept_blobs: string[];
  /** `backups` are the hashes of the backups of memory's files that quote the pages. */
  backups: string[];
  /** `bytes` is the size of the pages. */
  bytes: number;
  /** `already` are ids that were forgotten before. */
  already: string[];
  /** `elsewhere` names other places with the same content, which stay: pages of equal content, texts that hosts wrote, and entries of memory files. */
  elsewhere: string[];
  /** `transcripts` are the searchable documents that were made from the session. */
  transcripts: Forgotten[];
  /** `memory` lists the files of facts that the session imported from other programs. */
  memory: ForgottenFacts[];
}

/** ForgottenPage is a page that was forgotten. */
export interface ForgottenPage {
  /** `session` is the key of the page's session. */
  session: string;
  id: string;
  /** `type` is the kind of a page. */
  type: "bootstrap" | "constraint" | "plan" | "preference" | "evidence" | "conversation" | (string & {});
  /** `tool` is the called tool, "" for a message. */
  tool: string;
  /** `path` is the path that the call names, "" if it names no path. */
  path: string;
  bytes: number;
  created?: string;
}

/** Forgotten is a conversation that was forgotten or would be forgotten. */
export interface Forgotten {
  agent: string;
  key: string;
  /** `path` is the transcript from which the conversation was read. */
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
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `apply` removes data that is older than the configuration keeps. */
  apply?: boolean;
  now?: string;
}

/** Retained lists the data that was removed, or would be. */
export interface Retained {
  schema: string;
  /** `applied` reports whether the data was removed. */
  applied: boolean;
  /** `ended` are the sessions that are removed as a whole. */
  ended: EndedSession[];
  /** `cited` are the keys of equally old sessions that stay because memory names their pages. */
  cited: string[];
  /** `sessions` are the sessions that lose data, and old sessions that stay. */
  sessions: RetainedSession[];
  /** `unreadable` are the sessions that can't be read. */
  unreadable: Finding[];
  /** `blobs` counts the removed blobs, including orphans. */
  blobs: number;
  /** `blob_bytes` is the size of the removed blobs. */
  blob_bytes: number;
  /** `orphans` counts the removed blobs that no page of any session holds. */
  orphans: number;
  orphan_bytes: number;
  /** `backups` counts the removed backups of memory's files. */
  backups: number;
  /** `backup_bytes` is the size of these backups. */
  backup_bytes: number;
}

/** EndedSession is a session that is removed. */
export interface EndedSession {
  /** `session` is the session's key. */
  session: string;
  /** `last` is the time of the session's last use. */
  last: string;
  /** `bytes` is the size of the session's folder, without blobs. */
  bytes: number;
}

/** RetainedSession is the data of one session that is removed. */
export interface RetainedSession {
  /** `session` is the session's key. */
  session: string;
  /** `pages` counts the pages that lose their content. */
  pages: number;
  /** `pointed` counts the equally old pages that keep their content because a prompt or memory points to them. */
  pointed: number;
  /** `idle`: the session was last planned so long ago that it has no prompt left. */
  idle: boolean;
  /** `usage_rows` is the number of rows that are removed from usage.jsonl. */
  usage_rows: number;
  /** `trace_bytes` is the size of the removed trace. */
  trace_bytes: number;
}

/** Finding is one result of a check. */
export interface Finding {
  /** `session` is the session's key, or its folder if the key is not known; "" for a finding about no session. */
  session: string;
  /** `what` describes the finding. */
  what: string;
  /** `hint` describes the remedy, "" if there is nothing to mend. */
  hint: string;
}

/** SearchParams searches memory. */
export interface SearchParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` is the session whose past sessions are also searched. */
  session_key?: string;
  private?: boolean;
  /** `query` is the question in the user's words. */
  query: string;
  max_results?: number;
  min_score?: number;
  /** `scope` names the folders, tags or projects to look in. */
  scope?: string[];
  /** `lines` returns a result for each passage, instead of one result for each place. */
  lines?: boolean;
  now?: string;
}

/** Search is the document of search. */
export interface Search {
  schema: string;
  query: string;
  /** `results` are places, the best first. */
  results: Hit[];
  /** `reason` is the outcome of a search of memory. */
  reason: "OK" | "NO_MATCH" | "DENIED" | "BACKEND_ERROR" | "DISABLED" | "INDEXING" | "STALE_INDEX" | (string & {});
  /** `mode` is the means by which a question was answered. */
  mode: "hybrid" | "keyword" | "vector" | "disabled" | (string & {});
  /** `detail` is the reason why there are no results, or names the missing part of the search. */
  detail: string;
  /** `behind` is the lag of the index. */
  behind?: Lag;
  /** `progress` is the progress of the index if the reason is INDEXING. */
  progress?: Progress;
  /** `withheld` are parts of memory that a shared session may not see. */
  withheld?: Withheld[];
  /** `weak` reports whether the results are probably unrelated to the question. */
  weak?: boolean;
  /** `also_asked` are the other texts that were searched for in addition to the words of the question. */
  also_asked?: Also[];
}

/** Hit is a piece of memory, or of the session, that answers a question. */
export interface Hit {
  /** `kind` is the kind of source of a hit. */
  kind: "memory" | "session" | "foreign" | (string & {});
  /** `source` is the caller's name for the part of memory from which the hit comes. */
  source?: string;
  /** `id` is the `id` of the chunk, the span or the record. */
  id: string;
  /** `path` is "" for spans and records. */
  path: string;
  /** `start_line` and `end_line` are 1-based and inclusive, in the file or in the span's text. */
  start_line: number;
  end_line: number;
  /** `trail` is the headings above the hit, outermost first. */
  trail?: string[];
  /** `origin` is the source of another system's record. */
  origin?: string;
  /** `date` is YYYY-MM-DD or "". */
  date?: string;
  /** `score` is 0 to 1. */
  score: number;
  parts: Parts;
  /** `snippet` is the part of the text that holds most of the question's words, at most 700 characters; "" if the Query wants none. */
  snippet: string;
  /** `snippet_start_line` and `snippet_end_line` are the first and last line of `snippet`. */
  snippet_start_line: number;
  snippet_end_line: number;
  /** `citation` names file and lines, or the span. */
  citation: string;
  /** `superseded_by` is the citation of the hit's replacement, or "" if no replacement is known. */
  superseded_by?: string;
  /** `more` holds the other shown parts of the hit's place, in the order of their lines. */
  more?: More[];
  /** `dates` are the days that the hit's text, or the text of `more`, names relative to the text's own day or without a year. */
  dates?: Dated[];
}

/** Parts are the parts of a hit's score. */
export interface Parts {
  /** `keyword` is the score of the search by words, or 0 if this search did not find the hit. */
  keyword: number;
  /** `keyword_rank` is the rank in the search by words, from 1, or 0 if this search did not find the hit. */
  keyword_rank?: number;
  /** `vector` is the score of the search by vectors, or 0 if this search did not find the hit. */
  vector: number;
  vector_rank?: number;
  /** `merged` is the weighted mean of `keyword` and `vector`. */
  merged: number;
  decay: number;
  /** `age_days` is 0 for a hit that doesn't age. */
  age_days?: number;
  /** `rank` is the rank of the hit before diversity, from 1. */
  rank: number;
  /** `similarity` is the overlap with the most similar of the hits above, as diversity measured it. */
  similarity?: number;
}

/** More is a further run of lines of a hit's place. */
export interface More {
  /** `start_line` and `end_line` are the first and last line of `text`, counted like the hit's lines. */
  start_line: number;
  end_line: number;
  score: number;
  text: string;
  /** `trail` is the headings above the run, or nil if they are the same as the hit's. */
  trail?: string[];
  /** `citation` names the run's lines. */
  citation: string;
  /** `superseded_by` is as in Hit. */
  superseded_by?: string;
  /** `id` is the `id` of the run's chunk or span. */
  id: string;
}

/** Dated is an expression of time in a text and the date that it means. */
export interface Dated {
  /** `line` is the line of the expression, counted like the hit's lines. */
  line: number;
  /** `text` is the expression, in the words of the text. */
  text: string;
  /** `date` is YYYY-MM-DD, YYYY-MM or YYYY. */
  date: string;
}

/** Lag counts the changes of files that an index does not have yet. */
export interface Lag {
  /** `files` counts the files that were added or written since the last Sync. */
  files: number;
  /** `removed` counts the files that no longer exist. */
  removed: number;
  /** `bytes` are the sizes of `files`. */
  bytes: number;
  /** `rules` reports whether the index was made by other rules. */
  rules: boolean;
}

/** Progress is the progress of an index, which has `files` of `total` files. */
export interface Progress {
  files: number;
  total: number;
}

/** Also is a spelling in memory that was searched in addition to one or two words of the question. */
export interface Also {
  /** `typed` is the spelling in the question. */
  typed: string;
  /** `asked` are the spellings in memory. */
  asked: string[];
}

export interface ReadParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` is the session whose past sessions may be read. */
  session_key?: string;
  private?: boolean;
  /** `path` is a file of memory, or a past session of the session's agent. */
  path: string;
  /** `from` is the first line to read, counted from 1. */
  from?: number;
  lines?: number;
}

/** Get is the document of get and read, for pages and for files. */
export interface Get {
  schema: string;
  /** `session_key` is "" for a file, and if several sessions have the id with different content. */
  session_key: string;
  /** `sessions` lists the sessions that have the page, if the call named no session. */
  sessions?: string[];
  /** `id` is the requested identifier. */
  id: string;
  /** `reason` is OK, or the reason why there is no text: NO_MATCH, FORGOTTEN, DENIED or AMBIGUOUS. */
  reason: string;
  detail: string;
  /** `bytes` is the size of the content. */
  bytes: number;
  /** `encoding` is utf-8, or base64 for content that is not text. */
  encoding: string;
  text: string;
  /** `pages` are the members of a span, in order. */
  pages: string[];
  /** `path` is the path of a file, "" for a page. */
  path: string;
  /** `start_line` is the first line of the text and `end_line` is the last line. */
  start_line: number;
  end_line: number;
  /** `truncated` reports whether the text was cut at 32 MiB. */
  truncated: boolean;
  /** `version` is the version of the whole file, for callers that edit it. */
  version: string;
  /** `references` are the parts of a page that are stored as blobs. */
  references: Reference[];
}

/** Reference names, by its hash, content that the blob store holds once. */
export interface Reference {
  /** `type` is tool_output_ref, text_ref for a message, image_ref, audio_ref, video_ref or, for an attachment of any other type, document_ref. */
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
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  session_key?: string;
  /** `id` is the id of a page, a span or a blob. */
  id: string;
}

/** WriteParams stages, checks and commits updates of pages. */
export interface WriteParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  /** `key` makes the delivery idempotent. */
  key?: string;
  point?: string;
  by?: string;
  project?: boolean;
  /** `all_or_nothing` commits no update if any update is rejected. */
  all_or_nothing?: boolean;
  updates: Update[];
}

export interface Receipt {
  schema: string;
  session_key: string;
  /** `outcome` is "rejected" if nothing was accepted, or if not all updates of an all-or-nothing transaction were. */
  outcome: "committed" | "duplicate" | "conflict" | "rejected" | (string & {});
  /** `seq` is the number of this writeback among the journal's committed ones, counted from 1. */
  seq?: number;
  /** `point` is the boundary at which a transaction was committed. */
  point?: "turn" | "eviction" | "downgrade" | "flush" | "compaction" | "reset" | "session_end" | "close" | (string & {});
  /** `accepted` are the updates that were committed. */
  accepted?: string[];
  /** `rejected` are all other updates with their codes. */
  rejected?: Rejection[];
}

/** SessionParams has the common parameters of the calls of a session. */
export interface SessionParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
}

export interface PagesDocument {
  schema: string;
  session_key: string;
  pages: StoredPage[];
}

/** StoredPage is a committed page with its fields by name. */
export interface StoredPage {
  /** `scope` says who may see a page or a memory. */
  scope: "session" | "project" | (string & {});
  session?: string;
  key: string;
  /** `type` is the kind of a page. */
  type: "bootstrap" | "constraint" | "plan" | "preference" | "evidence" | "conversation" | (string & {});
  version: number;
  fields: StoredField[];
}

/** StoredField is a field of a page, with its entries in the order in which they were first committed. */
export interface StoredField {
  name: string;
  /** `kind` is the structure of a field. */
  kind: "list" | "map" | "scalar" | (string & {});
  version: number;
  entries: Entry[];
}

/** Entry is a list's entry, a map's member or, with `id` "", a scalar. */
export interface Entry {
  id?: string;
  versions: Version[];
}

/** Version is one committed value. */
export interface Version {
  /** `version` counts from 1. */
  version: number;
  value: any;
  /** `seq` is the number of the commit that made the version. */
  seq: number;
  /** `tx` is the key of the commit's transaction. */
  tx: string;
  /** `update` is the id of the update in the transaction. */
  update: string;
  /** `time` is the time of the transaction. */
  time?: string;
  /** `by` is the principal's name. */
  by?: string;
  /** `session` is the principal's session. */
  session?: string;
  /** `evidence_ref` is the provenance. */
  evidence_ref: string;
}

/** Status describes the content of a state directory. */
export interface Status {
  schema: string;
  state_dir: string;
  sessions: SessionStatus[];
  /** `others` are the sessions that were not read, the newest first. */
  others: OtherSession[];
  /** `unreadable` are the sessions that can't be read, with the reason. */
  unreadable: Finding[];
  /** `blobs` counts the blobs in the store. */
  blobs: number;
  /** `blob_bytes` is the size of these blobs. */
  blob_bytes: number;
  /** `masked` counts the secrets that were masked in stored pages, by rule. */
  masked: MaskCount[];
  /** `forgotten` counts the forgotten pages. */
  forgotten: number;
  /** `retired` counts the pages whose content retention removed. */
  retired: number;
  /** `memory` describes the memory in the workspace's Markdown. */
  memory: MemoryStatus;
  /** `nets` describes the copies of the sessions' working state in the workspace's Markdown. */
  nets: NetsStatus;
  /** `summary_models` are the models that were asked for notes, with their cool-downs. */
  summary_models: Cooldown[];
}

/** SessionStatus describes the stored state of one session. */
export interface SessionStatus {
  /** `key` is the session's key, as the host spells it. */
  key: string;
  /** `folder` is the name of the session's folder. */
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
  /** `paging` sums up the paging of the plans of all the session's conversations. */
  paging: Report;
  /** `journal_bytes` is the size of the journal. */
  journal_bytes: number;
  /** `projection_bytes` is the size of the projections' files. */
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
  /** `last_cut` is the newest cut, nil if the line had no cut. */
  last_cut: LineCut | null;
  /** `futile_cuts` counts the newest cuts in a row that reclaimed next to nothing. */
  futile_cuts: number;
  /** `breaker_open`: further cuts are refused until the prompt grows. */
  breaker_open: boolean;
  /** `refusals` counts the provider's refusals in a row that were answered by smaller plans. */
  refusals: number;
  /** `learned_window` is the window that the provider named, 0 if it never named one. */
  learned_window: number;
}

/** LineCut is a cut of a line. */
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
  /** `model` is the model that was last asked for notes. */
  model: string;
  /** `time` is the time of that request. */
  time: string;
  /** `messages` is the number of messages that the request was about. */
  messages: number;
  /** `operations` is the number of operations that the model proposed. */
  operations: number;
  /** `reason` is OK, or why there are no notes on these messages. */
  reason: "OK" | "EMPTY" | "TOO_LARGE" | "INVALID" | "TIMEOUT" | "RATE_LIMITED" | "SERVER_ERROR" | "REFUSED" | "UNREACHABLE" | "CANCELLED" | "NOT_WRITTEN" | (string & {});
  /** `deltas` counts the answers of models. */
  deltas: number;
  /** `notes` counts all notes, open or closed. */
  notes: number;
  /** `closed` counts the closed notes. */
  closed: number;
}

/** LifeStatus describes the boundaries of a session and their outcomes. */
export interface LifeStatus {
  /** `epoch` counts the resets. */
  epoch: number;
  /** `compactions` counts the host's compactions since the last reset. */
  compactions: number;
  /** `last_compaction` is the time of the newest compaction. */
  last_compaction?: string;
  /** `checkpoints` are the checkpoints on disk, newest first. */
  checkpoints: string[];
  /** `flushed` counts the entries that flushes wrote to the day's logs. */
  flushed: number;
  /** `last_flush` is the time of the newest flush. */
  last_flush?: string;
  /** `flushed_by_model` counts the flushed entries that the session's model wrote. */
  flushed_by_model: number;
  /** `last_flush_items` is the number of items of the newest flush. */
  last_flush_items?: number;
  /** `last_flush_path` is the file of the newest flush. */
  last_flush_path?: string;
  /** `cut_waiting` reports that a compaction was requested and that the next plan will make it. */
  cut_waiting: boolean;
  /** `warning` is a text for a session that was compacted too often, "" for any other. */
  warning?: string;
}

/** Report is the summary of counts. */
export interface Report {
  /** `explicit_faults` is the number of all faults except pinned misses. */
  explicit_faults: number;
  /** `fault_codes` counts all faults by code. */
  fault_codes: { [name: string]: number };
  /** `alerts` is the number of duplicate_signature alerts. */
  alerts: number;
  hits: number;
  /** `thrash` is the thrash index of the paper's Appendix A: explicit faults and alerts over hits plus one. */
  thrash: number;
}

/** OtherSession is a session that was not read. */
export interface OtherSession {
  key: string;
  /** `folder` is the name of the session's folder below sessions. */
  folder: string;
  /** `bytes` is the size of the session's journal and projections. */
  bytes: number;
  /** `last` is the time of the last write to these files. */
  last?: string;
}

/** MaskCount is the number of secrets that a rule found. */
export interface MaskCount {
  /** `rule` is "unknown" for pages of versions that did not record the rule. */
  rule: string;
  count: number;
}

/** MemoryStatus holds the settings of memory and the size of its index. */
export interface MemoryStatus {
  /** `workspace` is the folder of the Markdown. */
  workspace: string;
  enabled: boolean;
  /** `bootstrap` names the files of standing instructions. */
  bootstrap: string[];
  /** `remembered` reports whether a session begins with MEMORY.md and USER.md. */
  remembered: boolean;
  /** `daily_logs` reports whether a session begins with the logs of two days. */
  daily_logs: boolean;
  /** `workspace_tokens`, `recall_tokens` and `recall_items` limit the memory in a prompt; 0 allows none. */
  workspace_tokens: number;
  recall_tokens: number;
  recall_items: number;
  /** `embedder` is the model that turns questions into vectors, "" if memory is searched by words only. */
  embedder: string;
  index: IndexStatus;
  /** `sync` is the state of the index's updates. */
  sync: SyncStatus;
  /** `sessions` counts the past sessions that are searched. */
  sessions: PastSessions;
  /** `collections` are the names of the searched collections: the workspace, and folders outside the workspace. */
  collections: string[];
  /** `searched_files` counts the files that a search reads. */
  searched_files: number;
  standing_files: number;
  /** `left_out` are all other Markdown files. */
  left_out: LeftOut;
}

/** IndexStatus describes an index file. */
export interface IndexStatus {
  /** `backend` is the kind of index: sqlite, postgres or qmd. */
  backend: string;
  /** `path` is the index file, or the name of the database. */
  path: string;
  /** `state` is the state of an index file, in one word. */
  state: "ok" | "off" | "missing" | "foreign" | "newer" | "older" | "damaged" | "failed" | (string & {});
  /** `detail` is the error if the index can't be read. */
  detail?: string;
  files: number;
  /** `unread` counts the files that could not be read at the last try. */
  unread: number;
  chunks: number;
  /** `text_bytes` is the size of the chunks' text. */
  text_bytes: number;
  /** `file_bytes` is the size of the index file with its log. */
  file_bytes: number;
  /** `model` is the model that made the vectors. */
  model: string;
  /** `vectors` counts the chunks that have a vector. */
  vectors: number;
  /** `behind` reports that files or the rules have changed since the files were indexed. */
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
  /** `last` is the last run of this kernel. */
  last?: SyncRun;
}

/** WatchStatus is the state of the watch over the workspace's folders. */
export interface WatchStatus {
  /** `on` reports that changes are seen as they happen. */
  on: boolean;
  /** `folders` counts the watched folders. */
  folders: number;
  /** `detail` is why the watch is off, or why it sees only some folders; "" otherwise. */
  detail?: string;
}

/** SyncRun is one update of the index. */
export interface SyncRun {
  /** `reason` is the event that started the syncer's last pass: session_start, search, interval, watch, or reindex for a reindex that somebody requested. */
  reason: string;
  /** `time` is the time at which the update ended. */
  time: string;
  /** `files` counts the files that were read. */
  files: number;
  /** `removed` counts the files that are gone. */
  removed: number;
  /** `process` is the process that made the update. */
  process: number;
  /** `watching` reports whether that process saw changes as they happened. */
  watching: boolean;
  /** `error` is why the update failed, or why vectors are missing; "" otherwise. */
  error?: string;
}

/** PastSessions counts the stored past sessions. */
export interface PastSessions {
  enabled: boolean;
  agent: string;
  /** `sources` are the folders of transcripts. */
  sources: string[];
  /** `own` reports whether the kernel's own sessions are read too. */
  own: boolean;
  /** `sessions` counts the sessions that can be found. */
  sessions: number;
  /** `turns` counts the turns in these sessions. */
  turns: number;
  /** `forgotten` counts the keys that were forgotten. */
  forgotten: number;
  /** `error` is why the past sessions can't be counted, "" if they were counted. */
  error?: string;
}

/** LeftOut counts the Markdown files that are left out, and names some. */
export interface LeftOut {
  files: number;
  /** `reasons` are the reasons that occur, the most interesting first. */
  reasons: LeftCount[];
  /** `first` are at most ten files, in the order of their reasons. */
  first: LeftFile[];
  /** `more` reports whether the counts may be too low. */
  more: boolean;
}

/** LeftCount is the number of files that are left out for a reason. */
export interface LeftCount {
  /** `reason` is the reason why a Markdown file of the workspace is not memory. */
  reason: "unreadable" | "no_text" | "shadowed" | "too_large" | "name" | "link" | "excluded" | "gitignore" | "not_included" | "hidden" | "generated" | (string & {});
  files: number;
}

/** LeftFile is a file that is left out. */
export interface LeftFile {
  path: string;
  /** `reason` is the reason why a Markdown file of the workspace is not memory. */
  reason: "unreadable" | "no_text" | "shadowed" | "too_large" | "name" | "link" | "excluded" | "gitignore" | "not_included" | "hidden" | "generated" | (string & {});
}

/** NetsStatus describes the copies of the sessions' working state in the workspace's Markdown. */
export interface NetsStatus {
  session_state: StateFileStatus;
  working_buffer: BufferStatus;
}

/** StateFileStatus describes SESSION-STATE.md. */
export interface StateFileStatus {
  path: string;
  /** `enabled` reports whether the kernel writes its section of the file. */
  enabled: boolean;
  /** `size_bytes` is the file's size, 0 if there is no file. */
  size_bytes: number;
  /** `other_bytes` is the size of the text in the file that the kernel did not write. */
  other_bytes: number;
  /** `session` is the folder of the session whose section the file has, "" if the file has no section. */
  session: string;
  /** `epoch` is the session's epoch when the section was written. */
  epoch: number;
  /** `messages` is the number of the session's messages when the section was written. */
  messages: number;
  /** `time` is the time at which the section was written. */
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
  /** `entries` counts the kernel's entries. */
  entries: number;
  /** `newest` is the time of the last entry. */
  newest?: string;
  /** `last_dump` is the last time at which the whole state was written. */
  last_dump?: string;
  /** `detail` is why the file can't be read. */
  detail?: string;
}

/** Cooldown is the pause before a model that makes notes is asked again. */
export interface Cooldown {
  model: string;
  /** `failures` counts the failures since the last usable answer. */
  failures: number;
  /** `until` is the time from which the model is asked again. */
  until?: string;
  /** `reason` is the reason of the last failure. */
  reason: "OK" | "EMPTY" | "TOO_LARGE" | "INVALID" | "TIMEOUT" | "RATE_LIMITED" | "SERVER_ERROR" | "REFUSED" | "UNREACHABLE" | "CANCELLED" | "NOT_WRITTEN" | (string & {});
  /** `detail` describes the last failure. */
  detail?: string;
  /** `failed` is the time of the last failure. */
  failed?: string;
  /** `answered` is the time of the last usable answer. */
  answered?: string;
}

/** Check is the document of check. */
export interface Check {
  schema: string;
  state_dir: string;
  /** `ok` reports whether nothing was found. */
  ok: boolean;
  findings: Finding[];
}

export interface UsageParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  session_key?: string;
  since?: string;
}

/** DocumentStats is the document of stats. */
export interface DocumentStats {
  schema: string;
  /** `total` sums all selected calls. */
  total: Sum;
  /** `sessions` sums the calls by folder of the session, sorted by name. */
  sessions: Sum[];
  /** `days` sums the calls by date, sorted by name. */
  days: Sum[];
  /** `models` sums the calls by model id, sorted by name. */
  models: Sum[];
  /** `torn` are files whose last line is incomplete, as after a kill. */
  torn: string[];
  /** `calls` is sorted by time. */
  calls: StatsCall[];
}

/** Sum adds up calls. */
export interface Sum {
  /** `name` is total, the key of the session, the date, or the model. */
  name: string;
  calls: number;
  /** `turns` counts the user turns in which the calls were made, as far as the turns were logged. */
  turns: number;
  /** `compared_calls` counts the calls that have a plan to compare with. */
  compared_calls: number;
  planned: Tokens;
  billed_compared: Tokens;
  /** `billed` covers all calls. */
  billed: Tokens;
  /** The costs cover the input side of the calls with a price. */
  planned_cost_usd: number | null;
  billed_compared_cost_usd: number | null;
  billed_cost_usd: number | null;
  /** `unpriced_calls` counts the calls without a price. */
  unpriced_calls: number;
  /** `hit_ratio` is the share of billed input that was read from the cache; nil if nothing was billed. */
  hit_ratio: number | null;
  /** `cuts` counts the cuts that the plans made. */
  cuts: number;
  /** `saved_tokens` is the number of tokens that the cuts kept out of all prompts. */
  saved_tokens: number;
  /** `reasoning` counts the lost reasoning of the models. */
  reasoning: BillingReasoning;
  /** `broke` sums up the warm caches that hosts broke, by the part of the request that the host changed. */
  broke: Broken[];
  /** `first_sight` sums up the content that was left out of prompts at first sight, by kind. */
  first_sight: FirstSight[];
  /** `billed_usd` is the cost of the calls, answers included. */
  billed_usd: number | null;
  /** `without_usd` is the estimated cost of the same calls without memkernel. */
  without_usd: number | null;
  /** `estimated_calls` counts the calls that the estimate was made for. */
  estimated_calls: number;
  /** `cold_expected` counts the calls that were planned as cold. */
  cold_expected: number;
  /** `cold_seen` counts the calls that were billed as cold. */
  cold_seen: number;
  /** `cold_expected_and_seen` counts the calls that were both planned and billed as cold. */
  cold_expected_and_seen: number;
  /** The errors are medians of |planned − billed| / billed over the compared calls. */
  input_error_median: number | null;
  cache_read_error_median: number | null;
  cache_write_error_median: number | null;
}

/** Tokens counts input tokens by the way in which they were billed, and their sum. */
export interface Tokens {
  uncached_tokens: number;
  cache_read_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  /** `input_tokens` is the sum of the other fields. */
  input_tokens: number;
}

/** BillingReasoning counts the lost reasoning of the models. */
export interface BillingReasoning {
  /** `left_out_items` counts the reasoning items that plans left out. */
  left_out_items: number;
  left_out_tokens: number;
  /** `dropped_items` counts the thinking blocks that plans sent for the provider to drop, by the plans' own count. */
  dropped_items: number;
  dropped_tokens: number;
  /** `lost_usd` is the price of the left out and the dropped reasoning as output. */
  lost_usd: number | null;
  /** `removed` are the removals that the providers reported. */
  removed: Removal[];
}

/** Broken sums up changes by which hosts broke warm caches. */
export interface Broken {
  /** `what` names the part that the hosts changed, as in cachelayout.Broke. */
  what: string;
  times: number;
  /** `tokens` is the number of tokens that were written although they could have been read from the cache. */
  tokens: number;
  /** `usd` is the additional cost of these tokens. */
  usd: number | null;
}

/** FirstSight sums up results of a kind that were shortened before the model saw them. */
export interface FirstSight {
  /** `kind` is the kind of content, as in represent.Door. */
  kind: string;
  results: number;
  /** `tokens` is the number of tokens that were left out of the first prompts with the results. */
  tokens: number;
  /** `fetched_tokens` is the number of tokens that came back when the model read the results whole. */
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
  /** `planned` is null if no plan was recorded. */
  planned: Tokens | null;
  billed: Tokens;
  planned_cost_usd: number | null;
  /** `billed_cost_usd` is null for a model without a price. */
  billed_cost_usd: number | null;
  /** `cut` reports whether the plan made a cut. */
  cut: boolean;
  /** `saved_tokens` counts the tokens that cuts kept out of this prompt. */
  saved_tokens: number;
  /** `billed_usd` is the bill, including the answer. */
  billed_usd: number | null;
  without_usd: number | null;
  cold_expected: boolean | null;
  /** `cold_seen` is null for a first call, after a cut, and if nothing could be cached. */
  cold_seen: boolean | null;
  /** `reasoning` is the model's reasoning that the plan lost, null if the plan lost none. */
  reasoning: Reasoning | null;
  reported: Reported | null;
  /** `broke` is the part of a warm cache that the host broke, null if the host broke nothing. */
  broke: Broke | null;
}

export interface ReindexParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `full` makes the index anew. */
  full?: boolean;
  /** `wait_ms` is how long to wait for another process that is indexing. */
  wait_ms?: number;
  /** `progress` requests $/progress notifications before the answer. */
  progress?: boolean;
}

/** Reindex is the document of reindex. */
export interface Reindex {
  schema: string;
  /** `index` is the index file, or the database without its password. */
  index: string;
  /** `rebuilt` is the reason why the index was rebuilt, "" if it was not rebuilt. */
  rebuilt: string;
  /** `aside` is the place of the old file, "" if the old file is not kept. */
  aside: string;
  files: ReindexFiles;
  chunks: ReindexChunks;
  vectors: ReindexVectors;
  /** `sessions` counts the past sessions, if past sessions are searched. */
  sessions: ReindexSessions;
  /** `skipped` lists the files that were not indexed. */
  skipped: SkippedFile[];
  notes: SkippedFile[];
  /** `left_out` is the Markdown of the workspace that is not memory. */
  left_out: LeftOut;
  /** `bytes` is the number of bytes read. */
  bytes: number;
  seconds: number;
  /** `mb_per_second` is the number of megabytes (10⁶ bytes) read per second. */
  mb_per_second: number;
  chunks_per_second: number;
  /** `index_bytes` is the size of the index on disk after the run. */
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
  /** `total` is the number of chunks after the run. */
  total: number;
}

/** ReindexVectors counts vectors. */
export interface ReindexVectors {
  /** `model` is "" without vectors. */
  model: string;
  embedded: number;
  /** `refused` counts the texts that the provider rejects. */
  refused: number;
  /** `refused_reason` is the reason for the first refusal, "" if no text was refused. */
  refused_reason: string;
  /** `total` is the number of chunks with a vector after the run. */
  total: number;
  /** `estimate` is the amount of text to embed, counted before the run. */
  estimate: Estimate | null;
  /** `error` is the reason why vectors are missing, "" if no vector is missing. */
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
  /** `read` counts the new, grown or rewritten sessions. */
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

/** ToolsListParams requests the memory tools for a model. */
export interface ToolsListParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
  private?: boolean;
  format?: "anthropic" | "mcp";
  /** `all` also lists the tools and arguments that few conversations need. */
  all?: boolean;
}

/** ToolDefinitions is the answer to tools.list. */
export interface ToolDefinitions {
  schema: string;
  tools: object[];
}

export interface ToolsParams {
  /** `deadline_ms` is how long the call may take, in milliseconds. */
  deadline_ms?: number;
  /** `session_key` names the session. */
  session_key?: string;
  /** `now` is the time of the call. */
  now?: string;
  /** `private` means that the session belongs to one person, so that MEMORY.md and USER.md may be shown. */
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
  "memory.tool": { params: MemoryToolParams; result: MemoryToolDocument };
  forget: { params: ForgetParams; result: Forget };
  retain: { params: RetainParams; result: Retained };
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
  /** Answer a call of Anthropic's memory tool */
  memoryTool(params: MemoryToolParams, options?: CallOptions): Promise<MemoryToolDocument>;
  /** Tell what removing pages or a session for good takes, or do it */
  forget(params?: ForgetParams, options?: CallOptions): Promise<Forget>;
  /** Tell what is older than it is to be kept, or remove it */
  retain(params?: RetainParams, options?: CallOptions): Promise<Retained>;
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
