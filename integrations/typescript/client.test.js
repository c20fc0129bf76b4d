// Talks to the real program, which MEMKERNEL names.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { connect, MemkernelError } from "./index.js";

const binary = process.env.MEMKERNEL;
const skip = binary ? false : "MEMKERNEL names no program";
const server = process.env.MEMKERNEL_SERVER;
const noServer = server ? false : "MEMKERNEL_SERVER names no memkernel-server";
const model = "claude-sonnet-4-6";

// removed waits until the daemon of a workspace has ended, since it writes there until
// then, and removes the workspace. A process that was about to start one may still write.
async function removed(workspace) {
  const until = Date.now() + 60_000;
  const wait = () => new Promise((done) => setTimeout(done, 25));
  let pid = 0;
  try {
    pid = JSON.parse(readFileSync(join(workspace, ".memkernel", "serve.json"), "utf8")).pid;
  } catch {} // none was started
  const runs = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (pid && runs() && Date.now() < until) await wait();
  for (;;) {
    try {
      return rmSync(workspace, { recursive: true, force: true });
    } catch (e) {
      if (Date.now() > until) throw e;
      await wait();
    }
  }
}

async function withClient(t, options = {}) {
  const workspace = mkdtempSync(join(tmpdir(), "mk"));
  const client = await connect({ workspace, binary, idle: "1s", startTimeoutMs: 300_000, ...options }); // a busy machine starts a daemon late
  t.after(async () => {
    if (!client.closed) await client.shutdown().catch(() => {});
    client.close();
    await removed(workspace);
  });
  return { client, workspace };
}

test("a session: plan, observe, and only what is new travels", { skip }, async (t) => {
  const { client } = await withClient(t);
  assert.equal(client.server.protocol, 1);
  const calls = [];
  const call = client.call.bind(client);
  client.call = (method, params, options) => (calls.push(structuredClone(params)), call(method, params, options));
  const s = client.session("s", { model, private: true, dialect: "pi" });
  const messages = [];
  for (let i = 0; i < 5; i++) {
    messages.push({ role: "user", content: `question ${i}`, timestamp: i, __own: { i } });
    const plan = await s.plan(messages);
    assert.equal(plan.messages.length, messages.length);
    plan.messages.forEach((m, k) => assert.equal(m, messages[k])); // the host's own objects
    messages.push({ role: "assistant", content: [{ type: "text", text: `answer ${i}` }], timestamp: i });
    const o = await s.observeTurn(messages, { plan_id: plan.plan_id });
    assert.equal(o.outcome, "committed");
    assert.equal(o.turns, i + 1);
  }
  assert.equal(calls[0].conversation.messages.length, 1);
  for (const c of calls.slice(1)) assert.deepEqual([c.conversation.messages.length, !!c.conversation.base], [1, true]);
});

test("what the daemon lost is sent again", { skip }, async (t) => {
  const { client, workspace } = await withClient(t);
  const messages = [{ role: "user", content: "hello" }];
  const a = client.session("s", { model });
  await a.plan(messages);
  const b = client.session("s", { model }); // moves the base on
  await b.plan(messages);
  messages.push({ role: "assistant", content: "good day" });
  assert.equal((await a.observeTurn(messages)).outcome, "committed");
  const alive = setInterval(() => {}, 1000); // an idle connection keeps no process alive
  await client.shutdown();
  await new Promise((done) => (client.closed ? done() : client.once("close", done)));
  clearInterval(alive);
  await assert.rejects(client.status(), { code: "CLOSED" });
  const again = await connect({ workspace, binary, idle: "1s" });
  t.after(() => again.close());
  assert.equal((await again.session("s", { model }).observeTurn(messages)).outcome, "duplicate");
  await again.shutdown();
});

// pidOf is the process of a workspace's daemon.
const pidOf = (workspace) => JSON.parse(readFileSync(join(workspace, ".memkernel", "serve.json"), "utf8")).pid;

