
/** Marks what the kernel said: within a turn the host hands back what it was given. */
const ours = "__memkernel";

export function sent(messages) {
  return messages.filter((m) => m?.excludeFromContext !== true && !m?.[ours]);
}

/**
 * Names for messages. The host gives them no ids, and spells a message otherwise when
 * it commits it than when it shows it again; role and time stay.
 */
export function keysOf(messages) {
  const seen = new Map();
  return messages.map((m) => {
    const key = `${m.role}-${m.timestamp ?? ""}`;
    const n = seen.get(key) ?? 0;
    seen.set(key, n + 1);
    return n ? `${key}.${n}` : key;
  });
}

/** The host strips the ids of tool calls for some providers, in history only. */
const plainId = (id) => (typeof id === "string" ? id.replace(/[^A-Za-z0-9]/g, "") : id);

function withIds(message, rename) {
  if (message.role === "toolResult") return { ...message, toolCallId: rename(message.toolCallId) };
  if (message.role !== "assistant" || !Array.isArray(message.content)) return message;
  if (!message.content.some((b) => b.type === "toolCall")) return message;
  return { ...message, content: message.content.map((b) => (b.type === "toolCall" ? { ...b, id: rename(b.id) } : b)) };
}

export const canonical = (message) => JSON.stringify(withIds(message, plainId));

export function textOf(message) {
  const c = message.content;
  if (typeof c === "string") return c;
  if (!Array.isArray(c) || !c.every((b) => b.type === "text")) return undefined;
  return c.map((b) => b.text).join("\n");
}

/**
 * The messages of a plan, without the prompt: the host appends that itself. What the
 * kernel says behind a user's words therefore stands before them, now and in every
 * later request, so that what was sent keeps its bytes.
 */
export function planned(items, host, prompt) {
  const rows = [];
  for (const it of items) {
    if (it.host) for (let i = it.host[0]; i < it.host[1]; i++) rows.push({ message: host[i], own: true });
    else if (it.replaces) rows.push({ message: restored(it, host), own: true });
    else rows.push({ message: note(it.message), own: false });
  }
  const at = prompt === undefined ? -1 : rows.findLastIndex((r) => !r.own && r.message.role === "user" && textOf(r.message) === prompt);
  return notesFirst(rows, at).map((r) => r.message);
}

/** note is a message of the kernel's. It has no time: the host would write 1970 in front. */
function note({ timestamp, ...message }) {
  return { ...message, ...(timestamp ? { timestamp } : {}), [ours]: true };
}

/** notesFirst moves notes before the user's message that they stand behind, and drops the prompt. */
function notesFirst(rows, promptAt) {
  const out = [];
  for (let i = 0; i < rows.length; ) {
    const r = rows[i];
    const words = i === promptAt || (r.own && r.message.role === "user");
    let end = i + 1;
    while (words && end < rows.length && !rows[end].own && end !== promptAt) end++;
    out.push(...rows.slice(i + 1, end));
    if (i !== promptAt) out.push(r);
    i = end;
  }
  return out;
}

/** restored is a message that the kernel shows otherwise, as the host would spell it. */
function restored(it, host) {
  const was = host[it.replaces[0]];
  const text = textOf(it.message);
  if (was.role === "user" && text !== undefined && text === textOf(was)) return was;
  const ids = new Map();
  for (const m of host.slice(...it.replaces)) withIds(m, (id) => (ids.set(plainId(id), id), id));
  return withIds(it.message, (id) => ids.get(id) ?? id);
}
