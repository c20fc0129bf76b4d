// What was said in a session: prompts, answers and tool calls, with what memkernel did in place.
import { h, fill, ask, watch, badge, num, short, when, card, empty, bytes, saving, hostName, tabsOf } from "./lib.js";
import { md, inline } from "./md.js";

const stretch = 60;

export async function show(at, view, id) {
  let from = Number(view.query.get("at")) || 1;
  const [doc, first] = await Promise.all([ask("session", { session: id }, view.signal), ask("talk", { session: id, limit: from > 1 ? 1 : stretch }, view.signal)]);
  view.title(doc.prompt || doc.name);
  const head = h("div", { class: "rows" }), list = h("div", { class: "talk" }), more = h("button", { type: "button", class: "more-of" }), before = h("button", { type: "button", class: "more-of" });
  let next = 1, low = 1, total = first.total, simulated = first.simulated, busy = false;
  const drawHead = (d) => fill(head, title(d), h("p", { class: "facts-line" }, saving(d)), !d.head.done && !d.head.error && h("p", { class: "hint", role: "status" }, "Working out what memkernel would have done: its marks follow."));
  const take = (d, front) => {
    total = d.total;
    simulated = d.simulated;
    const els = d.items.map((it) => item(it, { id, of: d.session, view, simulated }));
    front ? list.prepend(...els) : list.append(...els);
    tell();
  };
  const tell = () => {
    more.hidden = next > total;
    more.textContent = `Show more: ${num(total - next + 1)} of ${num(total)} items follow`;
    before.hidden = low <= 1;
    before.textContent = `Show what came before: ${num(low - 1)} items`;
  };
  async function load(front) {
    if (busy) return;
    busy = true;
    try {
      if (front) {
        const start = Math.max(low - stretch, 1), d = await ask("talk", { session: id, from: start, limit: low - start }, view.signal);
        low = start;
        take(d, true);
      } else {
        const d = await ask("talk", { session: id, from: next, limit: stretch }, view.signal);
        next = Math.max(d.from + d.items.length, next);
        take(d);
      }
    } catch (err) {
      if (err.name !== "AbortError") list.append(h("p", { class: "bad" }, err.message));
    } finally {
      busy = false;
    }
  }
  // jump shows the conversation from an item on.
  async function jump(n) {
    const there = list.querySelector(`[data-item="${n}"]`);
    history.replaceState(null, "", `/s/${id}?at=${n}`);
    if (!there) {
      fill(list);
      next = low = n;
      busy = false;
      await load();
    }
    const el = there || list.firstChild;
    el?.scrollIntoView({ block: "start" });
    el?.focus({ preventScroll: true });
  }
  more.addEventListener("click", () => load());
  before.addEventListener("click", () => load(true));
  const outline = first.prompts.length > 1 && h("nav", { class: "card outline", "aria-label": "Prompts" }, h("h2", {}, num(doc.prompts || first.prompts.length), " prompts"),
    h("ol", {}, first.prompts.map((p) => h("li", {}, h("a", { href: `/s/${id}?at=${p.item}`, onclick: (e) => { e.preventDefault(); jump(p.item); } }, p.text || "…")))));
  drawHead(doc);
  fill(at, head, h("div", { class: outline ? "split talk-view" : "" }, outline, h("section", { class: "card", "aria-label": "What was said" }, note(first), added(first.start, "To the start of this session"), before, list, more, !total && empty("Nothing was said in this session yet."))));
  if (from > 1) {
    next = low = from;
    await load();
  } else {
    next = first.from + first.items.length;
    take(first);
  }
  new IntersectionObserver((e) => e[0].isIntersecting && !more.hidden && load(), { rootMargin: "600px" }).observe(more);
  // again draws the items that nobody opened anew, since more is known of them.
  async function again() {
    for (let n = low; n < next; n += 400) {
      const d = await ask("talk", { session: id, from: n, limit: Math.min(400, next - n) }, view.signal);
      simulated = d.simulated;
      for (const it of d.items) {
        const el = list.querySelector(`[data-item="${it.item}"]`);
        if (el && !el.querySelector("details[open]") && !el.contains(document.activeElement)) el.replaceWith(item(it, { id, of: d.session, view, simulated }));
      }
    }
  }
  const state = (d) => [d.modified, d.head.calls, d.head.done].join(); // a changed file is read a little later
  let seen = state(doc), planned = doc.head.done;
  watch("session", { session: id }, view.signal, (d) => news(d).catch((err) => err.name !== "AbortError" && list.append(h("p", { class: "bad" }, err.message))));
  async function news(d) {
    drawHead(d);
    if (state(d) !== seen) {
      seen = state(d);
      const end = next > total;
      total = (await ask("talk", { session: id, from: 2, limit: 1 }, view.signal)).total;
      tell();
      if (end && next <= total) load();
    }
    if (d.head.done && !planned) again().catch(() => {});
    planned = d.head.done;
  }
}

