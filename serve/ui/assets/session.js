// One session: all its calls, what stood in their prompts, what was billed, what it cost.
import { h, fill, ask, watch, tiles, tile, badge, num, short, usd, cents, percent, when, table, card, colour, regionNames, kindNames, cacheNames, selector, tabs, ago } from "./lib.js";
import { Plots } from "./charts.js";
import { title } from "./talk.js";
import { compare } from "./economics.js";

const settings = ["window", "economy", "resolver", "model"];

export async function show(at, view, id) {
  const plan = Object.fromEntries(settings.filter((k) => view.query.has(k)).map((k) => [k, view.query.get(k)]));
  const asked = { session: id, ...plan };
  let doc = await ask("session", asked, view.signal);
  view.title("Numbers of " + (doc.prompt || doc.name));
  const head = h("div", { class: "rows" }), trail = h("div", { class: "marks" });
  let stretch = [Number(view.query.get("from")) || 0, Number(view.query.get("to")) || 0];
  const address = (more) => {
    const q = new URLSearchParams({ ...plan, ...(stretch[1] ? { from: stretch[0], to: stretch[1] } : {}), ...more });
    for (const [k, v] of [...q]) if (v === "") q.delete(k);
    return "/s/" + id + "/numbers" + (q.size ? "?" + q : "");
  };
  // The prompts of a session in the state folder are not kept, so its calls lead nowhere.
  const callAddress = (n) => doc.source !== "kept" && `/s/${id}/c/${n}` + (Object.keys(plan).length ? "?" + new URLSearchParams(plan) : "");
  const plots = new Plots(view.signal, {
    open: (n) => callAddress(n) && view.go(callAddress(n)),
    zoom: (from, to) => {
      stretch = [from, to];
      history.replaceState(null, "", address());
      load();
    },
  });
  let by = doc.source === "kept" ? "cache" : "region";
  const lists = { region: ["regions", regionNames], kind: ["kinds", kindNames], cache: ["cache", cacheNames] };
  const choose = tabs("Colour by", by, Object.entries({ region: "region", kind: "page type", cache: "billed as" }).filter(([k]) => doc.source !== "kept" || k === "cache"), (v) => {
    by = v;
    plots.draw(holds);
  });
  const holds = plots.plot("What the prompt held", (t) => {
    const [list, names] = lists[by];
    return {
      marks: true,
      stacked: t[list].map((s) => ({ label: names[s.name] || s.name, values: s.tokens, colour: colour(by === "kind" ? "kind-" + s.name : s.name) })),
      lines: t.high_water_tokens.some((v) => v) ? [{ label: "cut at", values: t.high_water_tokens.map((v) => v || null), colour: colour("mark"), thin: true, dash: [4, 4] }] : [],
    };
  }, choose);
  const bills = plots.plot("Planned against billed", (t) => ({
    lines: t.billed_input_tokens.some((v) => v != null) ? [
      { label: "billed", values: t.billed_input_tokens, colour: colour("billed") },
      { label: "planned", values: t.predicted_input_tokens, colour: colour("predicted"), thin: true, dash: [5, 3] },
    ] : [],
  }));
  const costs = plots.plot("Running bill, answers included", (t) => ({
    money: true,
    lines: t.running_usd.some((v) => v) ? [
      { label: doc.head.simulated ? "append-late" : "without memkernel, about", values: t.without_usd, colour: colour("without") },
      { label: doc.head.simulated ? "memkernel, simulated" : "billed", values: t.running_usd, colour: colour("carry") },
    ] : [],
  }));
  const each = plots.plot("Cost of each call", (t) => ({
    money: true,
    stacked: t.cost_usd.some((v) => v) ? [{ label: t.count.some((n) => n > 1) ? "mean of the calls" : "cost", values: t.cost_usd.map((v, i) => (v ?? 0) / t.count[i]), colour: colour("carry") }] : [],
  }));
  const calls = callList(view, asked, callAddress);
  const drawHead = () => fill(head, title(doc, "numbers"), settingsOf(doc, plan, (k, v) => view.go("/s/" + id + "/numbers" + query({ ...plan, [k]: v }))), figures(doc));

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
        const t = await ask("timeline", { ...asked, from: stretch[0] || "", to: stretch[1] || "", points }, view.signal);
        reset.hidden = !stretch[1];
        reset.textContent = stretch[1] ? `calls ${num(t.from)}–${num(t.to)} of ${num(t.calls)}: show all` : "";
        plots.set(t);
        drawMarks(trail, t, callAddress);
        calls.total(t.planned);
      } while (again);
    } catch (err) {
      if (err.name !== "AbortError") fill(trail, h("p", { class: "bad" }, err.message));
    } finally {
      loading = false;
    }
  }
  const reset = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => plots.zoom(0, 0) });
  drawHead();
  fill(at, head, h("div", { class: "bar-of" }, h("p", { class: "keys" }, h("span", {}, "Drag over a plot to look closer", doc.source === "kept" ? "." : ", click to open a call."), h("span", { class: "cut" }, "cut"), h("span", { class: "compaction" }, "the host's own compaction"), h("span", { class: "colder" }, "cold cache"), h("span", { class: "fault" }, "fault")), reset),
    h("div", { class: "charts" }, holds.el, bills.el, costs.el, each.el), h("div", { class: "two" }, card("What happened", trail), calls.el),
    doc.source === "transcript" && compare(id, plan, view), card("The same in a terminal", h("pre", { class: "command", tabindex: "0" }, command(doc, plan))));
  requestAnimationFrame(load);
  let seen = JSON.stringify([doc.head.planned, doc.head.done, doc.head.without_usd]);
  watch("live", asked, view.signal, (d) => {
    doc = d;
    drawHead();
    const now = JSON.stringify([d.head.planned, d.head.done, d.head.without_usd]);
    if (now !== seen) load();
    seen = now;
  });
}

