// Extension of the coding agent Pi (0.73). Before every model call the conversation
// goes to memkernel's daemon, and what comes back is sent; after every turn it is
// committed; /compact and the host's own compaction take the summary from the store.
// Whatever goes wrong, the host gets no answer, and does what it does without us.

import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Link } from "../shim/index.js";
import { said, travels, whole } from "./branch.js";

const COMPACT_MS = 15_000;
const TOOL_MS = 15_000;
/** A flush turn takes so long at most, and its writing down as long as a compaction. */
const FLUSH_MS = 60_000;
/** The end of a session waits for one so long. */
const FLUSH_WAIT_MS = 15_000;

export default function memkernel(pi, options = {}) {
  const state = { link: null, key: "", messages: [], after: [], plan: "", tools: [], flushDue: false, flushing: null };
  const complete = options.complete ?? (async (...args) => (await library()).complete(...args));

  const link = (ctx) => (state.link ??= new Link({ workspace: ctx.cwd, report: teller(ctx), ...options }));
  const session = (client, ctx) => link(ctx).session(client, keyOf(ctx), sessionOptions(ctx));

  pi.on("session_start", async (_event, ctx) => {
    state.key = keyOf(ctx);
    state.tools = (await link(ctx).attempt("tools", (client, o) => registerTools(pi, client, ctx, o))) ?? [];
  });

  pi.on("context", async (event, ctx) => {
    const messages = whole(event.messages, ctx.sessionManager.getBranch());
    state.messages = messages;
    state.after = [];
    state.plan = "";
    const plan = await link(ctx).attempt("plan", (client, o) => session(client, ctx).plan(messages, settings(ctx, state.tools), o));
    if (!plan?.messages.length) return undefined;
    state.plan = plan.plan_id;
    if (plan.flush_due) state.flushDue = true;
    return { messages: plan.messages };
  });

  pi.on("message_end", (event) => {
    state.after.push(event.message);
  });

  // A result is durable as soon as the host has it: in the message list, so that it is
  // the same one in the next plan.
  pi.on("turn_end", async (event, ctx) => {
    if (event.toolResults.length) await observe("observe_tool_result", ctx);
  });

  // A flush turn is nobody's to wait for: the user has their answer.
  pi.on("agent_end", async (_event, ctx) => {
    await observe("observe_turn", ctx);
    if (state.flushDue) void flush(ctx, heard());
  });

  pi.on("session_before_compact", async (event, ctx) => {
    const entries = said(event.branchEntries);
    if (entries.length) await flush(ctx, entries.map((e) => e.message), event.signal);
    const passed = await link(ctx).attempt(
      "compact",
      (client, o) =>
        session(client, ctx).call("compact", entries.map((e) => e.message), { reason: "host", model: ctx.model?.id, call: settings(ctx, state.tools) }, o),
      COMPACT_MS,
    );
    return compaction(passed?.compaction, entries, event);
  });

  pi.on("session_shutdown", async (event, ctx) => {
    if (state.flushing) await Promise.race([state.flushing, new Promise((done) => setTimeout(done, FLUSH_WAIT_MS).unref())]);
    await link(ctx).attempt("end of the session", (client, o) => client.endSession({ session_key: state.key || keyOf(ctx), private: true, reason: event.reason }, o));
    link(ctx).close();
  });

  /** One flush turn at a time. It may go on behind its event, when ctx is no longer to be asked. */
  function flush(ctx, messages, signal) {
    const host = { registry: ctx.modelRegistry, model: ctx.model, link: link(ctx), key: keyOf(ctx), options: sessionOptions(ctx), tell: teller(ctx) };
    return (state.flushing ??= writeDown(host, messages, signal)
      .catch((err) => host.tell(`memkernel: flush: the model was not heard: ${err.message}`))
      .finally(() => (state.flushing = null)));
  }

  /**
   * Has the model write down what should outlive the next cut: one completion without
   * tools, of which Pi's session holds nothing.
   */
  async function writeDown(host, messages, signal) {
    state.flushDue = false;
    if (!host.registry || !host.model) return;
    const ask = await host.link.attempt("flush", (client, o) => host.link.session(client, host.key, host.options).call("flush_turn", messages, { model: host.model.id }, o));
    if (!ask?.prompt) return;
    const auth = await host.registry.getApiKeyAndHeaders(host.model);
    if (!auth.ok) throw new Error(auth.error);
    const stop = AbortSignal.any([AbortSignal.timeout(FLUSH_MS), ...(signal ? [signal] : [])]);
    const answer = await complete(
      host.model,
      { systemPrompt: ask.system, messages: [{ role: "user", content: [{ type: "text", text: ask.prompt }], timestamp: Date.now() }] },
      { apiKey: auth.apiKey, headers: auth.headers, maxTokens: ask.max_tokens, signal: stop },
    );
    if (["error", "aborted"].includes(answer.stopReason)) throw new Error(answer.errorMessage || answer.stopReason);
    const text = answer.content.map((c) => (c.type === "text" ? c.text : "")).join("");
    const done = await host.link.attempt("flush", (client, o) => client.observeFlush({ session_key: host.key, private: true, text }, o), COMPACT_MS);
    if (done?.items) host.tell(`memkernel: ${done.line}`, "info");
  }

  function heard() {
    return [...state.messages, ...state.after.filter(travels)];
  }

  async function observe(method, ctx) {
    const messages = heard();
    if (!messages.length) return;
    const params = { model: ctx.model?.id, ...(method === "observe_turn" && state.plan ? { plan_id: state.plan } : {}) };
    await link(ctx).attempt("commit", (client, o) => session(client, ctx).call(method, messages, params, o));
  }
}

