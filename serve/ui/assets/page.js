// The life of one page: at which levels it stood, what each of them says, who names it.
import { h, fill, ask, badge, num, bytes, when, table, card, tiles, tile, empty } from "./lib.js";

export async function show(at, view, id, n, page) {
  view.title("Page " + page);
  const plan = Object.fromEntries([...view.query]), q = Object.keys(plan).length ? "?" + new URLSearchParams(plan) : "";
  const d = await ask("page", { session: id, call: n, page, ...plan }, view.signal);
  const call = (c) => h("a", { href: `/s/${id}/c/${c}${q}` }, num(c));
  fill(at,
    h("div", { class: "title" }, h("h1", {}, d.tool || d.type || "page", d.path && h("span", { class: "path" }, d.path)), h("code", {}, d.page), badge("simulated", "", "what memkernel would have sent"), h("a", { href: `/s/${id}/c/${n}${q}` }, "call ", num(n)), h("a", { href: `/s/${id}/numbers${q}` }, "the numbers")),
    d.reason !== "OK" && h("p", { class: "bad" }, d.reason.toLowerCase().replaceAll("_", " ")),
    tiles(tile("type", d.type || "–"), tile("size", bytes(d.bytes || d.levels[0]?.bytes || 0)), tile("came", d.life[0] ? "call " + num(d.life[0].call) : "–", when(d.created)), tile("never below", d.floor || "–"), tile("pin", d.pin || "none"),
      tile("secrets masked", num(d.masked))),
    card("Its life", d.life.length ? [life(d), table(["#from call", "level", "#tokens", "why"], d.life.map((s) => [call(s.call), badge(s.level, "l-" + s.level), num(s.tokens), s.why]), { label: "its life" })] : empty("It never stood in a prompt.")),
    card("Levels side by side", h("div", { class: "beside" }, d.levels.map((l) => h("article", { class: l.shown ? "is" : "" }, h("header", {}, badge(l.level, "l-" + l.level), h("span", { class: "n" }, num(l.tokens), " tokens"), l.shown && h("span", { class: "hint" }, "stands so at call ", num(n))),
      h("pre", { class: "text", tabindex: "0" }, l.text), new Blob([l.text]).size < l.bytes && h("p", { class: "hint" }, bytes(l.bytes), " in all"))))));
}

function life(d) {
  const end = Math.max(d.calls, d.life[d.life.length - 1].call) + 1;
  const parts = [{ from: 1, level: "none" }, ...d.life.map((s) => ({ from: s.call, level: s.level }))];
  return h("div", { class: "life", "aria-hidden": "true" }, parts.map((p, i) => {
    const to = parts[i + 1]?.from ?? end;
    return to > p.from && h("span", { class: "l-" + p.level, style: { "flex-grow": to - p.from }, title: p.level === "none" ? "not there yet" : `${p.level} in calls ${p.from}–${to - 1}` }, (to - p.from) / end > 0.12 && p.level !== "none" ? p.level : "");
  }));
}