export function title(doc, part) {
  return [h("div", { class: "title" }, h("h1", { title: doc.path || doc.name }, doc.prompt || doc.name), doc.live && badge("live", "on")),
    h("p", { class: "hint" }, [hostName(doc), when(doc.begun), `${num(doc.prompts)} ${doc.prompts === 1 ? "prompt" : "prompts"}`, doc.head.model].filter(Boolean).flatMap((x, i) => (i ? [" · ", x] : [x]))),
    tabsOf("Session", part || "", [["", "What was said", "/s/" + doc.id], ["numbers", "Numbers", `/s/${doc.id}/numbers`]])];
}

function note(d) {
  if (d.simulated) return h("p", { class: "hint lead" }, d.hooked ? "memkernel brought memory to these prompts; it did not plan them. Marks on results say what it would have shortened." : "memkernel did not plan this session. Marks say what it would have done.");
  return null;
}

const place = (l) => h("a", { href: `/memory?path=${encodeURIComponent(l.path)}&line=${l.from}&to=${l.to}` }, `${l.path}:${l.from}`);

// added says what memkernel added, with the lines as they read now.
function added(a, where) {
  if (!a) return null;
  if (!a.tokens) return h("p", { class: "added none" }, "memkernel added nothing here: memory has nothing on it.");
  const body = h("div", { class: "lines" });
  const el = h("details", { class: "added" }, h("summary", {}, `${where || "To this prompt"} memkernel added ${short(a.tokens)} tokens`, a.lines.length > 0 && [" from memory: ", a.lines.map((l, i) => [i > 0 && ", ", place(l)])]), body);
  el.addEventListener("toggle", () => el.open && !body.firstChild && quote(body, a.lines), { once: true });
  return el;
}

async function quote(body, lines) {
  for (const l of lines) {
    const box = h("div", {}, h("p", { class: "hint" }, place(l), ` to line ${l.to}, as it reads now`), h("div", { class: "prose-of" }, "…"));
    body.append(box);
    try {
      const d = await ask("read", { path: l.path });
      fill(box.lastChild, md(d.text.split("\n").slice(l.from - 1, l.to).join("\n") || d.detail || d.reason));
    } catch (err) {
      box.lastChild.textContent = err.message;
    }
  }
  if (!lines.length) body.append(h("p", { class: "hint" }, "The text named no lines of a file."));
}

const shortened = { compressed: "shortened", structured: "outlined", pointer: "replaced by a pointer", gone: "left out" };

