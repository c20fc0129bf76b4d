// What the tests of the packages share: a model server on loopback that checks what a
// provider checks and answers by a script, a workspace with something to recall, and the
// conversation that every framework has.

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const binary = process.env.MEMKERNEL;
export const skip = binary ? false : "MEMKERNEL names no program";

export const WINDOW = 24_000;
export const TURNS = 34;
export const MODEL = "claude-sonnet-4-6";
export const RECALL_TURN = 8;

export function words(i) {
  const ask = i === RECALL_TURN ? "When does the heron move, and to which pier?" : `Please read part ${i} of the report.`;
  return `Turn ${i}: ${ask} My mark is zebra-${i}-stripe.`;
}

/** What the tool of the conversations answers: about 1,200 tokens, no two alike. */
export function readPart({ part }) {
  const rows = Array.from({ length: 60 }, (_, i) => `row ${i} of part ${part}: measured ${(part * 7919 + i * 104729) % 100003} at station ${(part * 31 + i) % 97}, checked by team ${i % 7}`);
  return `Part ${part} of the report\n${rows.join("\n")}`;
}

export const readPartSchema = { type: "object", properties: { part: { type: "integer" } }, required: ["part"], additionalProperties: false };

export function workspace(t) {
  const dir = mkdtempSync(join(tmpdir(), "mkf"));
  const program = join(dir, "memkernel-program");
  symlinkSync(binary, program);
  mkdirSync(join(dir, "memory"));
  writeFileSync(join(dir, "MEMORY.md"), "# Memory\n\n- The harbour office opens at seven.\n");
  writeFileSync(join(dir, "memory", "harbour.md"), "# Harbour\n\nThe heron moves to pier nine on Thursdays, after the tide tables are out.\n");
  const pid = () => JSON.parse(readFileSync(join(dir, ".memkernel", "serve.json"), "utf8")).pid;
  t.after(async () => {
    try {
      process.kill(pid(), "SIGKILL");
    } catch {} // none runs
    await new Promise((done) => setTimeout(done, 50));
    rmSync(dir, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 });
  });
  return {
    dir,
    options: (more = {}) => {
      const troubles = [];
      return { workspace: dir, binary: program, idle: "5s", private: true, model: MODEL, contextWindow: WINDOW, reserve: 6_000, deadlineMs: 60_000, report: (text) => troubles.push(text), troubles, ...more };
    },
    kill: () => process.kill(pid(), "SIGKILL"),
    takeAway: () => rmSync(program),
  };
}

/**
 * A model server: the Messages API, chat completions, the Responses API and Gemini's
 * generateContent. It answers 400 to what these refuse, and keeps every request.
 */
export async function modelServer(t, answer = brain) {
  const requests = [], violations = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (b) => (body += b));
    req.on("end", () => {
      const send = (status, value, type = "application/json") => {
        res.writeHead(status, { "content-type": type });
        res.end(typeof value === "string" ? value : JSON.stringify(value));
      };
      try {
        const api = APIS.find((a) => a.at.test(req.url));
        if (!api) return send(404, { error: { message: `no ${req.url} here` } });
        const request = JSON.parse(body);
        const messages = api.read(request);
        const wrong = violation(messages);
        requests.push({ request, messages, bytes: body.length, text: body, path: req.url });
        if (wrong) {
          violations.push(wrong);
          return send(400, { type: "error", error: { type: "invalid_request_error", message: wrong } });
        }
        const said = answer(messages, requests.length);
        const input = Math.ceil(body.length / 4);
        if (request.stream || /stream/.test(req.url)) return send(200, api.stream(said, input, requests.length), "text/event-stream");
        send(200, api.write(said, input, requests.length));
      } catch (err) {
        violations.push(`the request could not be read: ${err.stack}`);
        send(400, { error: { message: err.message } });
      }
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, requests, violations };
}

/** The scripted model: it reads a part of the report at every turn, two at some, and answers. */
export function brain(messages) {
  let at = -1, turn = 0;
  messages.forEach((m, i) => {
    const mark = m.role === "user" && m.text.match(/(?:^|\n)Turn (\d+): /);
    if (mark && Number(mark[1]) >= turn) [at, turn] = [i, Number(mark[1])];
  });
  const results = messages.slice(at + 1).flatMap((m) => m.results);
  if (!turn) return { text: "What is it about?" };
  if (results.length) return { text: `Answer ${turn}: part ${turn} was read.` };
  const calls = [{ id: `call_${turn}_a`, name: "read_part", args: { part: turn } }];
  if (turn % 5 === 0) calls.push({ id: `call_${turn}_b`, name: "read_part", args: { part: turn + 1000 } });
  return { text: "", calls };
}

