// A memory of Mastra's whose threads the kernel knows.

import { Memory } from "@mastra/memory";
import { Kernel, memkernel } from "./index.js";

// Mastra keeps ten messages of a thread in a prompt if nothing is said. What is to be planned
// has to be there.
const WHOLE = 1_000_000;

/**
 * Mastra's Memory, which keeps threads in the storage that it is given: a prompt has the whole
 * thread, planned, and the kernel forgets a thread that is deleted.
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
    const gone = await this.#kernel.attempt("forget", (c, o) => c.forget({ ...this.#kernel.bound(id), all: true, apply: true, reason: "the host deleted the thread" }, o));
    if (!gone) throw new Error(`memkernel: the thread ${id} is deleted, but the kernel could not be reached and still holds it: memkernel forget --all --session ${id} --apply`);
  }
}
