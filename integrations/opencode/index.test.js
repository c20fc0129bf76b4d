// A double of OpenCode around the plugin, which talks to the real program; MEMKERNEL
// names it.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { connect } from "../typescript/index.js";
import { Memkernel } from "./index.js";
import { messagesOf, values } from "./values.js";

const binary = process.env.MEMKERNEL;
const skip = binary ? false : "MEMKERNEL names no program";
const sessionID = "ses_1";
const model = { providerID: "fake", modelID: "fake-1" };

/** OpenCode, as far as a plugin sees it. */
class OpenCode {
  store = [];
  requests = [];
  warnings = [];
  next = 0;

  async start(directory, options) {
    const client = {
      app: { log: async ({ body }) => this.warnings.push(body.message) },
      session: { messages: async () => ({ data: structuredClone(this.store) }) },
      config: { providers: async () => ({ data: { providers: [{ id: "fake", models: { "fake-1": { limit: { context: 32000 } } } }] } }) },
    };
    this.hooks = await Memkernel({ client, directory }, { binary, idle: "1s", deadlineMs: 20000, ...options });
    return this;
  }

  id(prefix) {
    return `${prefix}_${String(this.next++).padStart(6, "0")}`;
  }

  part(message, fields) {
    const part = { id: this.id("prt"), sessionID, messageID: message.info.id, ...fields };
    message.parts.push(part);
    return part;
  }

  message(info) {
    const message = { info: { id: this.id("msg"), sessionID, time: { created: this.next }, ...info }, parts: [] };
    this.store.push(message);
    return message;
  }

  async ask() {
    const output = { messages: structuredClone(this.store) };
    const own = [...output.messages];
    await this.hooks["experimental.chat.messages.transform"]({}, output);
    this.requests.push({ sent: output.messages, own, values: values(output.messages).map((v) => v.message) });
  }

