import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool, ToolLoopAgent, wrapLanguageModel } from "ai";
import { billedAll, judge, MODEL, modelServer, readPart, skip, TURNS, WINDOW, words, workspace } from "memkernel-framework-testing";
import { Kernel, memkernel, memoryTools } from "memkernel-ai-sdk";
import assert from "node:assert/strict";
import test from "node:test";
import { z } from "zod";

const tools = { read_part: tool({ description: "Reads a part of the report.", inputSchema: z.object({ part: z.number() }), execute: readPart }) };

function modelOf(server, middleware) {
  const model = createOpenAICompatible({ name: "fake", baseURL: `${server.url}/v1`, apiKey: "none", includeUsage: true })(MODEL);
  return middleware ? wrapLanguageModel({ model, middleware }) : model;
}

// A conversation as an application has it: it keeps the messages that the SDK gives.
async function talk(model, { from = 1, to = TURNS, messages = [], stream = false, more = {} } = {}) {
  for (let i = from; i <= to; i++) {
    messages.push({ role: "user", content: words(i) });
    const call = { model, instructions: "You read reports.", messages, tools: { ...tools, ...more }, stopWhen: stepCountIs(5), maxRetries: 0 };
    const result = stream ? streamText({ ...call, onError: ({ error }) => { throw error; } }) : await generateText(call);
    assert.match(await result.text, new RegExp(`Answer ${i}:`));
    messages.push(...(await result.responseMessages));
  }
  return messages;
}

for (const stream of [false, true])
  test(`a long conversation is cut, ${stream ? "streamed" : "generated"}`, { skip }, async (t) => {
    const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
    const options = w.options();
    const kernel = new Kernel(options);
    t.after(() => kernel.close());
    const messages = await talk(modelOf(server, memkernel(kernel)), { stream });
    const same = await talk(modelOf(bare), { stream });
    assert.equal(messages.length, same.length); // the application's own history is whole
    judge(server, bare, options);
    await billedAll(kernel, server);
  });

test("a daemon that is killed is joined anew, and one that is gone holds nobody up", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options();
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  const model = modelOf(server, memkernel(kernel));
  const messages = await talk(model, { to: 6 });
  w.kill();
  await talk(model, { from: 7, to: 12, messages });
  assert.deepEqual(options.troubles, []);
  assert.equal((await kernel.attempt("status", (c) => c.status())).sessions[0].turns, 12);
  w.takeAway();
  w.kill();
  await talk(model, { from: 13, to: 16, messages });
  assert.notDeepEqual(options.troubles, []);
  assert.deepEqual(server.violations, []);
  // Without a kernel the conversation goes as the application has it.
  const last = server.requests.at(-1);
  assert.ok(!last.text.includes("memkernel"));
  assert.equal(last.messages.filter((m) => m.role === "user").length, 16);
});

test("a program that isn't there holds nobody up", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options({ binary: "/none/memkernel" });
  await talk(modelOf(server, memkernel(options)), { to: 3 });
  assert.deepEqual(server.violations, []);
  assert.equal(options.troubles.length > 0, true);
});

test("a model searches memory and writes to it, in an agent", { skip }, async (t) => {
  const w = workspace(t);
  const script = [
    { text: "", calls: [{ id: "c1", name: "memory_search", args: { query: "where does the heron move" } }] },
    { text: "", calls: [{ id: "c2", name: "memory_append", args: { text: "The osprey stays at pier four." } }] },
    { text: "Pier nine." },
  ];
  const server = await modelServer(t, (_, n) => script[n - 1]);
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const memory = await memoryTools(kernel, { names: ["memory_search", "memory_get", "memory_append"] });
  assert.deepEqual(Object.keys(memory).sort(), ["memory_append", "memory_get", "memory_search"]);
  const agent = new ToolLoopAgent({ model: modelOf(server, memkernel(kernel)), tools: memory });
  const result = await agent.generate({ prompt: "Where does the heron move?" });
  assert.equal(result.text, "Pier nine.");
  assert.deepEqual(server.violations, []);
  assert.match(server.requests[1].messages.at(-1).results[0].text, /pier nine/);
  const found = await kernel.search("where does the osprey stay");
  assert.match(found.results[0].snippet, /pier four/);
});

test("sessions are told apart by the call", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const model = modelOf(server, memkernel(kernel));
  for (const session of ["alpha", "beta"])
    await generateText({ model, prompt: words(1), tools, stopWhen: stepCountIs(3), providerOptions: { memkernel: { session } } });
  const { sessions } = await kernel.attempt("status", (c) => c.status());
  assert.deepEqual(sessions.map((s) => s.key ?? s.session).sort(), ["alpha", "beta"]);
});
