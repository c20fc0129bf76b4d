// A double of Pi around the extension, which talks to the real program; MEMKERNEL
// names it.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { connect } from "../typescript/index.js";
import { said, whole } from "./branch.js";
import memkernel from "./index.js";

const binary = process.env.MEMKERNEL;
const skip = binary ? false : "MEMKERNEL names no program";

/** Pi, as far as an extension sees it. */
class Pi {
  handlers = {};
  tools = [];
  entries = [];
  messages = [];
  requests = [];
  notices = [];
  clock = 1773000000000;

  constructor(cwd, options) {
    this.ctx = {
      cwd,
      hasUI: true,
      ui: { notify: (text) => this.notices.push(text) },
      model: { id: "claude-sonnet-4-6", contextWindow: 16000 },
      sessionManager: { getSessionId: () => "s1", getBranch: () => this.entries },
      getSystemPrompt: () => this.system,
    };
    memkernel({ on: (name, f) => (this.handlers[name] = f), registerTool: (t) => this.tools.push(t) }, { binary, idle: "1s", deadlineMs: 20000, ...options });
  }

  emit(type, event = {}) {
    return this.handlers[type]?.({ type, ...event }, this.ctx);
  }

  async keep(message) {
    this.messages.push(message);
    await this.emit("message_end", { message });
    this.entries.push({ type: "message", id: `e${this.entries.length}`, message });
  }

  async ask() {
    const own = structuredClone(this.messages);
    const sent = (await this.emit("context", { messages: own }))?.messages ?? own;
    this.requests.push({ sent, ours: sent !== own });
    return sent;
  }

  now() {
    return (this.clock += 1000);
  }

  async turn(text, results = [`line ${text}\n`.repeat(60)]) {
    this.system = (await this.emit("before_agent_start", { prompt: text, systemPrompt: "You are Pi." }))?.systemPrompt ?? "You are Pi.";
    await this.keep({ role: "user", content: [{ type: "text", text }], timestamp: this.now() });
    for (const [i, result] of results.entries()) {
      await this.ask();
      const call = { type: "toolCall", id: `${text}-${i}`, name: "bash", arguments: { command: `run ${i}` } };
      const message = { role: "assistant", content: [call], stopReason: "toolUse", timestamp: this.now(), details: { own: i } };
      await this.keep(message);
      const toolResult = { role: "toolResult", toolCallId: call.id, toolName: "bash", content: [{ type: "text", text: result }], isError: false, timestamp: this.now() };
      await this.keep(toolResult);
      await this.emit("turn_end", { message, toolResults: [toolResult] });
    }
    await this.ask();
    await this.keep({ role: "assistant", content: [{ type: "text", text: `done ${text}` }], stopReason: "stop", timestamp: this.now() });
    await this.emit("agent_end", { messages: [] });
  }

  async compact() {
    const made = await this.emit("session_before_compact", { preparation: { tokensBefore: 4242 }, branchEntries: this.entries, signal: new AbortController().signal });
    if (!made?.compaction) return undefined;
    const { summary, firstKeptEntryId } = made.compaction;
    const from = this.entries.findIndex((e) => e.id === firstKeptEntryId);
    this.entries.push({ type: "compaction", id: `c${this.entries.length}`, summary, firstKeptEntryId, tokensBefore: 4242, timestamp: new Date(this.now()).toISOString() });
    this.messages = [{ role: "compactionSummary", summary, tokensBefore: 4242, timestamp: this.clock }, ...said(this.entries.slice(from)).map((e) => e.message)];
    return made.compaction;
  }
}

// removed waits until the daemon of a workspace has ended, since it writes there until
// then, and removes the workspace. A process that was about to start one may still write.
async function removed(workspace) {
  const until = Date.now() + 60_000;
  const wait = () => new Promise((done) => setTimeout(done, 25));
  let pid = 0;
  try {
    pid = JSON.parse(readFileSync(join(workspace, ".memkernel", "serve.json"), "utf8")).pid;
  } catch {} // none was started
  const runs = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (pid && runs() && Date.now() < until) await wait();
  for (;;) {
    try {
      return rmSync(workspace, { recursive: true, force: true });
    } catch (e) {
      if (Date.now() > until) throw e;
      await wait();
    }
  }
}

function workspace(t) {
  const dir = mkdtempSync(join(tmpdir(), "mk"));
  t.after(async () => {
    if (binary) await connect({ workspace: dir, binary }).then((c) => c.shutdown()).catch(() => {});
    await removed(dir);
  });
  return dir;
}

const holds = (after, before) => before.every((m, i) => JSON.stringify(m) === JSON.stringify(after[i]));

