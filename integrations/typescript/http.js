// The same calls to a server that is reached by a URL: a request each, with a token.

import { createHash } from "node:crypto";
import { MemkernelError } from "./error.js";

const lost = (message, more) => new MemkernelError(message, { code: "CLOSED", hint: "deliver the call again", started: true, ...more });

/** Where calls go, if it is a URL; null for a socket or a workspace. */
export function urlOf(where) {
  return typeof where === "string" && /^https?:\/\//i.test(where) ? new URL(where) : null;
}

// ofSession is what a load balancer gets to know of a call's session, so that it can send all
// calls of one to the same server.
function ofSession(params) {
  const key = params?.session_key;
  return key ? { "Memkernel-Session": createHash("sha256").update(key).digest("hex").slice(0, 16) } : {};
}

// after is how long an answer says to wait, in milliseconds.
function after(value) {
  if (!value) return 0;
  const seconds = Number(value);
  return Math.max(0, Number.isNaN(seconds) ? Date.parse(value) - Date.now() || 0 : seconds * 1000);
}

/** What stands for a connection: it has none, and a call is a request. */
export class HttpConnection {
  #rpc;
  #headers;
  #calls = new Set();
  #next = 1;
  closed = null;
  onNotification = () => {};
  onClose = () => {};

  constructor(url, { token, insecure }) {
    const own = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
    if (url.protocol === "http:" && token && !own && !insecure)
      throw new MemkernelError(`${url.origin} is plain http: the token would travel in the clear`, { code: "UNTRUSTED", hint: "use https, or say insecure: true" });
    if (url.username || url.search || url.hash) throw new MemkernelError("the URL is scheme, host, port and path alone", { code: "UNTRUSTED", hint: "give the token by the option token" });
    this.#rpc = url.href.replace(/\/+$/, "") + "/rpc";
    this.#headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  }

  async call(method, params, { timeoutMs, signal } = {}) {
    if (this.closed) throw this.closed;
    const ends = new AbortController();
    const cancelled = () => ends.abort(new MemkernelError("the call was cancelled", { number: -32800, code: "CANCELLED", started: true }));
    // The server answers at the deadline itself; one that hangs is not waited for.
    const late = () => ends.abort(new MemkernelError(`${method} took longer than ${timeoutMs} ms`, { number: -32001, code: "DEADLINE", started: true }));
    const timer = timeoutMs ? setTimeout(late, timeoutMs + 1000) : null;
    this.#calls.add(ends);
    signal?.addEventListener("abort", cancelled, { once: true });
    if (signal?.aborted) cancelled();
    try {
      return await this.#post({ jsonrpc: "2.0", id: this.#next++, method, params: timeoutMs ? { deadline_ms: timeoutMs, ...params } : params }, ends.signal);
    } catch (err) {
      if (ends.signal.aborted) throw ends.signal.reason;
      if (err instanceof MemkernelError) throw err;
      throw lost(`${this.#rpc}: ${err.cause?.message || err.message}`);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancelled);
      this.#calls.delete(ends);
    }
  }

  async #post(message, signal) {
    // A redirect could take the token elsewhere.
    const answer = await fetch(this.#rpc, { method: "POST", headers: { ...this.#headers, ...ofSession(message.params) }, body: JSON.stringify(message), redirect: "error", signal });
    const text = await answer.text();
    if (answer.status === 204) return undefined;
    let m;
    try {
      m = JSON.parse(text);
    } catch {
      const more = { retryAfterMs: after(answer.headers.get("retry-after")) };
      if ([429, 502, 503, 504].includes(answer.status)) throw lost(`${this.#rpc}: ${answer.status}`, more);
      throw new MemkernelError(`${this.#rpc}: ${answer.status}, and what is no JSON`, { code: "UNTRUSTED", hint: "is this the URL of memkernel serve --listen?" });
    }
    if (m?.error?.data) throw new MemkernelError(m.error.message, { number: m.error.code, ...m.error.data, status: answer.status, retryAfterMs: after(answer.headers.get("retry-after")) });
    if (!answer.ok || m?.jsonrpc !== "2.0") throw new MemkernelError(`${this.#rpc}: ${answer.status}, and no answer of memkernel's`, { code: "UNTRUSTED", hint: "is this the URL of memkernel serve --listen?" });
    return m.result;
  }

  /** Sends a notification; what becomes of it nobody learns. */
  send(message) {
    if (!this.closed) this.#post(message, undefined).catch(() => {});
  }

  end(why) {
    if (this.closed) return;
    this.closed = new MemkernelError(why, { code: "CLOSED", hint: "connect again" });
    for (const c of this.#calls) c.abort(lost(why));
    this.onClose(this.closed);
  }
}
