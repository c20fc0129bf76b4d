// A memory of Mastra's whose threads the kernel knows.

import { Memory } from "@mastra/memory";
import { Kernel, memkernel } from "./index.js";

// Mastra keeps ten messages of a thread in a prompt if nothing is said. What is to be planned
// has to be there.
const WHOLE = 1_000_000;

/**
 * Mastra's Memory, which keeps threads in the storage that it is given: a prompt has the whole
 * thread, planned, and a thread that is deleted begins anew with the kernel.
 */
export class MemkernelMemory extends Memory {
  #kernel;
  #processor;

  constructor(options = {}, config = {}) {
    super({ ...config, options: { lastMessages: WHOLE, ...config.options } });
    this.#kernel = options instanceof Kernel ? options : new Kernel(options);
    this.#processor = memkernel(this.#kernel);
  }

  async getInputProcessors(configured = [], context) {
    const processors = await super.getInputProcessors(configured, context);
    return configured.some((p) => p.id === this.#processor.id) ? processors : [...processors, this.#processor];
  }

  async deleteThread(id) {
    await super.deleteThread(id);
    await this.#kernel.attempt("reset", (c, o) => c.reset({ ...this.#kernel.bound(id), reason: "the host deleted the thread" }, o));
  }
}
