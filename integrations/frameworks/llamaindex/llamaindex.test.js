import { createMemory } from "@llamaindex/core/memory";
import { tool } from "@llamaindex/core/tools";
import { OpenAI } from "@llamaindex/openai";
import { agent } from "@llamaindex/workflow";
import { billedAll, judge, modelServer, readPart, readPartSchema, skip, TURNS, words, workspace } from "memkernel-framework-testing";
import { Kernel, memkernel, memoryTools } from "memkernel-llamaindex";
import assert from "node:assert/strict";
import test from "node:test";

const readTool = tool({ name: "read_part", description: "Reads a part of the report.", parameters: readPartSchema, execute: readPart });
const llmOf = (server) => new OpenAI({ model: "gpt-4.1", apiKey: "none", baseURL: `${server.url}/v1`, maxRetries: 0, additionalChatOptions: { stream_options: { include_usage: true } } });
// LlamaIndex's own memory drops what is beyond its limit, and counts all tokens at every step
// to know; the conversation is the kernel's to cut here.
const memoryOf = () => Object.assign(createMemory(), { getLLM() { return this.get(); } });

async function talk(llm, memory, from = 1, to = TURNS, tools = [readTool]) {
  const reader = agent({ llm, tools, memory, systemPrompt: "You read reports.", verbose: false });
  for (let i = from; i <= to; i++) assert.match(String((await reader.run(words(i))).data.result), new RegExp(`Answer ${i}:`));
}

test("a long conversation of an agent is cut", { skip }, async (t) => {
  const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
  const options = w.options();
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  const [memory, same] = [memoryOf(), memoryOf()];
  await talk(memkernel(llmOf(server), kernel), memory);
  await talk(llmOf(bare), same);
  assert.equal((await memory.get()).length, (await same.get()).length); // LlamaIndex's memory keeps every message
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
  const [llm, memory] = [memkernel(llmOf(server), kernel), memoryOf()];
  await talk(llm, memory, 1, 6);
  w.kill();
  await talk(llm, memory, 7, 12);
  assert.deepEqual(options.troubles, []);
  w.takeAway();
  w.kill();
  await talk(llm, memory, 13, 16);
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
  const helper = agent({ llm: memkernel(llmOf(server), kernel), tools: await memoryTools(kernel, { names: ["memory_search", "memory_get"] }), verbose: false });
  assert.equal((await helper.run("Where does the heron move?")).data.result, "Pier nine.");
  assert.deepEqual(server.violations, []);
  assert.match(server.requests[1].messages.at(-1).results[0].text, /pier nine/);
});

test("a chat that is not streamed", { skip }, async (t) => {
  const [server, w] = [await modelServer(t, () => ({ text: "Good day." })), workspace(t)];
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const answer = await memkernel(llmOf(server), kernel).chat({ messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "hello" }] });
  assert.equal(answer.message.content, "Good day.");
  const { sessions } = await kernel.attempt("status", (c) => c.status());
  assert.equal(sessions[0].turns, 1);
});