function item(it, c) {
  const el = h("article", { class: "said k-" + it.kind, "data-item": it.item, tabindex: "-1" });
  const cut = it.cut && h("p", { class: "mark cut" }, c.simulated ? `Here memkernel would have cut the conversation (${it.cut.replaceAll("_", " ")}).` : `Here memkernel cut the conversation (${it.cut.replaceAll("_", " ")}).`);
  const call = it.call > 0 && h("a", { class: "n-call", href: `/s/${c.id}/c/${it.call}`, title: "the numbers of this model call" }, "call ", num(it.call));
  const whole = (body, text, of) => new Blob([text]).size < of && h("button", { type: "button", class: "quiet whole-of", onclick: async (e) => {
    e.target.textContent = "…";
    const d = await ask("talk", { session: c.id, from: it.item, limit: 1 }, c.view.signal);
    body(d.items[0]);
    e.target.remove();
  } }, `Show all of it (${bytes(of)})`);
  const time = it.time && when(it.time);
  const text = (kids) => {
    const box = h("div", { class: "prose-of" }, kids(it.text));
    return [box, whole((d) => fill(box, kids(d.text)), it.text, it.bytes)];
  };
  switch (it.kind) {
    case "prompt":
      return fill(el, cut, h("header", {}, h("h2", {}, `Prompt ${num(it.prompt)}`), time), text(md), added(it.added));
    case "answer":
      return fill(el, cut, h("header", {}, h("h3", {}, "Answer"), call), text(md));
    case "compaction":
      return fill(el, h("p", { class: "mark compaction" }, "Here the host compacted its history."));
    case "call": {
      const level = it.level && it.level !== "full" && shortened[it.level];
      const open = h("details", {}, h("summary", {}, h("span", { class: "line" }, it.text), it.failed && badge("failed", "poor"), level && badge(c.simulated ? "would be " + level : level, "level")));
      open.addEventListener("toggle", () => {
        if (!open.open || open.children.length > 1) return;
        const given = args(it.input);
        const result = h("pre", { class: "text", tabindex: "0" }, it.result || "–");
        open.append(h("div", { class: "inside" }, level && h("p", { class: "hint" }, `In later prompts${it.since_call ? `, from call ${num(it.since_call)} on,` : ""} this result ${c.simulated ? "would be" : "is"} ${level}. Below is the whole of it. `,
          it.page && it.level !== "gone" && versions(c.of, it.page, c.view.signal, it.level, c.simulated ? "What the model would have seen instead" : "What the model saw instead")),
        h("h3", {}, "Input"), given, h("h3", {}, "Result"), result, whole((d) => (result.textContent = d.result), it.result, it.bytes)));
        if (given.tagName === "PRE" && /^[{[]/.test(it.input)) ask("talk", { session: c.id, from: it.item, limit: 1 }, c.view.signal).then((d) => given.replaceWith(args(d.items[0].input)), () => {}); // it was clipped
      });
      return fill(el, cut, open);
    }
    case "recalled":
      return fill(el, h("details", { class: "added" }, h("summary", {}, "memkernel recalled from memory", it.lines.length > 0 && [": ", it.lines.map((l, i) => [i > 0 && ", ", place(l)])]), h("div", { class: "prose-of" }, md(it.text))));
    default: {
      const names = { thinking: "Thought", host: "The host added", summary: "The host's summary of what came before" };
      const open = h("details", { class: "aside" }, h("summary", {}, h("span", { class: "what" }, names[it.kind] || it.kind), h("span", { class: "begin" }, it.text.slice(0, 140))));
      open.addEventListener("toggle", () => open.children.length === 1 && open.append(h("div", { class: "inside" }, text(md))));
      return fill(el, cut, open);
    }
  }
}

// versions is a button that shows a page at a level, or at all levels.
export function versions(session, page, signal, level, label) {
  const room = h("span", {}), button = h("button", { type: "button", class: "quiet", onclick: async () => {
    try {
      const d = await ask("page", { session, page }, signal), some = d.levels.filter((l) => !level || l.level === level);
      room.replaceWith(h("div", { class: "inside" }, some.map((l) => [h("h3", {}, l.level, " ", h("small", {}, bytes(l.bytes))), h("pre", { class: "text", tabindex: "0" }, l.text)]), !some.length && h("p", { class: "hint" }, "It is not kept.")));
    } catch (err) {
      if (err.name !== "AbortError") fill(room, h("span", { class: "bad" }, err.message));
    }
  } }, label);
  return fill(room, button), room;
}

// value shows a value of a call's input: text as it is, lists and groups as such.
function value(v) {
  if (Array.isArray(v)) return h("ol", {}, v.map((x) => h("li", {}, value(x))));
  if (v && typeof v === "object") return h("dl", { class: "args" }, Object.entries(v).map(([k, x]) => h("div", {}, h("dt", {}, k.replaceAll("_", " ")), h("dd", {}, value(x)))));
  return typeof v === "string" && (v.includes("\n") || v.length > 200) ? h("pre", { class: "text", tabindex: "0" }, v) : inline("`" + String(v).replaceAll("`", "") + "`");
}

// args shows a call's input: by name where it is JSON.
function args(input) {
  let all;
  try {
    all = JSON.parse(input);
  } catch {
    // it is plain text, or was clipped
  }
  return all && typeof all === "object" ? value(all) : h("pre", { class: "text", tabindex: "0" }, input || "–");
}
