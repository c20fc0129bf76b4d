// memkernel for Mastra: a processor that plans every prompt of an agent and tells the kernel
// what was said, and memory's tools. Threads that are kept whole are in memory.js.

import { MASTRA_THREAD_ID_KEY } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import { Kernel } from "memkernel-client/agent";
import { parted, PROMPT } from "memkernel-client/prompt";

export { Kernel };

/**
 * An input processor for an agent. The thread of a call (memory: { thread }) is its session.
 * What it changes is seen by the model alone: the thread keeps every message.
 */
export function memkernel(options = {}) {
  const kernel = options instanceof Kernel ? options : new Kernel(options);
  const calls = new WeakMap(); // by the state that Mastra keeps of a run
  return {
    id: "memkernel",

    // The only place where a processor sees the tools.
    processInputStep({ tools, activeTools, state }) {
      state.tools = Object.entries(tools ?? {}).filter(([name]) => !activeTools || activeTools.includes(name)).map(([name, t]) => toolOf(name, t));
    },

    async processLLMRequest({ prompt, model, requestContext, state }) {
      const { system, said, systemText } = parted(prompt);
      const conversation = kernel.conversation(PROMPT, threadOf(requestContext));
      const modelId = kernel.options.model ?? model.modelId;
      const tools = state.tools ?? [];
      const { messages, plan } = await conversation.plan(said, {
        model: modelId,
        system: systemText,
        tools: tools.length ? tools : undefined,
        resolver: tools.some((t) => t.name === "memory_get") ? "memory_get" : undefined,
      });
      calls.set(state, { conversation, said, plan, model: modelId });
      return { prompt: [...system, ...messages] };
    },

    async processLLMResponse({ chunks, fromCache, state }) {
      const call = calls.get(state);
      calls.delete(state);
      const finish = chunks.find((c) => c.type === "finish");
      // A stream that was broken off is no answer.
      if (!call || fromCache || !finish || chunks.some((c) => ["error", "abort", "tripwire"].includes(c.type))) return;
      const content = answered(chunks);
      if (!content.length) return;
      const more = content.some((p) => p.type === "tool-call" && !p.providerExecuted);
      // A call without its result is told with it, by the next step.
      const messages = more ? call.said : [...call.said, { role: "assistant", content }];
      await call.conversation.observe(messages, { plan: call.plan, usage: billed(finish), model: call.model, more });
    },
  };
}

/** Memory's tools for an agent, by name. names chooses among them. */
export async function memoryTools(kernel, { names, session } = {}) {
  const defs = await kernel.tools(names, session);
  return Object.fromEntries(
    defs.map((d) => [
      d.name,
      createTool({ id: d.name, description: d.description, inputSchema: d.inputSchema, execute: (args, context) => kernel.callTool(d.name, args, session ?? threadOf(context?.requestContext)) }),
    ]),
  );
}

function threadOf(context) {
  return context?.get("MastraMemory")?.thread?.id ?? context?.get(MASTRA_THREAD_ID_KEY);
}

// toolOf describes a tool as the Messages API has it; what it takes is a JSON schema by now,
// or one that can say itself as one.
function toolOf(name, t) {
  const schema = t.parameters ?? t.inputSchema;
  return { name, description: t.description, input_schema: schema?.jsonSchema ?? schema?.["~standard"]?.jsonSchema?.input({ target: "draft-07" }) ?? schema };
}

// answered puts the chunks of an answer together.
function answered(chunks) {
  const out = [], texts = new Map();
  for (const { type, payload } of chunks) {
    if (type === "text-delta") {
      if (!texts.has(payload.id)) out.push(texts.set(payload.id, { type: "text", text: "" }).get(payload.id));
      texts.get(payload.id).text += payload.text;
    } else if (type === "tool-call") out.push({ type, toolCallId: payload.toolCallId, toolName: payload.toolName, input: payload.args, providerExecuted: payload.providerExecuted });
  }
  return out;
}

// billed is what a model reported. In the shape of the AI SDK 5 providers differ in whether
// the total holds what the cache did, so that such a bill would be a guess.
function billed({ payload }) {
  const u = payload.output?.usage ?? {};
  if (!u.inputTokens || (typeof u.raw?.inputTokens === "number" && u.cachedInputTokens)) return undefined;
  const read = u.cachedInputTokens ?? 0, written = u.cacheCreationInputTokens ?? 0, hour = u.cacheCreationInputTokens1h ?? 0;
  return {
    input_tokens: Math.max(0, u.inputTokens - read - written),
    cache_read_tokens: read,
    cache_write_5m_tokens: Math.max(0, written - hour),
    cache_write_1h_tokens: hour,
    output_tokens: u.outputTokens ?? 0,
  };
}
