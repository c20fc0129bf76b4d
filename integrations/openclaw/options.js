// The plugin's configuration, with its defaults.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));

/** options reads the plugin's configuration for a workspace. */
export function options(config = {}, workspace) {
  const dir = path.resolve(home(workspace || process.cwd()));
  const stateDir = path.resolve(dir, home(config.stateDir || ".memkernel"));
  return {
    daemon: {
      binary: home(config.binary || "memkernel"),
      workspace: dir,
      stateDir,
      socket: config.socket ? path.resolve(dir, home(config.socket)) : "",
      configFile: config.configFile ? path.resolve(dir, home(config.configFile)) : ownConfig(stateDir),
      idle: config.idle || "15m",
      startTimeoutMs: Math.max(15_000, config.commitTimeoutMs ?? 0), // a commit waits for it
    },
    assembleTimeoutMs: config.assembleTimeoutMs ?? 3_000,
    commitTimeoutMs: config.commitTimeoutMs ?? 15_000,
    isPrivate: matcher(config.privateSessions ?? ["agent:*:main"]),
  };
}

/** kernel.yaml stands in where nothing is configured; a host that runs a copy of this file may not have it. */
function ownConfig(stateDir) {
  const file = path.join(here, "kernel.yaml");
  return fs.existsSync(path.join(stateDir, "config.yaml")) || !fs.existsSync(file) ? "" : file;
}

function home(file) {
  return file === "~" || file.startsWith("~/") ? os.homedir() + file.slice(1) : file;
}

/** matcher tells whether a session key is one of those that patterns name; * is any text without a colon. */
function matcher(patterns) {
  const all = patterns.map((p) => new RegExp(`^${p.split("*").map((s) => s.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join("[^:]*")}$`));
  return (key) => typeof key === "string" && all.some((re) => re.test(key));
}

/** The workspace of an agent, where the host does not hand it over. */
export function workspaceOf(cfg, agentId) {
  const named = cfg?.agents?.entries?.[agentId]?.workspace ?? cfg?.agents?.list?.find?.((a) => a.id === agentId)?.workspace;
  return home(named ?? cfg?.agents?.defaults?.workspace ?? path.join(os.homedir(), ".openclaw", "workspace"));
}
