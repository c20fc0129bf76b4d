// One call: its prompt block by block, where it comes from, and what would break.
import { h, fill, ask, bar, badge, num, short, usd, percent, when, table, card, tiles, tile, legend, regionNames, empty, bytes } from "./lib.js";

const kinds = { text: "text", tool_use: "tool call", tool_result: "tool result", thinking: "thinking", redacted_thinking: "thinking", image: "image", tools: "tools", system: "system prompt" };
const levels = ["full", "compressed", "structured", "pointer"];

export async function show(at, view, id, n) {
  const plan = Object.fromEntries([...view.query].filter(([k]) => ["window", "economy", "resolver", "model"].includes(k)));
  const q = Object.keys(plan).length ? "?" + new URLSearchParams(plan) : "";
  const asked = { session: id, call: n, ...plan };
  const session = `/s/${id}/numbers${q}`;
  view.title("Call " + n);
  const step = (to, label, key) => h("a", { class: "step", href: `/s/${id}/c/${to}${q}`, "aria-keyshortcuts": key }, label);
  let doc;
  try {
    doc = await ask("call", asked, view.signal);
  } catch (err) {
    if (err.name === "AbortError" || err.status === 401) throw err;
    fill(at, h("div", { class: "title" }, h("h1", {}, "Call ", num(n)), h("span", { class: "steps" }, n > 1 && step(n - 1, "← before", "["), step(n + 1, "after →", "]")), h("a", { href: session }, "the numbers")), empty(err.message));
    return;
  }
  addEventListener("keydown", (e) => {
    if (e.target.closest("input, textarea, select") || e.metaKey || e.ctrlKey) return;
    if (e.key === "[" && n > 1) view.go(`/s/${id}/c/${n - 1}${q}`);
    if (e.key === "]" && n < doc.calls) view.go(`/s/${id}/c/${n + 1}${q}`);
    if (e.key === "u") view.go(session);
  }, { signal: view.signal });
  const page = (p) => `/s/${id}/c/${n}/p/${encodeURIComponent(p)}${q}`;
  const b = doc.layout.bill, fig = doc.layout.cut.figures;
  fill(at,
    h("div", { class: "title" }, h("h1", {}, "Call ", num(n), h("small", {}, " of ", num(doc.calls))),
      h("span", { class: "steps" }, n > 1 && step(n - 1, "← before", "["), n < doc.calls && step(n + 1, "after →", "]")),
      badge("simulated", "", "what memkernel would have sent"), h("a", { href: session }, "the numbers"), h("span", { class: "hint" }, doc.model, " · ", when(doc.time)),
      doc.layout.made && badge("cut: " + doc.layout.made.reason, "cut"), doc.layout.cold && badge("cold", "cold", doc.layout.clock)),
    tiles(
      tile("prompt", num(doc.budgets.planned_input_tokens), `of ${short(doc.budgets.context_window)}, ${doc.budgets.tokens_are}`),
      tile("read", num(b.read_tokens), percent(b.read_tokens / Math.max(doc.budgets.planned_input_tokens, 1))),
      tile("written", num(b.write_5m_tokens + b.write_1h_tokens)), tile("uncached", num(b.uncached_tokens)),
      tile("input costs", usd(b.cost_usd), b.no_layout_cost_usd ? usd(b.no_layout_cost_usd) + " uncached" : ""),
      tile("next cut at", num(fig.high_water), num(Math.max(fig.high_water - doc.budgets.planned_input_tokens, 0)) + " to go"),
      tile("generation", num(doc.generation), num(doc.layout.cuts.length) + " cuts")),
    h("div", { class: "whole" }, bar(doc.regions, doc.budgets.context_window, fig.high_water), legend(doc.regions.filter((r) => r.tokens).map((r) => ({ name: r.name, label: regionNames[r.name], value: num(r.tokens) })))),
    h("div", { class: "prompt-view" }, prompt(doc, page), h("div", { class: "side" }, whatIf(asked, view), changes(doc, page), cache(doc), waiting(doc, page), recall(doc), card("The answer", h("pre", { class: "text", tabindex: "0" }, doc.answer || "–")))));
}

