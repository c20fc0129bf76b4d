// What the packages for agent frameworks share: a framework's conversation planned, told
// of, and searched by the kernel, in the framework's own messages. Nothing here holds a
// framework up: what fails, or is in doubt, is as if there were no kernel.

import { expand } from "./index.js";
import { Link } from "./link.js";

const OURS = ["session", "private", "model", "contextWindow", "reserve", "economy", "report", "deadlineMs", "tools"];

/**
 * The kernel as a framework needs it. options: those of connect, and session (its key),
 * private, model, contextWindow, reserve, economy, deadlineMs (default 10000) and
 * report(text), which hears of each trouble once.
 */
export class Kernel {
  #link;
  options;
  #conversations = new Map();

  constructor(options = {}) {
    const where = Object.fromEntries(Object.entries(options).filter(([name]) => !OURS.includes(name)));
    this.options = { session: "default", report: (text) => process.emitWarning(text), deadlineMs: 10_000, ...options };
    this.#link = new Link({ ...where, deadlineMs: this.options.deadlineMs, report: this.options.report });
  }

  attempt(what, use, deadlineMs) {
    return this.#link.attempt(what, use, deadlineMs);
  }

  bound(session = this.options.session) {
    return { session_key: session, private: this.options.private ?? false };
  }

  /** The conversation of a session. form says how its messages are written; see Conversation. */
  conversation(form, session = this.options.session) {
    const key = JSON.stringify([session, form.dialect]);
    let c = this.#conversations.get(key);
    if (!c) this.#conversations.set(key, (c = new Conversation(this, this.#link, form, session)));
    return c;
  }

  /** The tools by which a model asks memory, as MCP describes them. None without a daemon. */
  async tools(names, session) {
    const answer = await this.attempt("tools", (c, o) => c.toolsList({ ...this.bound(session), format: "mcp" }, o));
    return (answer?.tools ?? []).filter((t) => !names || names.includes(t.name));
  }

  async callTool(name, args, session) {
    const answer = await this.attempt(name, (c, o) => c.toolsCall({ ...this.bound(session), name, arguments: args ?? {} }, o));
    if (answer === undefined) return "memory can't be reached now; go on without it";
    return typeof answer.content === "string" ? answer.content : JSON.stringify(answer.content);
  }

  async callMemory(input, session) {
    const answer = await this.attempt("memory", (c, o) => c.memoryTool({ ...this.bound(session), input }, o));
    return answer ?? { content: "memory can't be reached now; go on without it", is_error: true };
  }

  search(query, params = {}, session) {
    return this.attempt("search", (c, o) => c.search({ ...this.bound(session), query, ...params }, o));
  }

  remember(text, params = {}, session) {
    return this.attempt("remember", (c, o) => c.remember({ ...this.bound(session), text, ...params }, o));
  }

  close() {
    this.#link.close();
  }
}

/**
 * A session's conversation in a framework's messages. form has the dialect, to(message),
 * which writes one message in it, and from(message, replaced), which makes the framework's
 * messages of one of the dialect's; replaced are those in whose place it stands.
 */
class Conversation {
  #kernel;
  #link;
  #form;
  #key;

  constructor(kernel, link, form, key) {
    this.#kernel = kernel;
    this.#link = link;
    this.#form = form;
    this.#key = key;
  }

  /**
   * What to send: messages, the host's own where nothing is to be said about them, and the
   * plan, undefined if there is none.
   */
  async plan(messages, params = {}) {
    const o = this.#kernel.options;
    const written = this.#write(messages);
    if (!written?.length) return { messages };
    const plan = await this.#link.attempt("plan", (client, options) =>
      this.#named(client).plan(written, this.#said({ model: o.model, context_window: o.contextWindow, reserve: o.reserve, economy: o.economy, ...params }), options),
    );
    if (!plan?.items) return { messages };
    if (!paired(this.#form.dialect, expand(plan.items, written)) && paired(this.#form.dialect, written)) {
      o.report("memkernel: a plan would have parted a call from its result; the conversation is sent as it was");
      return { messages };
    }
    try {
      const out = plan.items.flatMap((it) => (it.host ? messages.slice(...it.host) : this.#form.from(it.message, it.replaces ? messages.slice(...it.replaces) : [])));
      return { messages: out, plan };
    } catch (err) {
      o.report(`memkernel: a plan could not be written in the framework's messages: ${err.message}`);
      return { messages };
    }
  }

  /** Tells what was said: the conversation with the answer, what it was billed, and whether the turn goes on. */
  async observe(messages, { plan, usage, model, more = false } = {}) {
    const written = this.#write(messages);
    if (!written?.length) return undefined;
    const params = this.#said({ model: model ?? this.#kernel.options.model, plan_id: plan?.plan_id, usage: plan ? usage : undefined });
    return this.#link.attempt("commit", (client, options) => this.#named(client).call(more ? "observe_tool_result" : "observe_turn", written, params, options));
  }

  #named(client) {
    return this.#link.session(client, `${this.#form.dialect} ${this.#key}`, { ...this.#kernel.bound(this.#key), dialect: this.#form.dialect });
  }

  #write(messages) {
    try {
      return messages.map((m) => this.#form.to(m));
    } catch (err) {
      this.#kernel.options.report(`memkernel: a message could not be read: ${err.message}`);
      return null;
    }
  }

  #said(params) {
    return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
  }
}

/** Reports whether every call in a conversation has its result behind it, and every result its call. */
export function paired(dialect, messages) {
  const open = new Set();
  for (const m of messages) {
    const { calls, results, speaks } = linksOf(dialect, m);
    for (const id of results) if (!open.delete(id)) return false;
    if (open.size && speaks) return false;
    for (const id of calls) open.add(id);
  }
  return open.size === 0;
}

// linksOf names the calls and the results of a message, and says whether it has something
// that may not stand between a call and its result.
function linksOf(dialect, m) {
  if (dialect === "anthropic") {
    const blocks = Array.isArray(m.content) ? m.content : [];
    const ids = (type, id) => blocks.filter((b) => b.type === type).map((b) => b[id]);
    const results = ids("tool_result", "tool_use_id");
    return { calls: ids("tool_use", "id"), results, speaks: results.length === 0 };
  }
  if (dialect === "openai") return { calls: (m.tool_calls ?? []).map((c) => c.id), results: m.role === "tool" ? [m.tool_call_id] : [], speaks: m.role !== "tool" };
  const call = /_call$/.test(m.type ?? "") && m.call_id, result = /_call_output$/.test(m.type ?? "") && m.call_id;
  return { calls: call ? [call] : [], results: result ? [result] : [], speaks: m.type === "message" && m.role === "user" };
}

export function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((b) => (typeof b === "string" ? b : (b.text ?? ""))).join("");
}
