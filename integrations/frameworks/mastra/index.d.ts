import type { Processor } from "@mastra/core/processors";
import type { Tool } from "@mastra/core/tools";
import { Kernel, type KernelOptions } from "memkernel-client/agent";

export { Kernel };

/** An input processor for an agent; the thread of a call is its session. */
export function memkernel(options?: KernelOptions | Kernel): Processor<"memkernel"> & Required<Pick<Processor, "processInputStep" | "processLLMRequest" | "processLLMResponse">>;

/** Memory's tools for an agent, by name. */
export function memoryTools(kernel: Kernel, options?: { names?: string[]; session?: string }): Promise<Record<string, Tool<any, any>>>;
