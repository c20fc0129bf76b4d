// The connection to `memkernel serve` that all copies of the plugin in a process share.
// It joins the daemon of a state folder or starts it, and connects again when it has to.

import { connect } from "../typescript/index.js";
import { shared } from "./shared.js";

const reindexMs = 600_000;
const maxTries = 5;

/**
 * @param {{binary: string, workspace: string, stateDir: string, socket: string, configFile: string, idle: string}} options
 * @returns {Daemon} the one of this process
 */
export function daemonFor(options) {
  const all = shared().daemons;
  const id = JSON.stringify(options);
  if (!all.has(id)) all.set(id, new Daemon(options));
  return all.get(id);
}

export class Daemon {
  #options;
  #client = null; // a promise

  constructor(options) {
    this.#options = options;
  }

  /**
   * Calls a method. What was lost on the way is called again: all calls that write are
   * idempotent. The time that starting a daemon takes counts.
   */
  async call(method, params = {}, { timeoutMs = 15_000, signal } = {}) {
    const until = Date.now() + timeoutMs;
    const late = `memkernel ${method}: no answer after ${timeoutMs} ms`;
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted();
      try {
        const client = await within(this.#connected(), until, late);
        return await within(client.call(method, params, { timeoutMs: Math.max(1, until - Date.now()), signal }), until, late);
      } catch (err) {
        if (err.code === "STOPPING") this.#client = null;
        if (tries === maxTries || !["CLOSED", "STOPPING"].includes(err.code) || Date.now() >= until) throw worded(method, err);
        await new Promise((done) => setTimeout(done, 20 * 2 ** tries)); // a process that ends takes connections a little longer
      }
    }
  }

  /** Ends the connection; the next call makes another. */
  close() {
    this.#client?.then((c) => c.close(), () => {});
    this.#client = null;
  }

  #connected() {
    return (this.#client ??= this.#connect());
  }

  #connect() {
    const { socket, configFile, ...o } = this.#options;
    const forget = () => {
      if (this.#client === made) this.#client = null;
    };
    const made = connect({ ...o, ...(socket ? { socket } : {}), args: configFile ? ["--config", configFile] : [], name: "openclaw", reconnect: false }).then((client) => {
      client.once("close", forget);
      freshen(client);
      return client;
    });
    made.catch(forget);
    return made;
  }
}

/** freshen has the index made, or brought up to date, while other calls go on. */
function freshen(client) {
  client.call("reindex", {}, { timeoutMs: reindexMs }).catch((err) => {
    if (err.code !== "CLOSED") shared().lastTrouble = `${new Date().toISOString()} reindex: ${err.message}`;
  });
}

function within(promise, until, problem) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), Math.max(1, until - Date.now()));
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function worded(method, err) {
  if (err.name === "MemkernelError") err.message = `memkernel ${method}: ${err.message}${err.hint ? ` (${err.hint})` : ""}`;
  return err;
}
