import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { keysOf, planned } from "../messages.js";
import { shared } from "../shared.js";
import { asHost, here, program, recorded, register, stopDaemon, workspace } from "./host.js";
import { relay } from "./record.js";

const recording = "host-2026.9.6.jsonl";

/** play lets the host's recorded calls happen, and gives the results. */
async function play(host, calls, between = async () => {}) {
  const results = [];
  let engine;
  for (const c of calls) {
    if (c.call === "factory") engine = host.engine();
    else {
      await between(c, results);
      results.push({ ...c, result: await engine[c.call](c.params && asHost(c.params)) });
    }
  }
  return results;
}

/** sentBy are the requests that the host would have made of assembled histories. */
const sentBy = (results) => results.filter((r) => r.call === "assemble").map((r) => r.result.messages.map((m) => JSON.stringify(m)));

/** grows tells that each request holds all of the history before it. */
function grows(requests) {
  for (let i = 1; i < requests.length; i++) assert.deepEqual(requests[i].slice(0, requests[i - 1].length), requests[i - 1], `request ${i}`);
}

test("a recorded conversation: planned, committed once, prefixes stand", async (t) => {
  const dir = workspace(t);
  const host = await register(dir);
  const calls = recorded(recording);
  const results = await play(host, calls);
  const commits = results.filter((r) => r.call === "commitTurn");
  assert.deepEqual(commits.map((r) => r.result.status), commits.map(() => "committed"));
  grows(sentBy(results));
  for (const r of results.filter((x) => x.call === "assemble")) {
    assert.ok(!r.result.messages.some((m) => m.role === "user" && m.content === r.params.prompt), "the prompt is the host's to append");
    const sent = new Set(r.result.messages.map((m) => JSON.stringify(m)));
    for (const m of r.params.messages) assert.ok(sent.has(JSON.stringify(m)), "an untouched message keeps all its members");
    assert.equal(r.result.systemPromptAddition, results[0].result.systemPromptAddition);
  }
  const again = await play(host, calls);
  assert.deepEqual(again.filter((r) => r.call === "commitTurn").map((r) => r.result.status), commits.map(() => "duplicate"));
});

test("a delivery in a new process is the same turn", async (t) => {
  const dir = workspace(t);
  const calls = recorded(recording);
  await play(await register(dir), calls);
  shared().sessions.clear();
  const fresh = (await register(dir)).engine();
  for (const c of calls.filter((x) => x.call === "commitTurn")) assert.equal((await fresh.commitTurn(c.params)).status, "duplicate");
});

test("the daemon may be killed before any call", async (t) => {
  const calls = recorded(recording);
  for (const victim of calls.keys()) {
    if (!["assemble", "commitTurn"].includes(calls[victim].call)) continue;
    const dir = workspace(t);
    const results = await play(await register(dir), calls, async (c) => c === calls[victim] && stopDaemon(dir));
    for (const r of results.filter((x) => x.call === "commitTurn")) assert.equal(r.result.status, "committed", `killed before call ${victim}`);
    grows(sentBy(results));
    stopDaemon(dir);
  }
});

test("without a daemon the host's messages go out, and a turn stays in its queue", async (t) => {
  const dir = workspace(t);
  const host = await register(dir, { binary: path.join(dir, "none") });
  const engine = host.engine();
  const [first] = recorded(recording).filter((c) => c.call === "assemble" && c.params.messages.length > 0);
  const before = shared().counts.fallbacks;
  const r = await engine.assemble(asHost(first.params));
  assert.equal(r.messages, first.params.messages);
  assert.equal(r.promptAuthority, "preassembly_may_overflow");
  assert.equal(shared().counts.fallbacks, before + 1);
  const commit = recorded(recording).find((c) => c.call === "commitTurn");
  await assert.rejects(engine.commitTurn(commit.params), /binary/);
});

test("a daemon that hangs is not waited for", async (t) => {
  const dir = workspace(t);
  const socket = path.join(dir, "deaf");
  const deaf = await relay(socket, path.join(dir, "nobody")).then((r) => r, assert.fail);
  t.after(() => deaf.close());
  const engine = (await register(dir, { socket, assembleTimeoutMs: 100 })).engine();
  const call = recorded(recording).find((c) => c.call === "assemble");
  assert.equal((await engine.assemble(asHost(call.params))).messages, call.params.messages);
});

