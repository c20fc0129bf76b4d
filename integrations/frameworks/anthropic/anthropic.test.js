import Anthropic from "@anthropic-ai/sdk";
import { Kernel, memkernelFetch, memoryTool, memoryTools } from "memkernel-anthropic";
import { billedAll, judge, MODEL, modelServer, readPart, readPartSchema, skip, TURNS, words, workspace } from "memkernel-framework-testing";
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

// Every command, well and badly, as the model gets the answers: by the SDK's own tool runner.
test("the SDK's memory tool is answered by the workspace", { skip }, async (t) => {
  const w = workspace(t);
  const own = "/memories/own.md";
  const calls = [
    [{ command: "view", path: "/memories" }, /^Here're the files and directories up to 2 levels deep in \/memories, excluding hidden items and node_modules:\n[^]*\/memories\/MEMORY\.md\n[^]*\/memories\/harbour\.md$/],
    [{ command: "create", path: own, file_text: "Kim owns the ledger.\nAda tests it.\n" }, /^File created successfully at: \/memories\/own\.md$/],
    [{ command: "create", path: own, file_text: "x" }, /^File \/memories\/own\.md already exists$/, true],
    [{ command: "str_replace", path: own, old_str: "Kim", new_str: "Noor" }, /^The memory file has been edited\. Here is the snippet showing the change \(with line numbers\):\n     1\tNoor owns the ledger\./],
    [{ command: "str_replace", path: own, old_str: "Kim", new_str: "Lee" }, /^No replacement was performed, old_str `Kim` did not appear verbatim in \/memories\/own\.md\.$/, true],
    [{ command: "insert", path: own, insert_line: 2, insert_text: "The audit is in May.\n" }, /^The file \/memories\/own\.md has been edited\.$/],
    [{ command: "insert", path: own, insert_line: 99, insert_text: "x" }, /^Invalid `insert_line` parameter: 99\. It should be within the range of lines of the file: \[0, /, true],
    [{ command: "view", path: own, view_range: [1, 3] }, /^Here's the content of \/memories\/own\.md with line numbers:\n     1\tNoor owns the ledger\.\n     2\tAda tests it\.\n     3\tThe audit is in May\./],
    [{ command: "str_replace", path: "/memories/harbour.md", old_str: "pier nine", new_str: "pier two" }, /a person wrote this/, true],
    [{ command: "rename", old_path: own, new_path: "/memories/ledger.md" }, /^Successfully renamed \/memories\/own\.md to \/memories\/ledger\.md$/],
    [{ command: "view", path: "/memories/../AGENTS.md" }, /would escape \/memories directory$/, true],
    [{ command: "view", path: "/etc/passwd" }, /^Path must start with \/memories, got: \/etc\/passwd$/, true],
    [{ command: "delete", path: "/memories" }, /^Cannot delete the \/memories directory itself$/, true],
    [{ command: "delete", path: "/memories/ledger.md" }, /^Successfully deleted \/memories\/ledger\.md$/],
  ];
  const server = await modelServer(t, (_, n) => (n <= calls.length ? { text: "", calls: [{ id: `c${n}`, name: "memory", args: calls[n - 1][0] }] } : { text: "Done." }));
  const kernel = new Kernel(w.options());
  t.after(() => kernel.close());
  const runner = clientOf(server, memkernelFetch(kernel)).beta.messages.toolRunner({ model: MODEL, max_tokens: 500, messages: [{ role: "user", content: "Look after your memory." }], tools: [memoryTool(kernel)], thread: false });
  let step = 0;
  for await (const message of runner) {
    if (step === 9) assert.match(readFileSync(join(w.dir, "memory", "own.md"), "utf8"), /Noor owns the ledger\.\nAda tests it\.\nThe audit is in May\.\n/);
    step++;
    if (message.stop_reason === "end_turn") assert.equal(message.content[0].text, "Done.");
  }
  assert.deepEqual(server.violations, []);
  assert.deepEqual(server.requests[0].request.tools, [{ type: "memory_20250818", name: "memory" }]);
  const results = runner.params.messages.flatMap((m) => (Array.isArray(m.content) ? m.content.filter((b) => b.type === "tool_result") : []));
  assert.equal(results.length, calls.length);
  calls.forEach(([input, want, failed], i) => {
    const { content, is_error } = results[i];
    assert.match(typeof content === "string" ? content : content[0].text, want, JSON.stringify(input));
    assert.equal(!!is_error, !!failed, JSON.stringify(input));
  });
  assert.match(readFileSync(join(w.dir, "memory", "harbour.md"), "utf8"), /pier nine/);
  assert.ok(!existsSync(join(w.dir, "memory", "ledger.md")) && !existsSync(join(w.dir, "memory", "own.md")));
});
