// Client of `memkernel serve`: connects to the daemon of a workspace, starts one if
// there is none, and calls it. doc/rpc.md is the protocol. No dependencies.

import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { lstatSync } from "node:fs";
import { createConnection } from "node:net";
import { join, resolve } from "node:path";
import { MemkernelError } from "./error.js";
import { HttpConnection, urlOf } from "./http.js";
import { METHODS } from "./methods.js";

export const PROTOCOL = 1;

export { MemkernelError };

/**
 * Connects to the daemon of a workspace, and starts one if none listens; or, given a URL and
 * the option token, to a server that is reached by it.
 */
export async function connect(where = {}, options = {}) {
  const client = new Client(null, typeof where === "string" ? { ...options, socket: where } : { ...where, ...options });
  await client.reach();
  return client;
}

async function reach(options) {
  for (let tries = 1; ; tries++) {
    try {
      return await reachOnce(options);
    } catch (err) {
      // A daemon may be ending just now; then another one is started.
      if (options.socket || tries === 3 || !["CLOSED", "STOPPING"].includes(err.code) || (!err.number && !err.started)) throw err;
    }
  }
}

async function reachOnce(options) {
  const url = urlOf(options.socket);
  if (url) return greet(new HttpConnection(url, options), options);
  const o = { workspace: ".", binary: "memkernel", idle: "15m", startTimeoutMs: 15000, ...options };
  const stateDir = resolve(o.stateDir ?? join(o.workspace, ".memkernel"));
  const socket =
    (await open(o.socket ?? join(stateDir, "serve.sock"))) ?? (o.socket ? null : await open(await start(o, stateDir)));
  if (!socket) throw new MemkernelError(`no daemon listens at ${o.socket ?? stateDir}`, { code: "CLOSED", hint: "run memkernel serve", started: !o.socket });
  return greet(new Connection(socket), o);
}

async function greet(connection, o) {
  try {
    const params = { protocol: PROTOCOL, client: { name: o.name ?? "memkernel-client", version: "0.1.0" } };
    return { connection, server: await connection.call("initialize", params, { timeoutMs: o.timeoutMs ?? TIMEOUT_MS }) };
  } catch (err) {
    connection.end("the connection was closed");
    throw err;
  }
}

// open gives a connected socket, null if nobody listens there. A socket that is
// somebody else's, or open to others, is an error.
function open(path) {
  let st;
  try {
    st = lstatSync(path);
  } catch {
    return Promise.resolve(null);
  }
  if (!st.isSocket()) throw new MemkernelError(`${path} is no socket`, { code: "UNTRUSTED", hint: "move it away" });
  if (process.getuid && (st.uid !== process.getuid() || st.mode & 0o077))
    throw new MemkernelError(`the socket ${path} is not yours alone`, { code: "UNTRUSTED", hint: "remove it" });
  return new Promise((done) => {
    const s = createConnection(path);
    s.once("connect", () => done(s));
    s.once("error", () => done(null));
  });
}

