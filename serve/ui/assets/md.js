// Markdown, lightly: paragraphs, headings, lists, code. Everything else stays as it was typed, and
// no text becomes markup or a link.
import { h } from "./lib.js";

// inline gives a line's text with code and emphasis set apart.
export function inline(text) {
  const out = [];
  let last = 0;
  for (const m of text.matchAll(/(`+)(.+?)\1(?!`)|\*\*(\S(?:.*?\S)?)\*\*/g)) {
    out.push(text.slice(last, m.index), m[2] !== undefined ? h("code", {}, m[2]) : h("strong", {}, m[3]));
    last = m.index + m[0].length;
  }
  out.push(text.slice(last));
  return out;
}

const item = /^(\s*)(?:[-*+•]|(\d{1,9})[.)])\s+(.*)$/;

// md renders a text.
export function md(text) {
  const out = [], lines = text.split("\n");
  let para = [], list = null;
  const end = () => {
    if (para.length) out.push(h("p", {}, para.flatMap((l, i) => (i ? [h("br"), ...inline(l)] : inline(l)))));
    if (list) out.push(h(list.tag, list.start > 1 ? { start: list.start } : {}, list.items.map(([depth, parts]) => h("li", depth && { class: "in" + Math.min(depth, 3) }, parts))));
    para = [];
    list = null;
  };
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i], fence = line.match(/^\s*(`{3,}|~{3,})/), head = line.match(/^(#{1,6})\s+(.*)$/), li = line.match(item);
    if (fence) {
      end();
      const code = [];
      while (++i < lines.length && !lines[i].trim().startsWith(fence[1])) code.push(lines[i]);
      out.push(h("pre", { class: "text", tabindex: "0" }, code.join("\n")));
    } else if (head) {
      end();
      out.push(h("p", { class: "head" }, inline(head[2])));
    } else if (/^\s*\|.*\|\s*$/.test(line)) {
      end();
      const rows = [line];
      while (i + 1 < lines.length && /^\s*\|.*\|\s*$/.test(lines[i + 1])) rows.push(lines[++i]);
      const cells = rows.filter((r) => !/^[\s|:-]+$/.test(r)).map((r) => r.trim().slice(1, -1).split("|").map((c) => c.trim()));
      out.push(h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" }, h("table", { class: "prose" }, cells.map((r, n) => h("tr", {}, r.map((c) => h(n ? "td" : "th", {}, inline(c))))))));
    } else if (li) {
      const tag = li[2] ? "ol" : "ul", depth = Math.floor(li[1].length / 2);
      if (!list || list.tag !== tag && !depth) {
        end();
        list = { tag, start: Number(li[2] || 1), items: [] };
      }
      list.items.push([depth, inline(li[3])]);
    } else if (!line.trim()) {
      if (para.length || !lines[i + 1]?.match(item)) end();
    } else if (list && /^\s/.test(line)) {
      list.items[list.items.length - 1][1].push(h("br"), ...inline(line.trim()));
    } else {
      if (list) end();
      para.push(line);
    }
  }
  end();
  return out;
}