function violation(messages) {
  let open = [];
  for (const [i, m] of messages.entries()) {
    if (m.role !== "tool" && open.length) return `message ${i} comes before the results of ${open}`;
    for (const id of m.results.map((r) => r.id)) {
      if (!open.includes(id)) return `message ${i} has a result of ${id}, which nobody called before it`;
      open = open.filter((o) => o !== id);
    }
    // A message of results may say more behind them, but all have to be there.
    if (m.role === "tool" && m.whole && open.length) return `message ${i} lacks the results of ${open}`;
    open.push(...m.calls.map((c) => c.id));
    if (m.empty) return `message ${i} is empty`;
  }
  if (open.length) return `${open} have no results`;
  if (!messages.length) return "there are no messages";
  return "";
}

const plain = (content) => (typeof content === "string" ? content : (content ?? []).map((b) => b.text ?? "").join(""));

const chatApi = {
  at: /\/chat\/completions$/,
  read: (r) =>
    r.messages
      .filter((m) => m.role !== "system" && m.role !== "developer")
      .map((m) => ({
        role: m.role,
        text: plain(m.content),
        calls: (m.tool_calls ?? []).map((c) => ({ id: c.id, name: c.function.name })),
        results: m.role === "tool" ? [{ id: m.tool_call_id, text: plain(m.content) }] : [],
      })),
  write: (a, input, n) => ({
    id: `chatcmpl-${n}`, object: "chat.completion", created: 1, model: "fake",
    choices: [{ index: 0, finish_reason: a.calls ? "tool_calls" : "stop", message: { role: "assistant", content: a.text || null, ...(a.calls ? { tool_calls: a.calls.map((c) => ({ id: c.id, type: "function", function: { name: c.name, arguments: JSON.stringify(c.args) } })) } : {}) } }],
    usage: { prompt_tokens: input, completion_tokens: 9, total_tokens: input + 9, prompt_tokens_details: { cached_tokens: 0 } },
  }),
  stream: (a, input, n) => {
    const head = { id: `chatcmpl-${n}`, object: "chat.completion.chunk", created: 1, model: "fake" };
    const delta = { role: "assistant", content: a.text || null, ...(a.calls ? { tool_calls: a.calls.map((c, index) => ({ index, id: c.id, type: "function", function: { name: c.name, arguments: JSON.stringify(c.args) } })) } : {}) };
    return events([
      [null, { ...head, choices: [{ index: 0, delta, finish_reason: null }] }],
      [null, { ...head, choices: [{ index: 0, delta: {}, finish_reason: a.calls ? "tool_calls" : "stop" }] }],
      [null, { ...head, choices: [], usage: { prompt_tokens: input, completion_tokens: 9, total_tokens: input + 9 } }],
    ]) + "data: [DONE]\n\n";
  },
};

const messagesApi = {
  at: /\/v1\/messages(\?.*)?$/,
  read: (r) =>
    r.messages.map((m) => {
      const blocks = typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content;
      const results = blocks.filter((b) => b.type === "tool_result").map((b) => ({ id: b.tool_use_id, text: plain(b.content) }));
      return {
        role: results.length ? "tool" : m.role,
        whole: true,
        empty: blocks.length === 0,
        text: blocks.map((b) => b.text ?? "").join(""),
        calls: blocks.filter((b) => b.type === "tool_use").map((b) => ({ id: b.id, name: b.name })),
        results,
      };
    }),
  content: (a) => [...(a.text ? [{ type: "text", text: a.text }] : []), ...(a.calls ?? []).map((c) => ({ type: "tool_use", id: c.id, name: c.name, input: c.args }))],
  usage: (input) => ({ input_tokens: input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 }),
  write: (a, input, n) => ({ id: `msg_${n}`, type: "message", role: "assistant", model: "fake", content: messagesApi.content(a), stop_reason: a.calls ? "tool_use" : "end_turn", stop_sequence: null, usage: messagesApi.usage(input) }),
  stream: (a, input, n) => {
    const blocks = messagesApi.content(a).flatMap((b, index) => [
      ["content_block_start", { type: "content_block_start", index, content_block: b.type === "text" ? { type: "text", text: "" } : { ...b, input: {} } }],
      ["content_block_delta", { type: "content_block_delta", index, delta: b.type === "text" ? { type: "text_delta", text: b.text } : { type: "input_json_delta", partial_json: JSON.stringify(b.input) } }],
      ["content_block_stop", { type: "content_block_stop", index }],
    ]);
    return events([
      ["message_start", { type: "message_start", message: { ...messagesApi.write({ text: "" }, input, n), content: [], stop_reason: null } }],
      ...blocks,
      ["message_delta", { type: "message_delta", delta: { stop_reason: a.calls ? "tool_use" : "end_turn", stop_sequence: null }, usage: { output_tokens: 9 } }],
      ["message_stop", { type: "message_stop" }],
    ]);
  },
};

