// memkernel for the OpenAI Agents SDK: a model provider that plans every model call and
// tells the kernel what was said and billed, a Session that the kernel knows, and memory's
// tools.

import { MemorySession, OpenAIProvider, tool } from "@openai/agents";
import { Kernel, textOf } from "memkernel-client/agent";

export { Kernel };

/**
 * One conversation. Beside the options of Kernel, or a Kernel in place of them: session,
 * its key.
 */
export class Memkernel {
  kernel;
  #conversation;
  #told = false;

  constructor(options = {}) {
    this.kernel = options instanceof Kernel ? options : new Kernel(options);
    this.#conversation = this.kernel.conversation(FORM);
  }

  /** A provider for a Runner: inner's models, whose calls are planned. */
  provider(inner = new OpenAIProvider()) {
    return { getModel: async (name) => this.model(await inner.getModel(name), name), close: async () => inner.close?.() };
  }

  /** A model whose calls are planned. */
  model(inner, name) {
    const call = (request) => this.#plan(request, name);
    const heard = (made, output, usage) => this.#observe(made, output, usage);
    return {
      ...(inner.supportsPromptModelSelection === undefined ? {} : { supportsPromptModelSelection: inner.supportsPromptModelSelection }),
      getRetryAdvice: (args) => inner.getRetryAdvice?.(args),
      async getResponse(request) {
        const made = await call(request);
        const response = await inner.getResponse(made.request);
        await heard(made, response.output, response.usage);
        return response;
      },
      async *getStreamedResponse(request) {
        const made = await call(request);
        for await (const event of inner.getStreamedResponse(made.request)) {
          if (event.type === "response_done") await heard(made, event.response.output, event.response.usage);
          yield event;
        }
      },
    };
  }

  /**
   * The filter for a run of a provider that is not wrapped: it plans; what was said is told
   * by the session, and what was billed by nobody.
   */
  get callModelInputFilter() {
    return async ({ modelData, agent }) => {
      const { messages } = await this.#conversation.plan(modelData.input, { system: modelData.instructions || undefined, model: this.#modelOf(agent.model) });
      return { ...modelData, input: messages };
    };
  }

  /** A Session over another one, which keeps the items. */
  session(inner = new MemorySession()) {
    const own = this;
    return {
      getSessionId: async () => own.kernel.options.session,
      getItems: (limit) => inner.getItems(limit),
      async addItems(items) {
        await inner.addItems(items);
        if (!own.#told) await own.#conversation.observe(await inner.getItems());
        own.#told = false;
      },
      popItem: () => inner.popItem(),
      async clearSession() {
        await inner.clearSession();
        await own.kernel.attempt("reset", (c, o) => c.reset({ ...own.kernel.bound(), reason: "the host cleared the session" }, o));
      },
      ...(inner.applyHistoryMutations && { applyHistoryMutations: (args) => inner.applyHistoryMutations(args) }),
    };
  }

  /** Memory's tools for an agent. names chooses among them. */
  async tools(names) {
    const defs = await this.kernel.tools(names);
    return defs.map((d) =>
      tool({ name: d.name, description: d.description, parameters: { ...d.inputSchema, additionalProperties: true }, strict: false, execute: (args) => this.kernel.callTool(d.name, args) }),
    );
  }

  close() {
    this.kernel.close();
  }

  async #plan(request, name) {
    // With a conversation at the provider only what is new travels: that can't be planned.
    if (request.previousResponseId || request.conversationId) return { request };
    const said = typeof request.input === "string" ? [{ role: "user", content: request.input }] : request.input;
    const tools = [...request.tools.map((t) => ({ name: t.name, description: t.description, parameters: t.parameters })), ...(request.handoffs ?? []).map((h) => ({ name: h.toolName, description: h.toolDescription, parameters: h.inputJsonSchema }))];
    const model = this.#modelOf(name);
    const { messages, plan } = await this.#conversation.plan(said, {
      model,
      system: request.systemInstructions || undefined,
      tools: tools.length ? tools : undefined,
      resolver: tools.some((t) => t.name === "memory_get") ? "memory_get" : undefined,
    });
    return { request: { ...request, input: messages }, said, plan, model };
  }

  async #observe(made, output, usage) {
    if (!made.said) return;
    const more = output.some((item) => item.type !== "message" && item.type !== undefined && /_call$/.test(item.type));
    // A call without its result is told with it, by the next call of the model.
    const messages = more ? made.said : [...made.said, ...output];
    await this.#conversation.observe(messages, { plan: made.plan, usage: billed(usage), model: made.model, more });
    this.#told = true;
  }

  #modelOf(name) {
    return this.kernel.options.model ?? (typeof name === "string" ? name : undefined);
  }
}

