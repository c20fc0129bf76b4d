// What a session would have cost under every policy, and what was saved over the weeks.
import { h, fill, ask, num, usd, percent, table, card, empty, token, colour, short, saved, nice } from "./lib.js";

export async function show(at, view) {
  view.title("Saved");
  const [gain, stats, said] = await Promise.all([ask("gain", {}, view.signal), ask("stats", {}, view.signal), ask("sessions", {}, view.signal)]);
  const t = gain.total;
  fill(at, h("h1", {}, "What it saved"), h("p", { class: "sum" }, t.calls ? saved(t.billed_usd, t.without_usd, t.calls) : "No model call went through memkernel wrap or memkernel proxy yet, so nothing was saved."), t.calls > 0 && days(gain), billed(stats, said.sessions));
}

// compare replays a session under every policy, once it is asked to.
export function compare(id, plan, view) {
  const room = h("div", { class: "rows" });
  const button = h("button", { type: "button", onclick: () => {
    fill(room, h("p", { class: "hint" }, "replaying under every policy…"));
    ask("replay", { session: id, ...plan }, view.signal).then((d) => fill(room, policies(d)), (err) => err.name !== "AbortError" && fill(room, h("p", { class: "bad" }, err.message)));
  } }, "Compare all policies");
  fill(room, card("All policies", h("p", { class: "hint" }, "What the session would cost under every policy, and how much of what is needed each shows: simulated."), button));
  return room;
}

const whole = (t) => (t.cost_usd == null || t.output_cost_usd == null ? null : t.cost_usd + t.output_cost_usd);

function policies(d) {
  const points = d.results.map((r) => ({ name: r.policy, cost: whole(r.totals), shown: r.totals.reference_recall, ready: r.totals.actions_ready, t: r.totals, r })).sort((a, b) => (a.cost ?? 1e9) - (b.cost ?? 1e9));
  const late = points.find((p) => p.name === "append-late");
  let best = -1;
  for (const p of points) {
    p.frontier = p.cost != null && p.shown > best;
    if (p.frontier) best = p.shown;
  }
  return [card("Cost against what is shown", h("p", { class: "hint" }, "A policy on the line costs less than all that show as much of what the agent went on to refer to. The oracle knows what will be needed, and fullest takes no notice of the window."), scatter(points.filter((p) => p.cost != null))),
    card("All policies", table(["policy", "#bill", "#against append-late", "#references shown", "#actions ready", "#input", "#cuts", "#cold", "#faults", "#overflows"], points.map((p) => [p.name === "memkernel" ? h("b", {}, p.name) : p.name, usd(p.cost), late?.cost && p.cost != null ? percent(p.cost / late.cost - 1, true) : "–", percent(p.shown), percent(p.ready),
      short(p.t.input_tokens), num(p.t.cuts), num(p.t.cold_events), num(p.t.faults), num(p.t.overflows)]), { label: "all policies" }), h("p", { class: "hint" }, `${num(points[0]?.t.calls)} calls, window of ${num(points[0]?.r.context_window)} tokens; the bound is ${usd(points[0]?.r.bound.cost_usd)} of input.`))];
}

// scatter draws policies by what they cost and what they show.
function scatter(points) {
  const w = 900, hgt = 360, l = 56, r = 130, t = 34, b = 44;
  const costs = points.map((p) => p.cost), shown = points.map((p) => p.shown);
  const lo = Math.min(...costs) * 0.85, hi = Math.min(Math.max(...costs), 4 * Math.min(...costs)) * 1.04, down = Math.max(Math.min(...shown) - 0.04, 0), up = 1.02;
  const x = (v) => l + ((Math.min(v, hi) - lo) / (hi - lo)) * (w - l - r), y = (v) => hgt - b - ((v - down) / (up - down)) * (hgt - t - b);
  const text = (at, ...say) => h("text", { fill: token("muted"), "font-size": 12, ...at }, ...say);
  const front = points.filter((p) => p.frontier).sort((a, c) => a.cost - c.cost);
  const taken = points.map((p) => ({ x0: x(p.cost) - 6, x1: x(p.cost) + 6, y0: y(p.shown) - 6, y1: y(p.shown) + 6 }));
  // place finds room for a name beside its point.
  const place = (p) => {
    const wide = p.name.length * 6.6, cx = x(p.cost), cy = y(p.shown);
    const tries = [[10, 4, 0], [10, -8, 0], [10, 16, 0], [-10, 4, 1], [-10, -8, 1], [-10, 16, 1], [0, 22, 0.5], [0, -13, 0.5]];
    for (const [dx, dy, back] of [...tries, tries[0]]) {
      const box = { x0: cx + dx - back * wide, x1: cx + dx + (1 - back) * wide, y0: cy + dy - 10, y1: cy + dy + 3 };
      if (taken.every((q) => q.x1 < box.x0 || q.x0 > box.x1 || q.y1 < box.y0 || q.y0 > box.y1) || [dx, dy] === tries[0]) {
        taken.push(box);
        return { x: box.x0, y: cy + dy };
      }
    }
    return { x: cx + 10, y: cy + 4 };
  };
  return h("svg", { viewBox: `0 0 ${w} ${hgt}`, role: "img", "aria-label": "cost against references shown, by policy; the table below has the figures", class: "scatter" },
    nice(down, 1, 5).map((v) => [h("line", { x1: l, x2: w - 20, y1: y(v), y2: y(v), stroke: token("line") }), text({ x: l - 8, y: y(v) + 4, "text-anchor": "end" }, percent(v))]),
    nice(lo, hi, 6).map((v) => text({ x: x(v), y: hgt - b + 18, "text-anchor": "middle" }, "$" + (v < 10 && v % 1 ? v.toFixed(2) : v.toFixed(0)))),
    text({ x: w - 20, y: hgt - 8, "text-anchor": "end" }, "whole bill →"), text({ x: 4, y: 16 }, "↑ references shown"),
    h("path", { d: front.map((p, i) => (i ? "L" : "M") + x(p.cost) + " " + y(p.shown)).join(""), fill: "none", stroke: token("accent"), "stroke-width": 1.5, "stroke-dasharray": "4 3" }),
    [...points].sort((a, c) => (a.name === "memkernel") - (c.name === "memkernel")).map((p) => h("circle", { cx: x(p.cost), cy: y(p.shown), r: p.name === "memkernel" ? 7 : 5, fill: p.name === "memkernel" ? colour("carry") : p.name === "append-late" ? colour("write") : token("muted"), stroke: token("card"), "stroke-width": 1.5 }, h("title", { svg: true }, `${p.name}: ${usd(p.cost)}, ${percent(p.shown)}`))),
    [...points].sort((a, c) => (c.name === "memkernel") - (a.name === "memkernel")).map((p) => h("text", { ...place(p), "font-size": 12, fill: token("ink"), "font-weight": p.name === "memkernel" ? 600 : 400 }, p.name)));
}

