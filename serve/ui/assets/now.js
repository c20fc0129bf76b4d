// All sessions, by what was asked in them, a search of what was said, and what memkernel saved.
import { h, fill, ask, watch, badge, num, when, card, empty, hostName, sumOf, gainOf, titleOf, copied } from "./lib.js";

const most = 300;
// quiet is how long nobody types before a search begins, in milliseconds: our choice.
const quiet = 300;

export async function show(at, view) {
  view.title("");
  at.classList.add("now");
  let doc, said = null, searching, wait;
  const list = h("ol", { class: "asked" }), sum = h("p", { class: "sum" }), state = h("p", { class: "hint", role: "status" });
  const only = h("input", { type: "search", value: view.query.get("q") || "", placeholder: "words that were said, an agent, a day", "aria-label": "Show only sessions with", oninput: () => {
    said = null;
    searching?.abort();
    clearTimeout(wait);
    wait = setTimeout(search, quiet);
    draw();
  } });
  // search asks in which sessions the words were said.
  async function search() {
    const q = only.value.trim(), mine = (searching = new AbortController());
    history.replaceState(null, "", q ? "/?q=" + encodeURIComponent(q) : "/");
    if (!q) return;
    try {
      const d = await ask("find", { q }, AbortSignal.any([view.signal, mine.signal]));
      if (mine.signal.aborted) return;
      said = d;
      draw();
    } catch (err) {
      if (err.name !== "AbortError") fill(state, err.message);
    }
  }
  function draw() {
    const focused = document.activeElement?.closest?.("[data-id]")?.dataset.id;
    const words = only.value.toLowerCase().split(/\s+/).filter(Boolean), found = new Map((said?.found || []).map((f) => [f.session, f]));
    const some = doc.sessions.filter((s) => {
      const text = [s.prompt, s.name, hostName(s), day(s)].join(" ").toLowerCase();
      return found.has(s.id) || words.every((w) => text.includes(w));
    });
    fill(state, words.length > 0 && !said && "Looking through what was said…");
    fill(list, some.slice(0, most).map((s) => row(s, found.get(s.id))), !some.length && h("li", {}, words.length ? said && none(said) : empty("No session is here yet.", ["Run ", h("code", {}, "memkernel init"), " in this folder and work with your agent, or open recorded sessions with ", h("code", {}, "memkernel ui --transcript FOLDER"), "."])),
      some.length > most && h("li", { class: "hint" }, `${num(some.length - most)} more: search for what was said.`));
    if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"] a`)?.focus();
  }
  await new Promise((resolve, reject) => {
    watch("sessions", {}, view.signal, (d) => {
      doc = d;
      const at = (s) => s.begun || s.modified;
      doc.sessions.sort((a, b) => b.live - a.live || at(b).localeCompare(at(a)));
      fill(sum, sumOf(doc.saved), doc.saved.calls > 0 && [" ", h("a", { href: "/saved" }, "By session")]);
      draw();
      resolve();
    }, (error) => (doc ? 0 : reject(new Error(error))));
    view.signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
  fill(at, h("div", { class: "title" }, h("h1", {}, "What was said"), h("label", { class: "only" }, only)), sum, state, card(null, list));
  search();
}

// none says that no session of this folder has the words, and which sessions of other folders do.
function none(d) {
  if (!d.elsewhere.length) return empty("No session has these words, here or in another folder.", ["Searched are prompts and answers: all words must be in one of them. ", h("a", { href: "/memory/search?q=" + encodeURIComponent(d.query) }, "Ask memory"), " for a question."]);
  return [h("p", { class: "lead hint" }, "No session of this folder has all these words in one prompt or answer. Sessions of other folders have:"),
    h("ol", { class: "elsewhere" }, d.elsewhere.map((f) => h("li", {}, h("b", {}, titleOf(f)), h("p", { class: "hint" }, hostName(f), " · ", when(f.begun), " · ", h("span", { class: "path" }, f.folder)), h("p", { class: "quote" }, f.text), copied(`'memkernel ui --transcript ${/\s/.test(f.path) ? `"${f.path}"` : f.path}' opens it`))))];
}

const day = (s) => new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(new Date(s.begun || s.modified)) + " " + (s.begun || s.modified).slice(0, 10);

function row(s, f) {
  return h("li", { "data-id": s.id }, h("a", { href: "/s/" + s.id, title: s.path || s.name }, h("b", {}, s.prompt || (s.calls ? s.name : "Being read: " + s.name)), s.live && badge("live", "on"),
    h("span", { class: "hint" }, [hostName(s), when(s.begun || s.modified), s.calls > 0 && `${num(s.prompts)} ${s.prompts === 1 ? "prompt" : "prompts"}, ${num(s.calls)} ${s.calls === 1 ? "answer" : "answers"}`, gainOf(s)].filter(Boolean).flatMap((x, i) => (i ? [" · ", x] : [x])))),
    f && h("a", { class: "quote", href: `/s/${s.id}?at=${f.item}` }, f.kind === "prompt" ? "asked: " : "answered: ", f.text));
}