function billed(usage) {
  if (!usage?.inputTokens) return undefined;
  const details = [usage.inputTokensDetails ?? []].flat();
  const cached = details.reduce((sum, d) => sum + (d.cached_tokens ?? 0), 0);
  return { input_tokens: usage.inputTokens, input_tokens_details: { cached_tokens: cached }, output_tokens: usage.outputTokens ?? 0 };
}

/** How the SDK's items are written as those of the Responses API. */
const FORM = {
  dialect: "codex",

  to(item) {
    switch (item.type ?? "message") {
      case "message":
        return { type: "message", role: item.role, content: contentOf(item) };
      case "function_call":
        return { type: "function_call", call_id: item.callId, name: item.name, arguments: item.arguments };
      case "function_call_result":
        return { type: "function_call_output", call_id: item.callId, output: outputText(item.output) };
      case "reasoning":
        return { type: "reasoning", summary: (item.content ?? []).map((c) => ({ type: "summary_text", text: c.text })) };
      default:
        return item; // what the SDK has of its own, such as hosted tools
    }
  },

  from(item, replaced) {
    switch (item.type ?? "message") {
      case "function_call": {
        const own = replaced.find((r) => r.type === "function_call" && r.callId === item.call_id);
        return [own ?? { type: "function_call", callId: item.call_id, name: item.name, arguments: item.arguments, status: "completed" }];
      }
      case "function_call_output": {
        const own = replaced.find((r) => r.type === "function_call_result" && r.callId === item.call_id);
        if (!own) throw new Error(`there is no result of ${item.call_id}`);
        return [{ ...own, output: { type: "text", text: textOf(item.output) } }];
      }
      case "message": {
        const own = replaced.length === 1 && replaced[0].role === item.role ? replaced[0] : {};
        const kind = item.role === "assistant" ? "output_text" : "input_text";
        const images = Array.isArray(own.content) ? own.content.filter((c) => !TEXTS.includes(c.type)) : [];
        const texts = blocksOf(item.content).map((b) => images.find((i) => placeholder(i) === b.text) ?? { type: kind, text: b.text ?? "" });
        return [{ ...own, ...(item.role === "assistant" ? { type: "message", status: own.status ?? "completed" } : {}), role: item.role, content: texts }];
      }
      default:
        return replaced;
    }
  },
};

const TEXTS = ["input_text", "output_text", "refusal"];

function blocksOf(content) {
  return typeof content === "string" ? [{ text: content }] : (content ?? []);
}

function contentOf(item) {
  const kind = item.role === "assistant" ? "output_text" : "input_text";
  if (typeof item.content === "string") return [{ type: kind, text: item.content }];
  return item.content.map((c) => ({ type: kind, text: TEXTS.includes(c.type) ? (c.text ?? c.refusal ?? "") : placeholder(c) }));
}

function placeholder(c) {
  return `[${c.type}]`;
}

function outputText(output) {
  if (typeof output === "string") return output;
  return [output].flat().map((o) => (typeof o === "string" ? o : (o.text ?? placeholder(o)))).join("\n");
}