// prompt lists the blocks, with a strip of them in proportion to their size.
function prompt(doc, page) {
  const sum = doc.blocks.reduce((n, b) => n + b.tokens, 0) || 1;
  const strip = h("div", { class: "strip", "aria-hidden": "true" }), list = h("ol", { class: doc.blocks.length > 400 ? "blocks many" : "blocks" });
  const only = h("input", { type: "search", placeholder: "page, tool, path or words", "aria-label": "show only blocks with" });
  const rows = doc.blocks.map((b, i) => {
    const li = block(doc, b, i, page);
    strip.append(h("span", { class: "c-" + b.region + (b.breakpoint ? " break" : ""), title: `${regionNames[b.region] || b.region}: ${num(b.tokens)} tokens`, style: { "flex-grow": Math.max(b.tokens / sum, 0.0008) }, onclick: () => { li.open = true; li.firstChild.scrollIntoView({ block: "center" }); } }));
    const item = h("li", { class: "r-" + b.region + " " + b.change }, li, b.breakpoint && h("div", { class: "breakpoint" }, h("span", {}, `cache marker: ${b.breakpoint.why.replace("_", " ")}, ${num(b.breakpoint.cumulative_tokens)} tokens up to here, for ${b.breakpoint.ttl_seconds / 60} min`)));
    list.append(item);
    return [item, [b.page, b.tool, b.path, b.type, b.kind, b.text].join(" ").toLowerCase()];
  });
  only.addEventListener("input", () => {
    const want = only.value.toLowerCase();
    for (const [el, text] of rows) el.hidden = want && !text.includes(want);
  });
  return h("section", { class: "card prompt", "aria-label": "The prompt, block by block" }, h("header", {}, h("h2", {}, "The prompt, block by block"), h("span", { class: "hint" }, num(doc.blocks.length), " blocks"), only), h("div", { class: "with-strip" }, strip, list));
}

function block(doc, b, i, page) {
  const name = b.tool ? [b.tool, b.path && h("span", { class: "path" }, b.path)] : [kinds[b.kind] || b.kind, b.path && h("span", { class: "path" }, b.path)];
  const open = h("details", {}, h("summary", {},
    h("span", { class: "swatch c-" + b.region, title: regionNames[b.region] }), h("span", { class: "who" }, b.kind === "tool_result" ? "result" : b.role), h("span", { class: "name" }, name, !b.path && b.text && h("span", { class: "begin" }, b.text.slice(0, 120))),
    b.change !== "same" && badge(b.change, b.change === "new" ? "good" : "warn"), b.pin !== "none" && b.pin && badge("pinned " + b.pin, "on"), b.level !== "full" && badge(b.level, "level"), h("span", { class: "n tokens" }, num(b.tokens))));
  open.addEventListener("toggle", () => {
    if (open.open && open.children.length === 1) open.append(inside(doc, b, page));
  });
  return open;
}

function inside(doc, b, page) {
  const behind = doc.budgets.planned_input_tokens - b.tokens_before;
  return h("div", { class: "inside" },
    h("dl", { class: "facts" },
      row("page", b.page ? h("a", { href: page(b.page) }, b.page) : "–"), row("type", b.type || "–"), row("level", b.level, b.floor && ` (never below ${b.floor})`),
      row("stands so since", "call " + num(b.since_call)), row("why", b.why || "–"), b.refused && row("refused", b.refused),
      row("if it changed", `${num(behind)} tokens behind its beginning would be written again`)),
    b.page && h("div", { class: "levels" }, levels.filter((l) => b.level_tokens[l]).map((l) => h("span", { class: l === b.level ? "is" : "" }, l, h("b", {}, num(b.level_tokens[l]))))),
    b.text ? h("pre", { class: "text", tabindex: "0" }, b.text, b.bytes > new Blob([b.text]).size + 1 && h("span", { class: "hint" }, `\n… ${bytes(b.bytes)} in all`)) : h("p", { class: "hint" }, "A transcript does not hold it."));
}

const row = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
const nameOf = (c) => (c.tool || c.type || "page") + (c.path ? " " + c.path : "");

function changes(doc, page) {
  const by = Map.groupBy ? Map.groupBy(doc.changes, (c) => c.kind) : doc.changes.reduce((m, c) => m.set(c.kind, [...(m.get(c.kind) || []), c]), new Map());
  return card("Against the call before", doc.changes.length === 0 ? h("p", { class: "hint" }, "Nothing came, left or changed.") : [...by].map(([kind, list]) => h("details", { open: list.length < 12 }, h("summary", {}, `${num(list.length)} ${kind}`, h("span", { class: "n" }, short(list.reduce((n, c) => n + c.tokens, 0)))),
    table(["page", "level", "#tokens"], list.slice(0, 100).map((c) => [h("a", { href: page(c.page), title: c.page }, nameOf(c)), c.kind === "changed" ? `${c.from} → ${c.to}` : c.kind === "left" ? c.from + " → gone" : c.to, num(c.tokens)]), { label: kind }))));
}

