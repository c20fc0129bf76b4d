// Plugin of OpenCode 1.18 (the first plugin interface). Before every model call the
// conversation goes to memkernel's daemon, and what comes back is sent; when the session
// is idle the turn is committed; a compaction of the host's begins with our state of the
// work. Whatever goes wrong, the host's messages stay what they are.

import { Link } from "../shim/index.js";
import { messagesOf, values } from "./values.js";

/** Tokens of OpenCode's own system prompt and tools, which no hook shows before the call. */
const FIXED_TOKENS = 12_000;

export const Memkernel = async ({ client, directory }, options = {}) => {
  const report = (message, level = "warn") => client.app.log({ body: { service: "memkernel", level, message } }).catch(() => {});
  const link = new Link({ workspace: directory, report, ...options });
  const windows = new Map();
  const planned = new Map();
  const running = new Set();
  const summed = new Set(); // sessions whose summary is being written

  const session = (c, id) => link.session(c, id, { private: true, session_key: `opencode:${id}`, channel: "opencode", dialect: "anthropic" });

  return {
    "experimental.chat.messages.transform": async (_input, output) => {
      const all = output.messages;
      const given = values(all);
      const user = all.findLast((m) => m.info.role === "user")?.info;
      if (!user || given.at(-1)?.message.role !== "user") return;
      const id = user.sessionID;
      const plan = await link.attempt("plan", async (c, o) =>
        session(c, id).plan(given.map((v) => v.message), await settings(user), o),
      );
      if (!plan) return void planned.delete(id);
      const messages = messagesOf(plan.items, given, all);
      planned.set(id, { plan: plan.plan_id, model: user.model?.modelID, agent: user.agent, from: all[0].info.id });
      all.splice(0, all.length, ...messages);
    },

    "experimental.chat.system.transform": async (input) => {
      if (input.model?.limit?.context) windows.set(keyOf(input.model.providerID, input.model.id), input.model.limit.context);
    },

    "experimental.session.compacting": async ({ sessionID }, output) => {
      await commit(sessionID, "flush");
      const state = await link.attempt("restore", (c, o) => c.restore({ session_key: `opencode:${sessionID}`, private: true, occasion: "compaction", resolver: "memkernel get" }, o));
      if (state?.text) output.context.push(state.text);
      const ask = await link.attempt("flush", (c, o) => c.flushTurn({ session_key: `opencode:${sessionID}`, private: true }, o));
      if (!ask?.section) return;
      output.context.push(ask.section);
      summed.add(sessionID);
    },

    // The summary's model writes down what should outlive the session as well: that is taken
    // out of the summary, which nobody reads with it.
    "experimental.text.complete": async ({ sessionID }, output) => {
      if (!summed.has(sessionID) || !output.text?.includes(BEGINS)) return;
      summed.delete(sessionID);
      const text = output.text;
      output.text = without(text);
      const run = writeDown(sessionID, text).finally(() => running.delete(run));
      running.add(run);
    },

    // A result is in the host's store by now; that it is in ours, too, needs no call of
    // the model's to come.
    "tool.execute.after": async ({ sessionID }) => {
      void commit(sessionID, "observe_tool_result");
    },

    event: async ({ event }) => {
      if (event.type === "session.compacted") summed.delete(event.properties.sessionID); // without a word of it
      if (event.type === "session.idle") await commit(event.properties.sessionID, "observe_turn");
    },

    // The host ends as soon as it is idle: what is on its way is waited for.
    dispose: async () => {
      await Promise.allSettled(running);
      link.close();
    },
  };

  async function writeDown(id, text) {
    const done = await link.attempt("flush", (c, o) => c.observeFlush({ session_key: `opencode:${id}`, private: true, text, section: true }, o));
    if (done?.items) report(`memkernel: ${done.line}`, "info");
  }

  function commit(id, method) {
    const run = deliver(id, method).finally(() => running.delete(run));
    running.add(run);
    return run;
  }

  /** Hands in what the session holds now, from where its last plan began. */
  async function deliver(id, method) {
    const last = planned.get(id);
    if (!last) return; // nothing was planned: a title, or a daemon that is away
    const { data } = (await client.session.messages({ path: { id } }).catch(() => ({}))) ?? {};
    const from = data?.findIndex((m) => m.info.id === last.from) ?? -1;
    if (from < 0) return;
    const messages = values(data.slice(from)).map((v) => v.message);
    const params = { model: last.model, agent_id: last.agent, ...(method === "observe_turn" ? { plan_id: last.plan } : {}) };
    await link.attempt("commit", (c, o) => session(c, id).call(method, messages, params, o));
  }

  async function settings({ model }) {
    const key = keyOf(model?.providerID, model?.modelID);
    if (!windows.has(key)) await learnWindows();
    return { model: model?.modelID, context_window: windows.get(key), fixed_tokens: FIXED_TOKENS };
  }

  async function learnWindows() {
    const { data } = await client.config.providers();
    for (const p of data?.providers ?? [])
      for (const [id, m] of Object.entries(p.models ?? {})) if (m.limit?.context) windows.set(keyOf(p.id, id), m.limit.context);
  }
};

/** The lines between which memories stand in a summary. */
const BEGINS = "<memory>";
const ENDS = "</memory>";

/** without takes the last section of memories out of a text, to its end where it is not closed. */
function without(text) {
  const from = text.lastIndexOf(BEGINS);
  const to = text.indexOf(ENDS, from);
  return (text.slice(0, from) + (to < 0 ? "" : text.slice(to + ENDS.length))).trimEnd();
}

const keyOf = (provider, model) => `${provider}/${model}`;
