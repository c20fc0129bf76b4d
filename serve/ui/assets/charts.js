// Plots over the calls of a session: one cursor and one stretch for all of them.
import { h, fill, num, short, usd, colour, token, nice } from "./lib.js";

const heights = { true: 250, false: 190 };
// The room around a plot, for its axes and the marks above it.
const room = { left: 52, right: 8, top: 14, bottom: 26 };

// stack makes of series their sums from below.
function stack(all) {
  const sums = [];
  let last = null;
  for (const s of all) {
    last = s.map((v, i) => v + (last ? last[i] : 0));
    sums.push(last);
  }
  return sums;
}

// decimals are those by which ticks of money can be told apart.
function decimals(ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
  return step >= 1 ? 0 : Math.min(Math.ceil(-Math.log10(step) - 1e-9) + 1, 4);
}

// Plots holds the plots of a view: they share the cursor, and the stretch that is shown.
export class Plots {
  constructor(signal, { zoom, open }) {
    Object.assign(this, { zoom, open, all: [], timeline: null, at: null });
    this.watcher = new ResizeObserver((list) => {
      for (const e of list) {
        const p = this.all.find((p) => p.box === e.target);
        if (p?.svg && e.contentRect.width > 0 && Math.abs(p.width - e.contentRect.width) > 1) this.draw(p);
      }
    });
    signal.addEventListener("abort", () => this.watcher.disconnect());
  }

  // plot makes the place of a plot. make gives its series for a timeline: {stacked, lines, money,
  // marks}, each series {name, label, values, colour}.
  plot(title, make, controls) {
    const box = h("div", { class: "plot", tabindex: "0", role: "application", "aria-label": title + ": arrows move, plus and minus zoom, Enter opens the call" });
    const key = h("ul", { class: "legend" }), at = h("output", { class: "at-call" });
    const el = h("section", { class: "card chart" }, h("header", {}, h("h2", {}, title), controls, at), box, key);
    const p = { el, box, key, at, make, title, tall: this.all.length === 0 };
    box.addEventListener("keydown", (e) => this.press(e));
    this.point(p);
    this.all.push(p);
    this.watcher.observe(box);
    return p;
  }

  // point follows the mouse: it moves the cursor, drags a stretch, and opens calls.
  point(p) {
    let down = null;
    const within = (e) => Math.min(Math.max(e.clientX - p.box.getBoundingClientRect().left, room.left), p.width - room.right);
    const call = (x) => Math.floor(this.timeline.from + ((x - room.left) / (p.width - room.left - room.right)) * (this.timeline.to + 1 - this.timeline.from));
    const on = (name, f) => p.box.addEventListener(name, (e) => p.svg && f(e));
    on("pointermove", (e) => {
      const x = within(e), n = call(x), t = this.timeline;
      this.cursor(Math.max(t.first.findLastIndex((first) => first <= n), 0));
      if (down !== null) for (const [k, v] of [["x", Math.min(x, down)], ["width", Math.abs(x - down)]]) p.drag.setAttribute(k, v);
    });
    on("pointerleave", () => this.cursor(null));
    on("pointerdown", (e) => {
      if (!e.button) down = within(e);
    });
    on("pointerup", (e) => {
      if (down === null) return;
      const [x, y] = [down, within(e)].sort((a, b) => a - b);
      down = null;
      p.drag.setAttribute("width", 0);
      if (y - x >= 6) {
        const from = call(x), to = Math.min(call(y), this.timeline.to);
        if (to > from) this.zoom(Math.max(from, 1), to);
      } else if (this.at !== null) this.open(this.timeline.first[this.at]);
    });
    on("dblclick", () => this.zoom(0, 0));
  }

  // cursor moves the cursor of all plots to a point.
  cursor(i) {
    this.at = i;
    for (const p of this.all) if (p.svg) {
      if (i === null) p.line.setAttribute("visibility", "hidden");
      else {
        const x = p.x(this.timeline.first[i]);
        for (const k of ["x1", "x2"]) p.line.setAttribute(k, x);
        p.line.setAttribute("visibility", "visible");
      }
      this.tell(p, i);
    }
  }