test("a daemon that is killed is started anew, and calls are delivered again", { skip }, async (t) => {
  const { client, workspace } = await withClient(t);
  const s = client.session("s", { model, private: true });
  const messages = [];
  let lost = 0;
  client.on("lost", () => lost++);
  for (let i = 0; i < 6; i++) {
    messages.push({ role: "user", content: `question ${i}` });
    const plan = await s.plan(messages);
    assert.equal(plan.messages.length, messages.length);
    messages.push({ role: "assistant", content: `answer ${i}` });
    if (i % 2) process.kill(pidOf(workspace), "SIGKILL"); // this turn's delivery finds nobody
    const o = await s.observeTurn(messages);
    assert.deepEqual([["committed", "duplicate"].includes(o.outcome), o.turns], [true, i + 1]);
  }
  assert.equal(lost, 3);
  assert.equal(client.closed, false);
  const together = Array.from({ length: 20 }, (_, i) => client.remember({ session_key: "s", private: true, text: `the fact number ${i} is kept`, path: "memory/facts.md" }));
  process.kill(pidOf(workspace), "SIGKILL");
  await Promise.all(together);
  const text = readFileSync(join(workspace, "memory", "facts.md"), "utf8");
  for (let i = 0; i < 20; i++) assert.equal(text.split(`number ${i} is`).length, 2, `fact ${i} stands once`);
});

test("without reconnect a lost connection is an error", { skip }, async (t) => {
  const { client, workspace } = await withClient(t, { reconnect: false });
  const gone = new Promise((done) => client.once("close", done));
  const alive = setInterval(() => {}, 1000);
  process.kill(pidOf(workspace), "SIGKILL");
  await gone;
  clearInterval(alive);
  assert.equal(client.closed, true);
  await assert.rejects(client.status(), { code: "CLOSED" });
});

test("a cancelled call is not delivered again", { skip }, async (t) => {
  const { client, workspace } = await withClient(t);
  const stop = new AbortController();
  process.kill(pidOf(workspace), "SIGKILL");
  stop.abort();
  await assert.rejects(client.status({}, { signal: stop.signal }), { code: "CANCELLED" });
  assert.equal((await client.status()).sessions.length, 0);
});

test("a model writes down what should outlive a cut", { skip }, async (t) => {
  const { client } = await withClient(t);
  const session = client.session("w", { private: true, model });
  const messages = [{ role: "user", content: "the heron moves to pier nine" }];
  let asked;
  const done = await session.writeDown(messages, async (ask) => ((asked = ask), "- [decision] The heron moves to pier nine."));
  assert.match(asked.prompt, /heron/);
  assert.ok(asked.max_tokens > 0);
  assert.equal(done.line, `flush: 1 entry to ${done.path}`);
  assert.equal(await session.writeDown(messages, () => assert.fail("nothing is new")), null);
});

test("errors, cancellation and timeouts", { skip }, async (t) => {
  const { client } = await withClient(t);
  await assert.rejects(client.search({ quary: "x" }), (e) => e instanceof MemkernelError && e.number === -32602 && e.hint.includes("query"));
  await assert.rejects(client.plan({ model, session_key: "none" }), { code: "NO_MESSAGES" });
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(client.status({}, { signal: stop.signal }), { code: "CANCELLED" });
  const late = new AbortController();
  const running = client.check({}, { signal: late.signal });
  late.abort();
  await running.catch((e) => assert.equal(e.code, "CANCELLED")); // or it was faster
  await assert.rejects(client.call("restore", { deadline_ms: -1 }), { code: "INVALID_PARAMS" });
});

test("memory is edited by what was read, and an edit is taken back", { skip }, async (t) => {
  const { client } = await withClient(t);
  const own = { session_key: "s", private: true }, path = "memory/own.md";
  const call = async (name, args) => (await client.toolsCall({ ...own, name, arguments: args })).content;
  await client.remember({ ...own, path, text: "Kim owns the ledger." });
  const { edit, version } = await call("memory_update", { path, old: "Kim", text: "Noor" });
  const stale = await call("memory_update", { path, old: "Kim", text: "Ada" });
  assert.ok(stale.reason === "CONFLICT" && stale.current.text.includes("Noor owns the ledger.") && stale.current.version === version);
  const seen = await client.memoryTool({ ...own, input: { command: "view", path: "/memories/own.md" } });
  assert.ok(!seen.is_error && seen.content.includes("Noor owns the ledger."));
  assert.equal((await call("memory_undo", {})).edit, edit);
  await call("memory_delete", { path, old: "Kim owns the ledger." });
  const gone = await client.memoryTool({ ...own, input: { command: "view", path: "/memories/own.md" } });
  assert.ok(gone.is_error && gone.content.includes("does not exist"));
});

