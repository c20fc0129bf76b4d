// Memory: its files entry by entry, a search, and changes by hand that can be taken back.
import { h, fill, ask, send, badge, num, when, card, empty, percent, tabsOf } from "./lib.js";
import { md, inline } from "./md.js";

const mayWrite = document.body.dataset.write === "true";
const address = (path, line) => "/memory?path=" + encodeURIComponent(path) + (line ? "&line=" + line : "");

export async function show(at, view, part) {
  view.title("Memory");
  const room = h("div", { class: "rows" });
  const input = h("input", { type: "search", name: "q", value: view.query.get("q") || "", placeholder: "Ask memory: when do we deploy", "aria-label": "Search memory" });
  fill(at, h("div", { class: "title" }, h("h1", {}, "Memory"), tabsOf("Memory", part, [["files", "Notes", "/memory"], ["changes", "Changes", "/memory/changes"]]),
    h("form", { class: "ask", onsubmit: (e) => {
      e.preventDefault();
      if (input.value.trim()) view.go("/memory/search?q=" + encodeURIComponent(input.value));
    } }, input, h("button", {}, "Search"))), room);
  await ({ files, search, changes }[part] || files)(room, view);
}

const author = { agent: "an agent", upkeep: "memkernel" };

async function files(at, view) {
  const doc = await ask("list", {}, view.signal);
  const by = new Map();
  for (const e of doc.entries) by.set(e.path, (by.get(e.path) || 0) + 1);
  const rank = (p) => (p === "MEMORY.md" ? 0 : p === "USER.md" ? 1 : p.includes("/") ? (/\d{4}-\d{2}-\d{2}/.test(p) ? 4 : 3) : 2);
  const paths = [...by.keys()].sort((a, b) => rank(a) - rank(b) || (rank(a) === 4 ? b.localeCompare(a) : a.localeCompare(b)));
  const path = view.query.get("path") || paths[0] || "";
  const done = h("div", { role: "status", class: "done" });
  const list = h("ul", { class: "files" }, paths.map((p) => h("li", {}, h("a", { href: address(p), "aria-current": p === path ? "page" : null }, h("span", { class: "path" }, p), h("span", { class: "hint" }, num(by.get(p)))))));
  const room = h("div", { class: "file rows" });
  fill(at, h("div", { class: "split" }, h("nav", { class: "card", "aria-label": "Files" }, h("h2", {}, num(paths.length), " files, ", num(doc.total), " notes"), list), h("div", { class: "rows" }, adding(path), done, room)));
  const draw = async () => {
    if (!path) return fill(room, card(null, empty("Memory is empty.", mayWrite ? "Write the first note above." : ["Write the first note with ", h("code", {}, "memkernel remember TEXT"), "."])));
    const [file, now] = await Promise.all([ask("read", { path }, view.signal), ask("list", { path }, view.signal)]);
    const entries = now.entries.filter((e) => e.path === path).sort((a, b) => a.line - b.line);
    fill(room, card(null, h("header", {}, h("h2", { class: "path" }, path), h("span", { class: "hint" }, num(entries.length), entries.length === 1 ? " note" : " notes"), h("a", { href: "/memory/changes?path=" + encodeURIComponent(path) }, "its changes")), file.text ? lines(file.text, entries, path, { view, changed }) : empty(file.detail || "There is no such file.")));
  };
  // changed says what was changed, with the way back, and shows the file as it is now.
  async function changed(e, what) {
    await draw();
    fill(done, h("p", {}, e.edit ? what : "It says that already; nothing was changed.", " ", e.path && h("a", { href: address(e.path, e.end_line ? e.line : 0) }, e.path + (e.end_line ? ":" + e.line : "")), " ", e.edit && h("button", { type: "button", onclick: () => undo(e.edit) }, "Undo"), e.masked > 0 && ` ${num(e.masked)} secrets were masked.`));
  }
  async function undo(edit) {
    try {
      const u = await send("undo", { edit });
      await draw();
      fill(done, h("p", {}, `Taken back: ${u.files.map((f) => f.path).join(", ")} is what it was.`));
    } catch (err) {
      fill(done, h("p", { class: "bad" }, err.message));
    }
  }
  function adding(path) {
    if (!mayWrite) return h("p", { class: "hint" }, "This window only reads. Start ", h("code", {}, "memkernel ui"), " at a terminal, or with ", h("code", {}, "--write"), ", to add and edit notes here.");
    const text = h("textarea", { rows: 2, name: "text", "aria-label": "A new note", placeholder: "A note that agents should know, such as: we deploy on Thursdays", required: true });
    const own = ["MEMORY.md", ...(path.startsWith("memory/") ? [path] : [])];
    const to = h("select", { name: "to", "aria-label": "File of the note" }, h("option", { value: "" }, "today's log"), own.map((p) => h("option", { value: p }, p)));
    return h("form", { class: "card add", onsubmit: async (e) => {
      e.preventDefault();
      try {
        const d = await send("remember", { text: text.value, path: to.value });
        text.value = "";
        await changed(d, d.duplicate ? "It was there already:" : "Added to");
      } catch (err) {
        fill(done, h("p", { class: "bad" }, err.message));
      }
    } }, text, h("div", { class: "acts" }, h("label", {}, "to ", to), h("button", { class: "main" }, "Add a note")));
  }
  await draw();
  const wanted = Number(view.query.get("line")), to = Number(view.query.get("to"));
  if (wanted) requestAnimationFrame(() => {
    const all = [...room.querySelectorAll("[data-line]")], line = (el) => Number(el.dataset.line);
    const first = all.filter((el) => line(el) <= wanted).pop();
    for (const el of all) if (el === first || (line(el) > wanted && line(el) <= to)) el.classList.add("wanted");
    first?.scrollIntoView({ block: "center" });
  });
}

