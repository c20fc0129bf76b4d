// The context engine: the host's contract on one side, the daemon's calls on the other.
//
// Within a turn the host asks for the history again before every model call, and hands
// in what it was given for the call before; prompt and tool results of the turn are its
// own to append. So a turn is planned once, from the history as the host stores it, and
// again only where the host's room has become too small, or after a compaction.

import { canonical, keysOf, planned, sent } from "./messages.js";
import { count, session, shared } from "./shared.js";
import { saw } from "./watch.js";

/** The host's reserve where it names none: its own default, 20,000 tokens, at most a quarter of the window. */
const reserveOf = (window) => Math.min(20_000, Math.floor(window / 4));

export const resolver = "memory_get";

export const info = {
  id: "memkernel",
  name: "memkernel",
  version: "0.1.0",
  ownsCompaction: true,
  turnMaintenanceMode: "background", // a flush turn is nobody's to wait for
  transcriptSemantics: { currentTurnFence: "before-current-turn-entry-v1", turnAdvancementIdempotency: "atomic-idempotent-v1" },
};

/** Where a session comes from, as its checkpoints name it: what the host says, and its key, agent:NAME:CHANNEL:… */
export function sourceOf({ sessionKey = "", sessionFile = "", agentId, runtimeContext }) {
  const [, agent, channel] = /^agent:([^:]+):([^:]+):./.exec(sessionKey) ?? [];
  const file = /[\\/]/.test(sessionFile) ? sessionFile : ""; // of a database it is the key alone
  const said = { session_file: file, channel: runtimeContext?.messageChannel ?? channel, agent_id: agentId ?? agent };
  return Object.fromEntries(Object.entries(said).filter(([, v]) => typeof v === "string" && v));
}

