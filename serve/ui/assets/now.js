// All sessions, by what was asked in them, and what memkernel saved.
import { h, fill, ask, watch, badge, num, when, card, empty, hostName, saved, gainOf } from "./lib.js";

const most = 300;

export async function show(at, view) {
  view.title("");
  at.classList.add("now");
  let doc, wanted = "";
  const gain = ask("gain", {}, view.signal);
  const list = h("ol", { class: "asked" }), sum = h("p", { class: "sum" });
  const only = h("input", { type: "search", placeholder: "words of the first prompt, an agent, a day", "aria-label": "Show only sessions with", oninput: (e) => {
    wanted = e.target.value.toLowerCase();
    draw();
  } });
  function draw() {
    const focused = document.activeElement?.closest?.("[data-id]")?.dataset.id;
    const words = wanted.split(/\s+/).filter(Boolean);
    const some = doc.sessions.filter((s) => {
      const text = [s.prompt, s.name, hostName(s), day(s)].join(" ").toLowerCase();
      return words.every((w) => text.includes(w));
    });
    fill(list, some.slice(0, most).map(row), !some.length && h("li", {}, doc.sessions.length ? empty("No session has these words.") : empty("No session is here yet.", ["Run ", h("code", {}, "memkernel init"), " in this folder and work with your agent, or open recorded sessions with ", h("code", {}, "memkernel ui --transcript FOLDER"), "."])),
      some.length > most && h("li", { class: "hint" }, `${num(some.length - most)} more: search for words of the prompt.`));
    if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"] a`)?.focus();
  }
  await new Promise((resolve, reject) => {
    watch("live", {}, view.signal, (d) => {
      doc = d;
      const at = (s) => s.begun || s.modified;
      doc.sessions.sort((a, b) => b.live - a.live || at(b).localeCompare(at(a)));
      draw();
      resolve();
    }, (error) => (doc ? 0 : reject(new Error(error))));
    view.signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
  });
  fill(at, h("div", { class: "title" }, h("h1", {}, "What was said"), h("label", { class: "only" }, only)), sum, card(null, list));
  gain.then((g) => fill(sum, g.total.calls ? [saved(g.total.billed_usd, g.total.without_usd, g.total.calls), " ", h("a", { href: "/saved" }, "By day")] : "No model call went through memkernel yet, so it has saved nothing: memkernel wrap -- claude lets it plan the calls."), (err) => err.name !== "AbortError" && fill(sum, err.message));
}

const day = (s) => new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" }).format(new Date(s.begun || s.modified)) + " " + (s.begun || s.modified).slice(0, 10);

function row(s) {
  return h("li", { "data-id": s.id }, h("a", { href: "/s/" + s.id, title: s.path || s.name }, h("b", {}, s.prompt || (s.calls ? s.name : "Being read: " + s.name)), s.live && badge("live", "on"),
    h("span", { class: "hint" }, [hostName(s), when(s.begun || s.modified), s.calls > 0 && `${num(s.prompts)} ${s.prompts === 1 ? "prompt" : "prompts"}, ${num(s.calls)} ${s.calls === 1 ? "answer" : "answers"}`, gainOf(s)].filter(Boolean).flatMap((x, i) => (i ? [" · ", x] : [x])))));
}
