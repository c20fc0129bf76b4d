/** An error that the daemon answered, or the loss of the connection (code "CLOSED"). */
export class MemkernelError extends Error {
  constructor(message, { number = 0, code = "FAILED", hint = "", started = false, status, retryAfterMs = 0 } = {}) {
    super(message);
    this.name = "MemkernelError";
    Object.assign(this, { number, code, hint, started, status, retryAfterMs });
  }
}
