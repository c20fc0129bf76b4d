// Prompts of language models as @ai-sdk/provider has them, which the AI SDK sends, and
// frameworks that call its models.

/** A prompt's system messages, their text, and what was said behind them. */
export function parted(prompt) {
  const at = prompt.findIndex((m) => m.role !== "system");
  const system = at < 0 ? prompt : prompt.slice(0, at);
  return { system, systemText: system.map((m) => m.content).join("\n\n") || undefined, said: at < 0 ? [] : prompt.slice(at) };
}

/** How a prompt's messages are written as those of the Messages API. */
export const PROMPT = {
  dialect: "anthropic",

  to(m) {
    if (m.role === "system") return { role: "user", content: [{ type: "text", text: m.content, synthetic: true }] };
    const role = m.role === "tool" ? "user" : m.role;
    return { role, content: m.content.map(blockOf).filter(Boolean) };
  },

  from(message, replaced) {
    const parts = replaced.flatMap((m) => (Array.isArray(m.content) ? m.content : []));
    const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    if (message.role === "assistant") {
      const reasoning = blocks.some((b) => b.type === "tool_use") ? parts.filter((p) => p.type === "reasoning") : [];
      return [{ ...only(replaced, "assistant"), role: "assistant", content: [...reasoning, ...blocks.map((b) => partOf(b, parts))] }];
    }
    // A result and words that follow it are two messages here.
    const out = [];
    for (const b of blocks) {
      const role = b.type === "tool_result" ? "tool" : "user";
      if (out.at(-1)?.role !== role) out.push({ ...only(replaced, role), role, content: [] });
      out.at(-1).content.push(partOf(b, parts));
    }
    return out;
  },
};

// only is the message that is replaced, if it is one of that role: what else it has stands.
function only(replaced, role) {
  return replaced.length === 1 && replaced[0].role === role ? replaced[0] : {};
}

function blockOf(p) {
  switch (p.type) {
    case "text":
      return { type: "text", text: p.text };
    case "tool-call":
      return { type: "tool_use", id: p.toolCallId, name: p.toolName, input: parsed(p.input) };
    case "tool-result":
      return { type: "tool_result", tool_use_id: p.toolCallId, content: resultText(p.output), ...(p.output.type.startsWith("error") ? { is_error: true } : {}) };
    case "file":
      return { type: "text", text: placeholder(p) };
    default:
      return null; // reasoning stays with its message; approvals are the host's
  }
}

// A part of the framework's for a block: the one that it was made of, if it says the same.
function partOf(b, parts) {
  if (b.type === "tool_use") {
    const own = parts.find((p) => p.type === "tool-call" && p.toolCallId === b.id);
    return own ?? { type: "tool-call", toolCallId: b.id, toolName: b.name, input: b.input ?? {} };
  }
  if (b.type === "tool_result") {
    const own = parts.find((p) => p.type === "tool-result" && p.toolCallId === b.tool_use_id);
    if (!own) throw new Error(`there is no result of ${b.tool_use_id}`);
    const value = typeof b.content === "string" ? b.content : (b.content ?? []).map((c) => c.text ?? "").join("");
    return value === resultText(own.output) ? own : { ...own, output: { type: b.is_error ? "error-text" : "text", value } };
  }
  return parts.find((p) => p.type === "file" && placeholder(p) === b.text) ?? { type: "text", text: b.text ?? "" };
}

function resultText(output) {
  if (output.type === "text" || output.type === "error-text") return output.value;
  if (output.type === "execution-denied") return output.reason ?? "the user denied this call";
  if (output.type === "content") return output.value.map((c) => c.text ?? `[${c.type}]`).join("\n");
  return JSON.stringify(output.value);
}

function placeholder(p) {
  return `[file ${p.filename ?? ""} ${p.mediaType}]`;
}

/** A call's input, which models write as text. */
export function parsed(input) {
  if (typeof input !== "string") return input ?? {};
  try {
    return JSON.parse(input);
  } catch {
    return { input };
  }
}