  async turn(text, results = [`line ${text}\n`.repeat(120)]) {
    this.part(this.message({ role: "user", agent: "build", model }), { type: "text", text });
    const answer = this.message({ role: "assistant", modelID: model.modelID, providerID: model.providerID });
    for (const [i, result] of results.entries()) {
      this.store.pop();
      await this.ask();
      this.store.push(answer);
      this.part(answer, { type: "step-start" });
      const tool = this.part(answer, { type: "tool", callID: `${text}-${i}`, tool: "bash", state: { status: "running", input: { command: `run ${i}` } } });
      tool.state = { status: "completed", input: tool.state.input, output: result, title: "run", metadata: {}, time: { start: 1, end: 2 } };
      await this.hooks["tool.execute.after"]({ tool: "bash", sessionID, callID: tool.callID, args: {} }, { title: "run", output: result, metadata: {} });
      this.part(answer, { type: "step-finish" });
    }
    await this.ask();
    this.part(answer, { type: "step-start" });
    this.part(answer, { type: "text", text: `done ${text}` });
    this.part(answer, { type: "step-finish" });
    await this.hooks.event({ event: { type: "session.idle", properties: { sessionID } } });
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

test("twenty turns: the prompt's beginning stands between cuts, and every turn is committed", { skip }, async (t) => {
  const dir = workspace(t);
  const host = await new OpenCode().start(dir);
  for (let i = 0; i < 20; i++) await host.turn(`question ${i}`);
  await host.hooks.dispose();
  assert.deepEqual(host.warnings, []);
  const breaks = host.requests.filter((r, i) => i > 0 && !holds(r.values, host.requests[i - 1].values)).length;
  const client = await connect({ workspace: dir, binary });
  t.after(() => client.close());
  const { sessions } = await client.status();
  assert.equal(sessions[0].turns, 20);
  assert.ok(breaks > 0 && breaks === sessions[0].lines[0].cuts, `${breaks} breaks, ${sessions[0].lines[0].cuts} cuts`);
  assert.equal((await client.check()).ok, true);
  for (const r of host.requests) for (const m of r.sent) for (const p of m.parts) if (p.type === "tool") assert.ok(p.callID && p.state.output);
});

test("a message of which everything stands is the host's own object", { skip }, async (t) => {
  const host = await new OpenCode().start(workspace(t));
  await host.turn("one");
  await host.turn("two", ["a", "b"]);
  const { sent, own } = host.requests.at(-1);
  assert.equal(sent.length, own.length);
  sent.forEach((m, i) => assert.equal(m, own[i]));
});

test("the host's compaction begins with our state of the work", { skip }, async (t) => {
  const host = await new OpenCode().start(workspace(t));
  await host.turn("rename the walrus module");
  const output = { context: [] };
  await host.hooks["experimental.session.compacting"]({ sessionID }, output);
  assert.match(output.context.join("\n"), /walrus/);
});

test("the summary's model writes down what should outlive it, and the summary is without that", { skip }, async (t) => {
  const dir = workspace(t);
  const host = await new OpenCode().start(dir);
  const secret = "AKIA" + "IOSFODNN7EXAMPLE";
  await host.turn("rename the walrus module");
  const complete = async (text) => {
    const output = { text };
    await host.hooks["experimental.text.complete"]({ sessionID, messageID: "m", partID: "p" }, output);
    return output.text;
  };
  const summed = (list) => `## Goal\nWalrus.\n\n<memory>\n${list}\n</memory>`;
  const talk = summed("- [lesson] Talk of it.");
  assert.equal(await complete(talk), talk, "what is no summary stays what it is");
  const compacting = async () => {
    const output = { context: [] };
    await host.hooks["experimental.session.compacting"]({ sessionID }, output);
    return output.context.join("\n");
  };
  assert.match(await compacting(), /<memory>[^]*<\/memory>/);
  assert.equal(await complete(summed(`- [decision] Walrus is called seal now, the key is ${secret}.`)), "## Goal\nWalrus.");
  await compacting();
  assert.equal(await complete(summed("NO_REPLY")), "## Goal\nWalrus.");
  await compacting();
  await host.hooks.event({ event: { type: "session.compacted", properties: { sessionID } } });
  assert.equal(await complete(talk), talk, "the compaction is over");
  await host.hooks.dispose();
  const log = readdirSync(join(dir, "memory")).map((f) => readFileSync(join(dir, "memory", f), "utf8")).join("");
  assert.match(log, /\[decision\] Walrus is called seal now[^]*<!-- mk:fa-/);
  assert.ok(!log.includes(secret) && !log.includes("NO_REPLY") && !log.includes("Talk of it"));
  assert.deepEqual(host.warnings.filter((w) => /^memkernel: flush: 1 entry to memory\//.test(w)).length, 1, host.warnings.join("\n"));
});

test("the system prompt is the host's own in every call", async () => {
  const host = await new OpenCode().start(tmpdir(), { binary: join(tmpdir(), "no", "such", "program") });
  const seen = new Set();
  for (let i = 0; i < 3; i++) {
    const output = { system: ["You are OpenCode."] };
    await host.hooks["experimental.chat.system.transform"]({ sessionID, model: { id: "fake-1", providerID: "fake", limit: { context: 32000 } } }, output);
    seen.add(output.system.join("\n"));
  }
  assert.deepEqual([...seen], ["You are OpenCode."]);
});

test("without a program the host's messages stay what they are", async () => {
  const host = await new OpenCode().start(tmpdir(), { binary: join(tmpdir(), "no", "such", "program") });
  await host.turn("question");
  for (const { sent, own } of host.requests) sent.forEach((m, i) => assert.equal(m, own[i]));
  const output = { context: [] };
  await host.hooks["experimental.session.compacting"]({ sessionID }, output);
  assert.deepEqual(output.context, []);
  assert.ok(host.warnings.length > 0);
});

test("values and back: steps, results shown shorter, what is left out, and blocks", () => {
  const user = { info: { id: "u", sessionID, role: "user", agent: "build", model }, parts: [{ type: "text", text: "hi" }, { type: "text", text: "no", ignored: true }] };
  const tool = (callID, state) => ({ type: "tool", callID, tool: "bash", state });
  const answer = {
    info: { id: "a", sessionID, role: "assistant" },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "hm" },
      tool("1", { status: "completed", input: { a: 1 }, output: "long", time: { start: 1, end: 2 } }),
      tool("2", { status: "error", input: {}, error: "bad" }),
      { type: "step-start" },
      tool("3", { status: "running", input: {} }),
      { type: "step-start" },
      { type: "text", text: "done" },
    ],
  };
  const all = [user, answer];
  const given = values(all);
  assert.deepEqual(given.map((v) => v.message.role), ["user", "assistant", "user", "assistant", "user", "assistant"]);
  assert.deepEqual(given[2].message.content.map((b) => [b.tool_use_id, b.content, !!b.is_error]), [["1", "long", false], ["2", "bad", true]]);
  assert.match(given[4].message.content[0].content, /interrupted/);

  const shown = { info: user.info, parts: [{ type: "text", text: "see @a" }, { type: "text", text: "Called the Read tool", synthetic: true }, { type: "subtask" }] };
  assert.deepEqual(values([shown])[0].message.content.map((b) => !!b.synthetic), [false, true, true]);

  assert.deepEqual(messagesOf([{ host: [0, 6] }], given, all), all);
  assert.equal(messagesOf([{ host: [0, 6] }], given, all)[1], answer);

  const short = { role: "user", content: [{ type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "sh" }] }, { type: "tool_result", tool_use_id: "2", content: "bad", is_error: true }] };
  const block = { role: "user", content: [{ type: "text", text: "kept" }, { type: "text", text: "so far" }] };
  const out = messagesOf([{ message: block }, { host: [1, 2] }, { message: short, replaces: [2, 3] }, { host: [5, 6] }], given, all);
  assert.equal(out[0].parts[0].text, "kept\n\nso far");
  assert.deepEqual([out[0].info.role, out[0].info.agent, out.length], ["user", "build", 2]);
  assert.deepEqual(out[1].parts.map((p) => p.state?.output ?? p.state?.error ?? p.text ?? p.type), ["step-start", "hm", "sh", "bad", "step-start", "done"]);
  assert.equal(answer.parts[2].state.output, "long"); // the host's own is untouched
});
