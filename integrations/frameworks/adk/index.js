// memkernel for Google's Agent Development Kit: a plugin that plans every model call and
// tells the kernel what was said, a memory service, and memory's tools.

import { BasePlugin, FunctionTool } from "@google/adk";
import { Kernel } from "memkernel-client/agent";

export { Kernel };

/** A plugin for a Runner. A session of the ADK is one of ours, by its id. */
export class MemkernelPlugin extends BasePlugin {
  #kernel;
  #calls = new Map();

  constructor(options = {}) {
    super("memkernel");
    this.#kernel = options instanceof Kernel ? options : new Kernel(options);
  }

  async beforeModelCallback({ callbackContext, llmRequest }) {
    const said = identified(llmRequest.contents);
    const conversation = this.#kernel.conversation(FORM, sessionOf(callbackContext));
    const tools = (llmRequest.config?.tools ?? []).flatMap((t) => t.functionDeclarations ?? []);
    const model = this.#kernel.options.model ?? llmRequest.model;
    const { messages, plan } = await conversation.plan(said, {
      model,
      system: systemOf(llmRequest.config?.systemInstruction),
      tools: tools.length ? tools : undefined,
      resolver: tools.some((t) => t.name === "memory_get") ? "memory_get" : undefined,
    });
    this.#calls.set(callOf(callbackContext), { conversation, said, plan, model });
    llmRequest.contents = joined(messages.map((m) => m.content)); // the request's alone: the session keeps its events
    return undefined;
  }

  async afterModelCallback({ callbackContext, llmResponse }) {
    const call = this.#calls.get(callOf(callbackContext));
    const parts = llmResponse.content?.parts ?? [];
    if (!call || llmResponse.partial || !parts.length) return undefined;
    this.#calls.delete(callOf(callbackContext));
    const more = parts.some((p) => p.functionCall);
    // A call without its result is told with it, by the next call of the model.
    const messages = more ? call.said : [...call.said, { content: llmResponse.content, ids: [] }];
    await call.conversation.observe(messages, { plan: call.plan, usage: llmResponse.usageMetadata, model: call.model, more });
    return undefined;
  }

  async onModelErrorCallback({ callbackContext }) {
    this.#calls.delete(callOf(callbackContext));
    return undefined;
  }
}

export class MemkernelMemoryService {
  #kernel;

  constructor(options = {}) {
    this.#kernel = options instanceof Kernel ? options : new Kernel(options);
  }

  /** Tells of a session that no plugin told of. */
  async addSessionToMemory(session) {
    const contents = session.events.filter((e) => e.content?.parts?.length && !e.partial).map((e) => e.content);
    await this.#kernel.conversation(FORM, session.id).observe(identified(contents));
  }

  async searchMemory({ query }) {
    const found = await this.#kernel.search(query);
    return { memories: (found?.results ?? []).map((h) => ({ content: { role: "user", parts: [{ text: `${h.snippet}\n(${h.citation})` }] }, author: "memory" })) };
  }
}

export async function memoryTools(kernel, names) {
  const defs = await kernel.tools(names);
  return defs.map((d) => new FunctionTool({ name: d.name, description: d.description, parameters: geminiSchema(d.inputSchema), execute: (args, context) => kernel.callTool(d.name, args, context && sessionOf(context)) }));
}

// joined makes one of neighbours of one role: user and model take turns.
function joined(contents) {
  const out = [];
  for (const c of contents) {
    const last = out.at(-1);
    if (last && last.role === c.role) out[out.length - 1] = { ...last, parts: [...(last.parts ?? []), ...(c.parts ?? [])] };
    else out.push(c);
  }
  return out;
}

function sessionOf(context) {
  return context.session?.id ?? context.invocationContext?.session?.id;
}

// callOf is the same before and after a model's call: an agent of an invocation makes one at a time.
function callOf(context) {
  return `${context.invocationId} ${context.agentName}`;
}

