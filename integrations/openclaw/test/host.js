// A host for tests: what it does with the plugin, without its model.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const here = path.dirname(fileURLToPath(import.meta.url));

/** program is memkernel: MEMKERNEL names it, else it is built. */
let built;
export function program() {
  built ??= process.env.MEMKERNEL ?? build();
  return built;
}

function build() {
  const out = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "mkbin")), "memkernel");
  execFileSync("go", ["build", "-o", out, "./cmd/memkernel"], { cwd: path.join(here, "../../.."), stdio: "inherit" });
  process.on("exit", () => fs.rmSync(path.dirname(out), { recursive: true, force: true }));
  return out;
}

/** A workspace of its own, with something to remember; gone after the test. */
export function workspace(t) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "mkoc")); // short: a socket stands in it
  fs.mkdirSync(path.join(dir, "memory"));
  fs.writeFileSync(path.join(dir, "MEMORY.md"), "# Memory\n- The deploy key is kept in vault seven.\n");
  fs.writeFileSync(path.join(dir, "memory/deploys.md"), "# Deploys\n- The billing service is deployed on Thursdays from vault nine.\n");
  t.after(() => {
    stopDaemon(dir);
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  return dir;
}

/** stopDaemon kills the daemon of a workspace. */
export function stopDaemon(dir) {
  try {
    process.kill(JSON.parse(fs.readFileSync(path.join(dir, ".memkernel/serve.json"), "utf8")).pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

/** register loads the plugin as the host does, and gives what it registered. */
export async function register(workspaceDir, config = {}, copy = 0) {
  const plugin = (await import(`../index.js?copy=${copy}`)).default;
  const got = { hooks: {}, logs: [] };
  const log = (level) => (text) => got.logs.push(`${level} ${text}`);
  plugin.register({
    id: plugin.id,
    registrationMode: "full",
    config: { plugins: { slots: { contextEngine: "memkernel", memory: "memkernel" } }, agents: { defaults: { workspace: workspaceDir } } },
    // A machine that is busy starts a daemon late.
    pluginConfig: { binary: program(), idle: "1m", assembleTimeoutMs: 300_000, commitTimeoutMs: 300_000, ...config },
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    on: (name, handler) => (got.hooks[name] = handler),
    registerContextEngine: (id, factory) => (got.engine = () => factory({ workspaceDir })),
    registerMemoryCapability: (c) => (got.memory = c),
    registerTool: (factory) => (got.tools = (ctx) => Object.fromEntries(factory({ workspaceDir, ...ctx }).map((d) => [d.name, d]))),
  });
  return got;
}

/** calls are what the host was seen to call, from a recording. */
export function recorded(name) {
  return fs.readFileSync(path.join(here, "../testdata", name), "utf8").trim().split("\n").map((l) => JSON.parse(l));
}

/** asHost makes of recorded parameters what the host hands over. */
export const asHost = (p) => ({ ...p, ...(p.availableTools ? { availableTools: new Set(p.availableTools) } : {}) });
