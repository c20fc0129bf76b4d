import { FunctionTool, Gemini, InMemoryRunner, LlmAgent } from "@google/adk";
import { Kernel, MemkernelMemoryService, MemkernelPlugin, memoryTools } from "memkernel-adk";
import { billedAll, judge, modelServer, readPart, skip, TURNS, words, workspace } from "memkernel-framework-testing";
import assert from "node:assert/strict";
import test from "node:test";

const MODEL = "gemini-2.5-flash";
const parameters = { type: "OBJECT", properties: { part: { type: "INTEGER" } }, required: ["part"] };
const readTool = new FunctionTool({ name: "read_part", description: "Reads a part of the report.", parameters, execute: (args) => readPart(args) });

async function appOf(server, plugins = [], tools = [readTool]) {
  process.env.GOOGLE_GEMINI_BASE_URL = server.url;
  const model = new Gemini({ model: MODEL, apiKey: "none" });
  const agent = new LlmAgent({ name: "reader", model, instruction: "You read reports.", tools });
  const runner = new InMemoryRunner({ agent, appName: "app", plugins });
  const session = await runner.sessionService.createSession({ appName: "app", userId: "u", sessionId: "s1" });
  const ask = async (text) => {
    let last = "";
    process.env.GOOGLE_GEMINI_BASE_URL = server.url;
    for await (const e of runner.runAsync({ userId: "u", sessionId: session.id, newMessage: { role: "user", parts: [{ text }] } })) {
      if (e.errorMessage) throw new Error(e.errorMessage);
      last = (e.content?.parts ?? []).map((p) => p.text ?? "").join("") || last;
    }
    return last;
  };
  const events = async () => (await runner.sessionService.getSession({ appName: "app", userId: "u", sessionId: session.id })).events;
  return { ask, events };
}

async function talk(app, from = 1, to = TURNS) {
  for (let i = from; i <= to; i++) assert.match(await app.ask(words(i)), new RegExp(`Answer ${i}:`));
}

test("a long session is cut", { skip }, async (t) => {
  const [server, bare, w] = [await modelServer(t), await modelServer(t), workspace(t)];
  const options = w.options({ model: MODEL });
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  const app = await appOf(server, [new MemkernelPlugin(kernel)]);
  await talk(app);
  const same = await appOf(bare);
  await talk(same);
  assert.equal((await app.events()).length, (await same.events()).length); // the session's own events are whole
  judge(server, bare, options);
  await billedAll(kernel, server);
  const { sessions } = await kernel.attempt("status", (c) => c.status());
  assert.equal(sessions[0].turns, TURNS);
});

test("a daemon that is killed is joined anew, and one that is gone holds nobody up", { skip }, async (t) => {
  const [server, w] = [await modelServer(t), workspace(t)];
  const options = w.options({ model: MODEL });
  const kernel = new Kernel(options);
  t.after(() => kernel.close());
  const app = await appOf(server, [new MemkernelPlugin(kernel)]);
  await talk(app, 1, 6);
  w.kill();
  await talk(app, 7, 12);
  assert.deepEqual(options.troubles, []);
  w.takeAway();
  w.kill();
  await talk(app, 13, 16);
  assert.notDeepEqual(options.troubles, []);
  assert.deepEqual(server.violations, []);
  assert.equal(server.requests.at(-1).messages.filter((m) => m.role === "user").length, 16);
});

test("a model searches memory, and the memory service answers", { skip }, async (t) => {
  const w = workspace(t);
  const script = [{ text: "", calls: [{ id: "c1", name: "memory_search", args: { query: "where does the heron move" } }] }, { text: "Pier nine." }];
  const server = await modelServer(t, (_, n) => script[n - 1]);
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const app = await appOf(server, [new MemkernelPlugin(kernel)], await memoryTools(kernel, ["memory_search", "memory_get"]));
  assert.equal(await app.ask("Where does the heron move?"), "Pier nine.");
  assert.deepEqual(server.violations, []);
  assert.match(server.requests[1].messages.at(-1).results[0].text, /pier nine/);

  const service = new MemkernelMemoryService(kernel);
  const { memories } = await service.searchMemory({ appName: "app", userId: "u", query: "where does the heron move" });
  assert.match(memories[0].content.parts[0].text, /pier nine/);
  const content = (role, text) => ({ content: { role, parts: [{ text }] } });
  await service.addSessionToMemory({ id: "past", events: [content("user", "We moved the buoys."), content("model", "Noted.")] });
  const { sessions } = await kernel.attempt("status", (c) => c.status());
  assert.equal(sessions.find((s) => (s.key ?? s.session) === "past").turns, 1);
});
