import Anthropic from "@anthropic-ai/sdk";
import { Kernel, memkernelFetch, memoryTools } from "memkernel-anthropic";
import { billedAll, judge, MODEL, modelServer, readPart, readPartSchema, skip, TURNS, words, workspace } from "memkernel-framework-testing";
import assert from "node:assert/strict";
import test from "node:test";

const readTool = { type: "custom", name: "read_part", description: "Reads a part of the report.", input_schema: readPartSchema, parse: (x) => x, run: readPart };
const clientOf = (server, fetch) => new Anthropic({ apiKey: "none", baseURL: server.url, maxRetries: 0, ...(fetch && { fetch }) });

// A conversation as an application has it: each turn is a run of the tool runner, and what
// the runner holds in the end is the history of the next.
async function talk(client, { from = 1, to = TURNS, messages = [], stream = false } = {}) {
  for (let i = from; i <= to; i++) {
    messages.push({ role: "user", content: words(i) });
    const runner = client.beta.messages.toolRunner({ model: MODEL, max_tokens: 500, system: "You read reports.", messages: [...messages], tools: [readTool], thread: false, stream });
    let answer;
    for await (const step of runner) answer = stream ? await step.finalMessage() : step;
    assert.match(answer.content.at(-1).text, new RegExp(`Answer ${i}:`));
    const held = runner.params.messages;
    messages.push(...held.slice(messages.length));
    if (messages.at(-1).role !== "assistant") messages.push({ role: "assistant", content: answer.content });
  }
  return messages;
}

for (const stream of [false, true])
  test(`a long conversation of the tool runner is cut${stream ? ", streamed" : ""}`, { skip }, async (t) => {
    const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
    const options = w.options();
    const kernel = new Kernel(options);
    t.after(() => kernel.close());
    const messages = await talk(clientOf(server, memkernelFetch(kernel)), { stream });
    const same = await talk(clientOf(bare), { stream });
    assert.equal(messages.length, same.length); // the application's own history is whole
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
  const client = clientOf(server, memkernelFetch(kernel));
  const messages = await talk(client, { to: 6 });
  w.kill();
  await talk(client, { from: 7, to: 12, messages });
  assert.deepEqual(options.troubles, []);
  w.takeAway();
  w.kill();
  await talk(client, { from: 13, to: 16, messages });
  assert.notDeepEqual(options.troubles, []);
  assert.deepEqual(server.violations, []);
  assert.equal(server.requests.at(-1).messages.filter((m) => m.role === "user").length, 16);
});

test("what is no request of the Messages API, and what is none of ours, passes", { skip }, async (t) => {
  const w = workspace(t);
  const seen = [];
  const fetch = memkernelFetch(w.options(), async (url, init) => (seen.push(init.body), new Response("{}", { headers: { "content-type": "application/json" } })));
  const thread = JSON.stringify({ model: MODEL, thread: { type: "continue", previous_message_id: "m" }, messages: [{ role: "user", content: "and now" }] });
  await fetch("http://none/v1/messages", { method: "POST", body: thread });
  await fetch("http://none/v1/messages/count_tokens", { method: "POST", body: '{"messages":[{"role":"user","content":"x"}]}' });
  await fetch("http://none/v1/messages", { method: "POST", body: "no json" });
  assert.deepEqual(seen, [thread, '{"messages":[{"role":"user","content":"x"}]}', "no json"]);
});

test("a model searches memory", { skip }, async (t) => {
  const w = workspace(t);
  const script = [{ text: "", calls: [{ id: "c1", name: "memory_search", args: { query: "where does the heron move" } }] }, { text: "Pier nine." }];
  const server = await modelServer(t, (_, n) => script[n - 1]);
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const tools = await memoryTools(kernel, ["memory_search", "memory_get"]);
  const answer = await clientOf(server, memkernelFetch(kernel)).beta.messages.toolRunner({ model: MODEL, max_tokens: 500, messages: [{ role: "user", content: "Where does the heron move?" }], tools, thread: false });
  assert.equal(answer.content[0].text, "Pier nine.");
  assert.deepEqual(server.violations, []);
  assert.match(server.requests[1].messages.at(-1).results[0].text, /pier nine/);
});