// lines shows a file: its notes each in a row, and what is between them.
function lines(text, entries, path, c) {
  const all = text.split("\n"), out = [], at = new Map(entries.map((e) => [e.line, e]));
  for (let n = 1; n <= all.length; n++) {
    const e = at.get(n), l = all[n - 1];
    if (e) {
      out.push(entry(e, path, c, all.slice(n - 1, Math.max(e.end_line, n)).join("\n")));
      n = Math.max(e.end_line, n);
    } else if (/^#{1,6} /.test(l)) out.push(h("h3", { "data-line": n }, l.replace(/^#+ /, "")));
    else if (l.trim() && !/^<!--.*-->$/.test(l.trim()) && !/^(-{3,}|={3,})$/.test(l.trim())) out.push(h("div", { class: "entry plain-line", "data-line": n }, h("span", { class: "n line" }, num(n)), h("div", { class: "entry-text" }, md(l))));
  }
  return h("div", { class: "entries" }, out);
}

function entry(e, path, c, raw) {
  // named are the places that a comment of the note names.
  const named = (what) => [...raw.matchAll(new RegExp(`<!-- ${what} (.+?) -->`, "g"))].flatMap((m) => m[1].split(", "));
  const meta = [author[e.by] && `by ${author[e.by]}${e.date && `, ${e.date}`}`, ...named("from").map((r) => ["from ", ref(r)]), ...named("supersedes").filter((r) => r.includes("/") || r.includes(".md")).map((r) => ["replaces ", ref(r)])].filter(Boolean);
  const said = h("div", { class: "entry-text" }, md(e.text)), more = h("div", { class: "more" }), acts = h("div", { class: "acts" });
  const el = h("div", { class: "entry", "data-line": e.line }, h("span", { class: "n line" }, num(e.line)), h("div", {}, said, meta.length > 0 && h("p", { class: "meta" }, meta.flatMap((x, i) => (i ? [" · ", x] : [x])))), acts, more);
  const button = (name, act) => h("button", { type: "button", class: "quiet", "aria-label": `${name} line ${e.line}`, onclick: act }, name);
  const change = async (text, what) => {
    try {
      await c.changed(await send("edit", { path, line: e.line, end_line: e.end_line, text, was: e.text }), what);
    } catch (err) {
      fill(trouble, h("p", { class: "bad" }, err.message), err.status === 409 && h("p", {}, "What you wrote is still here; copy what you need, then ", h("a", { href: address(path, e.line) + "&again=" + Date.now() }, "load the file as it is now"), "."));
    }
  };
  const trouble = h("div", { role: "alert" });
  const edit = () => {
    const text = h("textarea", { rows: Math.min(Math.max(Math.ceil(e.text.length / 80), 2), 12), "aria-label": "Line " + e.line }, e.text);
    fill(more, h("form", { class: "add", onsubmit: (ev) => {
      ev.preventDefault();
      if (text.value.trim()) change(text.value, "Changed");
    }, onkeydown: (ev) => ev.key === "Escape" && fill(more) }, text, h("div", { class: "acts" }, h("button", { type: "button", onclick: () => fill(more) }, "Cancel"), h("button", { class: "main" }, "Save")), trouble));
    text.focus();
  };
  const forget = () => {
    const yes = h("button", { type: "button", class: "main", onclick: () => change("", "Took the note out of") }, "Forget it");
    fill(more, h("p", {}, "Take this note out of memory? Undo brings it back. ", yes, " ", h("button", { type: "button", onclick: () => fill(more) }, "Keep it")), trouble);
    yes.focus();
  };
  fill(acts, mayWrite && [button("Edit", edit), button("Forget", forget)], button("Why", () => why(more, path, e.line, c.view)), button("History", () => past(more, path, e.line, c.view)));
  return el;
}

async function tryTo(el, make) {
  fill(el, h("p", { class: "hint" }, "…"));
  try {
    fill(el, await make());
  } catch (err) {
    if (err.name !== "AbortError") fill(el, h("p", { class: "bad" }, err.message));
  }
}

const row = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

// ref is a source, as a link where it is a place of a file.
function ref(r) {
  const m = r.match(/^(.+\.md)(?:#L|:)(\d+)/);
  return m ? h("a", { href: address(m[1], m[2]) }, r) : r;
}

const writers = { hand: "a person, by hand", person: "a person", agent: "an agent", upkeep: "memkernel's upkeep", tool: "an agent, by a tool", unknown: "nobody knows by whom", "": "nobody knows by whom" };

const quoted = (s) => h("p", {}, ref(s.ref), s.text && [": “", s.text, "”"]);

const why = (el, path, line, view) => tryTo(el, async () => {
  const [g, before] = await Promise.all([ask("why", { entry: path + ":" + line }, view.signal), ask("history", { path, line, limit: 6 }, view.signal).catch(() => null)]);
  const changed = before?.versions.length > 1;
  return [h("dl", { class: "facts why" },
    row("Written by", g.written_by ? writers[g.written_by] || g.written_by : "a person, as far as is known", g.date && `, ${g.date}`),
    row("Comes from", g.from.length ? g.from.map(quoted) : g.run ? "the curation below" : "this line itself: nothing else is recorded"),
    row("Replaced", g.replaced.length ? g.replaced.map(quoted) : changed ? "what it said before, below" : "no earlier note"), row("Replaced by", g.superseded_by ? ref(g.superseded_by) : "nothing: it holds"),
    g.run && row("Chosen", `${g.run_day}, in ${g.run}: ${g.why.join(", ")}`), g.days.length > 0 && row("Said again", g.days.join(", ")), g.sessions > 0 && row("Noted in", `${num(g.sessions)} sessions`),
    row("Recalled", `${g.recalled ? `for ${num(g.recalled)} prompts; then named in ${num(g.named)}` : "for no prompt"}. Counted are sessions that memkernel planned; what hooks added stands at the prompts of their sessions.`)), changed && versions(before, view)];
});

const past = (at, path, line, view) => tryTo(at, async () => versions(await ask("history", { path, line: line || "", limit: 12 }, view.signal), view));

function versions(d, view) {
  return [h("p", { class: "hint" }, `${num(d.total)} ${d.total === 1 ? "version" : "versions"}, the newest first`), h("ol", { class: "versions" }, d.versions.map((v) => h("li", {}, h("header", {}, when(v.time), badge(v.event.replaceAll("_", " "), "tag"), h("span", {}, writers[v.origin] || v.origin), (v.added || v.removed) ? h("span", { class: "n" }, "+", num(v.added), " −", num(v.removed)) : null),
    v.diff ? diff(v.diff) : v.text && h("pre", { class: "text", tabindex: "0" }, v.text))))];
}

function diff(text) {
  return h("pre", { class: "text diff", tabindex: "0" }, text.trimEnd().split("\n").filter((l) => !l.startsWith("@@")).map((l) => h("span", { class: l.startsWith("+") ? "plus" : l.startsWith("-") ? "minus" : "" }, l.replace(/^([+-])(?:[-*+] )?/, "$1 ") + "\n")));
}

async function search(at, view) {
  const q = view.query.get("q"), found = h("div", { role: "status", class: "rows" });
  if (!q) return fill(at, empty("Type a question above."));
  fill(at, found, h("p", {}, h("a", { href: "/?q=" + encodeURIComponent(q) }, "Look for these words in what was said in sessions")));
  await tryTo(found, async () => hits(await ask("search", { q, n: 12, source: "memory" }, view.signal)));
}

function hits(d) {
  const also = d.also_asked?.map((a) => `${a.typed}: ${a.asked.join(", ")}`).join("; ");
  return [h("p", { class: "hint" }, d.results.length > 0 && `${num(d.results.length)} places, the best first.`, d.weak && " They are likely beside the question.", also && ` Also asked, as memory spells it: ${also}.`, d.results.length > 0 && d.detail && ` ${d.detail}.`),
    ...d.results.map((r, i) => card(null, h("header", {}, h("span", { class: "n rank" }, i + 1), h("a", { href: address(r.path, r.start_line) }, h("code", {}, r.citation)), r.trail?.length > 0 && r.trail.join() !== r.date && h("span", { class: "hint" }, r.trail.join(" › ")), r.date && h("span", { class: "hint" }, r.date), badge(percent(r.score), r.score >= 0.5 ? "good" : "", "the chance that it answers"), r.superseded_by && badge(r.superseded_by === r.citation ? "out of date by its own words" : "superseded by " + r.superseded_by, "warn")),
      quote(r))),
    !d.results.length && empty("Nothing was found.", d.detail)];
}

// quote is all that a place says, in the order of its file.
function quote(r) {
  const runs = [{ start_line: r.start_line, text: r.snippet }, ...(r.more || [])].sort((a, b) => a.start_line - b.start_line);
  return h("div", { class: "entries" }, runs.flatMap((run) => run.text.replace(/\n$/, "").split("\n").map((l, i) => l.trim() && h("div", { class: "entry plain-line" }, h("span", { class: "n line" }, run.start_line + i), h("div", { class: "entry-text" }, h("p", {}, inline(l.replace(/^\s*(?:[-*+]|#{1,6}) /, ""))))))));
}

async function changes(at, view) {
  const result = h("div", { role: "status", class: "done" }), room = h("div");
  const path = view.query.get("path") || "MEMORY.md";
  const undo = h("button", { type: "button", class: "main", onclick: async () => {
    try {
      const u = await send("undo");
      fill(result, h("p", {}, `${u.edit} was taken back: ${u.files.join(", ")} is what it was.`));
    } catch (err) {
      fill(result, h("p", { class: "bad" }, err.message));
    }
    past(room, path, 0, view);
  } }, "Undo the last change");
  fill(at, mayWrite && h("p", {}, undo, h("span", { class: "hint" }, " takes back the newest change by hand or of the nightly upkeep, whatever file it was in.")), result, card("What became of " + path, room));
  await past(room, path, 0, view);
}