function systemOf(instruction) {
  if (!instruction) return undefined;
  if (typeof instruction === "string") return instruction;
  return [instruction].flat().map((i) => (typeof i === "string" ? i : (i.text ?? (i.parts ?? []).map((p) => p.text ?? "").join("\n")))).join("\n") || undefined;
}

function geminiSchema(s) {
  const { type, description, properties, required, items, enum: words } = s;
  return {
    ...(type && { type: String(type).toUpperCase() }),
    ...(description && { description }),
    ...(words && { enum: words }),
    ...(required && { required }),
    ...(items && { items: geminiSchema(items) }),
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, geminiSchema(v)])) }),
  };
}

// identified gives every call and result an id: Gemini's requests need none, and tell them
// by name and order.
function identified(contents) {
  const open = new Map();
  let n = 0;
  return contents.map((content) => ({
    content,
    ids: (content.parts ?? []).map((p) => {
      if (p.functionCall) {
        const { name } = p.functionCall, id = p.functionCall.id ?? `call-${++n}-${name}`;
        open.set(name, [...(open.get(name) ?? []), id]);
        return id;
      }
      if (!p.functionResponse) return "";
      const { name, id } = p.functionResponse, waiting = open.get(name) ?? [];
      const own = id && waiting.includes(id) ? id : waiting[0];
      open.set(name, waiting.filter((w) => w !== own));
      return own ?? id ?? `call-0-${name}`;
    }),
  }));
}

const FORM = {
  dialect: "anthropic",

  to({ content, ids }) {
    return { role: content.role === "model" ? "assistant" : "user", content: (content.parts ?? []).filter((p) => !p.thought).map((p) => blockOf(p, ids[(content.parts ?? []).indexOf(p)])) };
  },

  from(message, replaced) {
    const blocks = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
    const parts = replaced.flatMap((w) => (w.content.parts ?? []).map((part, i) => ({ part, id: w.ids[i] })));
    const thoughts = blocks.some((b) => b.type === "tool_use") ? parts.filter((p) => p.part.thought).map((p) => p.part) : [];
    const made = blocks.map((b) => partOf(b, parts));
    const results = made.filter((p) => p.functionResponse), others = made.filter((p) => !p.functionResponse);
    const content = (role, list) => ({ content: { role, parts: list }, ids: [] });
    if (message.role === "assistant") return [content("model", [...thoughts, ...made])];
    // Results stand alone: the model's call has to be followed by them.
    return [...(results.length ? [content("user", results)] : []), ...(others.length ? [content("user", others)] : [])];
  },
};

function blockOf(p, id) {
  if (p.functionCall) return { type: "tool_use", id, name: p.functionCall.name, input: p.functionCall.args ?? {} };
  if (p.functionResponse) return { type: "tool_result", tool_use_id: id, content: responseText(p.functionResponse.response) };
  return { type: "text", text: p.text ?? placeholder(p) };
}

function partOf(b, parts) {
  if (b.type === "tool_use") {
    const own = parts.find((p) => p.part.functionCall && p.id === b.id);
    if (!own) throw new Error("a call was never made");
    return own.part;
  }
  if (b.type === "tool_result") {
    const own = parts.find((p) => p.part.functionResponse && p.id === b.tool_use_id);
    if (!own) throw new Error(`there is no result of ${b.tool_use_id}`);
    const text = typeof b.content === "string" ? b.content : (b.content ?? []).map((c) => c.text ?? "").join("");
    const { functionResponse } = own.part;
    return text === responseText(functionResponse.response) ? own.part : { functionResponse: { ...functionResponse, response: { result: text } } };
  }
  return parts.find((p) => p.part.text === undefined && !p.part.functionCall && !p.part.functionResponse && placeholder(p.part) === b.text)?.part ?? { text: b.text ?? "" };
}

function responseText(response) {
  const only = response && Object.keys(response).length === 1 ? (response.result ?? response.output) : undefined;
  return typeof only === "string" ? only : JSON.stringify(response ?? {});
}

function placeholder(p) {
  return `[${p.inlineData?.mimeType ?? p.fileData?.mimeType ?? Object.keys(p)[0] ?? "part"}]`;
}
