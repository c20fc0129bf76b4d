// One session: all its calls, what stood in their prompts, what was billed, what it cost.
import { h, fill, ask, watch, tiles, tile, badge, num, cents, percent, when, card, colour, regionNames, cacheNames, tabs, money } from "./lib.js";
import { Plots } from "./charts.js";
import { title } from "./talk.js";

export async function show(at, view, id) {
  let doc = await ask("session", { session: id }, view.signal);
  view.title("Numbers of " + (doc.prompt || doc.name));
  const head = h("div", { class: "rows" });
  let stretch = [Number(view.query.get("from")) || 0, Number(view.query.get("to")) || 0];
  // The prompts of a session in the state folder are not kept, so its calls lead nowhere.
  const kept = doc.source === "kept", callAddress = (n) => !kept && `/s/${id}/c/${n}`;
  const simulated = () => !doc.planned && !kept;
  const plots = new Plots(view.signal, {
    open: (n) => callAddress(n) && view.go(callAddress(n)),
    zoom: (from, to) => {
      stretch = [from, to];
      history.replaceState(null, "", `/s/${id}/numbers` + (to ? `?from=${from}&to=${to}` : ""));
      load();
    },
  });
  let by = kept ? "cache" : "region";
  const lists = { region: ["regions", regionNames], cache: ["cache", cacheNames] };
  const choose = !kept && tabs("Colour by", by, Object.entries({ region: "part", cache: "billed as" }), (v) => {
    by = v;
    plots.draw(holds);
  });
  const holds = plots.plot("What the prompts held", (t) => {
    const [list, names] = lists[by];
    return { marks: true, stacked: t[list].map((s) => ({ label: names[s.name] || s.name, values: s.tokens, colour: colour(s.name) })) };
  }, choose);
  const costs = plots.plot("Running bill, answers included", (t) => ({
    money: true,
    lines: t.running_usd.some((v) => v) ? [
      { label: simulated() ? "without memkernel, simulated" : "without memkernel, about", values: t.without_usd, colour: colour("without") },
      { label: simulated() ? "with memkernel, simulated" : "billed", values: t.running_usd, colour: colour("carry") },
    ] : [],
  }));
  const calls = callList(view, id, callAddress, simulated());
  const drawHead = () => fill(head, title(doc, "numbers"), figures(doc, simulated()));

  let loading, again = false;
  async function load() {
    if (loading) {
      again = true;
      return;
    }
    loading = true;
    try {
      do {
        again = false;
        const points = Math.min(Math.max(Math.round((at.clientWidth || 900) / 2), 150), 900);
        const t = await ask("timeline", { session: id, from: stretch[0] || "", to: stretch[1] || "", points }, view.signal);
        reset.hidden = !stretch[1];
        reset.textContent = stretch[1] ? `calls ${num(t.from)}–${num(t.to)} of ${num(t.calls)}: show all` : "";
        plots.set(t);
        calls.total(t.planned);
      } while (again);
    } catch (err) {
      if (err.name !== "AbortError") fill(head, h("p", { class: "bad" }, err.message));
    } finally {
      loading = false;
    }
  }
  const reset = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => plots.zoom(0, 0) });
  drawHead();
  fill(at, head, h("div", { class: "bar-of" }, h("p", { class: "keys" }, h("span", {}, "Drag over a plot to look closer", kept ? "." : ", click to open a call."), h("span", { class: "cut" }, "cut"), h("span", { class: "compaction" }, "the host's own compaction"), h("span", { class: "colder" }, "cold cache"), h("span", { class: "fault" }, "fault")), reset),
    h("div", { class: "charts" }, holds.el, costs.el), calls.el, card("The same in a terminal", h("pre", { class: "command", tabindex: "0" }, doc.planned ? "memkernel stats --session " + doc.name : `memkernel replay -t ${doc.path} --policy memkernel,append-late`)));
  requestAnimationFrame(load);
  const state = (d) => JSON.stringify([d.head.planned, d.head.done, d.head.append_late_usd]);
  let seen = state(doc);
  watch("session", { session: id }, view.signal, (d) => {
    doc = d;
    drawHead();
    if (state(d) !== seen) load();
    seen = state(d);
  });
}

