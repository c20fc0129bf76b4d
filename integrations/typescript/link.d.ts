import type { CallOptions, Client, ConnectOptions, Session, SessionOptions } from "./index.js";

export const RETRY_MS: number;

export interface LinkOptions extends ConnectOptions {
  /** How long an answer is waited for; default 2000. */
  deadlineMs?: number;
  /** Hears of each trouble once. */
  report?: (text: string) => void;
}

/** A link to the daemon that never holds its host up: what fails is no answer. */
export class Link {
  constructor(options?: LinkOptions);
  attempt<R>(what: string, use: (client: Client, options: CallOptions) => Promise<R>, deadlineMs?: number): Promise<R | undefined>;
  session(client: Client, key: string, options?: SessionOptions): Session;
  close(): void;
}
