import type { AgentInputItem, CallModelInputFilter, FunctionTool, Model, ModelProvider, Session } from "@openai/agents";
import { Kernel, type KernelOptions } from "memkernel-client/agent";

export { Kernel };

/** One conversation. */
export class Memkernel {
  constructor(options?: KernelOptions | Kernel);
  readonly kernel: Kernel;
  /** A provider for a Runner: inner's models, whose calls are planned. */
  provider(inner?: ModelProvider): ModelProvider;
  model(inner: Model, name?: string): Model;
  /** For a run of a provider that is not wrapped. */
  readonly callModelInputFilter: CallModelInputFilter;
  /** A Session over another one, which keeps the items. */
  session(inner?: Session): Session;
  /** Memory's tools for an agent. */
  tools(names?: string[]): Promise<FunctionTool[]>;
  close(): void;
}
