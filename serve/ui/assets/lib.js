// What all views share: building elements, asking for documents, and writing numbers. Text is
// only ever set as text.

const svgTags = new Set(["svg", "rect", "path", "line", "circle", "text", "g", "title"]);

// h makes an element. Of the properties, on… are listeners, style an object of properties,
// data… and all others attributes.
export function h(tag, props, ...children) {
  const el = svgTags.has(tag) && (tag !== "title" || props?.svg) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === undefined || v === null || v === false || k === "svg") continue;
    if (k.startsWith("on")) el.addEventListener(k.slice(2), v);
    else if (k === "style") for (const [p, s] of Object.entries(v)) el.style.setProperty(p, s);
    else el.setAttribute(k, v === true ? "" : v);
  }
  add(el, children);
  return el;
}

function add(el, children) {
  for (const c of children.flat(Infinity)) {
    if (c === undefined || c === null || c === false) continue;
    el.append(c instanceof Node ? c : String(c));
  }
}

// fill puts children in the place of what an element holds.
export function fill(el, ...children) {
  el.replaceChildren();
  add(el, children);
  return el;
}

// ask gets a document.
export async function ask(path, params, signal) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params || {})) if (v !== undefined && v !== null && v !== "") q.set(k, v);
  const res = await fetch("/api/" + path + (q.size ? "?" + q : ""), { signal });
  const doc = await res.json();
  if (!res.ok) throw Object.assign(new Error(doc.error || res.statusText), { status: res.status });
  return doc;
}

export async function send(path, body) {
  const res = await fetch("/api/" + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body || {}) });
  const doc = await res.json();
  if (!res.ok) throw Object.assign(new Error(doc.error || res.statusText), { status: res.status });
  return doc;
}

// watch asks for a document each second until the view ends, and hands on what is new.
export async function watch(path, params, signal, news, trouble) {
  for (let last = ""; !signal.aborted; ) {
    try {
      const doc = await ask(path, params, signal);
      const now = JSON.stringify(doc);
      if (now !== last) {
        last = now;
        news(doc);
      }
    } catch (err) {
      if (signal.aborted) return;
      trouble?.(err.message);
    }
    await new Promise((again) => setTimeout(again, 1000));
  }
}

export function say(text) {
  document.getElementById("say").textContent = text;
}

const whole = new Intl.NumberFormat("en-US");
export const num = (n) => (n === null || n === undefined ? "–" : whole.format(n));

// tokens writes a size as people say it.
export function short(n) {
  if (n === null || n === undefined) return "–";
  if (n < 1000) return String(Math.round(n));
  if (n < 99950) return (n / 1000).toFixed(1).replace(/\.0$/, "") + "k";
  if (n < 999500) return Math.round(n / 1000) + "k";
  return (n / 1e6).toFixed(n < 9.95e6 ? 2 : 1).replace(/\.?0+$/, "") + "M";
}

