// The views by address, and what moves between them.
import { h, fill, say, empty } from "./lib.js";

const views = [
  [/^\/$/, "now", () => import("./now.js"), () => []],
  [/^\/s\/([^/]+)$/, "now", () => import("./talk.js"), (m) => [m[1]]],
  [/^\/s\/([^/]+)\/numbers$/, "now", () => import("./session.js"), (m) => [m[1]]],
  [/^\/s\/([^/]+)\/c\/(\d+)$/, "now", () => import("./call.js"), (m) => [m[1], Number(m[2])]],
  [/^\/memory(?:\/(\w+))?$/, "memory", () => import("./memory.js"), (m) => [m[1] || "files"]],
  [/^\/saved$/, "saved", () => import("./saved.js"), () => []],
  [/^\/health$/, "health", () => import("./health.js"), () => []],
];

const main = document.getElementById("main");
let running;

async function show() {
  running?.abort();
  const mine = (running = new AbortController());
  const found = views.map(([at, ...rest]) => [location.pathname.match(at), ...rest]).find(([m]) => m);
  for (const a of document.querySelectorAll("nav a")) {
    if (found && a.dataset.view === found[1]) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (!found) {
    fill(main, empty("There is no such view."));
    return;
  }
  main.setAttribute("aria-busy", "true");
  try {
    const view = await found[2]();
    if (mine.signal.aborted) return;
    const at = h("div", { class: "view" });
    await view.show(at, { signal: mine.signal, query: new URLSearchParams(location.search), go, title }, ...found[3](found[0]));
    if (!mine.signal.aborted && !at.isConnected) fill(main, at);
  } catch (err) {
    if (mine.signal.aborted || err.name === "AbortError") return;
    title("trouble");
    fill(main, empty(err.status === 401 ? "This window is closed: open the one-time link of a new memkernel ui." : err.message));
  } finally {
    if (!mine.signal.aborted) main.removeAttribute("aria-busy");
  }
}

function title(text) {
  document.title = (text ? text.slice(0, 80) + " · " : "") + "memkernel";
  say(text || "Sessions");
}

function go(to, replace) {
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  show();
  if (!replace) scrollTo(0, 0);
}

document.addEventListener("click", (e) => {
  const a = e.target.closest("a[href]");
  if (!a || e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || a.origin !== location.origin || a.getAttribute("href").startsWith("#")) return;
  e.preventDefault();
  go(a.pathname + a.search);
});
addEventListener("popstate", show);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
show();
