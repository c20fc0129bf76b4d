import { Kernel, type KernelOptions } from "memkernel-client/agent";

export { Kernel };

/** A fetch for new Anthropic({ fetch }). */
export function memkernelFetch(options?: KernelOptions | Kernel, inner?: typeof fetch): typeof fetch;

/** Anthropic's memory tool, answered by the workspace. */
export function memoryTool(kernel: Kernel, session?: string): any;

/** Memory's tools for client.beta.messages.toolRunner. */
export function memoryTools(kernel: Kernel, names?: string[]): Promise<any[]>;