function paired(messages) {
  const open = new Set();
  for (const m of messages) {
    if (m.role === "assistant") for (const c of m.content) if (c.type === "toolCall") open.add(c.id);
    if (m.role === "toolResult") assert.ok(open.delete(m.toolCallId), `a result without its call: ${m.toolCallId}`);
  }
  assert.equal(open.size, 0, `calls without results: ${[...open]}`);
}

test("twenty turns: the prompt's beginning stands between cuts, and every turn is committed", { skip }, async (t) => {
  const dir = workspace(t);
  const pi = new Pi(dir);
  pi.ctx.model.contextWindow = 10000;
  await pi.emit("session_start", { reason: "startup" });
  for (let i = 0; i < 20; i++) await pi.turn(`question ${i}`);
  assert.ok(pi.requests.every((r) => r.ours), pi.notices.join("\n"));
  pi.requests.forEach((r) => paired(r.sent));
  const breaks = pi.requests.filter((r, i) => i > 0 && !holds(r.sent, pi.requests[i - 1].sent)).length;
  const client = await connect({ workspace: dir, binary });
  t.after(() => client.close());
  const { sessions } = await client.status();
  assert.equal(sessions[0].turns, 20);
  assert.ok(breaks > 0 && breaks === sessions[0].lines[0].cuts, `${breaks} breaks, ${sessions[0].lines[0].cuts} cuts`);
  assert.equal((await client.check()).ok, true);
  assert.deepEqual(pi.notices, []);
});

test("the system prompt is the host's own in every turn", { skip }, async (t) => {
  const pi = new Pi(workspace(t));
  await pi.emit("session_start", { reason: "startup" });
  const seen = new Set();
  for (let i = 0; i < 3; i++) {
    await pi.turn(`question ${i}`);
    seen.add(pi.system);
  }
  assert.deepEqual([...seen], ["You are Pi."]);
});

test("a compaction keeps from an entry of the host's and tells the kernel nothing twice", { skip }, async (t) => {
  const pi = new Pi(workspace(t));
  assert.equal(await pi.compact(), undefined); // there is nothing yet
  for (let i = 0; i < 6; i++) await pi.turn(`question ${i}`);
  const made = await pi.compact();
  assert.ok(pi.entries.some((e) => e.id === made.firstKeptEntryId && e.type === "message"));
  assert.match(made.summary, /question/);
  assert.equal(made.tokensBefore, 4242);
  await pi.turn("and now");
  const last = pi.requests.at(-1).sent;
  paired(last);
  assert.ok(!last.some((m) => m.role === "compactionSummary"), "the host's summary stands beside ours");
  assert.ok(JSON.stringify(last).includes("Context kept by memkernel"));
});

test("before a cut the model is asked what should outlive it, and nobody sees it", { skip }, async (t) => {
  const dir = workspace(t);
  const secret = "AKIA" + "IOSFODNN7EXAMPLE";
  const asked = [];
  let answer = { stopReason: "stop", content: [{ type: "text", text: `- [decision] The crane moves north, the key is ${secret}.` }] };
  const pi = new Pi(dir, { complete: async (...args) => (asked.push(args), answer) });
  pi.ctx.modelRegistry = { getApiKeyAndHeaders: async (model) => ({ ok: true, apiKey: `key of ${model.id}`, headers: {} }) };
  const log = () => readdirSync(join(dir, "memory")).map((f) => readFileSync(join(dir, "memory", f), "utf8")).join("");
  for (let i = 0; i < 20 && !asked.length; i++) await pi.turn(`question ${i} about the crane, the key is ${secret}`);
  while (!pi.notices.length) await new Promise((done) => setTimeout(done, 5));
  assert.equal(asked.length, 1);
  const [model, context, options] = asked[0];
  assert.deepEqual([model.id, options.apiKey, context.messages.length, context.tools], ["claude-sonnet-4-6", "key of claude-sonnet-4-6", 1, undefined]);
  assert.ok(options.maxTokens > 0 && options.signal);
  assert.match(context.messages[0].content[0].text, /crane/);
  assert.ok(!JSON.stringify(context).includes(secret));
  assert.match(log(), /\[decision\] The crane moves north/);
  assert.match(log(), /<!-- mk:fa-/);
  assert.ok(!log().includes(secret));
  assert.match(pi.notices.join("\n"), /^memkernel: flush: 1 entry to memory\//);
  assert.ok(!JSON.stringify([pi.entries, pi.requests]).includes("should be remembered"));
  // A model that fails holds no compaction up.
  answer = { stopReason: "error", errorMessage: "overloaded", content: [] };
  for (let i = 0; i < 12; i++) await pi.turn(`again ${i}`);
  assert.ok((await pi.compact())?.summary);
  assert.match(pi.notices.join("\n"), /not heard: overloaded/);
});

test("the daemon is killed in between", { skip }, async (t) => {
  const dir = workspace(t);
  const pi = new Pi(dir);
  await pi.turn("before");
  const client = await connect({ workspace: dir, binary });
  await client.shutdown();
  while (!client.closed) await new Promise((done) => setTimeout(done, 5)); // an idle socket keeps no process alive
  await pi.turn("after");
  assert.ok(pi.requests.every((r) => r.ours), pi.notices.join("\n"));
  const again = await connect({ workspace: dir, binary });
  t.after(() => again.close());
  assert.equal((await again.status()).sessions[0].turns, 2);
  paired(pi.requests.at(-1).sent);
});

test("without a program the host sends its own messages", async (t) => {
  const pi = new Pi(workspace(t), { binary: join(tmpdir(), "no", "such", "program") });
  await pi.emit("session_start", { reason: "startup" });
  await pi.turn("question");
  assert.ok(pi.requests.every((r) => !r.ours));
  assert.equal(await pi.compact(), undefined);
  await pi.emit("session_shutdown", { reason: "quit" });
  assert.ok(pi.notices.length > 0);
});

test("a daemon that never answers holds nobody up", { skip: process.platform === "win32" && "unix sockets" }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "mk"));
  mkdirSync(join(dir, ".memkernel"));
  const sockets = [];
  const mute = createServer((s) => sockets.push(s));
  const mask = process.umask(0o077);
  await new Promise((done) => mute.listen(join(dir, ".memkernel", "serve.sock"), done));
  process.umask(mask);
  t.after(() => {
    sockets.forEach((s) => s.destroy());
    mute.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const pi = new Pi(dir, { deadlineMs: 50 });
  await pi.turn("question");
  assert.ok(pi.requests.every((r) => !r.ours));
  assert.match(pi.notices.join("\n"), /no answer within 50 ms/);
});

