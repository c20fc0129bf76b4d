// Whether all is well: the doctor, the check of the state folder, index and providers.
import { h, fill, ask, badge, num, bytes, when, table, card, tiles, tile, ago } from "./lib.js";

export async function show(at, view) {
  view.title("Health");
  const st = await ask("status", {}, view.signal);
  const doctor = h("div"), check = h("div");
  fill(at, h("div", { class: "title" }, h("h1", {}, "Health"), h("code", {}, st.state_dir)),
    tiles(tile("sessions", num(st.sessions.length + st.others.length)), tile("blobs", num(st.blobs), bytes(st.blob_bytes)), tile("secrets masked", num(st.masked.reduce((n, m) => n + m.count, 0))), tile("forgotten", num(st.forgotten)), tile("index", st.memory.index.state, st.memory.index.behind ? "behind" : ""), tile("chunks", num(st.memory.index.chunks), num(st.memory.index.files) + " files")),
    h("div", { class: "two" }, doctor, h("div", {}, index(st), providers(st), sessions(st))), check);
  later(doctor, "Doctor", ask("doctor", {}, view.signal), (d) => table(["", "area", "what", "way out"], d.rows.map((r) => [badge(r.state, { ok: "good", warn: "warn", fail: "poor" }[r.state]), r.area.replaceAll("_", " "), r.what, h("span", { class: "hint" }, r.hint)]), { label: "doctor", class: "prose" }));
  later(check, "State folder", ask("check", {}, view.signal), (d) => (d.findings.length ? table(["session", "what", "way out"], d.findings.map((f) => [f.session, f.what, h("span", { class: "hint" }, f.hint)]), { label: "findings", class: "prose" }) : h("p", {}, badge("ok", "good"), " every journal, page and blob is what it should be.")));
}

function later(el, title, asked, draw) {
  fill(el, card(title, h("p", { class: "hint" }, "looking…")));
  asked.then((d) => fill(el, card(title, draw(d))), (err) => err.name !== "AbortError" && fill(el, card(title, h("p", { class: "bad" }, err.message))));
}

const row = (name, ...value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

function index(st) {
  const m = st.memory, i = m.index;
  return card("Index", h("dl", { class: "facts wide" }, row("state", badge(i.state, i.state === "ok" ? "good" : "warn"), i.detail && " " + i.detail), row("kept in", h("code", {}, i.path), ` (${i.backend})`), row("files, chunks", `${num(i.files)}, ${num(i.chunks)}`), row("text, file", `${bytes(i.text_bytes)}, ${bytes(i.file_bytes)}`),
    row("behind by", i.behind ? `${num(i.lag.files)} files, ${bytes(i.lag.bytes)}` : "nothing"), row("vectors", i.model ? `${num(i.vectors)} by ${i.model}` : "none"), row("last brought up to date", m.sync.last ? [when(m.sync.last.time), " by ", m.sync.last.reason.replaceAll("_", " ")] : "–")));
}

function providers(st) {
  return card("Providers", h("dl", { class: "facts wide" }, row("vectors", st.memory.embedder || "nobody: search is by words"), row("past sessions", st.memory.sessions.enabled ? `${num(st.memory.sessions.sessions)} can be searched` : "are not searched")),
    st.summary_models.length > 0 && table(["model", "state", "#failures", "answered"], st.summary_models.map((m) => [m.model, m.reason || "ok", num(m.failures), when(m.answered)]), { label: "models" }));
}

function sessions(st) {
  if (!st.sessions.length && !st.unreadable.length) return null;
  return card("Sessions kept", st.unreadable.map((u) => h("p", { class: "bad" }, u.session, ": ", u.what)), table(["session", "#pages", "#turns", "#cuts", "#faults", "last"], st.sessions.map((s) => [s.key, num(s.pages), num(s.turns), num(s.lines.reduce((n, l) => n + l.cuts, 0)), num(s.paging.explicit_faults), s.lines[0] ? ago(s.lines[0].last_start) : ""]), { label: "sessions kept" }));
}
