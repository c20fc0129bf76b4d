// A host that is not content with an engine goes on with its own and says so in one
// line of a log. What a host does in any case, before it asks an engine for messages,
// is to have the memory slot describe itself for the run's system prompt. A run that
// began so and was not assembled by this engine, though the next one begins or a tool
// of ours is called in it, is counted, logged, and shown by context_status.

import { count, shared } from "./shared.js";

/** Sessions with a run that has begun and was not assembled yet. */
const begun = () => (shared().begun ??= new Map());

/** saw notes that the engine was asked for a session's messages. */
export function saw(sessionKey) {
  begun().delete(sessionKey);
}

/** begins notes that the host makes the system prompt of a run. */
export function begins(sessionKey, log) {
  if (!sessionKey || !shared().selected) return;
  missed(sessionKey, log);
  const all = begun();
  all.set(sessionKey, true);
  if (all.size > 4096) all.delete(all.keys().next().value);
  count("runsSeen");
}

/** missed tells of a run that goes on, or has ended, without this engine. */
export function missed(sessionKey, log) {
  if (!begun().delete(sessionKey)) return;
  count("legacyTurns");
  shared().lastTrouble = `${new Date().toISOString()} a turn of ${sessionKey} went to the model without this engine`;
  log.error?.(`memkernel: a turn of ${sessionKey} went to the model without this engine: look for "degraded to" in the gateway's log, mend what it says, and restart the gateway`);
}

/** selected tells whether the configuration gives us the context engine's slot. */
export const selected = (config) => config?.plugins?.slots?.contextEngine === "memkernel";

/** listen adds a handler where the host has the hook. */
export function listen(api, hook, handler) {
  try {
    api.on(hook, handler);
  } catch (err) {
    api.logger?.warn?.(`memkernel: the host has no hook ${hook}: ${err.message}`);
  }
}