export function makeEngine({ daemon, options, log, addition }) {
  let turn = null; // what was planned for the turn that this engine was made for

  const keyOf = (p) => p.sessionKey || p.sessionId;
  const stateOf = (p) => session(options.daemon.workspace, keyOf(p));
  const base = (p) => ({ session_key: keyOf(p), private: options.isPrivate(p.sessionKey), ...sourceOf(p) });

  async function withConversation(s, messages, method, params, call) {
    const lines = messages.map(canonical);
    const keys = keysOf(messages);
    let keep = 0;
    while (s.base && keep < lines.length && lines[keep] === s.sent[keep] && keys[keep] === s.keys[keep]) keep++;
    const conversation = (from) => ({ dialect: "pi", messages: lines.slice(from).map((l) => JSON.parse(l)), keys: keys.slice(from) });
    let answer;
    try {
      const c = s.base && keep ? { base: s.base, keep, ...conversation(keep) } : conversation(0);
      answer = await daemon.call(method, { ...params, conversation: c }, call);
    } catch (err) {
      s.base = "";
      if (err.code !== "BASE_UNKNOWN") throw err;
      answer = await daemon.call(method, { ...params, conversation: conversation(0) }, call);
    }
    Object.assign(s, { base: answer.conversation.base, sent: lines, keys });
    return answer;
  }

  function settings(s, extra = 0) {
    return { model: s.model, ...(s.window ? { context_window: s.window, reserve: s.reserve, fixed_tokens: s.fixed + extra } : {}), resolver };
  }

  async function plan(p, s, host, extra) {
    const prompt = promptOf(p, s, host);
    const answer = await withConversation(s, host, "plan", { ...base(p), ...settings(s, extra), prompt: prompt ?? "" }, { timeoutMs: options.assembleTimeoutMs });
    s.planId = answer.plan_id;
    if (answer.flush_due) s.flushDue = true;
    const made = {
      host,
      pending: extra,
      planId: answer.plan_id,
      messages: planned(answer.items, host, prompt),
      tokens: Math.max(0, answer.budgets.planned_input_tokens - s.fixed - extra),
    };
    for (const f of answer.faults) log.debug?.(`memkernel: ${keyOf(p)}: ${f.code}: ${f.detail}`);
    return made;
  }

  /** The words of the turn. A host that tries a refused turn again puts words of its own round them. */
  function promptOf(p, s, host) {
    if (!p.prompt) return endsWithUser(host) ? undefined : "(no text)"; // a prompt of images alone is one, too
    if (!s.prompt || !`${p.prompt}\n`.includes(`\n${s.prompt}\n`)) s.prompt = p.prompt;
    return s.prompt;
  }

  /** The first call of a turn says what is left for history beside the system prompt. */
  function learn(p, s) {
    const limits = p.runtimeSettings?.limits ?? {};
    if (!p.tokenBudget) return;
    const reserve = s.window ? reserveOf(s.window) : limits.maxOutputTokens ?? reserveOf(p.tokenBudget);
    s.reserve = reserve;
    const window = s.window || p.tokenBudget + reserve;
    Object.assign(s, { window, fixed: Math.max(0, window - reserve - p.tokenBudget), model: p.model ?? s.model });
  }

  async function assembled(p) {
    const s = stateOf(p);
    const inLoop = turn && p.runtimeSettings?.limits?.maxOutputTokens == null && p.messages.length >= turn.messages.length;
    if (!inLoop) {
      learn(p, s);
      turn = await plan(p, s, sent(p.messages), 0);
      count("assembled");
      return turn;
    }
    const grown = sent(p.messages.slice(turn.messages.length));
    // The host's room in the loop: the window less what the turn has added so far.
    const pending = Math.max(0, s.window - (p.tokenBudget ?? s.window));
    const fits = turn.tokens + s.fixed + s.reserve + pending <= s.window || pending <= turn.pending;
    if (grown.length === 0 && fits) {
      count("reused");
      return turn;
    }
    try {
      turn = await plan(p, s, [...turn.host, ...grown], pending);
      count("assembled");
    } catch (err) {
      // What was sent a moment ago is better than all of the history.
      trouble(log, `assemble ${keyOf(p)} again within a turn: what was planned for it stands`, err);
      turn = { ...turn, host: [...turn.host, ...grown], pending, messages: [...turn.messages, ...grown] };
    }
    return turn;
  }

  /**
   * Has the host's model write down what should outlive the next cut, by a completion that
   * no transcript holds. Where the host gives none, or the model fails, what can be told by
   * looking is written all the same.
   */
  async function flush(p, s, signal) {
    const complete = p.runtimeContext?.llm?.complete;
    if (!complete) return;
    s.flushDue = false;
    const who = { session_key: keyOf(p), private: options.isPrivate(p.sessionKey) };
    try {
      const history = s.sent.map((l) => JSON.parse(l));
      const ask = history.length ? await withConversation(s, history, "flush_turn", { ...who, model: s.model }, { signal }) : await daemon.call("flush_turn", who, { signal });
      if (!ask.prompt) return;
      const answer = await unless(signal, complete({ messages: [{ role: "user", content: ask.prompt }], systemPrompt: ask.system, maxTokens: ask.max_tokens, purpose: "memkernel.flush", signal }));
      const done = await daemon.call("observe_flush", { ...who, text: answer?.text ?? "" }, { timeoutMs: options.commitTimeoutMs });
      if (done.items) count("flushed");
      log.info?.(`memkernel: ${keyOf(p)}: ${done.line}`);
    } catch (err) {
      trouble(log, `flush ${keyOf(p)}: the model was not heard`, err);
    }
  }

  return {
    info,

    /** A plan takes in what is new, and a turn is committed whole: there is nothing to take in singly. */
    async ingest() {
      return { ingested: false };
    },

    async bootstrap(p) {
      try {
        await daemon.call("start_session", { ...base(p), key: `start:${p.sessionId}` }, { timeoutMs: options.assembleTimeoutMs });
        return { bootstrapped: true };
      } catch (err) {
        trouble(log, `start session ${keyOf(p)}`, err); // the plan takes in all the same
        return { bootstrapped: false, reason: err.message };
      }
    },

    async maintain(p = {}) {
      const s = stateOf(p);
      if (s.flushDue) await flush(p, s, signalOf(p));
      return { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason: "the kernel keeps its own store" };
    },

    async assemble(p) {
      saw(keyOf(p));
      const more = { systemPromptAddition: await addition(p) };
      try {
        const t = await assembled(p);
        return { messages: t.messages, estimatedTokens: t.tokens, promptAuthority: "assembled", ...more };
      } catch (err) {
        trouble(log, `assemble ${keyOf(p)}: the host's own messages are sent`, err);
        count("fallbacks");
        return { messages: p.messages, estimatedTokens: roughly(p.messages), promptAuthority: "preassembly_may_overflow", ...more };
      }
    },

    async commitTurn(p) {
      const s = stateOf(p);
      const said = sent(p.messages);
      const call = { timeoutMs: options.commitTimeoutMs };
      const window = p.runtimeContext?.tokenBudget ?? p.runtimeContext?.modelContextWindow;
      if (window) s.window = window;
      remember(s, said, p.admission);
      try {
        const params = { ...base(p), model: s.model, advancement_key: p.advancementKey, ...(turn?.planId ? { plan_id: turn.planId } : {}) };
        const o = await withConversation(s, [...(turn?.host ?? []), ...said], "observe_turn", params, call);
        if (o.outcome === "conflict") log.warn?.(`memkernel: turn ${p.advancementKey} was committed before with other messages; what was committed first stands`);
        s.prompt = "";
        const again = o.outcome === "duplicate" || o.outcome === "conflict";
        count(again ? "duplicates" : "committed");
        return { status: again ? "duplicate" : "committed" };
      } catch (err) {
        trouble(log, `commit turn ${p.advancementKey}: the host delivers it again`, err);
        count("commitFailures");
        throw err;
      }
    },

    async compact(p) {
      const s = stateOf(p);
      turn = null;
      const over = p.runtimeContext?.trigger === "overflow";
      if (!over) await flush(p, s, signalOf(p)); // else a turn is waiting that was refused
      const now = settings(s);
      if (over && p.currentTokenCount && p.tokenBudget) now.overflow = { input_tokens: p.currentTokenCount, limit_tokens: p.tokenBudget, plan_id: s.planId };
      const params = { ...base(p), model: s.model, force: Boolean(p.force), call: now, reason: p.customInstructions ?? p.compactionTarget ?? "" };
      const history = s.sent.map((l) => JSON.parse(l));
      const call = { timeoutMs: 170_000, signal: p.abortSignal };
      try {
        const answer = history.length ? await withConversation(s, history, "compact", params, call) : await daemon.call("compact", params, call);
        return compacted(answer.compaction, s);
      } catch (err) {
        trouble(log, `compact ${keyOf(p)}`, err);
        return { ok: false, compacted: false, reason: err.message };
      }
    },

    async dispose() {
      turn = null; // the connection is the process's
    },
  };
}

