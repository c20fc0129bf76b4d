import { EventEmitter } from "node:events";
import type { Socket } from "node:net";

export const PROTOCOL: 1;

export type Dialect = "anthropic" | "openai" | "codex" | "pi";
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** Members of a document that doc/json.md describes. */
export interface Document { schema: string; [member: string]: any }

export class MemkernelError extends Error {
  /** The number of JSON-RPC, 0 for what the daemon did not say. */
  number: number;
  /** The reason in one word, such as BUDGET_INSUFFICIENT, DEADLINE or CLOSED. */
  code: string;
  hint: string;
  /** The call may have been carried out all the same: deliver it again. */
  started: boolean;
  /** What stands in a file that is not what was read, with the code CONFLICT. */
  current?: { path: string; version: string; text: string; start_line: number; end_line: number; lines: number };
  missing_tokens?: number;
}

export interface ConnectOptions {
  /** The project's folder; default the current one. */
  workspace?: string;
  stateDir?: string;
  /** A socket to connect to; then no daemon is started. */
  socket?: string;
  /** The program; default "memkernel". */
  binary?: string;
  /** Further arguments of the daemon. */
  args?: string[];
  /** When a daemon that is started here ends unused; default "15m". */
  idle?: string;
  startTimeoutMs?: number;
  /** Of every call; default 60000, 0 for none. */
  timeoutMs?: number;
  name?: string;
}

export interface CallOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export interface Progress { id: number; stage: "index" | "embed"; done: number; total: number; files: number; chunks: number }
export interface Mark { base: string; count: number }
export interface Conversation { dialect?: Dialect; base?: string; keep?: number; messages: object[]; keys?: string[] }
export interface SessionParams { session_key?: string; private?: boolean; now?: string; deadline_ms?: number }
/** What a call was billed, as the provider's answer has it, or with the members of doc/rpc.md. */
export type Usage = object;
/** Where a conversation comes from, as the session's checkpoints name it. */
export interface SourceParams { session_file?: string; channel?: string; agent_id?: string }
export interface Overflow { text?: string; input_tokens?: number; limit_tokens?: number; plan_id?: string }
export interface Update { id?: string; key: string; type?: string; field: string; op: "append" | "merge" | "set_with_version"; value?: Json; version?: number; scope: "session" | "project"; session?: string; evidence_ref: string }

export interface CallSettings {
  branch?: string; model?: string; context_window?: number; reserve?: number; fixed_tokens?: number;
  system?: string | object[]; tools?: object[]; resolver?: string; tool_choice?: string; thinking?: string; effort?: string;
  drop_option?: boolean; format?: "anthropic" | "openai" | "responses"; overflow?: Overflow;
  economy?: "save" | "balanced" | "keep" | number;
}
export interface PlanParams extends SessionParams, SourceParams, CallSettings {
  conversation?: Conversation; prompt?: string; turn?: string; ttl_seconds?: number;
  memories?: { format?: string; answer: Json; scope?: "session" | "project" }[];
  form?: "items" | "body" | "none"; explain?: boolean; max_tokens?: number; known_plan?: string; loaded?: string[];
}
export interface Item { host?: [number, number]; message?: any; known?: number; replaces?: [number, number] }
export interface Fault { code: string; detail: string; page?: string; key?: string }
export interface Plan extends Document {
  plan_id: string; session_key: string; branch: string; model: string; generation: number; cut: boolean; cold: boolean;
  flush_due: "" | "tokens" | "transcript_bytes"; format: string; count: number; items?: Item[]; body?: any;
  markers: { message: number; ttl: string; why: string }[];
  budgets: { context_window: number; reserve_tokens: number; planned_input_tokens: number; planned_cache_read_tokens: number;
    planned_cache_write_tokens: number; planned_uncached_tokens: number; planned_cost_usd: number | null; tokens_are: string;
    margin_tokens: number; utilization: number };
  regions: { name: string; tokens: number }[];
  params: { thinking_off: boolean; drop_option: boolean; betas: string[]; cache_key?: string };
  faults: Fault[]; alerts: Fault[]; conversation?: Mark;
}
export interface TurnParams extends SessionParams, SourceParams {
  branch?: string; model?: string; conversation?: Conversation; plan_id?: string; usage?: Usage | null; advancement_key?: string; updates?: Update[]; more?: boolean;
}
export interface Observation extends Document {
  outcome: "committed" | "duplicate" | "conflict" | "open_turn"; advancement_key: string; ingested: number; turns: number; conversation?: Mark;
}
export interface BoundaryParams extends SessionParams, SourceParams {
  branch?: string; model?: string; conversation?: Conversation; updates?: Update[]; key?: string; reason?: string;
}
export interface CompactParams extends BoundaryParams { target_tokens?: number; target_share?: number; force?: boolean; call?: CallSettings }
export interface Passed extends Document { outcome: "committed" | "duplicate"; ingested: number; turns: number; epoch: number; compaction?: any; conversation?: Mark }
export interface Hit { path: string; start_line: number; end_line: number; score: number; snippet: string; citation: string; more?: Run[]; [member: string]: any }
/** Run is a further run of lines of a hit's place. */
export interface Run { start_line: number; end_line: number; score: number; text: string; trail?: string[]; citation: string; superseded_by?: string; id: string }

/** progress comes with INDEXING: the index has so many of the files. withheld are parts of memory that a shared session may not see, whether or not they hold an answer. */
export interface Found {
  results: Hit[]; reason: string; mode: string; detail: string;
  behind?: { files: number; removed: number; bytes: number; rules: boolean };
  progress?: { files: number; total: number };
  withheld?: { path?: string; class?: string; reason: string }[];
}

export function connect(options?: ConnectOptions): Promise<Client>;
export function expand<M>(items: Item[], messages: M[]): M[];

