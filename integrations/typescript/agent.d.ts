import type { CallOptions, Client, ConnectOptions, Dialect, Observed, Plan, PlanParams, Remembered, Search, SearchParams, RememberParams } from "./index.js";

export interface KernelOptions extends ConnectOptions {
  /** The session's key; default "default". */
  session?: string;
  /** Whether the session is one person's own: then MEMORY.md and USER.md are there. */
  private?: boolean;
  model?: string;
  contextWindow?: number;
  reserve?: number;
  economy?: PlanParams["economy"];
  /** How long an answer of the daemon is waited for; default 10000. */
  deadlineMs?: number;
  /** Hears of each trouble once; default a warning of the process. */
  report?: (text: string) => void;
}

/** How a framework's messages are written in a dialect. */
export interface Form<M> {
  dialect: Dialect;
  to(message: M): object;
  from(message: any, replaced: M[]): M[];
}

export interface ToolDescription { name: string; description: string; inputSchema: { [name: string]: any } }

export class Kernel {
  constructor(options?: KernelOptions);
  readonly options: KernelOptions;
  attempt<R>(what: string, use: (client: Client, options: CallOptions) => Promise<R>, deadlineMs?: number): Promise<R | undefined>;
  bound(session?: string): { session_key: string; private: boolean };
  conversation<M>(form: Form<M>, session?: string): Conversation<M>;
  tools(names?: string[], session?: string): Promise<ToolDescription[]>;
  /** Answers a call of Anthropic's memory tool from the workspace. */
  callMemory(input: object, session?: string): Promise<{ content: string; is_error: boolean }>;
  callTool(name: string, args?: object, session?: string): Promise<string>;
  search(query: string, params?: Partial<SearchParams>, session?: string): Promise<Search | undefined>;
  remember(text: string, params?: Partial<RememberParams>, session?: string): Promise<Remembered | undefined>;
  close(): void;
}

export interface Conversation<M> {
  plan(messages: M[], params?: PlanParams): Promise<{ messages: M[]; plan?: Plan }>;
  observe(messages: M[], about?: { plan?: Plan; usage?: object; model?: string; more?: boolean }): Promise<Observed | undefined>;
}

export function paired(dialect: Dialect, messages: object[]): boolean;
export function textOf(content: unknown): string;