const FLUSH_MS = 60_000;

const signalOf = (p) => AbortSignal.any([AbortSignal.timeout(FLUSH_MS), ...(p.abortSignal ? [p.abortSignal] : [])]);

const unless = (signal, promise) => Promise.race([promise, new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason), { once: true }))]);

const endsWithUser = (messages) => ["user", "toolResult"].includes(messages.at(-1)?.role);

const roughly = (messages) => Math.ceil(JSON.stringify(messages).length / 4);

/** remember keeps which entry of the host's transcript a turn begins with. */
function remember(s, messages, admission) {
  const first = messages.findIndex((m) => m.role === "user");
  if (first < 0 || !admission?.entryId) return;
  s.entries.set(keysOf(messages)[first], admission.entryId);
  for (const old of s.entries.keys()) {
    if (s.entries.size <= 4096) break;
    s.entries.delete(old);
  }
}

function compacted(c, s) {
  const done = c.reclaimed_tokens > 0;
  if (done) count("compactions");
  const kept = c.first_kept?.key && s.entries.get(c.first_kept.key);
  return {
    ok: done || !["BUDGET_INSUFFICIENT", "NO_PROGRESS"].includes(c.reason),
    compacted: done,
    reason: c.detail ? `${c.reason}: ${c.detail}` : c.reason,
    result: {
      summary: c.summary,
      ...(kept ? { firstKeptEntryId: kept } : {}),
      tokensBefore: c.tokens_before,
      tokensAfter: c.tokens_after,
      details: { engine: info.id, atoms: c.atoms, lowered: c.lowered, spans: c.spans, checkpoint: c.checkpoint, generation: c.generation },
    },
  };
}

export function trouble(log, what, err) {
  shared().lastTrouble = `${new Date().toISOString()} ${what}: ${err.message}`;
  log.warn?.(`memkernel: ${what}: ${err.message}`);
}
