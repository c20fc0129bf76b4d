import { tool } from "@langchain/core/tools";
import { Annotation, InMemoryStore, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent } from "langchain";
import { billedAll, judge, MODEL, modelServer, readPart, readPartSchema, skip, TURNS, words, workspace } from "memkernel-framework-testing";
import { Kernel, memkernel, MemkernelStore, memoryTools } from "memkernel-langchain";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

const readTool = tool(readPart, { name: "read_part", description: "Reads a part of the report.", schema: readPartSchema });
const modelOf = (server) => new ChatOpenAI({ model: MODEL, apiKey: "none", maxRetries: 0, configuration: { baseURL: `${server.url}/v1` } });

function agentOf(server, middleware = []) {
  return createAgent({ model: modelOf(server), tools: [readTool], systemPrompt: "You read reports.", checkpointer: new MemorySaver(), middleware });
}

async function talk(agent, { from = 1, to = TURNS, thread = "t1", stream = false } = {}) {
  for (let i = from; i <= to; i++) {
    const input = { messages: [{ role: "user", content: words(i) }] }, config = { configurable: { thread_id: thread } };
    let state;
    if (stream) for await (const [kind, part] of await agent.stream(input, { ...config, streamMode: ["values", "messages"] })) state = kind === "values" ? part : state;
    else state = await agent.invoke(input, config);
    assert.match(state.messages.at(-1).text, new RegExp(`Answer ${i}:`));
  }
  return (await agent.graph.getState({ configurable: { thread_id: thread } })).values.messages;
}

for (const stream of [false, true])
  test(`a long thread is cut, ${stream ? "streamed" : "invoked"}`, { skip }, async (t) => {
    const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
    const options = w.options();
    const kernel = new Kernel(options);
    t.after(() => kernel.close());
    const state = await talk(agentOf(server, [memkernel(kernel)]), { stream });
    const same = await talk(agentOf(bare), { stream });
    assert.equal(state.length, same.length); // the thread keeps every message
    judge(server, bare, options);
    await billedAll(kernel, server);
    const { sessions } = await kernel.attempt("status", (c) => c.status());
    assert.equal(sessions[0].turns, TURNS);
  });

test("a daemon that is killed is joined anew, and one that is gone holds nobody up", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options();
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  const agent = agentOf(server, [memkernel(kernel)]);
  await talk(agent, { to: 6 });
  w.kill();
  await talk(agent, { from: 7, to: 12 });
  assert.deepEqual(options.troubles, []);
  w.takeAway();
  w.kill();
  await talk(agent, { from: 13, to: 16 });
  assert.notDeepEqual(options.troubles, []);
  assert.deepEqual(server.violations, []);
  assert.equal(server.requests.at(-1).messages.filter((m) => m.role === "user").length, 16);
});

test("a model searches memory", { skip }, async (t) => {
  const w = workspace(t);
  const script = [{ text: "", calls: [{ id: "c1", name: "memory_search", args: { query: "where does the heron move" } }] }, { text: "Pier nine." }];
  const server = await modelServer(t, (_, n) => script[n - 1]);
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const agent = createAgent({ model: modelOf(server), tools: await memoryTools(kernel, { names: ["memory_search", "memory_get"] }), middleware: [memkernel(kernel)] });
  const state = await agent.invoke({ messages: [{ role: "user", content: "Where does the heron move?" }] });
  assert.equal(state.messages.at(-1).text, "Pier nine.");
  assert.deepEqual(server.violations, []);
  assert.match(server.requests[1].messages.at(-1).results[0].text, /pier nine/);
});

