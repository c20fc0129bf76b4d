// Plots over the calls of a session, by uPlot: one cursor and one stretch for all of them.
import { h, fill, num, short, usd, colour, token } from "./lib.js";

const uPlot = window.uPlot;
const heights = { true: 250, false: 190 };

// stack makes of series their sums from below, so that each can be drawn from the ground, the
// tallest first.
function stack(all) {
  const sums = [];
  let last = null;
  for (const s of all) {
    last = s.map((v, i) => v + (last ? last[i] : 0));
    sums.push(last);
  }
  return sums;
}

// closed repeats the last value, so that the last step is as wide as the others.
const closed = (list) => (list.length ? [...list, list[list.length - 1]] : list);

function axes(money) {
  const base = { stroke: token("muted"), font: "11px system-ui, sans-serif", ticks: { show: false } };
  return [
    { ...base, grid: { show: false }, size: 26, values: (u, v) => v.map((n) => (Number.isInteger(n) ? num(n) : "")) },
    { ...base, grid: { stroke: token("line"), width: 1 }, size: 52, values: (u, v) => v.map((n) => (money ? "$" + n.toFixed(decimals(v)) : short(n))) },
  ];
}

// decimals are those by which ticks of money can be told apart.
function decimals(ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  return step >= 1 ? 0 : Math.min(Math.ceil(-Math.log10(step) - 1e-9) + 1, 4);
}

// Plots holds the plots of a view: they share the cursor, and the stretch that is shown.
export class Plots {
  constructor(signal, { zoom, open }) {
    Object.assign(this, { zoom, open, all: [], key: "s" + Math.random(), x: [], timeline: null });
    this.watcher = new ResizeObserver((list) => {
      for (const e of list) {
        const p = this.all.find((p) => p.box === e.target);
        if (p?.u && e.contentRect.width > 0 && Math.abs(p.u.width - e.contentRect.width) > 1) p.u.setSize({ width: e.contentRect.width, height: heights[p.tall] });
      }
    });
    signal.addEventListener("abort", () => {
      this.watcher.disconnect();
      for (const p of this.all) p.u?.destroy();
    });
  }

  // plot makes the place of a plot. make gives its series for a timeline: {stacked, lines, money,
  // marks}, each series {name, label, values, colour}.
  plot(title, make, controls) {
    const box = h("div", { class: "plot", tabindex: "0", role: "application", "aria-label": title + ": arrows move, plus and minus zoom, Enter opens the call" });
    const key = h("ul", { class: "legend" }), rows = h("div"), at = h("output", { class: "at-call" });
    const details = h("details", { ontoggle: () => details.open && this.list(p) }, h("summary", {}, "as a table"), rows);
    const el = h("section", { class: "card chart" }, h("header", {}, h("h2", {}, title), controls, at), box, key, details);
    const p = { el, box, key, rows, details, at, make, title, tall: this.all.length === 0 };
    box.addEventListener("keydown", (e) => this.press(p, e));
    this.all.push(p);
    this.watcher.observe(box);
    return p;
  }

  // set shows a timeline in all plots.
  set(timeline) {
    if (!timeline.first.length) return; // nothing is planned yet
    this.timeline = timeline;
    this.x = [...timeline.first, timeline.to + 1];
    for (const p of this.all) this.draw(p);
  }