test("copies of the module share one connection", async (t) => {
  const dir = workspace(t);
  const a = await register(dir, {}, 1);
  const b = await register(dir, {}, 2);
  const n = shared().daemons.size;
  await Promise.all([play(a, recorded(recording)), b.tools({ sessionKey: "agent:main:main" }).context_status.execute("c1", {})]);
  assert.equal(shared().daemons.size, n + 1);
});

test("memory: tools, private and shared, files that are none", async (t) => {
  const dir = workspace(t);
  const host = await register(dir);
  const mine = host.tools({ sessionKey: "agent:main:main" });
  const group = host.tools({ sessionKey: "agent:main:telegram:group:7" });
  const { manager } = await host.memory.runtime.getMemorySearchManager({ agentId: "main", cfg: undefined });
  await manager.sync();
  assert.ok(!(await manager.search("deploy key")).some((h) => h.path === "MEMORY.md"), "who doesn't say gets what all may see");
  assert.equal((await manager.search("deploy key", { sessionKey: "agent:main:main" }))[0].path, "MEMORY.md");
  assert.equal((await manager.readFile({ relPath: "memory/deploys.md", from: 2, lines: 1 })).status, "ok");
  const ask = async (set, tool, args) => (await set[tool].execute("call-1", args)).details;
  const found = await ask(mine, "memory_search", { query: "deploy key" });
  assert.equal(found.results[0].path, "MEMORY.md");
  assert.equal(found.results[0].provenance.originClass, "agent");
  const shared_ = await ask(group, "memory_search", { query: "deploy key" });
  assert.ok(!shared_.results.some((h) => h.path === "MEMORY.md"), "a group has no MEMORY.md");
  assert.match((await ask(mine, "memory_get", { path: "MEMORY.md", from: 2, lines: 1 })).text, /vault seven/);
  assert.match((await ask(group, "memory_get", { path: "MEMORY.md" })).error ?? "denied", /denied|DENIED|private|shared/i);
  assert.match((await ask(mine, "memory_get", { path: "../../etc/passwd" })).error, /etc.passwd/);
  assert.equal((await ask(mine, "memory_get", { path: "memory/none.md" })).status, "not_found");
  assert.equal((await ask(mine, "memory_get", { path: "ev-0123456789abcdef" })).reason, "NO_MATCH", "a pointer is looked up in the session");
  const kept = await ask(mine, "memory_append", { text: "- The cat is called Tilde." });
  const again = await ask(mine, "memory_append", { text: "- The cat is called Tilde." });
  assert.equal(kept.duplicate, false);
  assert.equal(again.duplicate, true, "the same call keeps once");
  const origins = await host.memory.runtime.classifyWorkspaceMemoryPaths({ relativePaths: ["MEMORY.md", "memory/a.md", "notes.md"], readSources: [{ relativePath: "MEMORY.md", canonicalRelativePath: "MEMORY.md" }, { relativePath: "memory/a.md" }] });
  assert.deepEqual(origins.map((o) => o.originClass), ["agent", "untrusted", "untrusted"]);
  assert.equal(host.memory.flushPlanResolver(), null);
});

test("compaction is told as it was", async (t) => {
  const dir = workspace(t);
  const host = await register(dir);
  const engine = host.engine();
  const none = await engine.compact({ sessionId: "s", sessionKey: "agent:main:main", force: true });
  assert.equal(none.compacted, false);
  assert.ok(none.reason);
  const messages = [];
  for (let i = 0; i < 40; i++) messages.push({ role: "user", content: `question ${i}`, timestamp: 1000 + 10 * i }, { role: "assistant", content: [{ type: "text", text: `answer ${i} `.repeat(200) }], stopReason: "stop", timestamp: 1005 + 10 * i });
  const ask = { sessionId: "s", sessionKey: "agent:main:main", messages, prompt: "next", tokenBudget: 60_000, model: "fake-1", runtimeSettings: { limits: { maxOutputTokens: 16_384, promptTokenBudget: 60_000 } } };
  const before = await engine.assemble(ask);
  const done = await engine.compact({ sessionId: "s", sessionKey: "agent:main:main", force: true, compactionTarget: "threshold" });
  assert.equal(done.compacted, true, done.reason);
  assert.ok(done.result.tokensAfter < done.result.tokensBefore);
  assert.ok(done.result.summary);
  const after = await engine.assemble(ask);
  assert.ok(after.estimatedTokens < before.estimatedTokens);
});