// figures are those of a session that memkernel planned, or else the host's, with the simulated ones
// apart.
function figures(doc, simulated) {
  const head = doc.head, count = tile("calls", num(head.calls)), compacted = tile("host compactions", num(head.host_compactions));
  const did = [tile("cuts", num(head.cuts), "", "how often old content was shortened or left out"), tile("cold calls", num(head.cold_calls), "", "calls before which the provider's cache had expired"), tile("faults", num(head.faults), "", "how often something was needed again after it was shortened")];
  const other = (usd, without) => (usd != null && without ? h("span", { class: usd < without ? "good" : "poor" }, percent(usd / without - 1, true)) : "");
  const trouble = head.error && h("p", { class: "bad" }, head.error);
  if (doc.planned) return [trouble, tiles(count, tile("billed", doc.billed_usd == null ? "unknown" : money(doc.billed_usd)), tile("without memkernel, about", doc.without_usd == null ? "unknown" : money(doc.without_usd), other(doc.billed_usd, doc.without_usd)), compacted, did)];
  return [trouble, tiles(count, tile("billed to the host", head.host_usd == null ? "unknown" : money(head.host_usd), "", "answers included"), compacted), simulated && [
    h("div", { class: "title" }, h("h2", {}, "Had memkernel planned it"), badge("simulated"), h("span", { class: "hint", role: "status" }, "No bill: a replay computed all that follows", head.done ? "." : head.calls ? `; ${num(head.planned)} of ${num(head.calls)} calls are planned.` : "; the session is being read.")),
    tiles(tile("with memkernel", head.simulated_usd == null ? "unknown" : money(head.simulated_usd)), tile("without memkernel", head.append_late_usd == null ? "…" : money(head.append_late_usd), other(head.simulated_usd, head.append_late_usd), "the policy append-late"), did)]];
}

const at = (to, n) => (to ? h("a", { href: to }, num(n)) : num(n));

const markNames = { cut: "cut", compaction: "host compaction", cold: "cold cache", fault: "fault", unplanned: "not planned" };

const rowHeight = 28, page = 100;

// callList is a list of all calls of which the rows in sight alone are there.
function callList(view, id, address, simulated) {
  const head = ["#call", "when", "#prompt", "#from cache", "#cost", "#so far", "#without", ""];
  const cell = (i) => [head[i].startsWith("#") && "n", [1, 3, 6].includes(i) && "wide"].filter(Boolean).join(" ");
  const body = h("tbody"), above = h("tr", { "aria-hidden": "true" }, h("td", { colspan: head.length })), below = h("tr", { "aria-hidden": "true" }, h("td", { colspan: head.length }));
  const tab = h("table", { class: "calls" }, h("thead", {}, h("tr", {}, head.map((c, i) => h("th", { scope: "col", class: cell(i) }, c.replace("#", ""))))), body);
  const box = h("div", { class: "virtual", tabindex: "0", role: "region", "aria-label": "all calls" }, tab);
  const pages = new Map();
  let total = 0, drawn = "";
  const get = (p) => {
    if (!pages.has(p)) {
      pages.set(p, null);
      ask("timeline", { session: id, from: p * page + 1, to: (p + 1) * page, points: page }, view.signal).then((t) => {
        const [read, write, uncached] = t.cache.map((c) => c.tokens);
        pages.set(p, t.first.map((call, i) => ({ call, time: t.time[i], read: read[i], write: write[i], uncached: uncached[i], cost: t.cost_usd[i], sum: t.running_usd[i], without: t.without_usd[i], marks: t.marks.filter((m) => m.call === call) })));
        drawn = "";
        draw();
      }, () => pages.delete(p));
    }
    return pages.get(p);
  };
  function draw() {
    const first = Math.max(Math.floor(box.scrollTop / rowHeight) - 10, 0), last = Math.min(first + Math.ceil((box.clientHeight || 400) / rowHeight) + 20, total);
    const key = first + ":" + last + ":" + total;
    if (key === drawn) return;
    drawn = key;
    const rows = [];
    for (let i = first; i < last; i++) rows.push(row(get(Math.floor(i / page))?.[i % page], i));
    above.firstChild.style.setProperty("height", first * rowHeight + "px");
    below.firstChild.style.setProperty("height", Math.max(total - last, 0) * rowHeight + "px");
    fill(body, first > 0 && above, rows, last < total && below);
    tab.setAttribute("aria-rowcount", total + 1);
  }
  function row(c, i) {
    if (!c) return h("tr", { "aria-rowindex": i + 2 }, h("td", { class: "n" }, num(i + 1)), h("td", { colspan: head.length - 1, class: "hint" }, "…"));
    const marks = c.marks.map((m) => badge(m.kind === "cut" ? "cut: " + m.detail : m.kind === "unplanned" ? m.detail : markNames[m.kind] || m.kind, { cut: "cut", compaction: "warn", cold: "cold" }[m.kind] || "poor", m.detail));
    const sum = c.read + c.write + c.uncached, usd = (v) => (v == null ? "–" : "$" + v.toFixed(2));
    return h("tr", { "aria-rowindex": i + 2 }, [at(address(c.call), c.call), when(c.time), num(sum), percent(c.read / sum), cents(c.cost), usd(c.sum), usd(c.without), marks].map((v, k) => h("td", { class: cell(k) }, v)));
  }
  box.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(box);
  return {
    el: card(simulated ? "Calls, simulated" : "Calls", box),
    total(n) {
      if (n !== total) for (const p of [...pages.keys()]) if ((p + 1) * page > Math.min(n, total)) pages.delete(p);
      total = n;
      drawn = "";
      if (pages.size && pages.get(0)?.some((c) => c.without == null)) pages.clear();
      draw();
    },
  };
}
