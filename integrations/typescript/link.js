// A link to the daemon for an extension of a host: connects when first needed, has a
// deadline of its own for everything, and turns whatever goes wrong into "no answer",
// by which the host does what it would have done without us.

import { connect } from "./index.js";

/** Milliseconds for which a daemon that can't be reached is left alone. */
export const RETRY_MS = 30_000;

/** Milliseconds until a daemon that is ending is looked for anew. */
const STOPPING_MS = 20;

/**
 * options: workspace, binary, stateDir (as for connect), deadlineMs (default 2000),
 * report(text), which hears of each trouble once.
 */
export class Link {
  #options;
  #client = null;
  #connecting = null;
  #failedAt = -Infinity;
  #sessions = new Map();
  #told = new Set();

  constructor(options = {}) {
    this.#options = { binary: process.env.MEMKERNEL || "memkernel", deadlineMs: Number(process.env.MEMKERNEL_DEADLINE_MS) || 2000, ...options };
  }

  /** Runs use(client) and gives what it gives, undefined if that fails or takes too long. */
  async attempt(what, use, deadlineMs = this.#options.deadlineMs) {
    const stop = new AbortController();
    let timer;
    const late = new Promise((_, fail) => {
      timer = setTimeout(() => fail(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
    });
    try {
      return await Promise.race([this.#run(use, { signal: stop.signal, timeoutMs: deadlineMs }), late]);
    } catch (err) {
      stop.abort();
      if (err.code !== "NO_SESSION") this.#tell(`memkernel: ${what}: ${err.message}${err.hint ? ` (${err.hint})` : ""}`);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The conversation of a session, as the client keeps it. */
  session(client, key, options) {
    let s = this.#sessions.get(key);
    if (!s) this.#sessions.set(key, (s = client.session(key, options)));
    return s;
  }

  close() {
    this.#client?.close();
    this.#client = null;
    this.#sessions.clear();
  }

  /** A daemon that ended is joined, or started, anew: every call may be delivered again. */
  async #run(use, options) {
    for (let lost = false; ; ) {
      const client = await this.#open();
      try {
        return await use(client, options);
      } catch (err) {
        const stopping = err.code === "STOPPING";
        if (options.signal.aborted || (!stopping && (lost || !client.closed))) throw err;
        lost = true;
        if (!stopping) continue;
        if (this.#client === client) this.close(); // it takes no more calls, and ends in a moment
        await new Promise((done) => setTimeout(done, STOPPING_MS));
      }
    }
  }

  #open() {
    if (this.#client && !this.#client.closed) return Promise.resolve(this.#client);
    if (this.#connecting) return this.#connecting;
    if (Date.now() - this.#failedAt < RETRY_MS) return Promise.reject(new Error("the daemon could not be reached; it is left alone for a while"));
    this.#sessions.clear();
    this.#connecting = connect({ name: "memkernel-shim", reconnect: false, timeoutMs: this.#options.deadlineMs, ...this.#options }).then(
      (c) => {
        this.#connecting = null;
        return (this.#client = c);
      },
      (err) => {
        this.#connecting = null;
        this.#failedAt = Date.now();
        throw err;
      },
    );
    this.#connecting.catch(() => {}); // who waited may have gone
    return this.#connecting;
  }

  #tell(text) {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#options.report?.(text);
  }
}