test("progress is told while a reindex runs", { skip }, async (t) => {
  const { client } = await withClient(t);
  await client.remember({ session_key: "s", private: true, text: "We deploy on Thursdays." });
  const seen = [];
  const report = await client.reindex({ progress: true }, { onProgress: (p) => seen.push(p.stage) });
  assert.equal(report.schema, "memkernel/reindex/v1");
  assert.ok(seen.includes("index"));
  const found = await client.search({ query: "deploy Thursdays" });
  assert.equal(found.results.length, 1);
});

test("many clients at once start one daemon", { skip }, async (t) => {
  const { client, workspace } = await withClient(t);
  const others = await Promise.all(Array.from({ length: 6 }, () => connect({ workspace, binary })));
  await Promise.all(others.map((c, i) => c.session(`s${i}`, { model }).observeTurn([{ role: "user", content: "a" }, { role: "assistant", content: "b" }])));
  const status = await client.status();
  assert.equal(status.sessions.length, 6);
  others.forEach((c) => c.close());
});

test("a socket that is a link is not trusted", { skip }, async (t) => {
  const { client, workspace } = await withClient(t);
  const other = mkdtempSync(join(tmpdir(), "mk"));
  t.after(() => rmSync(other, { recursive: true, force: true }));
  mkdirSync(join(other, ".memkernel"));
  symlinkSync(join(workspace, ".memkernel", "serve.sock"), join(other, ".memkernel", "serve.sock"));
  await assert.rejects(connect({ workspace: other, binary }), { code: "UNTRUSTED" });
  await assert.rejects(connect({ workspace: other, socket: join(other, "none") }), { code: "CLOSED" });
  assert.ok(client);
});

test("what npm packs installs and works", { skip }, async (t) => {
  const { client, workspace } = await withClient(t);
  await client.remember({ session_key: "s", private: true, text: "We deploy on Thursdays." });
  const app = join(workspace, "app");
  mkdirSync(app);
  writeFileSync(join(app, "package.json"), '{"private":true,"type":"module"}');
  const npm = (...args) => spawnSync("npm", [...args, "--offline", "--no-audit", "--no-fund", "--package-lock=false"], { cwd: app, encoding: "utf8" });
  const packed = npm("pack", dirname(fileURLToPath(import.meta.url)), "--json");
  if (packed.error) return t.skip(`there is no npm: ${packed.error.message}`);
  assert.equal(packed.status, 0, packed.stderr);
  const [{ filename, files }] = JSON.parse(packed.stdout);
  assert.deepEqual(files.map((f) => f.path).sort(), ["README.md", "agent.d.ts", "agent.js", "error.js", "http.js", "index.d.ts", "index.js", "link.d.ts", "link.js", "methods.js", "package.json", "prompt.d.ts", "prompt.js", "protocol.d.ts"]);
  const installed = npm("install", join(app, filename));
  assert.equal(installed.status, 0, installed.stderr);
  writeFileSync(
    join(app, "app.js"),
    `import { connect } from "memkernel-client"; import { Link } from "memkernel-client/link";
    const where = { workspace: ${JSON.stringify(workspace)}, binary: ${JSON.stringify(binary)}, startTimeoutMs: 300000, deadlineMs: 300000 };
    const client = await connect(where);
    console.log((await client.search({ query: "deploy Thursdays", private: true })).results[0].snippet);
    const link = new Link(where);
    console.log(await link.attempt("a status", (c) => c.status()).then((s) => s.schema));`,
  );
  const ran = spawnSync(process.execPath, ["app.js"], { cwd: app, encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stderr);
  assert.match(ran.stdout, /Thursdays[^]*memkernel\/status\/v1/);
});

// What providers say of 1,000 tokens of input, 700 of them from the cache.
const bills = {
  anthropic: { input_tokens: 300, cache_read_input_tokens: 700, output_tokens: 9 },
  chat: { prompt_tokens: 1000, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 700 } },
  responses: { input_tokens: 1000, input_tokens_details: { cached_tokens: 700 }, output_tokens: 9 },
  gemini: { promptTokenCount: 1000, cachedContentTokenCount: 700, candidatesTokenCount: 9 },
  deepseek: { prompt_tokens: 1000, completion_tokens: 9, prompt_cache_hit_tokens: 700, prompt_cache_miss_tokens: 300 },
};

