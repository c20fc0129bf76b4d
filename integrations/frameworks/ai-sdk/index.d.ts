import type { LanguageModelV4Middleware } from "@ai-sdk/provider";
import type { ToolSet } from "ai";
import { Kernel, type KernelOptions } from "memkernel-client/agent";

export { Kernel };

/** A middleware for wrapLanguageModel. */
export function memkernel(options?: KernelOptions | Kernel): LanguageModelV4Middleware;

/** Memory's tools, by name. */
export function memoryTools(kernel: Kernel, options?: { names?: string[]; session?: string }): Promise<ToolSet>;
