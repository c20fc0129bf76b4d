// What all copies of this plugin in a process have in common. The host loads the
// module more than once (for registration, for tools, for the gateway), and makes an
// engine for every turn: a variable of the module is not one of the process.

const name = Symbol.for("memkernel.openclaw/1");

/** @returns {{daemons: Map<string, any>, sessions: Map<string, any>, counts: Record<string, number>, lastTrouble: string}} */
export function shared() {
  globalThis[name] ??= {
    daemons: new Map(),
    sessions: new Map(),
    counts: { assembled: 0, reused: 0, fallbacks: 0, committed: 0, duplicates: 0, commitFailures: 0, compactions: 0, flushed: 0, runsSeen: 0, legacyTurns: 0 },
    lastTrouble: "",
  };
  return globalThis[name];
}

/** count adds one to a counter. */
export function count(what) {
  shared().counts[what]++;
}

/**
 * What is known of a session beside the daemon's own record. It is a cache: all of it
 * may be lost.
 */
export function session(workspace, key) {
  const all = shared().sessions;
  const id = workspace + "\0" + key;
  let s = all.get(id);
  if (s) all.delete(id); // the newest stands last
  s ??= { base: "", sent: [], keys: [], window: 0, reserve: 0, fixed: 0, model: "", planId: "", prompt: "", flushDue: false, entries: new Map() };
  all.set(id, s);
  for (const old of all.keys()) {
    if (all.size <= 256) break;
    all.delete(old);
  }
  return s;
}
