// All sessions: those that are live as they go, and the others.
import { h, fill, watch, bar, badge, num, short, usd, percent, bytes, when, ago, span, table, tiles, tile, card, empty, legend, regionNames } from "./lib.js";

export async function show(at, view) {
  view.title("");
  at.classList.add("now");
  let doc;
  const first = await new Promise((resolve, reject) => {
    watch("live", {}, view.signal, (d) => {
      doc = d;
      resolve(d);
      if (at.isConnected) draw(at, d);
    }, (error) => (doc ? 0 : reject(new Error(error))));
    view.signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
  draw(at, first);
  const clock = setInterval(() => {
    for (const el of at.querySelectorAll("[data-until]")) warm(el);
  }, 1000);
  view.signal.addEventListener("abort", () => clearInterval(clock));
}

const saving = (head) => (head?.cost_usd != null && head.without_usd ? head.cost_usd / head.without_usd - 1 : null);

function draw(at, doc) {
  const kept = document.activeElement?.closest?.("[data-id]")?.dataset.id;
  const live = doc.sessions.filter((s) => s.live);
  const shown = live.length ? live : doc.sessions.filter((s) => s.head && s.head.regions.length).slice(0, 1);
  const today = doc.today;
  fill(at,
    h("h1", { class: "unseen" }, "Sessions"),
    tiles(
      tile("sessions", num(doc.sessions.length), `${live.length} live`),
      tile("calls today", num(today.calls)),
      tile("today with memkernel", today.cost_usd == null ? "–" : usd(today.cost_usd)),
      tile("today without, about", today.without_usd == null ? "–" : usd(today.without_usd), today.without_usd ? percent(today.cost_usd / today.without_usd - 1, true) : ""),
    ),
    shown.length > 0 && h("section", { "aria-label": live.length ? "Live sessions" : "Newest session" },
      h("h2", {}, live.length ? "Live now" : "Newest", !live.length && h("small", {}, "nothing is live")),
      h("div", { class: "cards" }, shown.map(liveCard))),
    card("All sessions", doc.sessions.length ? list(doc.sessions) : empty("No session is here yet.",
      "Sessions that memkernel has observed show up by themselves; recorded ones with memkernel ui --transcript FOLDER.")));
  if (kept) at.querySelector(`[data-id="${CSS.escape(kept)}"] a`)?.focus();
}

function liveCard(s) {
  const head = s.head;
  if (!head) return h("article", { class: "card live", "data-id": s.id }, h("h3", {}, h("a", { href: "/s/" + s.id }, s.name)), h("p", { class: "hint" }, "nobody has looked at it yet"));
  const warmth = h("span", head.warm_until && { "data-until": head.warm_until });
  if (head.warm_until) warm(warmth);
  else warmth.textContent = "–";
  return h("article", { class: "card live", "data-id": s.id },
    h("header", {}, h("h3", {}, h("a", { href: "/s/" + s.id }, s.name)), h("span", { class: "hint" }, head.model), s.live ? badge("live", "on") : h("span", { class: "hint" }, ago(s.modified))),
    head.error && h("p", { class: "bad" }, head.error),
    h("div", { class: "amount" }, h("b", {}, num(head.input_tokens)), head.context_window ? ` of ${num(head.context_window)} tokens` : " tokens"),
    bar(head.regions, head.context_window, head.high_water_tokens),
    legend(head.regions.filter((r) => r.tokens > 0).map((r) => ({ name: r.name, label: regionNames[r.name] || r.name, value: short(r.tokens) }))),
    h("dl", { class: "facts" },
      fact("next cut in", head.high_water_tokens ? `${num(head.tokens_to_cut)} tokens` : "–"),
      fact("cache", warmth),
      fact("calls", head.done || s.source === "kept" ? num(head.calls) : `${num(head.planned)} of ${num(head.calls)} planned`),
      fact(head.simulated ? "bill, simulated" : "billed", head.cost_usd == null ? "–" : usd(head.cost_usd)),
      fact(head.simulated ? "append-late" : "without, about", head.without_usd == null ? "–" : usd(head.without_usd), saving(head) != null && " ", saving(head) != null && badge(percent(saving(head), true), saving(head) < 0 ? "good" : "poor")),
      fact("cuts, cold calls", `${num(head.cuts)}, ${num(head.cold_calls)}`)));
}

const fact = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function warm(el) {
  const left = Math.round((new Date(el.dataset.until) - Date.now()) / 1000);
  el.textContent = left > 0 ? "warm for " + span(left) : "cold since " + span(-left);
  el.className = left > 0 ? "warm" : "cold";
}

function list(all) {
  return table(["session", "from", "model", "#calls", "#prompt", "window", "#bill", "#append-late", "#", "#size", "changed"], all.slice(0, 500).map((s) => [
    h("span", { "data-id": s.id }, h("a", { href: "/s/" + s.id, title: s.path || s.name }, s.name)), s.source === "kept" ? "state folder" : "transcript", s.head?.model || "", s.head ? num(s.head.calls) : "",
    s.head ? num(s.head.input_tokens) : "", s.head?.context_window ? bar(s.head.regions, s.head.context_window, 0) : "",
    s.head?.cost_usd != null ? usd(s.head.cost_usd) : "", s.head?.without_usd != null ? usd(s.head.without_usd) : "", saving(s.head) != null ? percent(saving(s.head), true) : "",
    bytes(s.bytes), when(s.modified),
  ]), { class: "sessions", label: "all sessions" });
}
