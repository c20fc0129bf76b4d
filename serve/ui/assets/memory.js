// Memory: its files entry by entry, a search with its signals, what an audit finds, and what
// the nights did.
import { h, fill, ask, send, badge, num, bytes, when, table, card, empty, percent } from "./lib.js";

const parts = { files: "Files", search: "Search", audit: "Audit", nights: "Nights" };

export async function show(at, view, part) {
  view.title("Memory");
  const room = h("div", { class: "rows" });
  fill(at, h("div", { class: "title" }, h("h1", {}, "Memory"), h("div", { class: "tabs links", role: "navigation", "aria-label": "Memory" }, Object.entries(parts).map(([k, v]) => h("a", { href: k === "files" ? "/memory" : "/memory/" + k, "aria-current": k === part ? "page" : null }, v)))), room);
  await ({ files, search, audit, nights }[part] || files)(room, view);
}

async function files(at, view) {
  const doc = await ask("files", {}, view.signal);
  if (!doc.enabled) return fill(at, empty("Memory is switched off."));
  if (!doc.files.length) return fill(at, empty("There is no Markdown here that is memory."));
  const room = h("div", { class: "file" }), list = h("ul", { class: "files" });
  const path = view.query.get("path") || doc.files[0].path;
  for (const f of doc.files) list.append(h("li", {}, h("a", { href: "/memory?path=" + encodeURIComponent(f.path), "aria-current": f.path === path ? "page" : null }, h("span", { class: "path" }, f.path), h("span", { class: "hint" }, bytes(f.bytes), !f.indexed && " · not indexed"))));
  fill(at, h("div", { class: "split" }, h("nav", { class: "card", "aria-label": "Files" }, h("h2", {}, num(doc.files.length), doc.more && "+", " files"), list), room));
  const file = await ask("file", { path }, view.signal);
  const meta = doc.files.find((f) => f.path === path);
  fill(room, card(null, h("header", {}, h("h2", { class: "path" }, path), h("span", { class: "hint" }, num(file.entries.length), file.cut && "+", " entries · ", num(file.lines), " lines · ", meta && when(meta.modified)), h("button", { type: "button", class: "quiet", onclick: () => past(below, path, 0, view) }, "history")), below(), file.entries.length ? entries(file, view) : empty(file.detail || "It has no entries.")));
  function below(el) {
    return (below.el = el || below.el || h("div"));
  }
}

function entries(file, view) {
  let trail = "";
  const out = [];
  for (const e of file.entries) {
    const t = e.trail.join(" › ");
    if (t !== trail) out.push(h("h3", {}, t));
    trail = t;
    const more = h("div", { class: "more" });
    const meta = [e.date && !e.text.includes(e.date) && h("span", {}, e.date), e.tags.map((t) => badge(t, "tag")), e.state && badge(e.state, "warn"), e.from.map((r) => h("span", {}, "from ", h("code", {}, r))), e.supersedes.map((r) => h("span", {}, "supersedes ", h("code", {}, r)))].flat().filter(Boolean);
    out.push(h("div", { class: "entry" + (e.state ? " s-" + e.state : "") }, h("span", { class: "n line" }, num(e.line)), h("div", {}, h("p", { class: "said" }, e.text.replace(/^[-*] /, "")), meta.length > 0 && h("p", { class: "meta" }, meta)),
      h("div", { class: "acts" }, h("button", { type: "button", class: "quiet", "aria-label": "why line " + e.line, onclick: () => why(more, file.path, e.line, view) }, "why"), h("button", { type: "button", class: "quiet", "aria-label": "history of line " + e.line, onclick: () => past(() => more, file.path, e.line, view) }, "history")), more));
  }
  return h("div", { class: "entries" }, out);
}

async function tryTo(el, view, make) {
  fill(el, h("p", { class: "hint" }, "…"));
  try {
    fill(el, await make());
  } catch (err) {
    if (err.name !== "AbortError") fill(el, h("p", { class: "bad" }, err.message));
  }
}