// command prints the same figures.
function command(doc, plan) {
  if (doc.source === "kept") return "memkernel stats --session " + doc.name;
  const flag = (name, v) => (v ? ` --${name} ${v}` : "");
  return `memkernel replay -t ${doc.path} --policy memkernel,append-late` + flag("context-window", plan.window || doc.plan.context_window) + flag("model", plan.model || doc.plan.model) + flag("economy", plan.economy || doc.plan.economy) + flag("resolver", plan.resolver || doc.plan.resolver);
}

const query = (all) => {
  const q = new URLSearchParams(Object.entries(all).filter(([, v]) => v !== ""));
  return q.size ? "?" + q : "";
};

function settingsOf(doc, plan, set) {
  return doc.source === "transcript" && h("form", { class: "plan", "aria-label": "How it is planned" },
    selector("window", plan.window || "", [["", "as set"], ["64000", "64k"], ["128000", "128k"], ["200000", "200k"], ["400000", "400k"], ["1000000", "1M"]], (v) => set("window", v)),
    selector("economy", plan.economy || "", [["", "as set"], ["save", "save"], ["balanced", "balanced"], ["keep", "keep"]], (v) => set("economy", v)));
}

function figures(doc) {
  const head = doc.head, saved = head.cost_usd != null && head.without_usd ? head.cost_usd / head.without_usd - 1 : null;
  return [head.error && h("p", { class: "bad" }, head.error), tiles(
    tile("calls", num(head.calls), head.done ? "" : head.calls ? `${num(head.planned)} planned` : "being read, planned next"),
    tile("newest prompt", num(head.input_tokens), head.context_window ? "of " + short(head.context_window) : ""),
    tile(head.simulated ? "with memkernel, simulated" : "billed", usd(head.cost_usd)),
    tile(head.simulated ? "append-late, simulated" : "without memkernel, about", head.without_usd == null ? "…" : usd(head.without_usd), saved != null && h("span", { class: saved < 0 ? "good" : "poor" }, percent(saved, true))),
    doc.recorded && tile("billed to the host, input", doc.recorded.calls ? usd(doc.recorded.cost_usd) : "no bill", doc.recorded.calls ? `${num(doc.recorded.calls)} calls` : ""),
    head.warm_until && tile("cache", new Date(head.warm_until) > Date.now() ? "warm" : "cold", (new Date(head.warm_until) > Date.now() ? "until " : "since ") + ago(head.warm_until).replace(" ago", "")), tile("cuts", num(head.cuts)), tile("cold calls", num(head.cold_calls)), tile("host compactions", num(head.host_compactions)), tile("faults", num(head.faults)))];
}

const at = (to, n) => (to ? h("a", { href: to }, num(n)) : num(n));

const markNames = { cut: "cut", compaction: "host compaction", cold: "cold cache", fault: "fault", unplanned: "not planned" };

function drawMarks(el, t, address) {
  const rows = t.marks.map((m) => [at(address(m.call), m.call), markNames[m.kind] || m.kind, m.detail, m.before_tokens ? short(m.before_tokens) + " → " + short(m.after_tokens) : ""]);
  fill(el, rows.length ? table(["#call", "what", "why", "messages"], rows, { label: "what happened" }) : h("p", { class: "hint" }, "Nothing but calls."),
    t.marks_left_out > 0 && h("p", { class: "hint" }, `${num(t.marks_left_out)} more are not listed: look closer at a stretch.`));
}

const rowHeight = 28, page = 100;

// callList is a list of all calls of which the rows in sight alone are there.
function callList(view, asked, address) {
  const head = ["#call", "when", "#input", "#read", "#written", "#uncached", "#cost", "#sum", "#append-late", ""];
  const body = h("tbody"), above = h("tr", { "aria-hidden": "true" }, h("td", { colspan: head.length })), below = h("tr", { "aria-hidden": "true" }, h("td", { colspan: head.length }));
  const tab = h("table", { class: "calls" }, h("thead", {}, h("tr", {}, head.map((c) => h("th", { scope: "col", class: c.startsWith("#") && "n" }, c.replace("#", ""))))), body);
  const box = h("div", { class: "virtual", tabindex: "0", role: "region", "aria-label": "all calls" }, tab);
  const pages = new Map();
  let total = 0, drawn = "";
  const get = (p) => {
    if (!pages.has(p)) {
      pages.set(p, null);
      ask("timeline", { ...asked, from: p * page + 1, to: (p + 1) * page, points: page }, view.signal).then((t) => {
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
    return h("tr", { "aria-rowindex": i + 2 }, h("td", { class: "n" }, at(address(c.call), c.call)), h("td", {}, when(c.time)),
      [c.read + c.write + c.uncached, c.read, c.write, c.uncached].map((v) => h("td", { class: "n" }, num(v))), h("td", { class: "n" }, cents(c.cost)), [c.sum, c.without].map((v) => h("td", { class: "n" }, v == null ? "–" : "$" + v.toFixed(2))), h("td", {}, marks));
  }
  box.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(box);
  return {
    el: card("Calls", box),
    total(n) {
      if (n !== total) for (const p of [...pages.keys()]) if ((p + 1) * page > Math.min(n, total)) pages.delete(p);
      total = n;
      drawn = "";
      if (pages.size && pages.get(0)?.some((c) => c.without == null)) pages.clear();
      draw();
    },
  };
}
