import type { StructuredTool } from "@langchain/core/tools";
import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import type { AgentMiddleware } from "langchain";
import { Kernel, type KernelOptions } from "memkernel-client/agent";

export { Kernel };

/** A middleware for createAgent; a run's thread_id is its session. */
export function memkernel(options?: KernelOptions | Kernel): AgentMiddleware;

/** Memory's tools for an agent. */
export function memoryTools(kernel: Kernel, options?: { names?: string[]; session?: string }): Promise<StructuredTool[]>;

/** LangGraph's store over the workspace's memory. */
export class MemkernelStore extends BaseStore {
  constructor(options?: KernelOptions | Kernel, where?: { path?: string });
  batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>>;
  close(): void;
}
