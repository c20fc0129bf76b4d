// memkernel for the Vercel AI SDK: a middleware that plans every prompt of a language
// model and tells the kernel what was said, and memory's tools.

import { jsonSchema, tool } from "ai";
import { Kernel } from "memkernel-client/agent";

export { Kernel };

/**
 * A middleware for wrapLanguageModel. Beside the options of Kernel, or a Kernel in place of
 * them, a call may name its session: providerOptions: { memkernel: { session: "…" } }.
 */
export function memkernel(options = {}) {
  const kernel = options instanceof Kernel ? options : new Kernel(options);
  const planned = new WeakMap();

  return {
    specificationVersion: "v4",

    // Here and nowhere else: what prepareStep returns is carried into the next step.
    async transformParams({ params, model }) {
      const session = params.providerOptions?.memkernel?.session;
      const at = params.prompt.findIndex((m) => m.role !== "system");
      const system = at < 0 ? params.prompt : params.prompt.slice(0, at);
      const said = at < 0 ? [] : params.prompt.slice(at);
      const conversation = kernel.conversation(FORM, session);
      const modelId = kernel.options.model ?? model.modelId;
      const tools = (params.tools ?? []).map((t) => ({ name: t.name, description: t.description, input_schema: t.inputSchema }));
      const { messages, plan } = await conversation.plan(said, {
        model: modelId,
        system: system.map((m) => m.content).join("\n\n") || undefined,
        tools: tools.length ? tools : undefined,
        resolver: tools.some((t) => t.name === "page_expand") ? "page_expand" : undefined,
      });
      const sent = { ...params, prompt: [...system, ...messages] };
      planned.set(sent, { conversation, said, plan, model: modelId });
      return sent;
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await observe(planned.get(params), result.content, result.usage);
      return result;
    },

    async wrapStream({ doStream, params }) {
      const result = await doStream();
      const heard = listen();
      const stream = result.stream.pipeThrough(
        new TransformStream({
          transform(part, controller) {
            heard.part(part);
            controller.enqueue(part);
          },
          // A stream that was broken off is no answer.
          async flush() {
            if (heard.usage) await observe(planned.get(params), heard.content, heard.usage);
          },
        }),
      );
      return { ...result, stream };
    },
  };
}

/** Memory's tools for generateText and agents, by name. names chooses among them. */
export async function memoryTools(kernel, { names, session } = {}) {
  const defs = await kernel.tools(names, session);
  return Object.fromEntries(
    defs.map((d) => [
      d.name,
      tool({ description: d.description, inputSchema: jsonSchema(d.inputSchema), execute: (args) => kernel.callTool(d.name, args, session) }),
    ]),
  );
}

async function observe(call, content, usage) {
  if (!call) return;
  const answer = content.filter((p) => ["text", "reasoning", "tool-call"].includes(p.type)).map((p) => (p.type === "tool-call" ? { ...p, input: parsed(p.input) } : p));
  if (!answer.length) return;
  const more = answer.some((p) => p.type === "tool-call" && !p.providerExecuted);
  // A call without its result is told with it, by the next step.
  const messages = more ? call.said : [...call.said, { role: "assistant", content: answer }];
  await call.conversation.observe(messages, { plan: call.plan, usage: billed(usage), model: call.model, more });
}

function billed(usage) {
  const { total, noCache, cacheRead, cacheWrite } = usage?.inputTokens ?? {};
  if (total === undefined && noCache === undefined) return undefined;
  const read = cacheRead ?? 0, written = cacheWrite ?? 0;
  return {
    input_tokens: noCache ?? Math.max(0, total - read - written),
    cache_read_tokens: read,
    cache_write_5m_tokens: written,
    cache_write_1h_tokens: 0,
    output_tokens: usage.outputTokens?.total ?? 0,
  };
}

// listen puts the parts of a stream together.
function listen() {
  const texts = new Map();
  const heard = { content: [], usage: undefined };
  heard.part = (p) => {
    if (p.type === "text-start") {
      texts.set(p.id, { type: "text", text: "" });
      heard.content.push(texts.get(p.id));
    } else if (p.type === "text-delta" && texts.has(p.id)) texts.get(p.id).text += p.delta;
    else if (p.type === "tool-call") heard.content.push(p);
    else if (p.type === "finish") heard.usage = p.usage;
  };
  return heard;
}

/** How the SDK's messages are written as those of the Messages API. */
const FORM = {
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

function parsed(input) {
  if (typeof input !== "string") return input ?? {};
  try {
    return JSON.parse(input);
  } catch {
    return { input };
  }
}
