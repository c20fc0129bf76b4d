import { Agent, MemorySession, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { billedAll, judge, MODEL, modelServer, readPart, skip, TURNS, words, workspace } from "memkernel-framework-testing";
import { Memkernel } from "memkernel-openai-agents";
import assert from "node:assert/strict";
import test from "node:test";
import { z } from "zod";

setTracingDisabled(true);

const readTool = tool({ name: "read_part", description: "Reads a part of the report.", parameters: z.object({ part: z.number() }), execute: readPart });
const agent = new Agent({ name: "reader", instructions: "You read reports.", model: MODEL, tools: [readTool] });

const provider = (server, useResponses = true) => new OpenAIProvider({ apiKey: "none", baseURL: `${server.url}/v1`, useResponses });

async function talk(runner, session, { from = 1, to = TURNS, stream = false, more = {} } = {}) {
  for (let i = from; i <= to; i++) {
    const result = await runner.run(agent, words(i), { session, stream, ...more });
    if (stream) await result.completed;
    assert.match(result.finalOutput, new RegExp(`Answer ${i}:`));
  }
}

for (const [name, useResponses, stream] of [["the Responses API", true, false], ["chat completions", false, false], ["the Responses API, streamed", true, true]])
  test(`a long session is cut: ${name}`, { skip }, async (t) => {
    const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
    const options = w.options();
    const mk = new Memkernel(options);
    t.after(() => mk.close());
    const session = mk.session(), same = new MemorySession();
    await talk(new Runner({ modelProvider: mk.provider(provider(server, useResponses)) }), session, { stream });
    await talk(new Runner({ modelProvider: provider(bare, useResponses) }), same, { stream });
    assert.equal((await session.getItems()).length, (await same.getItems()).length); // the session's own items are whole
    judge(server, bare, options);
    await billedAll(mk.kernel, server);
    const { sessions } = await mk.kernel.attempt("status", (c) => c.status());
    assert.equal(sessions[0].turns, TURNS);
  });

test("the filter plans for a provider that is not wrapped, and the session tells", { skip }, async (t) => {
  const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
  const options = w.options();
  const mk = new Memkernel(options);
  t.after(() => mk.close());
  await talk(new Runner({ modelProvider: provider(server) }), mk.session(), { more: { callModelInputFilter: mk.callModelInputFilter } });
  await talk(new Runner({ modelProvider: provider(bare) }), new MemorySession());
  judge(server, bare, options);
  const { sessions } = await mk.kernel.attempt("status", (c) => c.status());
  assert.equal(sessions[0].turns, TURNS);
});

test("a daemon that is killed is joined anew, and one that is gone holds nobody up", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options();
  const mk = new Memkernel(options);
  t.after(() => mk.close());
  const runner = new Runner({ modelProvider: mk.provider(provider(server)) }), session = mk.session();
  await talk(runner, session, { to: 6 });
  w.kill();
  await talk(runner, session, { from: 7, to: 12 });
  assert.deepEqual(options.troubles, []);
  w.takeAway();
  w.kill();
  await talk(runner, session, { from: 13, to: 16 });
  assert.notDeepEqual(options.troubles, []);
  assert.deepEqual(server.violations, []);
  assert.equal(server.requests.at(-1).messages.filter((m) => m.role === "user").length, 16);
});

test("a model searches memory, and a session is cleared", { skip }, async (t) => {
  const w = workspace(t);
  const script = [{ text: "", calls: [{ id: "c1", name: "memory_search", args: { query: "where does the heron move" } }] }, { text: "Pier nine." }];
  const server = await modelServer(t, (_, n) => script[n - 1]);
  const mk = new Memkernel(w.options());
  t.after(() => mk.close());
  const helper = new Agent({ name: "helper", model: MODEL, tools: await mk.tools(["memory_search", "memory_get"]) });
  const session = mk.session();
  const result = await new Runner({ modelProvider: mk.provider(provider(server)) }).run(helper, "Where does the heron move?", { session });
  assert.equal(result.finalOutput, "Pier nine.");
  assert.deepEqual(server.violations, []);
  assert.match(server.requests[1].text, /pier nine/);
  await session.clearSession();
  assert.deepEqual(await session.getItems(), []);
});
