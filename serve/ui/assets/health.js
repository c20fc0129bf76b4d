// Whether all is well: one list of what the doctor and the audit of memory found.
import { h, fill, ask, badge, num, table, card, copied } from "./lib.js";

const rank = { fail: 0, warn: 1, note: 2, ok: 3 };
const states = { error: "fail", warning: "warn" };
const place = (p) => h("a", { href: "/memory?path=" + encodeURIComponent(p.path) + (p.start_line ? "&line=" + p.start_line : "") }, p.path + (p.start_line ? ":" + p.start_line : ""));

export async function show(at, view) {
  view.title("Health");
  const sum = h("p", { class: "sum", role: "status" }, "Looking…"), list = h("div", { class: "rows" });
  fill(at, h("h1", {}, "Health"), sum, list);
  const look = (name) => ask(name, {}, view.signal).catch((err) => {
    if (err.name === "AbortError") throw err;
    return { findings: [{ severity: "error", check: name, what: err.message, others: [] }], checks: [] };
  });
  Promise.all([look("doctor"), look("audit")]).then(([doctor, audit]) => {
    const all = [...doctor.findings.map((f) => ({ state: states[f.severity] || f.severity, area: f.check, what: f.what, hint: f.hint })),
      ...audit.findings.map((f) => ({ state: states[f.severity] || f.severity, area: f.check, what: [f.path && [place(f), " "], f.what, f.others.slice(0, 3).map((o) => [" ", place(o)])], hint: f.hint }))].sort((x, y) => rank[x.state] - rank[y.state]);
    const bad = all.filter((r) => r.state !== "ok"), well = all.filter((r) => r.state === "ok");
    const rows = (some) => table(["", "area", "what", "what to do"], some.map((r) => [badge(r.state, { ok: "good", warn: "warn", fail: "poor" }[r.state]), r.area.replaceAll("_", " "), r.what, r.hint ? copied(r.hint) : r.state === "ok" ? "" : "nothing that a command could mend"]), { label: "findings", class: "prose" });
    const held = audit.checks.filter((c) => !c.findings && !c.skipped);
    fill(sum, bad.length ? `${num(bad.length)} ${bad.length === 1 ? "thing needs" : "things need"} you; the rest is well.` : "All is well.");
    fill(list, bad.length > 0 && card(null, rows(bad)), h("details", { class: "card", open: !bad.length }, h("summary", {}, `${num(well.length + held.length)} checks found nothing`), rows([...well, ...held.map((c) => ({ state: "ok", area: c.id, what: c.title }))])));
  }, (err) => err.name !== "AbortError" && fill(sum, err.message));
}