const row = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

const why = (el, path, line, view) => tryTo(el, view, async () => {
  const g = await ask("why", { entry: path + ":" + line }, view.signal);
  const shown = Object.entries(g).filter(([k, v]) => !["schema", "text", "path", "line", "end_line", "place"].includes(k) && v !== "" && v !== null && !(Array.isArray(v) && !v.length) && typeof v !== "object");
  return h("dl", { class: "facts" }, shown.map(([k, v]) => row(k.replaceAll("_", " "), typeof v === "number" ? num(Math.round(v * 100) / 100) : String(v))),
    Object.entries(g).filter(([, v]) => Array.isArray(v) && v.length && typeof v[0] === "string").map(([k, v]) => row(k.replaceAll("_", " "), v.join(", "))));
});

const past = (at, path, line, view) => tryTo(at(), view, async () => versions(await ask("history", { path, line: line || "", limit: 12 }, view.signal)));

function versions(d) {
  return [h("p", { class: "hint" }, `${num(d.total)} versions`), h("ol", { class: "versions" }, d.versions.map((v) => h("li", {}, h("header", {}, when(v.time), badge(v.event, "tag"), h("span", {}, v.origin || "nobody knows who"), v.run && h("code", {}, v.run), (v.added || v.removed) ? h("span", { class: "n" }, "+", num(v.added), " −", num(v.removed)) : null),
    v.diff ? diff(v.diff) : v.text && h("pre", { class: "text", tabindex: "0" }, v.text))))];
}

function diff(text) {
  return h("pre", { class: "text diff", tabindex: "0" }, text.split("\n").map((l) => h("span", { class: l.startsWith("+") ? "plus" : l.startsWith("-") ? "minus" : l.startsWith("@") ? "hunk" : "" }, l + "\n")));
}

async function search(at, view) {
  const input = h("input", { type: "search", name: "q", value: view.query.get("q") || "", placeholder: "when do we deploy", "aria-label": "What memory has on" });
  const found = h("div", { role: "status", class: "rows" });
  const form = h("form", { class: "ask", onsubmit: (e) => {
    e.preventDefault();
    view.go("/memory/search?q=" + encodeURIComponent(input.value));
  } }, input, h("button", {}, "Search"));
  fill(at, card(null, form), found);
  const q = view.query.get("q");
  if (q) await tryTo(found, view, async () => hits(await ask("search", { q, n: 12 }, view.signal)));
}

function hits(d) {
  const way = [["asked", d.query], d.also_asked?.length && ["also asked, as memory spells it", d.also_asked.map((a) => `${a.typed}: ${a.asked.join(", ")}`).join("; ")], ["signals", d.mode === "hybrid" ? "words and meaning" : d.mode === "vector" ? "meaning" : "words"],
    ["fused", d.mode === "hybrid" ? "the weighted mean of both, by age" : "one signal alone, by age"], ["diversity", d.results.some((r) => r.parts.similarity) ? "what repeats a hit above comes later" : "nothing repeats"], ["packed", `${num(d.results.length)} places`], ["came to", d.reason.toLowerCase().replaceAll("_", " ")], d.detail && ["detail", d.detail],
    d.behind && ["the index is behind by", num(d.behind.files) + " files"], d.weak && ["all in all", "likely beside the question"]].filter(Boolean);
  return [card("The question's way", h("dl", { class: "facts wide" }, way.map(([k, v]) => row(k, v)))),
    ...d.results.map((r, i) => card(null, h("header", {}, h("span", { class: "n rank" }, i + 1), h("a", { href: "/memory?path=" + encodeURIComponent(r.path) }, h("code", {}, r.citation)), r.trail?.length > 0 && r.trail.join() !== r.date && h("span", { class: "hint" }, r.trail.join(" › ")), r.date && h("span", { class: "hint" }, r.date), badge(percent(r.score), r.score >= 0.5 ? "good" : "", "the chance that it answers"), r.superseded_by && badge("superseded by " + r.superseded_by, "warn")),
      h("pre", { class: "text", tabindex: "0" }, lines(r)), signals(r.parts))),
    !d.results.length && empty("Nothing was found.", d.detail)];
}