  draw(p) {
    const t = this.timeline;
    if (!t) return;
    const what = p.make(t), stacked = what.stacked || [], lines = what.lines || [];
    p.el.hidden = stacked.length + lines.length === 0;
    p.what = what;
    const sums = stack(stacked.map((s) => s.values));
    const step = uPlot.paths.stepped({ align: 1 });
    const data = [this.x], series = [{}];
    for (let i = stacked.length - 1; i >= 0; i--) {
      data.push(closed(sums[i]));
      series.push({ fill: stacked[i].colour, stroke: stacked[i].colour, width: 0, paths: step, points: { show: false } });
    }
    for (const l of lines) {
      data.push(closed(l.values));
      series.push({ stroke: l.colour, width: l.thin ? 1 : 2, dash: l.dash, paths: l.stepped === false ? undefined : step, points: { show: false }, spanGaps: true });
    }
    p.u?.destroy();
    fill(p.box);
    const u = new uPlot({
      width: Math.max(p.box.clientWidth, 200), height: heights[p.tall], padding: [14, 8, 0, 0], legend: { show: false }, series, axes: axes(what.money),
      scales: { x: { time: false, range: () => [t.from, t.to + 1] }, y: { range: (u, min, max) => [0, Math.max(max * 1.06, 1e-6)] } },
      cursor: { sync: { key: this.key }, drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
      hooks: {
        setCursor: [(u) => this.tell(p, u.cursor.idx)],
        setSelect: [(u) => {
          if (u.select.width < 6) return;
          const from = Math.floor(u.posToVal(u.select.left, "x")), to = Math.floor(u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          if (to > from) this.zoom(Math.max(from, 1), to);
        }],
        draw: what.marks ? [(u) => this.marks(u, t)] : [],
      },
    }, data, p.box);
    p.u = u;
    let down = 0;
    u.over.addEventListener("mousedown", (e) => (down = e.clientX));
    u.over.addEventListener("click", (e) => {
      if (Math.abs(e.clientX - down) < 4 && u.cursor.idx != null) this.open(Math.min(this.x[u.cursor.idx], t.to));
    });
    u.over.addEventListener("dblclick", () => this.zoom(0, 0));
    this.tell(p, null);
    if (p.details.open) this.list(p);
  }

  // tell writes the values of a point into the key.
  tell(p, i) {
    const t = this.timeline;
    if (i != null && i >= t.first.length) i = t.first.length - 1;
    const all = [...(p.what.stacked || []), ...(p.what.lines || [])], show = p.what.money ? usd : short;
    fill(p.key, all.filter((s) => i != null || s.values.some((v) => v)).map((s) => h("li", {}, h("i", { style: { background: s.colour, "--dash": s.colour }, class: p.what.lines?.includes(s) ? "line" + (s.dash ? " dashed" : "") : "" }), s.label,
      i != null && h("b", {}, s.values[i] == null ? "–" : show(s.values[i])))));
    p.at.textContent = i == null ? "" : t.count[i] > 1 ? `calls ${num(t.first[i])}–${num(t.first[i] + t.count[i] - 1)}` : `call ${num(t.first[i])}`;
  }

  // marks draws cuts, compactions of the host's and cold calls over a plot.
  marks(u, t) {
    const c = u.ctx, top = u.bbox.top, bottom = top + u.bbox.height, r = devicePixelRatio;
    c.save();
    for (const m of t.marks) {
      const x = Math.round(u.valToPos(m.call, "x", true));
      if (m.kind === "cut" || m.kind === "compaction") {
        c.strokeStyle = c.fillStyle = m.kind === "cut" ? token("ink") : colour("compaction");
        c.globalAlpha = 0.35;
        c.lineWidth = r;
        c.setLineDash(m.kind === "cut" ? [] : [3 * r, 3 * r]);
        c.beginPath();
        c.moveTo(x, top);
        c.lineTo(x, bottom);
        c.stroke();
        c.globalAlpha = 1;
        c.setLineDash([]);
        c.beginPath();
        if (m.kind === "cut") {
          c.moveTo(x - 4 * r, top - 8 * r);
          c.lineTo(x + 4 * r, top - 8 * r);
          c.lineTo(x, top - 1 * r);
        } else {
          c.moveTo(x, top - 9 * r);
          c.lineTo(x + 4 * r, top - 5 * r);
          c.lineTo(x, top - 1 * r);
          c.lineTo(x - 4 * r, top - 5 * r);
        }
        c.fill();
      } else {
        c.fillStyle = m.kind === "cold" ? colour("read") : colour("bad");
        c.beginPath();
        c.arc(x, top - 4 * r, 2.5 * r, 0, 7);
        c.fill();
      }
    }
    c.restore();
  }

  press(p, e) {
    const t = this.timeline, u = p.u;
    if (!u || !t) return;
    let i = u.cursor.idx ?? 0;
    const width = t.to - t.from, mid = t.first[Math.min(i, t.first.length - 1)] ?? t.from;
    switch (e.key) {
      case "ArrowLeft": i = Math.max(i - 1, 0); break;
      case "ArrowRight": i = Math.min(i + 1, t.first.length - 1); break;
      case "Home": i = 0; break;
      case "End": i = t.first.length - 1; break;
      case "Enter": e.preventDefault(); return this.open(mid);
      case "+": case "=": return this.zoom(Math.max(Math.round(mid - width / 4), 1), Math.round(mid + width / 4));
      case "-": return width + 1 >= t.planned ? this.zoom(0, 0) : this.zoom(Math.max(t.from - width, 1), t.to + width);
      case "0": case "Escape": return this.zoom(0, 0);
      default: return;
    }
    e.preventDefault();
    u.setCursor({ left: u.valToPos(this.x[i] + 0.01, "x"), top: 10 });
    this.tell(p, i);
  }

  // list writes a plot's values as a table: every so many points, if they are many.
  list(p) {
    const t = this.timeline, all = [...(p.what.stacked || []), ...(p.what.lines || [])], show = p.what.money ? usd : num, by = Math.ceil(t.first.length / 200);
    const rows = [];
    for (let i = 0; i < t.first.length; i += by) rows.push(h("tr", {}, h("th", { scope: "row" }, num(t.first[i])), all.map((s) => h("td", { class: "n" }, s.values[i] == null ? "–" : show(s.values[i])))));
    fill(p.rows, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": p.title + " as a table" },
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "call"), all.map((s) => h("th", { scope: "col", class: "n" }, s.label)))), h("tbody", {}, rows))));
  }
}
