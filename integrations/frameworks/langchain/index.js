// memkernel for LangChain and LangGraph: a middleware that plans every model call of an
// agent and tells the kernel what was said, a store over the workspace's memory, and
// memory's tools.

import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createMiddleware } from "langchain";
import { Kernel, textOf } from "memkernel-client/agent";

export { Kernel };
export { MemkernelStore } from "./store.js";

/**
 * A middleware for createAgent. The thread of a run (configurable.thread_id) is its session.
 * What it changes is seen by the model alone: the state keeps every message.
 */
export function memkernel(options = {}) {
  const kernel = options instanceof Kernel ? options : new Kernel(options);
  return createMiddleware({
    name: "memkernel",
    async wrapModelCall(request, handler) {
      const said = request.messages;
      const conversation = kernel.conversation(FORM, request.runtime?.configurable?.thread_id);
      const model = kernel.options.model ?? request.model?.model ?? request.model?.modelName;
      const tools = (request.tools ?? []).map(toolOf).filter(Boolean);
      const { messages, plan } = await conversation.plan(said, {
        model,
        system: textOf(request.systemMessage?.content) || request.systemPrompt || undefined,
        tools: tools.length ? tools : undefined,
        resolver: tools.some((t) => t.function?.name === "memory_get") ? "memory_get" : undefined,
      });
      const answer = await handler({ ...request, messages });
      const message = AIMessage.isInstance(answer) ? answer : answer?.messages?.findLast?.((m) => AIMessage.isInstance(m));
      if (message) {
        const more = (message.tool_calls ?? []).length > 0;
        // A call without its result is told with it, by the next call of the model.
        await conversation.observe(more ? said : [...said, message], { plan, usage: billed(message.usage_metadata), model, more });
      }
      return answer;
    },
  });
}

/** Memory's tools for an agent. names chooses among them. */
export async function memoryTools(kernel, { names, session } = {}) {
  const defs = await kernel.tools(names, session);
  return defs.map((d) =>
    tool((args, config) => kernel.callTool(d.name, args, session ?? config?.configurable?.thread_id), { name: d.name, description: d.description, schema: d.inputSchema }),
  );
}

function toolOf(t) {
  try {
    return t.lc_namespace || t.schema ? convertToOpenAITool(t) : t;
  } catch {
    return t.name ? { type: "function", function: { name: t.name, description: t.description } } : null;
  }
}

function billed(usage) {
  if (!usage?.input_tokens) return undefined;
  const { cache_read: read = 0, cache_creation: written = 0 } = usage.input_token_details ?? {};
  return { input_tokens: Math.max(0, usage.input_tokens - read - written), cache_read_tokens: read, cache_write_5m_tokens: written, cache_write_1h_tokens: 0, output_tokens: usage.output_tokens ?? 0 };
}

/** How LangChain's messages are written as those of chat completions. */
const FORM = {
  dialect: "openai",

  to(m) {
    switch (m.getType()) {
      case "ai": {
        const calls = (m.tool_calls ?? []).map((c) => ({ id: c.id, type: "function", function: { name: c.name, arguments: JSON.stringify(c.args ?? {}) } }));
        return { role: "assistant", content: written(m.content), ...(calls.length ? { tool_calls: calls } : {}) };
      }
      case "tool":
        return { role: "tool", tool_call_id: m.tool_call_id, content: written(m.content) };
      case "system":
        return { role: "system", content: written(m.content) };
      default:
        return { role: "user", content: written(m.content) };
    }
  },

  from(message, replaced) {
    const text = textOf(message.content);
    const own = replaced.length === 1 ? replaced[0] : undefined;
    switch (message.role) {
      case "assistant": {
        const ids = new Set((message.tool_calls ?? []).map((c) => c.id));
        const calls = replaced.flatMap((m) => m.tool_calls ?? []).filter((c) => ids.has(c.id));
        if (calls.length !== ids.size) throw new Error("a call was never made");
        const others = Array.isArray(own?.content) ? own.content.filter((c) => c.type !== "text") : [];
        const content = others.length ? [...others, ...(text ? [{ type: "text", text }] : [])] : text;
        return [new AIMessage({ id: own?.id, name: own?.name, additional_kwargs: withoutCalls(own?.additional_kwargs), content, tool_calls: calls })];
      }
      case "tool": {
        const result = replaced.find((m) => m.tool_call_id === message.tool_call_id);
        if (!result) throw new Error(`there is no result of ${message.tool_call_id}`);
        return [new ToolMessage({ id: result.id, name: result.name, status: result.status, tool_call_id: result.tool_call_id, content: text })];
      }
      case "system":
        return [own ?? new SystemMessage(text)];
      default: {
        const files = Array.isArray(own?.content) ? own.content.filter((c) => c.type !== "text") : [];
        const kept = files.filter((c) => text.includes(placeholder(c)));
        return [new HumanMessage({ id: own?.id, name: own?.name, content: kept.length ? [{ type: "text", text }, ...kept] : text })];
      }
    }
  },
};

// withoutCalls: where providers repeat a message's calls, they would be those that left.
function withoutCalls({ tool_calls: _, ...rest } = {}) {
  return rest;
}

function written(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((c) => (typeof c === "string" ? c : c.type === "text" ? c.text : c.type === "tool_use" || c.type === "tool_call" ? "" : placeholder(c))).join("");
}

function placeholder(c) {
  return `[${c.type}]`;
}
