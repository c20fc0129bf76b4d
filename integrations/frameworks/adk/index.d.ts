import { BasePlugin, type BaseMemoryService, type FunctionTool } from "@google/adk";
import { Kernel, type KernelOptions } from "memkernel-client/agent";

export { Kernel };

/** A plugin for a Runner. */
export class MemkernelPlugin extends BasePlugin {
  constructor(options?: KernelOptions | Kernel);
}

export interface MemkernelMemoryService extends BaseMemoryService {}
/** A memory service over the workspace's memory. */
export class MemkernelMemoryService {
  constructor(options?: KernelOptions | Kernel);
}

/** Memory's tools for an agent. */
export function memoryTools(kernel: Kernel, names?: string[]): Promise<FunctionTool<any>[]>;
