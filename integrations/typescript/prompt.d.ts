import type { Form } from "./agent.js";

/** A message of a prompt of @ai-sdk/provider, of any of its versions. */
export interface PromptMessage { role: "system" | "user" | "assistant" | "tool"; content: any; providerOptions?: any }

export const PROMPT: Form<PromptMessage>;
export function parted<M extends { role: string; content: unknown }>(prompt: M[]): { system: M[]; systemText: string | undefined; said: M[] };
export function parsed(input: unknown): any;