export function usd(v) {
  if (v === null || v === undefined) return "unpriced";
  if (v === 0) return "$0";
  if (Math.abs(v) < 0.1) return (v < 0 ? "−" : "") + "$" + Math.abs(v).toFixed(4);
  return (v < 0 ? "−" : "") + "$" + Math.abs(v).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

// cents writes what one call costs, so that a column of them lines up.
export const cents = (v) => (v === null || v === undefined ? "–" : (v < 0 ? "−" : "") + "$" + Math.abs(v).toFixed(4));

export function percent(v, signed) {
  if (v === null || v === undefined || !isFinite(v)) return "–";
  const p = Math.abs(v * 100);
  return (v < 0 ? "−" : signed && v > 0 ? "+" : "") + (p < 10 ? p.toFixed(1) : Math.round(p)) + " %";
}

export function bytes(n) {
  for (const [unit, size] of [["GB", 2 ** 30], ["MB", 2 ** 20], ["kB", 1024]]) if (n >= size) return (n / size).toFixed(n < 10 * size ? 1 : 0) + " " + unit;
  return n + " B";
}

const stamp = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short" });
const never = "0001-01-01";
export const known = (t) => t && !t.startsWith(never);
export function when(t) {
  return known(t) ? h("time", { datetime: t, title: t }, stamp.format(new Date(t))) : "–";
}

export function ago(t, now = Date.now()) {
  if (!known(t)) return "–";
  const s = Math.round((now - new Date(t)) / 1000);
  if (s < 0) return "in " + span(-s);
  return s < 5 ? "now" : span(s) + " ago";
}

export function span(s) {
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min" + (s < 600 && s % 60 ? " " + (s % 60) + " s" : "");
  if (s < 48 * 3600) return Math.floor(s / 3600) + " h";
  return Math.floor(s / 86400) + " days";
}

// The parts of a prompt as people read them; the names are those of the documents.
export const regionNames = { tools: "tools", system: "system", fixed: "tools and system", carry: "carry", working_set: "working set", messages: "messages", retrieval: "retrieval", newest: "newest" };
export const cacheNames = { read: "read from cache", write: "written to cache", uncached: "uncached" };

// The colours of the sheet.
const colours = getComputedStyle(document.documentElement);
export const colour = (name) => colours.getPropertyValue("--c-" + name).trim() || colours.getPropertyValue("--muted").trim();
export const token = (name) => colours.getPropertyValue("--" + name).trim();

// bar draws parts of a whole side by side, with a mark where a cut is made.
export function bar(parts, window, mark, label) {
  const sum = parts.reduce((n, p) => n + p.tokens, 0), top = Math.max(window || 0, sum, 1);
  const share = (n) => (100 * n) / top + "%";
  return h("div", { class: "bar", role: "img", "aria-label": label || parts.map((p) => `${regionNames[p.name] || p.name} ${num(p.tokens)}`).join(", ") },
    parts.filter((p) => p.tokens > 0).map((p) => h("span", { class: "c-" + p.name, title: `${regionNames[p.name] || p.name}: ${num(p.tokens)} tokens`, style: { width: share(p.tokens) } })),
    mark > 0 && mark < top && h("i", { class: "at", title: `a cut is made at ${num(mark)} tokens`, style: { left: share(mark) } }));
}

export function legend(parts) {
  return h("ul", { class: "legend" }, parts.map((p) => h("li", {}, h("i", { class: "c-" + p.name }), p.label, p.value !== undefined && h("b", {}, p.value))));
}

export function tile(label, value, more, title) {
  return h("div", { class: "tile", title }, h("dt", {}, label), h("dd", {}, value, more && h("small", {}, more)));
}

export const tiles = (...all) => h("dl", { class: "tiles" }, all);

export function table(head, rows, props) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": props?.label || "table" },
    h("table", props?.class && { class: props.class }, h("thead", {}, h("tr", {}, head.map((c) => h("th", { scope: "col", class: c.startsWith("#") && "n" }, c.replace(/^#/, ""))))),
      h("tbody", {}, rows.map((r) => h("tr", {}, r.map((c, i) => h("td", { class: head[i]?.startsWith("#") && "n", "data-of": head[i]?.startsWith("#") && head[i].slice(1) }, c)))))));
}

export function card(title, ...children) {
  return h("section", { class: "card" }, title && h("h2", {}, title), children);
}

export function badge(text, kind, title) {
  return h("span", { class: "badge " + (kind || ""), title }, text);
}

export function empty(text, hint) {
  return h("div", { class: "empty" }, h("p", {}, text), hint && h("p", { class: "hint" }, hint));
}

// tabs are buttons of which one is pressed.
export function tabs(label, value, choices, change) {
  const el = h("div", { class: "tabs", role: "group", "aria-label": label });
  for (const [v, text] of choices) el.append(h("button", { type: "button", "aria-pressed": String(v === value), onclick: (e) => {
    for (const b of el.children) b.setAttribute("aria-pressed", String(b === e.currentTarget));
    change(v);
  } }, text));
  return el;
}

// hosts are the programs of people, by what sessions call them.
const hosts = { "claude-code": "Claude Code", claude: "Claude Code", codex: "Codex", pi: "Pi", copilot: "Copilot", "gemini-cli": "Gemini CLI", gemini: "Gemini CLI", openclaw: "OpenClaw", cursor: "Cursor", opencode: "OpenCode", anthropic: "Anthropic's API", openai: "OpenAI's API" };
export const hostName = (s) => (s.host?.startsWith("proxy") ? "through the proxy" : hosts[s.host] || s.host || "");

// money writes an amount for a sentence: whole cents, where it has any.
export const money = (v) => (Math.abs(v) >= 0.005 ? "$" + Math.abs(v).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : v ? "less than a cent" : "$0");

// difference says in words what was saved.
const difference = (d, of) => (Math.abs(d) < 0.005 ? "that is the same to the cent" : d > 0 ? `it saved about ${money(d)}${of ? ", " + percent(d / of) : ""}` : `it cost about ${money(d)} more`);

// sumOf says in a sentence what calls cost without memkernel, and what they cost with it.
export function sumOf(s) {
  const over = s.sessions === undefined ? "" : `, since ${s.day}, over ${num(s.sessions)} ${s.sessions === 1 ? "session" : "sessions"}`;
  if (s.calls === 0 && over) return "No model call went through memkernel yet, so it has saved nothing: memkernel wrap -- claude lets it plan the calls.";
  if (s.billed_usd == null || s.without_usd == null) return `The price of the model is unknown, so nothing can be said of money${over}.`;
  return `Without memkernel about ${money(s.without_usd)} (an estimate), with it ${money(s.billed_usd)} (billed)${over}: ${difference(s.without_usd - s.billed_usd, s.without_usd)}.`;
}

// gainOf says in a few words what a session's calls saved.
export const gainOf = (s) => (!s.planned ? "" : s.billed_usd == null || s.without_usd == null ? "price unknown" : difference(s.without_usd - s.billed_usd).replace(/^(it|that is) /, ""));

// saving says what memkernel saved in a session.
export function saving(d) {
  if (d.planned) return sumOf({ billed_usd: d.billed_usd, without_usd: d.without_usd });
  return `memkernel did not plan these calls, so it saved nothing here${d.head.host_usd == null ? "" : `; ${money(d.head.host_usd)} was billed to the host`}.${d.source === "transcript" ? " What it would have cost with memkernel, simulated, is in Numbers." : ""}`;
}

// titleOf is the beginning of a session's first prompt, or else its name.
export const titleOf = (s) => (s.prompt ? s.prompt.slice(0, 60) + (s.prompt.length > 60 ? "…" : "") : s.name || "a session");

// tabsOf are links of which one is where we are.
export const tabsOf = (label, value, choices) => h("nav", { class: "tabs links", "aria-label": label }, choices.map(([k, text, href]) => h("a", { href, "aria-current": k === value ? "page" : null }, text)));

// copied shows a hint whose commands can be copied.
export function copied(hint) {
  const out = [];
  (hint || "").split(/'((?:memkernel|git) [^']+)'/).forEach((part, i) => out.push(i % 2 ? h("span", { class: "command-of" }, h("code", {}, part), h("button", { type: "button", class: "quiet", "aria-label": "Copy " + part, onclick: async (e) => {
    await navigator.clipboard.writeText(part);
    e.target.textContent = "copied";
  } }, "copy")) : part));
  return h("span", { class: "hint" }, out);
}

// nice are round numbers from one to another, about so many.
export function nice(from, to, n) {
  const raw = (to - from) / n, unit = 10 ** Math.floor(Math.log10(raw)), step = unit * ([1, 2, 2.5, 5, 10].find((f) => f * unit >= raw) || 10);
  const out = [];
  for (let v = Math.ceil(from / step) * step; v <= to + 1e-9; v += step) out.push(v);
  return out;
}