function days(g) {
  const top = Math.max(...g.days.map((d) => Math.max(d.without_usd, d.billed_usd)), 1e-9);
  return card("By day", h("p", { class: "hint" }, "Above what it would have been without memkernel, an estimate; below what was billed."), table(["day", "", "#calls", "#billed", "#about, without", "#", "#cuts"], g.days.map((d) => [d.day, h("div", { class: "pair", "aria-hidden": "true" }, h("i", { class: "c-without", style: { width: (100 * d.without_usd) / top + "%" } }), h("i", { class: "c-carry", style: { width: (100 * d.billed_usd) / top + "%" } })), num(d.calls), usd(d.billed_usd), usd(d.without_usd), d.without_usd ? percent(d.billed_usd / d.without_usd - 1, true) : "", num(d.cuts)]), { label: "by day" }));
}

// titled is a session's name as a link with its first prompt, and every other name as it is.
function titled(name, said) {
  const s = said.find((s) => s.name === name);
  return s ? h("a", { href: "/s/" + s.id, title: name }, s.prompt ? s.prompt.slice(0, 60) + (s.prompt.length > 60 ? "…" : "") : name) : name;
}

function billed(s, said) {
  if (!s.total.calls) return card("Plan against bill", empty("No call with its bill was observed yet."));
  const rows = (list) => table(["", "#calls", "#planned input", "#billed input", "#read from cache", "#planned", "#billed", "#error, median", "#cold", "#cuts", "#bill", "#without"], list.map((r) => [titled(r.name, said), num(r.calls), short(r.planned.input_tokens), short(r.billed.input_tokens), percent(r.hit_ratio), usd(r.planned_cost_usd), usd(r.billed_cost_usd), percent(r.input_error_median), `${num(r.cold_seen)} of ${num(r.cold_expected)} expected`, num(r.cuts), usd(r.billed_usd), usd(r.without_usd)]), { label: "plan against bill" });
  const lost = s.total.reasoning, items = lost.left_out_items + lost.dropped_items;
  return card("Plan against bill", h("p", { class: "hint" }, "All calls whose bill is known, with those that memkernel did not plan. Planned and billed are for input, bill and without are for answers too."), rows([s.total]),
    s.total.broke.length > 0 && h("p", { class: "hint" }, `The host broke the cache ${num(s.total.broke.reduce((n, b) => n + b.times, 0))} times: ` + s.total.broke.map((b) => `${b.what} ${num(b.times)}×, ${short(b.tokens)} tokens, ${usd(b.usd)}`).join("; ") + "."),
    items > 0 && h("p", { class: "hint" }, `Cuts lost ${num(items)} items of reasoning, ${num(lost.left_out_tokens + lost.dropped_tokens)} tokens that were billed as output for ${usd(lost.lost_usd)}.`),
    lost.removed.length > 0 && h("p", { class: "hint" }, "Providers removed " + lost.removed.map((r) => `${num(r.items)} (${r.reason.replaceAll("_", " ")})`).join(", ") + "."), h("h3", {}, "by day"), rows(s.days), h("h3", {}, "by model"), rows(s.models), h("h3", {}, "by session"), rows(s.sessions));
}