// start runs a daemon that outlives this process, and gives its socket: the first
// line that it prints, also when another one was faster.
function start(o, stateDir) {
  const args = ["serve", "--workspace", resolve(o.workspace), "--state-dir", stateDir, "--idle", o.idle, ...(o.args ?? [])];
  return new Promise((done, fail) => {
    const child = spawn(o.binary, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let out = "", err = "";
    const timer = setTimeout(() => {
      child.kill();
      finish(new MemkernelError("the daemon did not begin to listen in time", { code: "DEADLINE" }));
    }, o.startTimeoutMs);
    const finish = (problem, path) => {
      clearTimeout(timer);
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      problem ? fail(problem) : done(path);
    };
    child.stdout.on("data", (b) => {
      out += b;
      const end = out.indexOf("\n");
      if (end >= 0) finish(null, out.slice(0, end));
    });
    child.stderr.on("data", (b) => (err += b));
    child.once("error", (e) => finish(new MemkernelError(`run ${o.binary}: ${e.message}`, { code: "CLOSED", hint: "name the program by the option binary" })));
    child.once("close", (code) => finish(new MemkernelError(err.trim() || `${o.binary} ended with ${code}`, { code: "CLOSED" })));
  });
}

const TIMEOUT_MS = 60000;

// What a call that failed so can be delivered again for: every call that writes is
// idempotent.
const AGAIN = ["CLOSED", "STOPPING", "BUSY", "NOT_READY", "TRY_AGAIN"];

class Connection {
  #socket;
  #waiting = new Map();
  #next = 1;
  #rest = [];
  closed = null;
  onNotification = () => {};
  onClose = () => {};

  constructor(socket) {
    this.#socket = socket;
    socket.on("data", (b) => this.#read(b));
    socket.on("error", (e) => this.#lost(e.message));
    socket.on("close", () => this.#lost("the daemon closed the connection"));
  }

  call(method, params, { timeoutMs, signal, onProgress } = {}) {
    if (this.closed) return Promise.reject(this.closed);
    const id = this.#next++;
    return new Promise((done, fail) => {
      const cancel = () => this.send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
      // The daemon answers at the deadline itself; one that hangs is not waited for.
      const timer = timeoutMs
        ? setTimeout(() => {
            cancel();
            settle(fail, new MemkernelError(`${method} took longer than ${timeoutMs} ms`, { number: -32001, code: "DEADLINE", started: true }));
          }, timeoutMs + 1000)
        : null;
      const settle = (how, what) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) this.#socket.unref();
        how(what);
      };
      this.#waiting.set(id, { done: (r) => settle(done, r), fail: (e) => settle(fail, e), onProgress });
      this.#socket.ref();
      signal?.addEventListener("abort", cancel, { once: true });
      this.send({ jsonrpc: "2.0", id, method, params: timeoutMs ? { deadline_ms: timeoutMs, ...params } : params });
    });
  }

  send(message) {
    if (!this.closed) this.#socket.write(JSON.stringify(message) + "\n");
  }

  end(why) {
    this.#socket.end();
    this.#lost(why);
  }

  #read(bytes) {
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(10, at);
      this.#rest.push(end < 0 ? bytes.subarray(at) : bytes.subarray(at, end));
      if (end < 0) return;
      at = end + 1;
      const line = Buffer.concat(this.#rest).toString("utf8");
      this.#rest = [];
      if (line) this.#message(line);
    }
  }

  #message(line) {
    let m;
    try {
      m = JSON.parse(line);
    } catch {
      this.#socket.destroy();
      this.#lost("the daemon sent what is no JSON");
      return;
    }
    if (m.method) {
      if (m.method === "$/progress") this.#waiting.get(m.params?.id)?.onProgress?.(m.params);
      this.onNotification(m.method, m.params);
      return;
    }
    const w = this.#waiting.get(m.id);
    if (!w) return; // it was given up
    if (m.error) w.fail(new MemkernelError(m.error.message, { number: m.error.code, ...m.error.data }));
    else w.done(m.result);
  }

  #lost(why) {
    if (this.closed) return;
    this.closed = new MemkernelError(why, { code: "CLOSED", hint: "connect again" });
    for (const w of [...this.#waiting.values()]) w.fail(new MemkernelError(why, { code: "CLOSED", hint: "connect again, and deliver the call again", started: true }));
    this.onClose(this.closed);
  }
}

/**
 * A client of a daemon. Its methods are those of the protocol, in camel case; parameters
 * and results are the protocol's own. A connection that is lost is made anew by the next
 * call, and what was lost with it is delivered again, unless the option reconnect is
 * false. It emits "notification", "lost" (a connection, with the error) and "close" (for good).
 */
export class Client extends EventEmitter {
  #options;
  #connection = null;
  #connecting = null;
  #closed = null;
  server = null;

  constructor(socket, options = {}) {
    super();
    this.#options = { timeoutMs: TIMEOUT_MS, reconnect: !socket, retries: 3, ...options };
    if (socket) this.#take(new Connection(socket));
  }

  async reach() {
    await this.#reach();
  }

  /**
   * Calls a method. options: timeoutMs (also sent as deadline_ms), signal (an
   * AbortSignal that cancels the call), onProgress, retries (how often a call that was
   * lost or refused for want of room is delivered again).
   */
  async call(method, params = {}, { timeoutMs = this.#options.timeoutMs, signal, onProgress, retries = this.#options.retries } = {}) {
    for (let tries = 0; ; tries++) {
      if (this.#closed) throw this.#closed;
      if (signal?.aborted) throw new MemkernelError("the call was cancelled", { code: "CANCELLED" });
      try {
        const connection = await this.#reach();
        if (signal?.aborted) throw new MemkernelError("the call was cancelled", { code: "CANCELLED" });
        const result = await connection.call(method, params, { timeoutMs, signal, onProgress });
        if (method === "shutdown") this.#end(new MemkernelError("the daemon was shut down", { code: "CLOSED", hint: "connect again" }));
        return result;
      } catch (err) {
        const again = AGAIN.includes(err.code) && this.#options.reconnect && method !== "shutdown";
        // A server that asks for more than a call may take is left to the caller.
        if (!again || tries >= retries || this.#closed || (err.retryAfterMs ?? 0) > (timeoutMs || TIMEOUT_MS)) throw err;
        await pause(Math.max(err.retryAfterMs ?? 0, 20 * 2 ** tries * (1 + Math.random())), signal);
      }
    }
  }

  notify(method, params = {}) {
    this.#connection?.send({ jsonrpc: "2.0", method, params });
  }

  /** A conversation of a session, of which only what is new is sent. */
  session(sessionKey, options = {}) {
    return new Session(this, sessionKey, options);
  }

  close() {
    this.#end(new MemkernelError("the connection was closed", { code: "CLOSED", hint: "connect again" }));
  }

  get closed() {
    return this.#closed !== null;
  }

  #reach() {
    if (this.#connection && !this.#connection.closed) return this.#connection;
    if (this.#connection && !this.#options.reconnect) throw this.#connection.closed;
    this.#connecting ??= reach(this.#options)
      .then(({ connection, server }) => {
        if (this.#closed) {
          connection.end("the connection was closed");
          throw this.#closed;
        }
        this.server = server;
        return this.#take(connection);
      })
      .finally(() => (this.#connecting = null));
    return this.#connecting;
  }

  #take(connection) {
    this.#connection = connection;
    connection.onNotification = (method, params) => this.emit("notification", method, params);
    connection.onClose = (why) => {
      if (this.#closed) return;
      this.emit("lost", why);
      if (!this.#options.reconnect) this.#end(why);
    };
    return connection;
  }

  #end(why) {
    if (this.#closed) return;
    this.#closed = why;
    this.#connection?.end(why.message);
    this.emit("close");
  }
}

for (const [name, method] of Object.entries(METHODS))
  Client.prototype[name] = function (params, options) {
    return this.call(method, params, options);
  };

// pause waits, and ends with the signal.
function pause(ms, signal) {
  return new Promise((done, fail) => {
    const cancelled = () => {
      clearTimeout(timer);
      fail(new MemkernelError("the call was cancelled", { code: "CANCELLED" }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", cancelled);
      done();
    }, ms);
    signal?.addEventListener("abort", cancelled, { once: true });
  });
}

/**
 * A session's conversation. Messages are handed in whole; what the daemon holds
 * already is not sent again, and what it lost is.
 */
export class Session {
  #client;
  #common;
  #dialect;
  #base = "";
  #sent = [];
  #line = Promise.resolve();

  constructor(client, sessionKey, { dialect = "anthropic", ...common } = {}) {
    this.#client = client;
    this.#dialect = dialect;
    this.#common = { session_key: sessionKey, ...common };
  }

  /** Plans a call, and gives the messages to send beside the plan's own members. */
  async plan(messages, params = {}, options) {
    const plan = await this.call("plan", messages, params, options);
    return { ...plan, messages: expand(plan.items ?? [], messages) };
  }

  observeTurn(messages, params = {}, options) {
    return this.call("observe_turn", messages, params, options);
  }

  observeToolResult(messages, params = {}, options) {
    return this.call("observe_tool_result", messages, params, options);
  }

  /**
   * Has a model write down what should outlive the next cut of a conversation. complete is
   * given system, prompt and max_tokens, and gives the text of one completion without tools,
   * which nobody else should see. Gives what was made of it, null if there was nothing to ask.
   */
  async writeDown(messages, complete, options) {
    const ask = await this.call("flush_turn", messages, {}, options);
    if (!ask.prompt) return null;
    const { session_key, private: own } = this.#common;
    return this.#client.observeFlush({ session_key, ...(own === undefined ? {} : { private: own }), text: (await complete(ask)) ?? "" }, options);
  }

  end(options) {
    return this.call("end_session", undefined, {}, options);
  }

  /** Calls any method that takes a conversation. messages may be undefined. */
  call(method, messages, params = {}, options) {
    // One after the other: what is sent depends on what was held before.
    const now = messages?.slice();
    const run = this.#line.then(() => this.#call(method, now, params, options));
    this.#line = run.catch(() => {});
    return run;
  }

  async #call(method, messages, params, options) {
    const all = { ...this.#common, ...params };
    if (!messages) return this.#client.call(method, all, options);
    const texts = messages.map((m) => JSON.stringify(m));
    let keep = 0;
    while (keep < Math.min(texts.length, this.#sent.length) && texts[keep] === this.#sent[keep]) keep++;
    const whole = { dialect: this.#dialect, messages };
    const base = this.#base;
    this.#base = "";
    let result;
    try {
      result = await this.#client.call(method, { ...all, conversation: base ? { base, keep, messages: messages.slice(keep) } : whole }, options);
    } catch (err) {
      if (err.code !== "BASE_UNKNOWN") throw err;
      result = await this.#client.call(method, { ...all, conversation: whole }, options);
    }
    this.#base = result.conversation?.base ?? "";
    this.#sent = texts;
    return result;
  }
}

/** The messages that a plan's items come to: the host's own objects where they stand. */
export function expand(items, messages) {
  return items.flatMap((it) => (it.host ? messages.slice(it.host[0], it.host[1]) : [it.message]));
}
