import type { SharedMemoryConfig } from "@mastra/core/memory";
import { Memory } from "@mastra/memory";
import type { Kernel, KernelOptions } from "memkernel-client/agent";

/** Mastra's Memory, whose threads are planned whole; it needs no processor beside it. */
export class MemkernelMemory extends Memory {
  constructor(options?: KernelOptions | Kernel, config?: SharedMemoryConfig);
}