test("the store does what LangGraph's own does", { skip }, async (t) => {
  const w = workspace(t);
  const store = new MemkernelStore(w.options()), other = new InMemoryStore();
  t.after(() => store.close());
  const both = async (does) => {
    const clean = (v) => JSON.parse(JSON.stringify(v ?? null, (k, x) => (k === "createdAt" || k === "updatedAt" || k === "score" ? undefined : x)));
    const [a, b] = [clean(await does(store)), clean(await does(other))];
    const order = (v) => (Array.isArray(v) ? v.map((x) => JSON.stringify(x)).sort() : v);
    assert.deepEqual(order(a), order(b), does.toString());
  };
  await both((s) => s.get(["users"], "none"));
  for (const [ns, key, value] of [
    [["users", "u1"], "likes", { food: "herring", n: 1 }],
    [["users", "u1"], "odd ~ key/../\n\"#", { text: "lines\nand `ticks` <!-- mark --> é 日本 \u2028", n: 2 }],
    [["users", "u2"], "likes", { food: "pike", n: 3, deep: { a: [1, { b: null }] } }],
    [["shared"], "rule", { text: "never push to main", n: 4 }],
    [["users", "u1"], "likes", { food: "cod", n: 5 }],
    [["users", "u1"], "likes", { food: "herring", n: 1 }], // what it was before
  ])
    await both((s) => s.put(ns, key, value));
  await both((s) => s.get(["users", "u1"], "likes"));
  await both((s) => s.get(["users", "u1"], "odd ~ key/../\n\"#"));
  await both((s) => s.search(["users"]));
  await both((s) => s.search(["users"], { filter: { food: "pike" } }));
  await both((s) => s.search(["users"], { filter: { n: { $gte: 2 } } }));
  await both((s) => s.search([], { limit: 10 }));
  await both((s) => s.listNamespaces({}));
  await both((s) => s.listNamespaces({ prefix: ["users"], maxDepth: 1 }));
  await both((s) => s.listNamespaces({ suffix: ["u2"] }));
  await both((s) => s.listNamespaces({ prefix: ["*", "u1"] }));
  await both((s) => s.delete(["users", "u1"], "likes"));
  await both((s) => s.get(["users", "u1"], "likes"));
  await both((s) => s.search(["users", "u1"]));
  const [, before] = await store.batch([{ namespace: ["shared"], key: "rule", value: { text: "ask first" } }, { namespace: ["shared"], key: "rule" }]);
  assert.equal(before.value.text, "never push to main");
  await other.put(["shared"], "rule", { text: "ask first" });
  await both((s) => s.batch([{ namespace: ["shared"], key: "rule" }, { namespacePrefix: ["shared"] }]));
  for (const s of [store, other]) {
    await assert.rejects(s.put([], "k", { a: 1 }));
    await assert.rejects(s.put(["a.b"], "k", { a: 1 }));
  }
  const item = await store.get(["shared"], "rule");
  assert.ok(item.createdAt instanceof Date && item.updatedAt >= item.createdAt);
});

test("the store is searched in words, across processes, in a graph", { skip }, async (t) => {
  const w = workspace(t);
  const store = new MemkernelStore(w.options());
  t.after(() => store.close());
  await store.put(["users", "u1"], "moves", { text: "The gannet lands at the northern quay." });
  await store.put(["users", "u2"], "moves", { text: "The gannet never lands." });
  await store.put(["users", "u1"], "food", { text: "Breakfast is at eight." });
  await store.put(["users", "u1"], "hidden", { text: "The gannet's secret quay." }, false);
  await store.put(["users", "u1"], "old", { text: "The gannet lands at the southern quay." });
  await store.delete(["users", "u1"], "old");
  const found = await store.search(["users", "u1"], { query: "where does the gannet land" });
  assert.equal(found[0].key, "moves");
  for (const i of found) assert.ok(i.namespace[1] === "u1" && !["hidden", "old"].includes(i.key), i.key);
  assert.ok(found[0].score > 0);
  assert.match(readFileSync(join(w.dir, "memory", "store.md"), "utf8"), /northern quay/);

  const State = Annotation.Root({ answer: Annotation() });
  const graph = new StateGraph(State)
    .addNode("ask", async (_, { store: s }) => ({ answer: (await s.search(["users", "u1"], { query: "gannet quay" }))[0].value.text }))
    .addEdge(START, "ask")
    .compile({ store });
  assert.match((await graph.invoke({})).answer, /northern quay/);

  w.kill();
  assert.equal((await store.get(["users", "u1"], "food")).value.text, "Breakfast is at eight.");
  w.takeAway();
  w.kill();
  await assert.rejects(store.put(["users"], "lost", { a: 1 }), /could not be written/);
});
