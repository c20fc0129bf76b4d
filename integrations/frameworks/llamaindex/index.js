// memkernel for LlamaIndex.TS: an LLM whose calls are planned, and memory's tools.

import { tool } from "@llamaindex/core/tools";
import { Kernel, textOf } from "memkernel-client/agent";

export { Kernel };

/** An LLM like another one, whose chats are planned and told of. session names its conversation. */
export function memkernel(llm, options = {}, { session } = {}) {
  const kernel = options instanceof Kernel ? options : new Kernel(options);
  const conversation = kernel.conversation(FORM, session);

  async function chat(params) {
    const at = params.messages.findIndex((m) => !["system", "developer"].includes(m.role));
    const system = at < 0 ? params.messages : params.messages.slice(0, at);
    const said = at < 0 ? [] : params.messages.slice(at);
    const model = kernel.options.model ?? llm.metadata?.model;
    const tools = (params.tools ?? []).map((t) => ({ type: "function", function: { name: t.metadata.name, description: t.metadata.description, parameters: t.metadata.parameters } }));
    const { messages, plan } = await conversation.plan(said, {
      model,
      system: system.map((m) => textOf(m.content)).join("\n\n") || undefined,
      tools: tools.length ? tools : undefined,
      resolver: tools.some((t) => t.function.name === "memory_get") ? "memory_get" : undefined,
    });
    const sent = { ...params, messages: [...system, ...messages] };
    const observe = (text, calls, usage) => {
      // A call without its result is told with it, by the next chat.
      const heard = calls ? said : [...said, { role: "assistant", content: text }];
      return calls || text ? conversation.observe(heard, { plan, usage, model, more: calls }) : undefined;
    };
    if (!params.stream) {
      const answer = await llm.chat(sent);
      await observe(textOf(answer.message.content), Boolean(answer.message.options?.toolCall?.length), answer.raw?.usage);
      return answer;
    }
    const chunks = await llm.chat(sent);
    return (async function* () {
      let text = "", calls = false, usage;
      for await (const chunk of chunks) {
        text += chunk.delta ?? "";
        calls ||= Boolean(chunk.options?.toolCall?.length);
        usage = chunk.raw?.usage ?? usage;
        yield chunk;
      }
      // A stream that was broken off does not come here, and is no answer.
      await observe(text, calls, usage);
    })();
  }

  return new Proxy(llm, {
    get(target, name) {
      if (name === "chat") return chat;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Memory's tools for an agent. names chooses among them. */
export async function memoryTools(kernel, { names, session } = {}) {
  const defs = await kernel.tools(names, session);
  return defs.map((d) => tool({ name: d.name, description: d.description, parameters: d.inputSchema, execute: (args) => kernel.callTool(d.name, args, session) }));
}

/** How LlamaIndex's messages are written as those of chat completions. */
const FORM = {
  dialect: "openai",

  to(m) {
    const { toolCall, toolResult } = m.options ?? {};
    if (toolResult) return { role: "tool", tool_call_id: toolResult.id, content: written(m.content) || resultText(toolResult) };
    if (m.role === "assistant") {
      const calls = (toolCall ?? []).map((c) => ({ id: c.id, type: "function", function: { name: c.name, arguments: typeof c.input === "string" ? c.input : JSON.stringify(c.input ?? {}) } }));
      return { role: "assistant", content: written(m.content), ...(calls.length ? { tool_calls: calls } : {}) };
    }
    return { role: m.role === "user" ? "user" : "system", content: written(m.content) };
  },

  from(message, replaced) {
    const text = textOf(message.content);
    const own = replaced.length === 1 ? replaced[0] : undefined;
    if (message.role === "tool") {
      const result = replaced.find((m) => m.options?.toolResult?.id === message.tool_call_id);
      if (!result) throw new Error(`there is no result of ${message.tool_call_id}`);
      return [{ ...result, content: text, options: { ...result.options, toolResult: { ...result.options.toolResult, result: text } } }];
    }
    if (message.role === "assistant") {
      const ids = (message.tool_calls ?? []).map((c) => c.id);
      const calls = replaced.flatMap((m) => m.options?.toolCall ?? []).filter((c) => ids.includes(c.id));
      if (calls.length !== ids.length) throw new Error("a call was never made");
      return [{ role: "assistant", content: text, ...(calls.length ? { options: { ...own?.options, toolCall: calls } } : {}) }];
    }
    const files = Array.isArray(own?.content) ? own.content.filter((c) => c.type !== "text" && text.includes(placeholder(c))) : [];
    return [{ ...own, role: own?.role ?? "user", content: files.length ? [{ type: "text", text }, ...files] : text }];
  },
};

function written(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((c) => (c.type === "text" ? c.text : placeholder(c))).join("");
}

function resultText({ result }) {
  return typeof result === "string" ? result : JSON.stringify(result ?? "");
}

function placeholder(c) {
  return `[${c.type}]`;
}
