// What memkernel saved: one sum, then by session and by day. Only bills are here, nothing simulated.
import { h, fill, ask, num, percent, when, table, card, sumOf, titleOf, money } from "./lib.js";

export async function show(at, view) {
  view.title("Saved");
  const d = await ask("sessions", {}, view.signal), s = d.saved, planned = d.sessions.filter((x) => x.planned);
  const row = (x) => [x.without_usd == null ? "unknown" : money(x.without_usd), x.billed_usd == null ? "unknown" : money(x.billed_usd), x.billed_usd != null && x.without_usd ? h("span", { class: x.billed_usd <= x.without_usd ? "good" : "poor" }, (x.billed_usd > x.without_usd ? "−" : "") + money(x.without_usd - x.billed_usd), " ", h("small", {}, percent(1 - x.billed_usd / x.without_usd))) : ""];
  const head = ["#without, about", "#with, billed", "#saved"];
  fill(at, h("h1", {}, "What it saved"), h("p", { class: "sum" }, sumOf(s)),
    s.calls > 0 && [h("p", { class: "hint" }, `Billed is the price of the ${num(s.calls)} calls of these sessions, answers included; without is an estimate for the same calls.`, s.unpriced_calls > 0 && ` ${num(s.unpriced_calls)} calls of models without a price are in no sum.`),
      card("By session", table(["session", ...head], planned.map((x) => [h("a", { href: "/s/" + x.id }, titleOf(x)), ...row(x)]), { label: "by session", class: "prose" })),
      card("By day", table(["day", "#calls", ...head], s.days.map((x) => [x.day, num(x.calls), ...row(x)]), { label: "by day", class: "fit" }))]);
}
