import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Memory } from "@mastra/memory";
import { billedAll, judge, MODEL, modelServer, readPart, skip, TURNS, words, workspace } from "memkernel-framework-testing";
import { Kernel, memkernel, memoryTools } from "memkernel-mastra";
import { MemkernelMemory } from "memkernel-mastra/memory";
import assert from "node:assert/strict";
import test from "node:test";
import { z } from "zod";

const readTool = createTool({ id: "read_part", description: "Reads a part of the report.", inputSchema: z.object({ part: z.number() }), execute: async (args) => readPart(args) });
const modelOf = (server, fetch) => createOpenAICompatible({ name: "fake", baseURL: `${server.url}/v1`, apiKey: "none", includeUsage: true, fetch })(MODEL);
const whole = () => ({ storage: new InMemoryStore(), options: { lastMessages: 1000 } });

function agentOf(server, more = {}) {
  return new Agent({ id: "reader", name: "reader", instructions: "You read reports.", model: modelOf(server), tools: { read_part: readTool }, maxRetries: 0, ...more });
}

async function talk(agent, { from = 1, to = TURNS, thread = "t1", stream = false } = {}) {
  const memory = { thread, resource: "anna" };
  for (let i = from; i <= to; i++) assert.match(await (await (stream ? agent.stream : agent.generate).call(agent, words(i), { memory })).text, new RegExp(`Answer ${i}:`));
}

async function kept(memory, threadId = "t1") {
  const { messages } = await memory.recall({ threadId, resourceId: "anna", perPage: false });
  return messages.map((m) => [m.role, m.content.parts.filter((p) => p.type !== "step-start").map((p) => p.text ?? [p.toolInvocation.toolCallId, p.toolInvocation.state, p.toolInvocation.result])]);
}

for (const stream of [false, true])
  test(`a long thread is cut, ${stream ? "streamed" : "generated"}`, { skip }, async (t) => {
    const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
    const options = w.options();
    const kernel = new Kernel(options);
    t.after(() => kernel.close());
    const [memory, same] = [new MemkernelMemory(kernel, { storage: new InMemoryStore() }), new Memory(whole())];
    await talk(agentOf(server, { memory }), { stream });
    await talk(agentOf(bare, { memory: same }), { stream });
    assert.deepEqual(await kept(memory), await kept(same)); // the thread keeps every message
    assert.equal((await kept(memory)).length, 2 * TURNS);
    judge(server, bare, options);
    await billedAll(kernel, server);
    const { sessions } = await kernel.attempt("status", (c) => c.status());
    assert.deepEqual(sessions.map((s) => [s.key ?? s.session, s.turns]), [["t1", TURNS]]);
  });

test("what was sent before is sent again, so that caches hold it", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  await talk(agentOf(server, { memory: new Memory(whole()), inputProcessors: [memkernel(kernel)] }));
  const grown = server.requests.slice(1).filter(({ request }, i) => {
    const before = server.requests[i].request.messages;
    return before.every((m, at) => JSON.stringify(m) === JSON.stringify(request.messages[at]));
  });
  assert.ok(grown.length > (server.requests.length * 2) / 3, `${grown.length} of ${server.requests.length} prompts begin as the one before`);
});

test("a stream that is broken off is no answer, and the thread goes on", { skip }, async (t) => {
  const stop = new AbortController();
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options();
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  const agent = agentOf(server, { memory: new MemkernelMemory(kernel, { storage: new InMemoryStore() }) });
  await talk(agent, { to: 2, stream: true });
  const broken = await agent.stream(words(3), { memory: { thread: "t1", resource: "anna" }, abortSignal: stop.signal });
  for await (const chunk of broken.fullStream) if (chunk.type === "tool-result") stop.abort();
  const turns = async () => (await kernel.attempt("status", (c) => c.status())).sessions[0].turns;
  assert.equal(await turns(), 2);
  await talk(agent, { from: 4, to: 8, stream: true });
  assert.deepEqual(server.violations, []);
  assert.deepEqual(options.troubles, []);
  const said = server.requests.at(-1).text;
  for (const i of [1, 2, 3, 4, 8]) assert.ok(said.includes(`zebra-${i}-stripe`), `the user's words of turn ${i} are gone`);
});

