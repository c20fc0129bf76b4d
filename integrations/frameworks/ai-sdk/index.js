// memkernel for the Vercel AI SDK: a middleware that plans every prompt of a language
// model and tells the kernel what was said, and memory's tools.

import { jsonSchema, tool } from "ai";
import { Kernel } from "memkernel-client/agent";
import { parsed, parted, PROMPT } from "memkernel-client/prompt";

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
      const { system, said, systemText } = parted(params.prompt);
      const conversation = kernel.conversation(PROMPT, session);
      const modelId = kernel.options.model ?? model.modelId;
      const tools = (params.tools ?? []).map((t) => ({ name: t.name, description: t.description, input_schema: t.inputSchema }));
      const { messages, plan } = await conversation.plan(said, {
        model: modelId,
        system: systemText,
        tools: tools.length ? tools : undefined,
        resolver: tools.some((t) => t.name === "memory_get") ? "memory_get" : undefined,
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
