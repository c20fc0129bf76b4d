// LangGraph's store over the workspace's memory: every put is an entry of a Markdown file,
// which a person reads, the index searches and recall shows. The last entry of a key counts.

import { randomUUID } from "node:crypto";
import { BaseStore } from "@langchain/langgraph-checkpoint";
import { Kernel } from "memkernel-client/agent";

const ENTRY = /^- store (\{.*\})$/s; // a line may hold U+2028
// More than these are never looked through for one search.
const HITS = 100;

/**
 * options: a Kernel or its options, and path, the file (memory/store.md). What can't be
 * read or written is an error: a store that forgets in silence is worse than none. Secrets
 * in values are masked, as everywhere in memory.
 */
export class MemkernelStore extends BaseStore {
  #kernel;
  #path;

  constructor(options = {}, { path = "memory/store.md" } = {}) {
    super();
    this.#kernel = options instanceof Kernel ? options : new Kernel(options);
    this.#path = path;
  }

  /** Reads see what was there before the batch. */
  async batch(operations) {
    const puts = operations.filter((op) => "value" in op);
    const entries = puts.length < operations.length ? await this.#read() : new Map();
    const results = [];
    for (const op of operations) {
      if ("value" in op) results.push(undefined);
      else if ("key" in op) results.push(itemOf(entries.get(nameOf(op.namespace, op.key))));
      else if ("namespacePrefix" in op) results.push(await this.#search(op, entries));
      else results.push(namespaces(op, entries));
    }
    for (const op of new Map(puts.map((p) => [nameOf(p.namespace, p.key), p])).values()) await this.#put(op);
    return results;
  }

  close() {
    this.#kernel.close();
  }

  async #put({ namespace, key, value, index }) {
    const entry = { namespace, key, value, at: new Date().toISOString(), ...(index === false ? { index } : {}) };
    const done = await this.#kernel.remember(`- store ${JSON.stringify(entry)}`, { path: this.#path, id: `store-${randomUUID()}` });
    if (!done) throw new Error(`memkernel: ${key} could not be written to ${this.#path}`);
    if (done.unwritten) throw new Error(`memkernel: ${this.#path}: ${done.unwritten}`);
  }

  // The entries by namespace and key, the newest of each.
  async #read() {
    const file = await this.#kernel.attempt("read", (c, o) => c.read({ ...this.#kernel.bound(), path: this.#path }, o));
    if (!file || !["OK", "NO_MATCH"].includes(file.reason)) throw new Error(`memkernel: ${this.#path} could not be read${file ? `: ${file.detail || file.reason}` : ""}`);
    const entries = new Map();
    file.text.split("\n").forEach((line, i) => {
      const entry = entryOf(line);
      if (!entry) return;
      const name = nameOf(entry.namespace, entry.key);
      const before = entries.get(name);
      entries.delete(name);
      if (entry.value !== null) entries.set(name, { ...entry, created: before?.created ?? entry.at, line: file.start_line + i });
    });
    return entries;
  }

  async #search({ namespacePrefix, filter, limit = 10, offset = 0, query }, entries) {
    const fits = (e) => namespacePrefix.every((label, i) => e.namespace[i] === label) && matches(e.value, filter);
    if (!query) return [...entries.values()].filter(fits).slice(offset, offset + limit).map((e) => itemOf(e));
    const found = await this.#kernel.search(query, { max_results: HITS, lines: true });
    if (!found) throw new Error("memkernel: memory could not be searched");
    const scores = new Map();
    for (const hit of found.results.filter((h) => h.path === this.#path))
      for (const e of entries.values()) if (e.line >= hit.start_line && e.line <= hit.end_line && e.index !== false) scores.set(e, Math.max(scores.get(e) ?? 0, hit.score));
    const ranked = [...scores].filter(([e]) => fits(e)).sort((a, b) => b[1] - a[1]);
    return ranked.slice(offset, offset + limit).map(([e, score]) => itemOf(e, score));
  }
}

function entryOf(line) {
  const found = line.match(ENTRY);
  if (!found) return null;
  try {
    const entry = JSON.parse(found[1]);
    return Array.isArray(entry.namespace) && typeof entry.key === "string" ? entry : null;
  } catch {
    return null; // a line that a person changed
  }
}

function nameOf(namespace, key) {
  return JSON.stringify([namespace, key]);
}

function itemOf(e, score) {
  if (!e) return null;
  return { value: e.value, key: e.key, namespace: e.namespace, createdAt: new Date(e.created), updatedAt: new Date(e.at), ...(score === undefined ? {} : { score }) };
}

function namespaces({ matchConditions = [], maxDepth, limit, offset = 0 }, entries) {
  const fits = (ns) =>
    matchConditions.every(({ matchType, path }) => {
      if (path.length > ns.length) return false;
      const part = matchType === "suffix" ? ns.slice(ns.length - path.length) : ns;
      return path.every((label, i) => label === "*" || label === part[i]);
    });
  const all = new Map();
  for (const { namespace } of entries.values()) {
    if (!fits(namespace)) continue;
    const ns = maxDepth === undefined ? namespace : namespace.slice(0, maxDepth);
    all.set(JSON.stringify(ns), ns);
  }
  return [...all.keys()].sort().map((k) => all.get(k)).slice(offset, offset + (limit ?? all.size));
}

const COMPARE = {
  $eq: (a, b) => equal(a, b), $ne: (a, b) => !equal(a, b),
  $gt: (a, b) => a > b, $gte: (a, b) => a >= b, $lt: (a, b) => a < b, $lte: (a, b) => a <= b,
  $in: (a, b) => b.some((x) => equal(a, x)), $nin: (a, b) => !b.some((x) => equal(a, x)), $exists: (a, b) => (a !== undefined) === b,
};

function matches(value, filter = {}) {
  return Object.entries(filter).every(([name, want]) => {
    const has = value[name];
    if (want === null || typeof want !== "object" || Array.isArray(want) || !Object.keys(want).some((k) => k.startsWith("$"))) return equal(has, want);
    return Object.entries(want).every(([op, x]) => {
      if (!COMPARE[op]) throw new Error(`${op} is no operator of a filter`);
      return COMPARE[op](has, x);
    });
  });
}

function equal(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}