function cache(doc) {
  const c = doc.layout.change, cut = doc.layout.cut, f = cut.figures, a = doc.layout.advice, r = doc.layout.reasoning, told = doc.layout.reported;
  return card("Cache and cut",
    h("dl", { class: "facts" },
      row("cache", doc.layout.clock), row("changed", c.kind, c.field && ` (${c.field})`), row("kept, broken", `${num(c.kept_tokens)}, ${num(c.broken_tokens)}`),
      row("cut", cut.do ? cut.reason : "none"), row("a warm cut would save", `${num(f.saved)} and rewrite ${num(f.rewritten)}`), row("it pays after", f.break_even_turns < 0 ? "never" : `${Math.ceil(f.break_even_turns)} calls, ${num(f.expected_turns)} expected`),
      c.host && row("the host changed", `${c.host.place}: ${num(c.host.tokens)} tokens written anew, ${usd(c.host.usd)} more`),
      r.binding !== "none" && row("reasoning lost", r.left_out_items + r.dropped_items ? `${num(r.left_out_items)} left out, ${num(r.dropped_items)} dropped; ${num(r.left_out_tokens + r.dropped_tokens)} tokens, ${usd(r.lost_usd)} as output` : "none; it is bound to its prefix"),
      told?.removed && row("removed by the provider", told.removed.map((x) => `${num(x.items)} (${x.reason.replaceAll("_", " ")})`).join(", ")),
      a.expires_at && row("kept until", when(a.expires_at)), row("keep alive", a.keep_alive ? `every ${a.keep_alive_seconds} s until ${a.keep_alive_until ? a.keep_alive_until.slice(11, 16) : "–"}` : "no")),
    table(["#block", "marker", "#up to", "lives"], doc.layout.breakpoints.map((p) => [num(p.block), `${regionNames[p.region] || p.region}, ${p.why.replace("_", " ")}`, num(p.cumulative_tokens), p.ttl_seconds / 60 + " min"]), { label: "cache markers" }),
    doc.layout.notes.map((n) => h("p", { class: "hint" }, n)));
}

function waiting(doc, page) {
  if (!doc.deferred.length && !doc.faults.length) return null;
  return card("Waits, and faults",
    doc.faults.map((f) => h("p", { class: "bad" }, f.code.replaceAll("_", " "), f.detail && ": " + f.detail)),
    doc.deferred.length > 0 && table(["page", "to", "#saves", "why"], doc.deferred.map((d) => [h("a", { href: page(d.page), title: d.page }, nameOf(doc.blocks.find((b) => b.page === d.page) || {})), d.to, num(d.saved_tokens), d.why.replaceAll("_", " ")]), { label: "what waits for a cut" }),
    doc.deferred[0] && h("p", { class: "hint" }, "waits for " + doc.deferred[0].waits_for));
}

function recall(doc) {
  const r = doc.retrieval;
  return card("Recalled", h("p", {}, r.items ? `${num(r.items)} items, ${num(r.tokens)} tokens` : r.reason.toLowerCase().replaceAll("_", " "), r.detail && h("span", { class: "hint" }, " " + r.detail)), r.citations?.length > 0 && h("ul", { class: "plain" }, r.citations.map((c) => h("li", {}, h("code", {}, c)))));
}

// whatIf plans the call in another way; nothing of it is kept.
function whatIf(asked, view) {
  const result = h("div", { role: "status" });
  const form = h("form", { class: "what-if" },
    field("window", h("input", { name: "window", inputmode: "numeric", placeholder: "as it is, such as 64000" })),
    field("economy", h("select", { name: "economy" }, ["", "save", "balanced", "keep"].map((v) => h("option", { value: v }, v || "as it is")))),
    field("model", h("input", { name: "model", placeholder: "as it is" })),
    field("pin", h("input", { name: "pin", placeholder: "a rule that must stand" })),
    h("button", {}, "Plan it so"));
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const want = Object.fromEntries(new FormData(form));
    fill(result, h("p", { class: "hint" }, "planning…"));
    try {
      const d = await ask("whatif", { ...asked, ...Object.fromEntries(Object.entries(want).filter(([, v]) => v)) }, view.signal);
      fill(result, compare(d));
    } catch (err) {
      if (err.name !== "AbortError") fill(result, h("p", { class: "bad" }, err.message));
    }
  });
  return card("What if", form, result, h("p", { class: "hint" }, "Planned in a copy that is thrown away."));
}

const field = (label, input) => h("label", {}, h("span", {}, label), input);

function compare(d) {
  const line = (name, of, write) => [name, write(of(d.was)), write(of(d.would)), typeof of(d.was) === "number" && typeof of(d.would) === "number" && of(d.was) ? percent(of(d.would) / of(d.was) - 1, true) : ""];
  return [table(["", "#as it was", "#would be", "#"], [
    line("window", (s) => s.context_window, num), line("prompt", (s) => s.input_tokens, num), line("read", (s) => s.cache_read_tokens, num), line("written", (s) => s.cache_write_tokens, num), line("uncached", (s) => s.uncached_tokens, num),
    line("input costs", (s) => s.cost_usd, usd), line("cut", (s) => s.cut || "none", String), line("next cut at", (s) => s.high_water_tokens, num), line("faults", (s) => s.faults, num)], { label: "what would be" }),
  h("p", {}, d.changes.length ? `${num(d.changes.length)} pages would stand otherwise` : "The same pages would stand, at the same levels."),
  d.changes.length > 0 && h("details", {}, h("summary", {}, "which"), table(["page", "from", "to", "#tokens"], d.changes.slice(0, 200).map((c) => [nameOf(c), c.from, c.to, num(c.tokens)]), { label: "pages that would stand otherwise" }))];
}
