// Whether all is well: the doctor, the check of the state folder, index and providers.
import { h, fill, ask, badge, num, bytes, when, table, card, tiles, tile, copied } from "./lib.js";

export async function show(at, view) {
  view.title("Health");
  const sum = h("p", { class: "sum" }, "Looking…"), doctor = h("div"), check = h("div"), more = h("div", { class: "rows" });
  fill(at, h("h1", {}, "Health"), sum, doctor, check, h("details", { class: "rows" }, h("summary", {}, "Index, providers and the state folder"), more));
  const rank = { fail: 0, warn: 1, ok: 2 };
  const asked = ask("doctor", {}, view.signal);
  asked.then((d) => {
    const bad = d.rows.filter((r) => r.state !== "ok").length;
    fill(sum, bad ? `${num(bad)} ${bad === 1 ? "thing needs" : "things need"} you; the rest is well.` : "All is well.");
  }, (err) => err.name !== "AbortError" && fill(sum, ""));
  later(doctor, "Doctor", asked, (d) => table(["", "area", "what", "what to do"], [...d.rows].sort((x, y) => rank[x.state] - rank[y.state]).map((r) => [badge(r.state, { ok: "good", warn: "warn", fail: "poor" }[r.state]), r.area.replaceAll("_", " "), r.what, r.hint ? copied(r.hint) : r.state === "ok" ? "" : "nothing that a command could mend"]), { label: "doctor", class: "prose" }));
  later(check, "State folder", ask("check", {}, view.signal), (d) => (d.findings.length ? table(["session", "what", "what to do"], d.findings.map((f) => [f.session, f.what, copied(f.hint)]), { label: "findings", class: "prose" }) : h("p", {}, badge("ok", "good"), " every journal, page and blob is what it should be.")));
  const st = await ask("status", {}, view.signal);
  fill(more, h("p", { class: "hint" }, "kept in ", h("code", {}, st.state_dir)), tiles(tile("sessions", num(st.sessions.length + st.others.length)), tile("blobs", num(st.blobs), bytes(st.blob_bytes)), tile("secrets masked", num(st.masked.reduce((n, m) => n + m.count, 0))), tile("forgotten", num(st.forgotten)), tile("index", st.memory.index.state, st.memory.index.behind ? "behind" : ""), tile("chunks", num(st.memory.index.chunks), num(st.memory.index.files) + " files")), index(st), providers(st));
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