/**
 * The library by which Pi calls models. Pi gives it to an extension that it compiles; to one
 * that the runtime loads as it is, it stands beside the program.
 */
async function library() {
  const name = "@mariozechner/pi-ai";
  try {
    return await import(name);
  } catch {}
  for (let dir = realpathSync(process.argv[1]); dir !== dirname(dir); ) {
    dir = dirname(dir);
    const file = join(dir, "node_modules", name, "dist", "index.js");
    if (existsSync(file)) return import(pathToFileURL(file));
  }
  throw new Error(`${name} does not stand beside the program`);
}

function keyOf(ctx) {
  return `pi:${ctx.sessionManager.getSessionId()}`;
}

function settings(ctx, tools) {
  return {
    model: ctx.model?.id,
    context_window: ctx.model?.contextWindow,
    system: ctx.getSystemPrompt?.() || undefined,
    resolver: tools.includes("memory_search") ? "memory_search" : undefined,
  };
}

/**
 * The host's compaction made of ours; undefined where there is none, and the host
 * asks its model.
 */
function compaction(made, entries, event) {
  if (made?.reason !== "OK" || !made.first_kept || event.signal?.aborted) return undefined;
  const kept = entries[made.first_kept.index];
  const summary = [made.restore, made.summary].filter((t) => t?.trim()).join("\n\n");
  if (!kept?.id || !summary) return undefined;
  return {
    compaction: {
      summary,
      firstKeptEntryId: kept.id,
      tokensBefore: event.preparation.tokensBefore,
      details: { memkernel: { tokensBefore: made.tokens_before, tokensAfter: made.tokens_after, spans: made.spans, checkpoint: made.checkpoint } },
    },
  };
}

async function registerTools(pi, client, ctx, options) {
  const bound = { session_key: keyOf(ctx), private: true };
  const listed = await client.toolsList({ ...bound, format: "mcp" }, options);
  const tools = listed.tools.filter((t) => t.name !== "memory_get");
  for (const t of tools)
    pi.registerTool({
      name: t.name,
      label: t.name,
      description: t.description,
      parameters: t.inputSchema,
      async execute(_id, args, signal) {
        const answer = await client.toolsCall({ ...bound, name: t.name, arguments: args }, { signal, timeoutMs: TOOL_MS });
        const text = typeof answer.content === "string" ? answer.content : JSON.stringify(answer.content);
        return { content: [{ type: "text", text }], details: {} };
      },
    });
  return tools.map((t) => t.name);
}

function sessionOptions(ctx) {
  return { private: true, channel: "pi", session_file: ctx.sessionManager.getSessionFile?.() || undefined, dialect: "pi" };
}

/** Tells the user, as long as there is a screen: a session that was replaced has none, and says so by an error. */
function teller(ctx) {
  const ui = ctx.hasUI ? ctx.ui : null;
  return (text, level = "warning") => {
    try {
      if (ui) return ui.notify(text, level);
    } catch {}
    console.error(text);
  };
}