const responsesApi = {
  at: /\/responses$/,
  read: (r) =>
    (typeof r.input === "string" ? [{ type: "message", role: "user", content: r.input }] : r.input).map((m) => ({
      role: m.type === "function_call_output" ? "tool" : m.role === "user" ? "user" : "assistant",
      text: plain(m.content),
      calls: m.type === "function_call" ? [{ id: m.call_id, name: m.name }] : [],
      results: m.type === "function_call_output" ? [{ id: m.call_id, text: plain(m.output) }] : [],
    })).reduce((list, m) => {
      // Calls that stand in a row are one message's.
      const last = list.at(-1);
      if (m.role === "assistant" && last?.role === "assistant") last.calls.push(...m.calls), (last.text += m.text);
      else list.push(m);
      return list;
    }, []),
  output: (a, n) => [
    ...(a.text ? [{ id: `msg_${n}`, type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: a.text, annotations: [] }] }] : []),
    ...(a.calls ?? []).map((c) => ({ id: `fc_${c.id}`, type: "function_call", status: "completed", call_id: c.id, name: c.name, arguments: JSON.stringify(c.args) })),
  ],
  write: (a, input, n) => ({
    id: `resp_${n}`, object: "response", created_at: 1, status: "completed", model: "fake", output: responsesApi.output(a, n), parallel_tool_calls: true, error: null, incomplete_details: null,
    usage: { input_tokens: input, input_tokens_details: { cached_tokens: 0 }, output_tokens: 9, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + 9 },
  }),
  stream: (a, input, n) => events([["response.completed", { type: "response.completed", sequence_number: 1, response: responsesApi.write(a, input, n) }]]),
};

const geminiApi = {
  at: /:(generateContent|streamGenerateContent)/,
  // Calls and results may go without ids: then they are told by name and order.
  read: (r) => {
    const seen = {};
    const id = (kind, f) => f.id ?? `${f.name}#${(seen[kind + f.name] = (seen[kind + f.name] ?? 0) + 1)}`;
    return r.contents.map((m) => {
      const results = m.parts.filter((p) => p.functionResponse).map((p) => ({ id: id("r", p.functionResponse), text: JSON.stringify(p.functionResponse.response) }));
      return {
        role: results.length ? "tool" : m.role === "model" ? "assistant" : "user",
        whole: true,
        empty: m.parts.length === 0,
        text: m.parts.map((p) => p.text ?? "").join(""),
        calls: m.parts.filter((p) => p.functionCall).map((p) => ({ id: id("c", p.functionCall), name: p.functionCall.name })),
        results,
      };
    });
  },
  write: (a, input) => ({
    candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [...(a.text ? [{ text: a.text }] : []), ...(a.calls ?? []).map((c) => ({ functionCall: { id: c.id, name: c.name, args: c.args } }))] } }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: 9, totalTokenCount: input + 9 },
  }),
  stream: (a, input) => events([[null, geminiApi.write(a, input)]]),
};

const APIS = [chatApi, messagesApi, responsesApi, geminiApi];

function events(list) {
  return list.map(([name, data]) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`).join("");
}

/**
 * What has to be true of a conversation of TURNS turns. server is the one that served it,
 * bare another that served the same without the kernel, options those of the kernel. What both
 * were asked is written to the file that MEMKERNEL_TALKED names.
 */
export function judge(server, bare, options) {
  assert.deepEqual(options.troubles, []);
  assert.deepEqual(server.violations, []);
  assert.deepEqual(bare.violations, []);
  assert.equal(server.requests.length, bare.requests.length);
  const last = server.requests.at(-1), whole = bare.requests.at(-1);
  assert.ok(last.bytes < whole.bytes / 2, `the last prompt has ${last.bytes} bytes, ${whole.bytes} without the kernel`);
  for (const [i, r] of server.requests.entries()) assert.ok(r.bytes / 4 < WINDOW, `prompt ${i} has ${r.bytes} bytes`);
  const said = last.messages.filter((m) => m.role === "user").map((m) => m.text).join("\n");
  for (let i = 1; i <= TURNS; i++) assert.ok(said.includes(`zebra-${i}-stripe`), `the user's words of turn ${i} are gone`);
  const recalled = server.requests.filter((r) => r.text.includes("pier nine"));
  assert.ok(recalled.length > 0, "what memory says of the heron was not recalled");
  assert.ok(!bare.requests.some((r) => r.text.includes("pier nine")));
  if (process.env.MEMKERNEL_TALKED) {
    const asked = (s) => s.requests.map((r) => ({ path: r.path, body: r.text }));
    appendFileSync(process.env.MEMKERNEL_TALKED, JSON.stringify({ turns: TURNS, with: asked(server), without: asked(bare) }) + "\n");
  }
}

export async function billedAll(kernel, server) {
  const { total } = await kernel.attempt("usage", (c) => c.usage());
  assert.ok(total.compared_calls >= server.requests.length - 3, `${total.compared_calls} of ${server.requests.length} calls were billed`);
}
