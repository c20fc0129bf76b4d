// memkernel for Anthropic's SDK: a fetch that plans every request to the Messages API, of
// the tool runner too, and tells the kernel what was said and billed; memory's tools for the
// runner.

import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { ToolError } from "@anthropic-ai/sdk/lib/tools/ToolError";
import { Kernel } from "memkernel-client/agent";

export { Kernel };

/**
 * A fetch for new Anthropic({ fetch }). What is not a request to the Messages API, and what
 * can't be seen whole (a thread that the provider keeps), passes as it is: give the tool
 * runner thread: false.
 */
export function memkernelFetch(options = {}, inner = globalThis.fetch) {
  const kernel = options instanceof Kernel ? options : new Kernel(options);
  const conversation = kernel.conversation(FORM);

  return async (url, init = {}) => {
    const body = bodyOf(url, init);
    if (!body) return inner(url, init);
    const model = kernel.options.model ?? body.model;
    const { messages, plan } = await conversation.plan(body.messages, {
      model,
      system: body.system,
      tools: body.tools?.length ? body.tools : undefined,
      resolver: body.tools?.some((t) => t.name === "memory_get") ? "memory_get" : undefined,
      tool_choice: body.tool_choice ? JSON.stringify(body.tool_choice) : undefined,
      thinking: body.thinking ? JSON.stringify(body.thinking) : undefined,
    });
    const response = await inner(url, { ...init, body: JSON.stringify({ ...body, messages }), headers: withoutLength(init.headers) });
    if (!response.ok || !response.body) return response;
    const observe = async (answer) => {
      if (!answer?.content?.length) return;
      const more = answer.content.some((b) => b.type === "tool_use");
      // A call without its result is told with it, by the next request.
      const said = more ? body.messages : [...body.messages, { role: "assistant", content: answer.content }];
      await conversation.observe(said, { plan, usage: answer.usage, model, more });
    };
    if (!response.headers.get("content-type")?.includes("event-stream")) {
      const text = await response.text();
      await observe(parsed(text));
      return new Response(text, { status: response.status, headers: decoded(response.headers) });
    }
    const heard = listen();
    const stream = response.body.pipeThrough(
      new TransformStream({
        transform(bytes, controller) {
          heard.bytes(bytes);
          controller.enqueue(bytes);
        },
        // A stream that was broken off is no answer.
        async flush() {
          if (heard.whole) await observe(heard.answer);
        },
      }),
    );
    return new Response(stream, { status: response.status, headers: decoded(response.headers) });
  };
}

export async function memoryTools(kernel, names) {
  const defs = await kernel.tools(names);
  return defs.map((d) => ({ type: "custom", name: d.name, description: d.description, input_schema: d.inputSchema, parse: (input) => input, run: (input) => kernel.callTool(d.name, input) }));
}

/**
 * Anthropic's own memory tool, answered by the workspace: /memories/MEMORY.md is MEMORY.md,
 * /memories/deploys.md is memory/deploys.md. session names another than the kernel's.
 */
export function memoryTool(kernel, session) {
  const run = async (input) => {
    const { content, is_error } = await kernel.callMemory(input, session);
    if (is_error) throw new ToolError(content); // the runner makes a result with is_error of it
    return content;
  };
  return betaMemoryTool(Object.fromEntries(["view", "create", "str_replace", "insert", "delete", "rename"].map((command) => [command, run])));
}

function bodyOf(url, init) {
  const path = new URL(typeof url === "string" ? url : (url.url ?? url.href)).pathname;
  if (!/\/v1\/messages$/.test(path) || init.method?.toUpperCase() !== "POST" || typeof init.body !== "string") return null;
  const body = parsed(init.body);
  return Array.isArray(body?.messages) && body.messages.length && !body.thread ? body : null;
}

function withoutLength(headers) {
  const all = new Headers(headers);
  all.delete("content-length");
  return all;
}

function decoded(headers) {
  const all = new Headers(headers);
  all.delete("content-encoding");
  all.delete("content-length");
  return all;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function listen() {
  const decoder = new TextDecoder();
  const inputs = new Map();
  const heard = { answer: { content: [], usage: {} }, whole: false };
  let rest = "";
  const take = (e) => {
    const { content, usage } = heard.answer;
    if (e?.type === "message_start") Object.assign(usage, e.message.usage);
    else if (e?.type === "content_block_start") content[e.index] = { ...e.content_block };
    else if (e?.type === "content_block_delta") {
      const block = content[e.index], d = e.delta;
      if (d.type === "text_delta") block.text += d.text;
      else if (d.type === "thinking_delta") block.thinking = (block.thinking ?? "") + d.thinking;
      else if (d.type === "signature_delta") block.signature = d.signature;
      else if (d.type === "input_json_delta") inputs.set(e.index, (inputs.get(e.index) ?? "") + d.partial_json);
    } else if (e?.type === "content_block_stop" && inputs.has(e.index)) content[e.index].input = parsed(inputs.get(e.index)) ?? {};
    else if (e?.type === "message_delta") Object.assign(usage, e.usage);
    else if (e?.type === "message_stop") heard.whole = true;
  };
  heard.bytes = (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data:")) take(parsed(line.slice(5)));
  };
  return heard;
}

const FORM = { dialect: "anthropic", to: (m) => m, from: (m) => [m] };