// lines are all that a place has to say, in the order of its file.
function lines(r) {
  const runs = [{ start_line: r.start_line, text: r.snippet }, ...(r.more || [])].sort((a, b) => a.start_line - b.start_line);
  return runs.flatMap((run) => run.text.replace(/\n$/, "").split("\n").map((l, i) => h("span", {}, h("span", { class: "no", "aria-hidden": "true" }, run.start_line + i), l + "\n")));
}

function signals(p) {
  const one = (name, value, of, more) => h("div", {}, h("dt", {}, name), h("dd", {}, of && h("span", { class: "meter", "aria-hidden": "true" }, h("i", { style: { width: Math.min(Math.max(value, 0), 1) * 100 + "%" } })), typeof value === "number" ? value.toFixed(3) : value, more && h("span", { class: "hint" }, more)));
  return h("dl", { class: "signals", "aria-label": "signals" },
    one("words", p.keyword, true, p.keyword_rank ? "rank " + p.keyword_rank : "not found"), one("meaning", p.vector, true, p.vector_rank ? "rank " + p.vector_rank : "not found"), one("merged", p.merged, true),
    one("age", p.decay, true, p.age_days ? "× for " + num(Math.round(p.age_days)) + " days" : "× does not age"), p.similarity ? one("like a hit above", p.similarity, true) : null, one("by score alone", "rank " + p.rank));
}

const severity = { error: "poor", warning: "warn", warn: "warn", note: "", ok: "good" };

async function audit(at, view) {
  fill(at, card(null, h("p", { class: "hint" }, "reading…")));
  await tryTo(at, view, async () => {
    const d = await ask("audit", {}, view.signal);
    const place = (p) => h("a", { href: "/memory?path=" + encodeURIComponent(p.path) }, p.path + (p.start_line ? ":" + p.start_line : ""));
    return [card(d.clean ? "Nothing is to be done" : `${num(d.findings.length)} findings`, h("p", { class: "hint" }, `${num(d.files)} files, ${num(d.entries)} entries, ${num(d.checks.length)} checks`),
      d.findings.length > 0 && table(["", "where", "what", "way out"], d.findings.slice(0, 300).map((f) => [badge(f.check.replaceAll("_", " "), severity[f.severity] ?? "warn"), h("span", {}, f.path && place(f), f.others.slice(0, 3).map((o) => [" ", place(o)])), f.what, h("span", { class: "hint" }, f.hint)]), { label: "findings", class: "prose" })),
    card("Checks", table(["check", "holds if nothing is found", "#findings"], d.checks.map((c) => [c.id.replaceAll("_", " "), c.title, c.skipped ? c.skipped : num(c.findings)]), { label: "checks", class: "prose" }))];
  });
}

async function nights(at, view) {
  const write = document.body.dataset.write === "true";
  const result = h("p", { role: "status" }), room = h("div");
  const undo = h("button", { type: "button", onclick: async () => {
    if (!confirm("Take back the last pruning or change by hand? Its files become what they were.")) return;
    try {
      const u = await send("undo");
      fill(result, `${u.edit} was taken back: ${u.files.join(", ")}`);
      past(() => room, "MEMORY.md", 0, view);
    } catch (err) {
      fill(result, h("span", { class: "bad" }, err.message));
    }
  } }, "Take back the last change");
  fill(at, card("What became of MEMORY.md", h("p", { class: "hint" }, "Each version against the one before, as far as nightly runs and git know it."), write ? undo : h("p", { class: "hint" }, "memkernel ui --write can take the last change back here."), result, room));
  await past(() => room, "MEMORY.md", 0, view);
}