export class Client extends EventEmitter {
  constructor(socket: Socket, options?: { timeoutMs?: number });
  /** What initialize answered. */
  server: { protocol: number; workspace: string; state_dir: string; capabilities: { [name: string]: any } };
  readonly closed: boolean;
  call<R = any>(method: string, params?: object, options?: CallOptions): Promise<R>;
  notify(method: string, params?: object): void;
  session(sessionKey: string, options?: SessionOptions): Session;
  close(): void;
  plan(params: PlanParams, options?: CallOptions): Promise<Plan>;
  peek(params: PlanParams, options?: CallOptions): Promise<Plan>;
  observeTurn(params: TurnParams, options?: CallOptions): Promise<Observation>;
  observeToolResult(params: TurnParams, options?: CallOptions): Promise<Observation>;
  startSession(params: BoundaryParams, options?: CallOptions): Promise<Passed>;
  endSession(params: BoundaryParams, options?: CallOptions): Promise<Passed>;
  flush(params: BoundaryParams, options?: CallOptions): Promise<Passed>;
  reset(params: BoundaryParams, options?: CallOptions): Promise<Passed>;
  compact(params: CompactParams, options?: CallOptions): Promise<Passed>;
  checkpoint(params: BoundaryParams, options?: CallOptions): Promise<{ schema: string; id: string; text: string }>;
  restore(params: SessionParams & { occasion?: "new" | "resume" | "compaction"; resolver?: string }, options?: CallOptions): Promise<{ schema: string; checkpoint: string; net: string; text: string; damaged: string[] }>;
  flushTurn(params?: SessionParams & { system?: string; prompt?: string; now?: string }, options?: CallOptions): Promise<FlushTurn>;
  observeFlush(params: SessionParams & { text: string; section?: boolean }, options?: CallOptions): Promise<Flushed>;
  remember(params: SessionParams & { text: string; path?: string; id?: string; evidence?: string }, options?: CallOptions): Promise<Document>;
  updateMemory(params: SessionParams & Passage & { text: string }, options?: CallOptions): Promise<Edited>;
  deleteMemory(params: SessionParams & Passage, options?: CallOptions): Promise<Edited>;
  undoMemory(params?: SessionParams & { edit?: string }, options?: CallOptions): Promise<Undone>;
  /** Answers a call of Anthropic's memory tool: the content of its tool_result, and whether that is an error. */
  memoryTool(params: SessionParams & { input: object }, options?: CallOptions): Promise<{ content: string; is_error: boolean }>;
  forget(params: SessionParams & { ids?: string[]; all?: boolean; reason?: string; apply?: boolean }, options?: CallOptions): Promise<Document>;
  retain(params?: { apply?: boolean; now?: string }, options?: CallOptions): Promise<Document>;
  search(params: SessionParams & { query: string; max_results?: number; min_score?: number; lines?: boolean }, options?: CallOptions): Promise<Found>;
  read(params: { path: string; from?: number; lines?: number; private?: boolean }, options?: CallOptions): Promise<Document>;
  get(params: { session_key?: string; id: string }, options?: CallOptions): Promise<Document>;
  write(params: SessionParams & { updates: Update[]; key?: string; point?: string; by?: string; project?: boolean; all_or_nothing?: boolean }, options?: CallOptions): Promise<Document>;
  pages(params: SessionParams, options?: CallOptions): Promise<Document>;
  status(params?: object, options?: CallOptions): Promise<Document>;
  check(params?: object, options?: CallOptions): Promise<{ ok: boolean; findings: { session: string; what: string; hint: string }[] }>;
  usage(params?: { session_key?: string; since?: string }, options?: CallOptions): Promise<Document>;
  reindex(params?: { full?: boolean; wait_ms?: number; progress?: boolean }, options?: CallOptions): Promise<Document>;
  toolsList(params: SessionParams & { format?: string }, options?: CallOptions): Promise<{ tools: any[] }>;
  toolsCall(params: SessionParams & { name: string; arguments?: object }, options?: CallOptions): Promise<{ name: string; content: any }>;
  shutdown(params?: object, options?: CallOptions): Promise<object>;
}

/** Passage says what was read: the text old, or the file's version with lines from a line on; the whole file with its version alone. */
export interface Passage { path: string; old?: string; version?: string; from?: number; lines?: number }
export interface EditedFile { path: string; version: string; start_line: number; end_line: number }
/** Edited is what an edit did; edit names it for undoMemory. Where something else stands there, the error's code is CONFLICT and its current says what. */
export interface Edited extends Document { edit: string; files: EditedFile[]; duplicate: boolean; masked: number }
export interface Undone extends Document { edit: string; time: string; files: EditedFile[] }
export interface FlushTurn { system: string; prompt: string; section: string; path: string; max_tokens: number }
export interface Flushed { reason: string; items: number; path?: string; unwritten?: string; line: string }

export interface SessionOptions { dialect?: Dialect; private?: boolean; model?: string; branch?: string; [param: string]: any }

export class Session {
  constructor(client: Client, sessionKey: string, options?: SessionOptions);
  plan<M extends object>(messages: M[], params?: PlanParams, options?: CallOptions): Promise<Plan & { messages: M[] }>;
  observeTurn(messages: object[], params?: TurnParams, options?: CallOptions): Promise<Observation>;
  observeToolResult(messages: object[], params?: TurnParams, options?: CallOptions): Promise<Observation>;
  writeDown(messages: object[] | undefined, complete: (ask: FlushTurn) => Promise<string>, options?: CallOptions): Promise<Flushed | null>;
  call<R = any>(method: string, messages: object[] | undefined, params?: object, options?: CallOptions): Promise<R>;
}