// The examples of these pages run as they stand, once per provider.
for (const file of ["README.md", "../../doc/agents.md"])
  test(`the example of ${file}`, { skip }, () => {
    const here = dirname(fileURLToPath(import.meta.url));
    const text = readFileSync(join(here, file), "utf8");
    const example = [...text.matchAll(/```js\n([^]*?)```/g)].map((m) => m[1]).find((code) => code.includes("observeTurn"));
    const line = example.match(/^import .*\n/m)[0];
    const rule = "Never push to main.", own = example.includes(rule);
    assert.ok(own || file !== "README.md");
    const runs = Object.entries(bills).map(
      ([name, usage], i) => `{
        ${own ? "" : `const messages = [{ role: "user", content: "hello ${name}" }], system = "Be brief.", tools = [];`}
        const callTheModel = async () => ({ role: "assistant", content: "good day", usage: ${JSON.stringify(usage)} });
        ${example.replace(line, "").replace(i ? rule : line, name)}
        last = client;
      }`,
    );
    const workspace = mkdtempSync(join(tmpdir(), "mk"));
    try {
      mkdirSync(join(workspace, "node_modules"));
      symlinkSync(here, join(workspace, "node_modules", "memkernel-client"));
      symlinkSync(binary, join(workspace, "memkernel"));
      writeFileSync(join(workspace, "example.mjs"), `${line}let last;\n${runs.join("\n")}\nconst next = await last.session("n", { private: true }).plan([{ role: "user", content: "hello" }]);
        console.log(JSON.stringify({ ...(await last.usage()), next })); await last.shutdown();`);
      const path = [workspace, process.env.PATH].join(delimiter);
      const ran = spawnSync(process.execPath, ["example.mjs"], { cwd: workspace, env: { ...process.env, PATH: path }, encoding: "utf8" });
      assert.equal(ran.status, 0, ran.stderr);
      const { total } = JSON.parse(ran.stdout);
      if (own) assert.ok(ran.stdout.includes(rule));
      assert.deepEqual([total.calls, total.billed.input_tokens, total.billed.cache_read_tokens], [5, 5000, 3500]);
    } finally {
      rmSync(workspace, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 });
    }
  });

test("a bill that cannot be is told by its member", { skip }, async (t) => {
  const { client } = await withClient(t);
  const turn = [{ role: "user", content: "a" }, { role: "assistant", content: "b" }];
  const usage = { prompt_tokens: 10, prompt_tokens_details: { cached_tokens: 11 } };
  await assert.rejects(client.session("s", { model }).observeTurn(turn, { usage }), (e) => e.code === "INVALID_PARAMS" && e.message.includes("prompt_tokens_details.cached_tokens"));
  assert.equal((await client.session("s", { model }).observeTurn(turn, { usage: null })).outcome, "committed");
});

