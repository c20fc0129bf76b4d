import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import type { Calls, Flushed, FlushTurn, Initialized, Item, Methods, Observed, Passed, Planned, PlanParams, TurnParams } from "./protocol.js";

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
  missing_tokens?: number;
  /** The status of HTTP, of a server that is reached by a URL. */
  status?: number;
  /** How long the server says to wait before the call is delivered again, 0 if it doesn't. */
  retryAfterMs: number;
}

export interface ConnectOptions {
  /** The project's folder; default the current one. */
  workspace?: string;
  stateDir?: string;
  /** A socket to connect to, or the URL of memkernel-server serve --listen; then no daemon is started. */
  socket?: string;
  /** Of memkernel-server token create, for a URL. */
  token?: string;
  /** The token may travel by plain http to another machine. */
  insecure?: boolean;
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
  /** Whether a connection that is lost is made anew, and calls are delivered again; default true. */
  reconnect?: boolean;
  /** How often a call is delivered again; default 3. */
  retries?: number;
}

export interface CallOptions {
  retries?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export interface Progress { id: number; stage: "index" | "embed"; done: number; total: number; files: number; chunks: number }

/** Earlier names of types of the protocol. */
export type { Planned as Plan, Observed as Observation, Search as Found } from "./protocol.js";
export type * from "./protocol.js";

export function connect(options?: ConnectOptions): Promise<Client>;
/** Connects to a socket, or to the URL of memkernel-server serve --listen. */
export function connect(where: string, options?: ConnectOptions): Promise<Client>;
export function expand<M>(items: Item[], messages: M[]): M[];

/** Every method of the protocol is a call of it. */
export interface Client extends Calls {}
export class Client extends EventEmitter {
  constructor(socket: Socket | null, options?: ConnectOptions);
  /** What initialize answered. */
  server: Initialized;
  /** There will be no further connection. */
  readonly closed: boolean;
  reach(): Promise<void>;
  call<M extends keyof Methods>(method: M, params?: Methods[M]["params"], options?: CallOptions): Promise<Methods[M]["result"]>;
  call<R = any>(method: string, params?: object, options?: CallOptions): Promise<R>;
  notify(method: string, params?: object): void;
  session(sessionKey: string, options?: SessionOptions): Session;
  close(): void;
}

/** Parameters of every call of the session, and the dialect of its messages. */
export interface SessionOptions extends PlanParams { dialect?: Dialect }

export class Session {
  constructor(client: Client, sessionKey: string, options?: SessionOptions);
  plan<M extends object>(messages: M[], params?: PlanParams, options?: CallOptions): Promise<Planned & { messages: M[] }>;
  observeTurn(messages: object[], params?: TurnParams, options?: CallOptions): Promise<Observed>;
  observeToolResult(messages: object[], params?: TurnParams, options?: CallOptions): Promise<Observed>;
  writeDown(messages: object[] | undefined, complete: (ask: FlushTurn) => Promise<string>, options?: CallOptions): Promise<Flushed | null>;
  end(options?: CallOptions): Promise<Passed>;
  call<R = any>(method: string, messages: object[] | undefined, params?: object, options?: CallOptions): Promise<R>;
}
