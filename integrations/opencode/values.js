// OpenCode's messages as those of the Messages API, and back. OpenCode keeps a call and
// its result in one part, and the steps of an answer in one message; a value is what a
// provider gets: an assistant's step, the results of its calls, or a user's words.

const INTERRUPTED = "[Tool execution was interrupted]";

/** The values of a conversation; each knows its message and the parts that it was made of. */
export function values(messages) {
  return messages.flatMap((m, at) => (m.info.role === "user" ? userValue(m, at) : stepValues(m, at)));
}

function userValue(m, at) {
  const content = m.parts.flatMap(userBlock);
  return content.length ? [{ at, parts: m.parts, message: { role: "user", content } }] : [];
}

function userBlock(part) {
  switch (part.type) {
    case "text":
      // What the host says in the user's name, such as a file for an @, is nobody's word.
      return part.ignored || !part.text ? [] : [{ type: "text", text: part.text, ...(part.synthetic ? { synthetic: true } : {}) }];
    case "file":
      return fileBlock(part);
    case "compaction":
      return [{ type: "text", text: "What did we do so far?", synthetic: true }];
    case "subtask":
      return [{ type: "text", text: "The following tool was executed by the user", synthetic: true }];
    default:
      return [];
  }
}

function fileBlock({ mime, url, filename }) {
  if (mime === "text/plain" || mime === "application/x-directory") return []; // the host shows these as text
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url ?? "")?.[1];
  if (data && mime.startsWith("image/")) return [{ type: "image", source: { type: "base64", media_type: mime, data } }];
  return [{ type: "text", text: `[file ${filename ?? url ?? ""}]` }];
}

/** An answer's steps, each followed by the results of its calls. */
function stepValues(m, at) {
  const steps = [[]];
  for (const part of m.parts) {
    if (part.type === "step-start" && steps.at(-1).length) steps.push([]);
    steps.at(-1).push(part);
  }
  return steps.flatMap((parts) => {
    const content = parts.flatMap(stepBlock);
    const tools = parts.filter((p) => p.type === "tool");
    if (!content.length) return [];
    const step = { at, parts, message: { role: "assistant", content } };
    return tools.length ? [step, { at, results: true, parts: [], message: { role: "user", content: tools.map(resultBlock) } }] : [step];
  });
}

function stepBlock(part) {
  if (part.type === "text" && part.text) return [{ type: "text", text: part.text }];
  if (part.type === "tool") return [{ type: "tool_use", id: part.callID, name: part.tool, input: part.state.input ?? {} }];
  return [];
}

function resultBlock({ callID, state }) {
  const block = { type: "tool_result", tool_use_id: callID };
  if (state.status === "completed") return { ...block, content: state.time?.compacted ? "[Old tool result content cleared]" : state.output };
  return { ...block, content: state.status === "error" ? state.error : INTERRUPTED, is_error: true };
}

/**
 * The messages that a plan's items come to. One of which everything stands is the
 * host's own object; another is a copy with what is left of it.
 */
export function messagesOf(items, given, all) {
  const shorter = new Map();
  const out = [];
  for (const it of items) {
    if (it.host) for (const v of given.slice(...it.host)) stand(out, v, all);
    else if (it.replaces) replace(out, given[it.replaces[0]], it.message, all, shorter);
    else out.push({ message: blockMessage(it.message, all) });
  }
  const perMessage = new Map();
  for (const v of given) perMessage.set(v.at, (perMessage.get(v.at) ?? 0) + 1);
  return out.map((o) => o.message ?? spell(o, all[o.at], perMessage.get(o.at), shorter));
}

function stand(out, v) {
  let last = out.at(-1);
  if (!last || last.at !== v.at) out.push((last = { at: v.at, count: 0, parts: [] }));
  last.count++;
  last.parts.push(...v.parts);
}

function replace(out, v, message, all, shorter) {
  if (v.results) for (const b of blocksOf(message)) if (b.type === "tool_result") shorter.set(b.tool_use_id, textOf(b.content));
  if (v.results || v.message.role === "assistant") return stand(out, v);
  const text = textOf(message.content);
  stand(out, { ...v, parts: [{ ...textPart(all[v.at].info, text), id: v.parts[0]?.id }] });
  out.at(-1).changed = true;
}

function spell(o, message, count, shorter) {
  const changed = o.parts.some((p) => p.type === "tool" && shorter.has(p.callID));
  if (o.count === count && !o.changed && !changed) return message;
  return { ...message, parts: o.parts.map((p) => (p.type === "tool" && shorter.has(p.callID) ? withOutput(p, shorter.get(p.callID)) : p)) };
}

function withOutput(part, text) {
  const { state } = part;
  if (state.status !== "completed") return { ...part, state: { ...state, error: text } };
  return { ...part, state: { ...state, output: text, time: { ...state.time, compacted: undefined } } };
}

/** A message of the kernel's own, in the user's name. */
function blockMessage(message, all) {
  const user = all.findLast((m) => m.info.role === "user")?.info ?? all[0].info;
  const { sessionID, agent, model } = user;
  const info = { id: "msg_memkernel", sessionID, role: "user", time: { created: 0 }, agent, model };
  return { info, parts: [textPart(info, textOf(message.content))] };
}

function textPart({ id, sessionID }, text) {
  return { id: `prt_${id}`, sessionID, messageID: id, type: "text", text, synthetic: true };
}

const blocksOf = (message) => (typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content);
const textOf = (content) => (typeof content === "string" ? content : (content ?? []).map((b) => b.text ?? "").join("\n\n"));
