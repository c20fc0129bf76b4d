import type { BaseTool, LLM } from "@llamaindex/core/llms";
import { Kernel, type KernelOptions } from "memkernel-client/agent";

export { Kernel };

/** An LLM like another one, whose chats are planned and told of. */
export function memkernel<L extends LLM>(llm: L, options?: KernelOptions | Kernel, conversation?: { session?: string }): L;

/** Memory's tools for an agent. */
export function memoryTools(kernel: Kernel, options?: { names?: string[]; session?: string }): Promise<BaseTool<any>[]>;