  // set shows a timeline in all plots.
  set(timeline) {
    if (!timeline.first.length) return; // nothing is planned yet
    const call = this.at === null ? 0 : this.timeline.first[this.at]; // the cursor stays on its call
    this.timeline = timeline;
    this.at = call >= timeline.from && call <= timeline.to ? timeline.first.findLastIndex((first) => first <= call) : null;
    for (const p of this.all) this.draw(p);
  }

  draw(p) {
    const t = this.timeline;
    if (!t) return;
    const what = (p.what = p.make(t)), stacked = what.stacked || [], lines = what.lines || [];
    p.el.hidden = stacked.length + lines.length === 0;
    const sums = stack(stacked.map((s) => s.values)), high = heights[p.tall];
    p.width = Math.max(p.box.clientWidth, 200);
    const most = Math.max(...[...sums.slice(-1), ...lines.map((l) => l.values)].flatMap((all) => [all.reduce((m, v) => Math.max(m, v ?? 0), 0)]), 1e-6) * 1.06;
    const ground = high - room.bottom, right = p.width - room.right;
    const x = (p.x = (n) => room.left + ((n - t.from) / (t.to + 1 - t.from)) * (right - room.left)), y = (v) => ground - (v / most) * (ground - room.top);
    const ends = t.first.map((_, i) => x(t.first[i + 1] ?? t.to + 1).toFixed(1));
    // steps draws values as steps; a value that is not there leaves a gap.
    const steps = (values, closed) => {
      let d = "", gap = true;
      values.forEach((v, i) => {
        if (v == null) gap = true;
        else {
          d += (gap ? "M" + x(t.first[i]).toFixed(1) + " " : "V") + y(v).toFixed(1) + "H" + ends[i];
          gap = false;
        }
      });
      return closed ? d.replace(/^M(\S+) /, `M$1 ${ground}V`) + "V" + ground + "Z" : d;
    };
    const ticks = nice(0, most, 4), text = (at, say) => h("text", { fill: token("muted"), "font-size": 11, ...at }, say);
    p.line = h("line", { y1: room.top, y2: ground, stroke: token("muted"), "stroke-dasharray": "3 3", visibility: "hidden" });
    p.drag = h("rect", { y: room.top, height: ground - room.top, width: 0, fill: token("accent"), opacity: 0.18 });
    p.svg = h("svg", { width: p.width, height: high, "aria-hidden": "true" },
      ticks.map((v) => [h("line", { x1: room.left, x2: right, y1: y(v), y2: y(v), stroke: token("line") }), text({ x: room.left - 6, y: y(v) + 4, "text-anchor": "end" }, what.money ? "$" + v.toFixed(decimals(ticks)) : short(v))]),
      nice(t.from, t.to, Math.max(p.width / 110, 2)).filter((v) => Number.isInteger(v)).map((v) => text({ x: x(v), y: high - 8, "text-anchor": "middle" }, num(v))),
      stacked.map((s, i) => h("path", { d: steps(sums[i], true), fill: s.colour })).reverse(),
      lines.map((l) => h("path", { d: steps(l.values), fill: "none", stroke: l.colour, "stroke-width": l.thin ? 1 : 2, "stroke-dasharray": l.dash?.join(" ") })),
      what.marks && t.marks.map((m) => this.mark(m, Math.round(x(m.call)), ground)), p.drag, p.line);
    fill(p.box, p.svg);
    this.cursor(this.at);
  }

  // mark draws a cut, a compaction of the host's, a cold call or a fault over a plot.
  mark(m, x, ground) {
    const top = room.top;
    if (m.kind !== "cut" && m.kind !== "compaction") return h("circle", { cx: x, cy: top - 4, r: 2.5, fill: m.kind === "cold" ? colour("read") : colour("bad") });
    const cut = m.kind === "cut", c = cut ? token("ink") : colour("compaction");
    return [h("line", { x1: x, x2: x, y1: top, y2: ground, stroke: c, opacity: 0.35, "stroke-dasharray": cut ? null : "3 3" }),
      h("path", { fill: c, d: cut ? `M${x - 4} ${top - 8}h8l-4 7z` : `M${x} ${top - 9}l4 4-4 4-4-4z` })];
  }

  press(e) {
    const t = this.timeline;
    if (!t) return;
    let i = this.at ?? 0;
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
    this.cursor(i);
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
}
