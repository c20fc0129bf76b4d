// One call: its prompt block by block, where it comes from, and what would break.
import { h, fill, ask, bar, badge, num, short, usd, percent, when, card, tiles, tile, legend, regionNames, empty, bytes } from "./lib.js";
import { versions } from "./talk.js";

const kinds = { text: "text", tool_use: "tool call", tool_result: "tool result", thinking: "thinking", redacted_thinking: "thinking", image: "image", tools: "tools", system: "system prompt" };

export async function show(at, view, id, n) {
  const session = `/s/${id}/numbers`;
  view.title("Call " + n);
  const step = (to, label, key) => h("a", { class: "step", href: `/s/${id}/c/${to}`, "aria-keyshortcuts": key }, label);
  let doc;
  try {
    doc = await ask("call", { session: id, call: n }, view.signal);
  } catch (err) {
    if (err.name === "AbortError" || err.status === 401) throw err;
    fill(at, h("div", { class: "title" }, h("h1", {}, "Call ", num(n)), h("span", { class: "steps" }, n > 1 && step(n - 1, "← before", "["), step(n + 1, "after →", "]")), h("a", { href: session }, "the numbers")), empty(err.message));
    return;
  }
  addEventListener("keydown", (e) => {
    if (e.target.closest("input, textarea, select") || e.metaKey || e.ctrlKey) return;
    if (e.key === "[" && n > 1) view.go(`/s/${id}/c/${n - 1}`);
    if (e.key === "]" && n < doc.calls) view.go(`/s/${id}/c/${n + 1}`);
    if (e.key === "u") view.go(session);
  }, { signal: view.signal });
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
    h("div", { class: "prompt-view" }, prompt(doc, (p) => versions(id, p, view.signal, null, "Show it whole, and at its other levels")), h("div", { class: "side" }, doc.faults.length > 0 && card("Faults", doc.faults.map((f) => h("p", { class: "bad" }, f.code.replaceAll("_", " "), f.detail && ": " + f.detail))), card("The answer", h("pre", { class: "text", tabindex: "0" }, doc.answer || "–")))));
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
  return h("div", { class: "inside" },
    h("dl", { class: "facts" },
      row("type", b.type || "–"), row("level", b.level), row("stands so since", "call " + num(b.since_call)), row("why", b.why || "–")),
    b.text ? h("pre", { class: "text", tabindex: "0" }, b.text, b.bytes > new Blob([b.text]).size + 1 && h("span", { class: "hint" }, `\n… ${bytes(b.bytes)} in all`)) : h("p", { class: "hint" }, "A transcript does not hold it."), b.page && page(b.page));
}

const row = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