test("before a cut the model is asked what should outlive it, behind everybody's back", async (t) => {
  const dir = workspace(t);
  const host = await register(dir);
  const sessionKey = "agent:main:main";
  const secret = "AKIA" + "IOSFODNN7EXAMPLE";
  const asked = [];
  let answer = () => ({ text: `- [decision] The crane moves to the north quay, the key is ${secret}.` });
  const runtimeContext = { llm: { complete: async (p) => (asked.push(p), answer(p)) } };
  const messages = [];
  const say = async (i, size) => {
    const user = { role: "user", content: `question ${i} about the crane, the key is ${secret}`, timestamp: 1000 + 10 * i };
    const engine = host.engine();
    await engine.assemble({ sessionId: "s", sessionKey, messages: [...messages], prompt: user.content, tokenBudget: 30_000, model: "fake-1", runtimeSettings: { limits: { maxOutputTokens: 4_096 } } });
    const said = [user, { role: "assistant", content: [{ type: "text", text: `answer ${i} `.repeat(size) }], stopReason: "stop", timestamp: 1005 + 10 * i }];
    await engine.commitTurn({ sessionId: "s", sessionKey, advancementKey: `k${i}`, admission: {}, terminal: {}, messages: said });
    messages.push(...said);
    await engine.maintain({ sessionId: "s", sessionKey, agentId: "main", sessionFile: sessionKey, runtimeContext });
    await engine.dispose();
  };
  const log = () => fs.readdirSync(path.join(dir, "memory")).filter((f) => /^\d{4}-/.test(f)).map((f) => fs.readFileSync(path.join(dir, "memory", f), "utf8")).join("");
  for (let i = 0; i < 30 && asked.length === 0; i++) await say(i, 600);
  assert.equal(asked.length, 1, "the model was asked once");
  const [ask] = asked;
  assert.ok(ask.maxTokens > 0 && ask.maxTokens <= 2000 && ask.purpose && ask.signal && !ask.model);
  assert.match(ask.messages[0].content, /crane/);
  assert.ok(!JSON.stringify(ask).includes(secret), "no secret travels");
  assert.match(log(), /\[decision\] The crane moves to the north quay/);
  assert.match(log(), /<!-- mk:fa-/);
  assert.ok(!log().includes(secret));
  assert.ok(host.logs.some((l) => /^info .*flush: 1 entry to memory\//.test(l)), host.logs.join("\n"));
  // A model that fails loses nothing, and neither compaction nor host hears of it.
  answer = () => {
    throw new Error("overloaded");
  };
  const done = await host.engine().compact({ sessionId: "s", sessionKey, agentId: "main", force: true, compactionTarget: "threshold", runtimeContext });
  assert.equal(done.compacted, true, done.reason);
  const n = asked.length;
  await host.engine().compact({ sessionId: "s", sessionKey, force: true, compactionTarget: "budget", tokenBudget: 30_000, currentTokenCount: 31_000, runtimeContext: { ...runtimeContext, trigger: "overflow" } });
  assert.equal(asked.length, n, "a turn that waits is not held up");
  answer = () => ({ text: "NO_REPLY" });
  const before = log();
  for (let i = 30; i < 70 && asked.length === n; i++) await say(i, 600);
  assert.ok(asked.length > n);
  assert.ok(!log().includes("NO_REPLY"));
  assert.equal(log().split("<!-- mk:fa-").length, before.split("<!-- mk:fa-").length);
});

test("a turn that the host's own engine took is noticed", async (t) => {
  const host = await register(workspace(t));
  const sessionKey = "agent:main:quiet";
  const before = shared().counts.legacyTurns;
  const begin = () => host.memory.promptBuilder({ agentSessionKey: sessionKey, availableTools: new Set(["memory_search"]) });
  const assemble = () => host.engine().assemble({ sessionId: "q", sessionKey, messages: [], prompt: "hello", tokenBudget: 30_000 });
  begin();
  await assemble();
  begin();
  assert.equal(shared().counts.legacyTurns, before, "all is well so far");
  await host.tools({ sessionKey }).context_status.execute("c", {});
  assert.equal(shared().counts.legacyTurns, before + 1, "a tool is called in a run that was not assembled");
  assert.ok(host.logs.some((l) => l.startsWith("error") && l.includes("without this engine")));
  begin();
  begin();
  assert.equal(shared().counts.legacyTurns, before + 2, "the next run begins");
  await assemble();
  begin();
  assert.equal(shared().counts.legacyTurns, before + 2);
});

test("notes stand before the words that they are about", () => {
  const user = (content) => ({ role: "user", content, timestamp: 1 });
  const note = { message: { role: "user", content: [{ type: "text", text: "<recall>\n" }], timestamp: 0 } };
  const prompt = { message: { role: "user", content: [{ type: "text", text: "now" }], timestamp: 0 } };
  const host = [user("first"), { role: "assistant", content: [{ type: "text", text: "a" }], timestamp: 2 }];
  const carry = { message: { role: "user", content: [{ type: "text", text: "carry" }], timestamp: 0 } };
  const plain = ({ __memkernel, ...m }) => ({ ...m, timestamp: m.timestamp ?? 0 });
  const got = planned([carry, { host: [0, 1] }, note, { host: [1, 2] }, prompt, note], host, "now").map(plain);
  assert.deepEqual(got, [carry.message, note.message, host[0], host[1], note.message]);
});

test("a refused turn that the host tries again is the same turn", async (t) => {
  const dir = workspace(t);
  const host = await register(dir);
  const ask = { sessionId: "s", sessionKey: "agent:main:main", messages: [], tokenBudget: 30_000, model: "fake-1", runtimeSettings: { limits: { maxOutputTokens: 8_000 } } };
  const prompt = "where is the deploy key?";
  await host.engine().assemble({ ...ask, prompt });
  const engine = host.engine();
  await engine.compact({ sessionId: "s", sessionKey: "agent:main:main", force: true, compactionTarget: "budget", tokenBudget: 30_000, currentTokenCount: 31_000, runtimeContext: { trigger: "overflow" } });
  const first = await engine.assemble({ ...ask, prompt: `[Queued message; go on below.]\n${prompt}\n\nContinue the current task.` });
  const said = [{ role: "user", content: prompt, timestamp: 5 }, { role: "assistant", content: [{ type: "text", text: "in seven" }], stopReason: "stop", timestamp: 6 }];
  assert.equal((await engine.commitTurn({ sessionId: "s", sessionKey: "agent:main:main", advancementKey: "k", admission: {}, terminal: {}, messages: said })).status, "committed");
  const second = await host.engine().assemble({ ...ask, messages: said, prompt: "thanks" });
  grows([first, second].map((r) => r.messages.map((m) => JSON.stringify(m))));
});

test("messages of one moment have names of their own", () => {
  const m = (role) => ({ role, timestamp: 5 });
  assert.deepEqual(keysOf([m("toolResult"), m("toolResult"), m("user")]), ["toolResult-5", "toolResult-5.1", "user-5"]);
});

test("what goes to the daemon is what was recorded", { skip: !process.env.MEMKERNEL_RECORD && "MEMKERNEL_RECORD=1 records it anew" }, async (t) => {
  const dir = workspace(t);
  await (await register(dir)).tools({ sessionKey: "agent:main:main" }).context_status.execute("c", {}); // a daemon is there now
  const socket = path.join(dir, "tap");
  const tap = await relay(socket, path.join(dir, ".memkernel/serve.sock"));
  t.after(() => tap.close());
  await play(await register(dir, { socket }), recorded(recording));
  const lines = tap.lines.filter((l) => !/"(initialize|reindex)"/.test(l) && !/memkernel\/reindex\/v1|"capabilities"/.test(l)).map((l) => l.replaceAll(dir, "/home/user/ws"));
  fs.writeFileSync(path.join(here, "../testdata/rpc-2026.9.6.txt"), lines.join("\n") + "\n");
});

program();