// served runs memkernel-server serve --listen, and makes a token.
async function served(t, ...more) {
  const workspace = mkdtempSync(join(tmpdir(), "mk"));
  const made = spawnSync(server, ["token", "create", "--quiet", "--access", "write", "--workspace", workspace, ...more], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const child = spawn(server, ["serve", "--quiet", "--listen", "127.0.0.1:0", "--workspace", workspace], { stdio: ["ignore", "pipe", "inherit"] });
  const [first] = await once(child.stdout, "data");
  const stop = async () => {
    if (child.exitCode === null && child.kill("SIGTERM")) await once(child, "exit");
  };
  t.after(async () => {
    await stop();
    rmSync(workspace, { recursive: true, force: true });
  });
  return { url: String(first).split("\n")[0], token: made.stdout.trim(), stop, workspace };
}

test("a server by its URL: sessions, errors, tokens", { skip: noServer }, async (t) => {
  const { url, token, stop } = await served(t);
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  const client = await connect(url, { token });
  assert.equal(client.server.protocol, 1);
  const s = client.session("s", { model, private: true });
  const messages = [{ role: "user", content: "hello" }];
  const plan = await s.plan(messages);
  assert.deepEqual(plan.messages, messages);
  messages.push({ role: "assistant", content: "good day" });
  assert.equal((await s.observeTurn(messages, { plan_id: plan.plan_id })).outcome, "committed");
  const sent = [];
  const call = client.call.bind(client);
  client.call = (method, params, options) => (sent.push(params?.conversation), call(method, params, options));
  messages.push({ role: "user", content: "and now" });
  await s.plan(messages);
  assert.equal(sent[0].messages.length, 1, "only what is new travels");
  await assert.rejects(client.search({ query: "" }), { code: "INVALID_PARAMS", status: 200 });
  await assert.rejects(client.shutdown(), { code: "SCOPE", status: 403 });
  await assert.rejects(connect(url, { token: "mkt_" + "A".repeat(43) }), { code: "TOKEN", status: 401 });
  await assert.rejects(connect(url + "/elsewhere", { token }), { code: "NOT_FOUND" });
  await assert.rejects(connect("http://memory.example:1", { token }), { code: "UNTRUSTED" });
  await stop();
  await assert.rejects(client.pages({}, { retries: 1 }), { code: "CLOSED" });
  client.close();
  await assert.rejects(client.pages(), { code: "CLOSED" });
});

test("a server that is busy, going, or hangs", async (t) => {
  const seen = [];
  let script = [];
  const server = createServer((req, res) => {
    let body = "";
    req.on("data", (b) => (body += b));
    req.on("end", () => {
      const m = JSON.parse(body);
      seen.push({ method: m.method, at: Date.now(), session: req.headers["memkernel-session"], gone: once(res, "close") });
      if (m.method === "initialize") return res.end(JSON.stringify({ jsonrpc: "2.0", id: m.id, result: { protocol: 1 } }));
      const next = script.shift();
      if (!next) return; // it hangs
      const [status, code, headers] = next;
      res.writeHead(status, { "content-type": "application/json", ...headers });
      res.end(JSON.stringify(code ? { jsonrpc: "2.0", id: null, error: { code: -1, message: code, data: { code, hint: "" } } } : { jsonrpc: "2.0", id: m.id, result: { ok: true } }));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => (server.closeAllConnections(), server.close()));
  const client = await connect(`http://127.0.0.1:${server.address().port}`, { token: "x" });
  script = [[429, "BUSY", { "Retry-After": "0.2" }], [503, "STOPPING", { "Retry-After": "0" }], [503, "NOT_READY"], [200]];
  assert.deepEqual(await client.pages(), { ok: true });
  const calls = seen.filter((s) => s.method === "pages");
  assert.equal(calls.length, 4);
  assert.ok(calls[1].at - calls[0].at >= 190, "Retry-After is waited for");
  assert.equal(calls[0].session, undefined);
  script = [[200]];
  await client.pages({ session_key: "memkernel" });
  assert.equal(seen.at(-1).session, "7f1a29f2b063dd2d"); // the beginning of printf memkernel | sha256sum
  script = Array(5).fill([429, "BUSY", { "Retry-After": "0" }]);
  await assert.rejects(client.pages({}, { retries: 2 }), { code: "BUSY", status: 429 });
  script = [[503, "STOPPING", { "Retry-After": "3600" }]];
  await assert.rejects(client.pages(), { code: "STOPPING", retryAfterMs: 3600_000 });
  script = [[403, "SCOPE"]];
  await assert.rejects(client.pages(), { code: "SCOPE" });
  script = [];
  const stop = new AbortController();
  const hung = client.pages({}, { signal: stop.signal, timeoutMs: 0 });
  while (seen.at(-1).method !== "pages" || seen.length < 12) await new Promise((done) => setTimeout(done, 5));
  stop.abort();
  await assert.rejects(hung, { code: "CANCELLED", started: true });
  await seen.at(-1).gone; // the request ended
  await assert.rejects(client.pages({}, { timeoutMs: 50 }), { code: "DEADLINE" });
  script = [[429, "BUSY", { "Retry-After": "60" }]];
  const waits = new AbortController();
  setTimeout(() => waits.abort(), 50);
  await assert.rejects(client.pages({}, { signal: waits.signal }), { code: "CANCELLED" });
  client.close();
});