test("an answer that the server breaks off is none, and the thread goes on", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options();
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  let calls = 0;
  // The second answer of the second turn ends in the middle.
  const cut = async (...args) => {
    const response = await fetch(...args);
    if (++calls !== 4) return response;
    const text = await response.text();
    return new Response(new ReadableStream({
      start: (c) => c.enqueue(new TextEncoder().encode(text.slice(0, text.indexOf("\n\n") + 2))),
      pull: (c) => c.error(new Error("the connection is gone")),
    }), response);
  };
  const agent = agentOf(server, { model: modelOf(server, cut), memory: new MemkernelMemory(kernel, { storage: new InMemoryStore() }) });
  await talk(agent, { to: 1, stream: true });
  const broken = await agent.stream(words(2), { memory: { thread: "t1", resource: "anna" } });
  const seen = [];
  for await (const chunk of broken.fullStream) seen.push(chunk.type);
  assert.ok(seen.includes("text-start") && seen.includes("error"), seen.join());
  assert.equal((await kernel.attempt("status", (c) => c.status())).sessions[0].turns, 1);
  await talk(agent, { from: 3, to: 8, stream: true });
  assert.deepEqual(server.violations, []);
  assert.deepEqual(options.troubles, []);
  const said = server.requests.at(-1).text;
  for (const i of [1, 3, 8]) assert.ok(said.includes(`zebra-${i}-stripe`), `the user's words of turn ${i} are gone`);
});

test("a daemon that is killed is joined anew, and one that is gone holds nobody up", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options();
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  const agent = agentOf(server, { memory: new MemkernelMemory(kernel, { storage: new InMemoryStore() }) });
  await talk(agent, { to: 6 });
  w.kill();
  await talk(agent, { from: 7, to: 12 });
  assert.deepEqual(options.troubles, []);
  assert.equal((await kernel.attempt("status", (c) => c.status())).sessions[0].turns, 12);
  w.takeAway();
  w.kill();
  await talk(agent, { from: 13, to: 16 });
  assert.notDeepEqual(options.troubles, []);
  assert.deepEqual(server.violations, []);
  // Without a kernel the thread goes as the application has it.
  const last = server.requests.at(-1);
  assert.ok(!last.text.includes("memkernel"));
  assert.equal(last.messages.filter((m) => m.role === "user").length, 16);
});

test("a program that isn't there holds nobody up", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options({ binary: "/none/memkernel" });
  await talk(agentOf(server, { memory: new Memory(whole()), inputProcessors: [memkernel(options)] }), { to: 3 });
  assert.deepEqual(server.violations, []);
  assert.equal(options.troubles.length > 0, true);
});

test("a model searches memory and writes to it", { skip }, async (t) => {
  const w = workspace(t);
  const script = [
    { text: "", calls: [{ id: "c1", name: "memory_search", args: { query: "where does the heron move" } }] },
    { text: "", calls: [{ id: "c2", name: "memory_append", args: { text: "The osprey stays at pier four." } }] },
    { text: "Pier nine." },
  ];
  const server = await modelServer(t, (_, n) => script[n - 1]);
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const tools = await memoryTools(kernel, { names: ["memory_search", "memory_get", "memory_append"] });
  assert.deepEqual(Object.keys(tools).sort(), ["memory_append", "memory_get", "memory_search"]);
  const result = await agentOf(server, { tools, inputProcessors: [memkernel(kernel)] }).generate("Where does the heron move?");
  assert.equal(result.text, "Pier nine.");
  assert.deepEqual(server.violations, []);
  const offered = server.requests[0].request.tools.map((f) => f.function);
  assert.deepEqual(offered.find((f) => f.name === "memory_search").parameters.properties.query.type, "string");
  assert.match(server.requests[1].messages.at(-1).results[0].text, /pier nine/);
  const found = await kernel.search("where does the osprey stay");
  assert.match(found.results[0].snippet, /pier four/);
});

test("threads are sessions, and one that is deleted is forgotten", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const memory = new MemkernelMemory(kernel, { storage: new InMemoryStore() });
  const agent = agentOf(server, { memory });
  await talk(agent, { to: 2, thread: "alpha" });
  await talk(agent, { from: 11, to: 12, thread: "beta" });
  const turns = async () => Object.fromEntries((await kernel.attempt("status", (c) => c.status())).sessions.map((s) => [s.key ?? s.session, s.turns]));
  assert.deepEqual(await turns(), { alpha: 2, beta: 2 });
  await memory.deleteThread("alpha");
  assert.equal(await memory.getThreadById({ threadId: "alpha" }), null);
  assert.deepEqual(await turns(), { alpha: 0, beta: 2 });
  await talk(agent, { from: 3, to: 3, thread: "alpha" });
  for (const mark of ["zebra-1-stripe", "zebra-2-stripe"]) assert.ok(!server.requests.at(-1).text.includes(mark));
  // Whoever has something deleted is told if it is still there.
  const unreached = new MemkernelMemory(w.options({ binary: "/none/memkernel", workspace: `${w.dir}/memory` }), { storage: new InMemoryStore() });
  await assert.rejects(unreached.deleteThread("alpha"), /forget --all --session alpha/);
});