test("what the host compacted away is handed in again", () => {
  const message = (n) => ({ role: "user", content: `m${n}` });
  const path = [0, 1, 2, 3].map((n) => ({ type: "message", id: `e${n}`, message: message(n) }));
  path.push({ type: "compaction", id: "c", summary: "s", firstKeptEntryId: "e2" }, { type: "message", id: "e4", message: message(4) });
  const sent = [{ role: "compactionSummary", summary: "s" }, message(2), message(3), message(4)];
  assert.deepEqual(whole(sent, path), [0, 1, 2, 3, 4].map(message));
  assert.deepEqual(whole([message(0)], path), [message(0)]);
  path[4].firstKeptEntryId = "gone"; // a summary that can't be undone stands
  assert.deepEqual(whole(sent, path), sent);
  assert.deepEqual(whole([{ role: "assistant", stopReason: "aborted", content: [] }, { role: "bashExecution", excludeFromContext: true }, message(0)], []), [message(0)]);
});

test("memory's tools are the model's, where the daemon has them", { skip: process.platform === "win32" && "unix sockets" }, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "mk"));
  mkdirSync(join(dir, ".memkernel"));
  const schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
  const calls = [];
  const answers = {
    initialize: () => ({ protocol: 1, capabilities: {} }),
    "tools.list": () => ({ tools: [{ name: "memory_search", description: "searches, and restores a page", inputSchema: schema }, { name: "memory_get", description: "restores a page", inputSchema: schema }] }),
    "tools.call": (p) => ({ name: p.name, content: { text: `page ${p.arguments.id}`, reason: "OK" } }),
    plan: (p) => ({ plan_id: "p", items: [{ host: [0, p.conversation.messages.length] }], conversation: { base: "", count: 0 } }),
  };
  const sockets = [];
  const daemon = createServer((s) => {
    sockets.push(s);
    s.on("data", (lines) => {
      for (const line of lines.toString().trim().split("\n")) {
        const { id, method, params } = JSON.parse(line);
        calls.push({ method, params });
        s.write(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }) + "\n");
      }
    });
  });
  const mask = process.umask(0o077);
  await new Promise((done) => daemon.listen(join(dir, ".memkernel", "serve.sock"), done));
  process.umask(mask);
  t.after(() => {
    sockets.forEach((s) => s.destroy());
    daemon.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const pi = new Pi(dir);
  await pi.emit("session_start", { reason: "startup" });
  assert.deepEqual([pi.tools.length, pi.tools[0].name, pi.tools[0].parameters], [1, "memory_search", schema]);
  const answer = await pi.tools[0].execute("call-1", { id: "ev-1" });
  assert.match(answer.content[0].text, /page ev-1/);
  await pi.turn("question");
  const plan = calls.find((c) => c.method === "plan").params;
  assert.deepEqual([plan.resolver, plan.private, plan.session_key, plan.context_window], ["memory_search", true, "pi:s1", 16000]);
  assert.equal(calls.find((c) => c.method === "tools.call").params.private, true);
});
