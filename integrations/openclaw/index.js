// memkernel in OpenClaw: one plugin in the context-engine and memory slots, a thin
// shim over `memkernel serve`. It keeps nothing that the daemon does not have; what
// it caches may be lost at any moment.

import { daemonFor } from "./daemon.js";
import { info, makeEngine, sourceOf, trouble } from "./engine.js";
import { capability, compose, promptLines, tools } from "./memory.js";
import { options, workspaceOf } from "./options.js";
import { shared } from "./shared.js";
import { listen, selected } from "./watch.js";

const addMemory = import("openclaw/plugin-sdk/core").then((sdk) => sdk.buildMemorySystemPromptAddition, () => undefined);

/** What a model is told of its memory: the host's own composition where it has one. */
async function addition(p) {
  const params = { availableTools: p.availableTools ?? new Set(), citationsMode: p.citationsMode, agentId: agentOf(p.sessionKey), agentSessionKey: p.sessionKey };
  const build = await addMemory;
  try {
    const text = compose(() => build?.(params));
    if (text) return text;
  } catch {
    // without the host's composition ours stands alone
  }
  return promptLines(params).join("\n") || undefined;
}

const agentOf = (key) => /^agent:([^:]+):/.exec(key ?? "")?.[1] ?? "main";

/** The boundaries of a session's life that are no part of the engine's contract. */
function boundaries(api, at, log) {
  const pass = async (method, event, ctx, params, timeoutMs) => {
    const key = ctx?.sessionKey ?? event?.sessionKey;
    if (!key) return;
    try {
      const { daemon, options } = at(ctx?.agentId ?? agentOf(key), undefined, ctx?.workspaceDir);
      await daemon.call(method, { session_key: key, private: options.isPrivate(key), ...sourceOf({ ...ctx, ...event, sessionKey: key }), ...params }, { timeoutMs });
    } catch (err) {
      if (err.code !== "NO_SESSION") trouble(log, `${method} ${key}`, err); // nothing was said in it yet
    }
  };
  listen(api, "before_reset", (e, ctx) => pass("reset", e, ctx, { key: `reset:${ctx?.sessionId ?? ""}`, reason: e?.reason ?? "reset" }, 15_000));
  listen(api, "before_compaction", (e, ctx) => pass("flush", e, ctx, { reason: "before compaction" }, 15_000));
  listen(api, "session_end", (e, ctx) => {
    const id = e?.sessionId ?? ctx?.sessionId ?? "";
    // A session that begins anew under its key is reset; one whose host ends goes on.
    if (["new", "reset", "idle", "daily"].includes(e?.reason)) return pass("reset", e, ctx, { key: `reset:${id}`, reason: e.reason }, 1_800);
    if (["shutdown", "restart"].includes(e?.reason)) return pass("flush", e, ctx, { reason: e.reason }, 1_800);
    if (e?.reason === "deleted") return pass("end_session", e, ctx, { key: `end:${id}`, reason: e.reason }, 1_800);
  });
}

/** selfTest says at the start what would otherwise be found out too late. */
async function selfTest(api, at, log) {
  const slots = api.config?.plugins?.slots ?? {};
  if (slots.contextEngine !== info.id) log.warn?.(`memkernel: plugins.slots.contextEngine is ${JSON.stringify(slots.contextEngine ?? "legacy")}: prompts are not planned; set it to "memkernel"`);
  if (slots.memory !== info.id) log.warn?.(`memkernel: plugins.slots.memory is ${JSON.stringify(slots.memory ?? "memory-core")}: memory is not ours; set it to "memkernel"`);
  try {
    const { daemon } = at("main");
    const it = await daemon.call("initialize", { protocol: 1, client: { name: "openclaw", version: info.version } });
    log.info?.(`memkernel: ${it.server.version} serves ${it.workspace}`);
  } catch (err) {
    trouble(log, "self-test", err);
  }
}

export default {
  id: info.id,
  name: info.name,
  description: "Plans every prompt, commits every turn, and answers from the workspace's Markdown.",
  kind: ["memory", "context-engine"],
  register(api) {
    const log = api.logger ?? console;
    const at = (agentId, cfg, workspace) => {
      const o = options(api.pluginConfig, workspace || workspaceOf(cfg ?? api.config, agentId));
      return { daemon: daemonFor(o.daemon), options: o };
    };
    api.registerContextEngine(info.id, (ctx = {}) => makeEngine({ ...at("main", ctx.config, ctx.workspaceDir), log, addition }));
    api.registerMemoryCapability?.(capability(at, log));
    api.registerTool?.(tools(at, log), { names: ["memory_search", "memory_get", "memory_append", "context_status"] });
    if (api.registrationMode && api.registrationMode !== "full") return;
    shared().selected = selected(api.config);
    boundaries(api, at, log);
    listen(api, "gateway_start", () => selfTest(api, at, log));
  },
};
