# Made by bench/clients from the daemon's source. Don't edit.
"""What the methods of the protocol take and answer."""

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union


class ClientInfo(TypedDict, total=False):
    name: str
    version: str


class Initialized(TypedDict):
    protocol: int
    server: "ServerInfo"
    workspace: str
    state_dir: str
    capabilities: "Capabilities"


class ServerInfo(TypedDict):
    name: str
    version: str


class Capabilities(TypedDict):
    methods: List[str]
    dialects: List[str]
    forms: List[str]
    # `private`: a call may say that its session is private. Without it all are shared.
    private: bool
    tools: bool
    max_line_bytes: int
    max_in_flight: int
    max_batch: int


class Stopping(TypedDict):
    """Stopping is the answer to shutdown."""

    pass


class Overflow(TypedDict, total=False):
    """Overflow is a provider's refusal of the last call as too long."""

    text: str
    input_tokens: int
    limit_tokens: int
    plan_id: str


class Conversation(TypedDict, total=False):
    """Conversation is how a host hands in its messages: all of them, or what is new behind those that the server holds."""

    # `dialect` is anthropic, openai, codex (items of the Responses API) or pi.
    dialect: Literal["anthropic" , "openai" , "codex" , "pi"]
    # `base` is the mark of the conversation that an answer gave; `keep` is how many of its messages are kept, nil for all.
    base: str
    keep: int
    # `messages` are the rest, `keys` their ids, "" for one without.
    messages: List[Any]
    keys: List[str]


class _Memories(TypedDict):
    answer: Any


class Memories(_Memories, total=False):
    """Memories are what a memory of the host's own found."""

    format: Literal["qmd" , "mem0" , "cognee" , ""]
    scope: Literal["session" , "project" , ""]


class _Planned(TypedDict):
    schema: str
    plan_id: str
    session_key: str
    branch: str
    model: str
    generation: int
    # `cut` reports whether older messages left with this plan, `cold` that the provider's cache is taken to be empty.
    cut: bool
    cold: bool
    flush_due: str
    budgets: "Budgets"
    regions: List["Region"]
    params: "Params"
    retrieval: "Retrieval"
    reduced: List["Reduced"]
    faults: List["Fault"]
    alerts: List["Fault"]
    stats: "Stats"
    # `format` is the shape of a provider's request body.
    format: str
    # `count` is how many messages the items come to.
    count: int
    markers: List["Marker"]
    notes: List["Note"]


class Planned(_Planned, total=False):
    """Planned is the answer to plan and peek."""

    # `items` are the messages to send; see doc/rpc.md.
    items: List["Item"]
    # `body` is the request in the form "body".
    body: Any
    conversation: "Mark"
    layout: "Layout"
    debug: "Debug"
    deferred: List["Deferred"]


class Budgets(TypedDict):
    """Budgets is the arithmetic of a plan, in tokens."""

    # `context_window` is 0 if nobody knows it. Then nothing is cut, and `margin_tokens` and `utilization` are 0.
    context_window: int
    # `window_from` is where a plan's window is from.
    window_from: str
    reserve_tokens: int
    planned_input_tokens: int
    planned_cache_read_tokens: int
    planned_cache_write_tokens: int
    planned_uncached_tokens: int
    planned_cost_usd: Optional[float]
    # `tokens_are` says how far the counts can be trusted.
    tokens_are: str
    # Margin is what was kept free for the counts' own error.
    margin_tokens: int
    # `utilization` is the size of the call before any cut, over the window.
    utilization: float


class Region(TypedDict):
    """Region is a part of the prompt and its size."""

    name: str
    tokens: int


class _Params(TypedDict):
    # `thinking_off`: thinking must be off for this call, because the open tool loop lost the thinking blocks that the provider would ask for. It asks for them with a thinking budget ("enabled") and not with adaptive thinking, which some models can't turn off.
    thinking_off: bool
    # `drop_option`: send thinking.block_binding.prefix_mismatch_behavior "drop_block" with the beta header in `betas`.
    drop_option: bool
    betas: List[str]


class Params(_Params, total=False):
    """Params are request settings that the plan asks for."""

    # `cache_key` is a stable key for providers that route by one.
    cache_key: str


class _Retrieval(TypedDict):
    # `reason` and `mode` are those of package retrieval; `detail` says why nothing was found, or less than could be.
    reason: str
    mode: str
    # `items` and `tokens` are its size, `citations` where it was taken from.
    items: int
    tokens: int
    citations: List[str]


class Retrieval(_Retrieval, total=False):
    """Retrieval is the outcome of recall for the newest user turn."""

    detail: str
    # `page` is the block that shows what was recalled, "" if nothing was.
    page: str
    # `origins` say which system's record a cited page was made of, one for each citation, "" for what is our own; nil if all is.
    origins: List[str]
    # `withheld` are parts of memory that were not searched since the session is shared.
    withheld: List["Withheld"]


class _Withheld(TypedDict):
    reason: str

_MayWithheld = TypedDict(
    "_MayWithheld",
    {
        "path": str,
        "class": str,
    }, total=False,
)


class Withheld(_Withheld, _MayWithheld):
    """Withheld is a part of memory that may not be seen: a file, or a class of them."""

    pass


class _Reduced(TypedDict):
    # `page` is its id; `key` and `call_id` are the host message and tool call.
    page: str
    key: str
    # `level` is how much of it is shown: gone if it left.
    level: str
    # `handle` is what the kernel's Get takes to restore it and the prompt names: the page itself, or the span that it left with. What a host put in place of messages that had left was never shown: its page can be had, and no prompt names it.
    handle: str


class Reduced(_Reduced, total=False):
    """Reduced is a page of the conversation that the prompt does not show in full."""

    call_id: str


class _Fault(TypedDict):
    # `code` names a fault or an alert: small letters and underscores. Beside those that are listed here there are those of repairing, by the names of package transcript's notes, such as missing_result.
    code: str
    detail: str


class Fault(_Fault, total=False):
    """Fault is something that went wrong for the model or for us, by name."""

    page: str
    key: str
    # `turn` is the user message in whose turn it showed, `cause` what took the page away, and `plan` the plan whose decision that was; "" where there is none.
    turn: str
    cause: str
    plan: str
    # `budget_insufficient`: no policy could have helped, there was no room.
    budget_insufficient: bool


class _Stats(TypedDict):
    # `ingested` counts messages new to the session, `counted` the texts tokenised.
    ingested: int
    counted: int
    # `blobs` and `blob_bytes` were written, `syncs` calls took `sync_ns`.
    blobs: int
    blob_bytes: int
    # `journal_bytes` were appended to the journal, durably, `log_bytes` to the projection's record and the trace, which are not synced. `files` is how many files all that made or changed.
    journal_bytes: int
    log_bytes: int
    files: int
    # `state_bytes` were written of the working state: its files, which are not synced, and checkpoints, which are.
    state_bytes: int
    # `lifted_bytes` is the base64 that results held and that the prompt does not show: its content is a blob.
    lifted_bytes: int
    syncs: int
    sync_ns: int


class Stats(_Stats, total=False):
    """Stats is the kernel's own work for a plan."""

    # `examined` counts the messages of an observed turn that were read, made valid or hashed: what is new, and some before it. Those that are the turn's before are not among them.
    examined: int


class Item(TypedDict, total=False):
    """Item is a run of messages: the host's own, as they stand, or one that is new or replaces the host's."""

    host: List[int]
    # `message` is JSON.
    message: Any
    # `known` is an item of the plan that the caller said to have, in the place of the message that it spells.
    known: int
    replaces: List[int]


class Marker(TypedDict):
    """Marker is a cache breakpoint behind a message of the list that the items come to; -1 is the system prompt, -2 the tools."""

    message: int
    ttl: str
    why: str


class Note(TypedDict):
    rule: str
    text: str


class Mark(TypedDict):
    """Mark names what is held after a call."""

    base: str
    count: int


class Layout(TypedDict):
    """Layout is planned.Layout with lifetimes in seconds."""

    breakpoints: List["Breakpoint"]
    change: "Change"
    bill: "Bill"
    cold: bool
    clock: str
    cut: "Cut"
    made: Optional["CutPoint"]
    refused: List["Refusal"]
    cuts: List["CutPoint"]
    notes: List[str]
    reasoning: "Reasoning"
    reported: Optional["Reported"]
    lifetimes: "Lifetimes"
    pace: "Pace"
    advice: "Advice"


class Breakpoint(TypedDict):
    """Breakpoint is a cache marker and what stands before it."""

    block: int
    message: int
    region: str
    why: str
    ttl_seconds: int
    cumulative_tokens: int


class _Change(TypedDict):
    # `kind` names what sets a request apart from the one before.
    kind: str
    # `block` is the index of the first changed block, -1 if none changed.
    block: int
    # `kept_tokens` of the last request can still be read by their content and identity, `broken_tokens` can't. Lifetimes are not looked at.
    kept_tokens: int
    broken_tokens: int
    # `host` is what the host broke of a warm cache; nil if it broke nothing.
    host: Optional["Broke"]
    breaks: str


class Change(_Change, total=False):
    """Change adds the level from which on nothing can be read."""

    # `field` is the identity field that changed, "" otherwise.
    field: str
    # `old` and `new` name what changed: block ids, or the field's values. An empty name means that there was nothing, or is nothing now.
    old: str
    new: str


class Broke(TypedDict):
    """Broke is a change by which a host made a provider's cache useless."""

    # `what` names the part that changed: tools, system, messages, or a setting.
    what: str
    # `place` is where, as exactly as is known: "tools3.description".
    place: str
    # `tokens` could have been read and are written anew, `usd` is what that costs more.
    tokens: int
    usd: Optional[float]


class _Bill(TypedDict):
    # The four buckets are disjoint and sum to the whole prompt.
    read_tokens: int
    write_5m_tokens: int
    write_1h_tokens: int
    uncached_tokens: int
    # `a`, `b` and `c` are the borders of the package comment, in tokens.
    a: int
    b: int
    c: int
    # `hit_block` is the last block that is read, -1 if none.
    hit_block: int
    # `cost_usd` is the input side in dollars; nil if a price that it needs is unknown.
    cost_usd: Optional[float]
    # `no_layout_cost_usd` is the same prompt sent without any caching.
    no_layout_cost_usd: Optional[float]
    # `tier` is the AboveTokens of the tier that prices the request.
    tier: int


class Bill(_Bill, total=False):
    """Bill is what a request is expected to read, write and cost."""

    # `notes` are what else is worth knowing.
    notes: List[str]


class _Cut(TypedDict):
    do: bool
    # `reason` is one of the `reason` constants.
    reason: str
    # `target_tokens` is what the whole prompt should come down to.
    target_tokens: int
    # `most_tokens` is what it may stay at for the sake of what is worth its keep: `hurdle` is how often, per token, a call has to be expected to need it.
    most_tokens: int
    hurdle: float
    figures: "Figures"


class Cut(_Cut, total=False):
    """Cut is the decision."""

    # `force` reports whether without a cut the prompt is over its limit.
    force: bool
    # `economy` is what the user prefers, "" for Balanced.
    economy: str


class _Figures(TypedDict):
    planned: int
    # `budget` is window − reserve, `cliff` the price cliff that is respected (0: none) and `limit` the smaller of them.
    budget: int
    cliff: int
    limit: int
    # `high_water`, `low_water` and `cold_low_water` are whole-prompt marks. `high_water` is the smaller of `room_mark`, above which the next call may not fit, and `eoq_high_water`, above which reading on costs more than cutting.
    high_water: int
    room_mark: int
    low_water: int
    cold_low_water: int
    max_growth: int
    median_growth: int
    # `mean_growth` is per call, over all growth that was given and the prior.
    mean_growth: int
    # `cold_rate` is the chance that a call finds the cache cold.
    cold_rate: float
    # `call_cost` is what an average call costs with these marks, `memory_cost` the part of it that keeping the low-water conversation costs, and `miss_cost` what fetching again would cost, all in base input tokens.
    call_cost: float
    memory_cost: float
    miss_cost: float
    # `saved` and `rewritten` are what a warm cut to the low-water mark removes and makes be written again; `break_even_turns` is when that has paid. (−1: never).
    saved: int
    rewritten: int
    break_even_turns: float
    expected_turns: float
    # `eoq_batch` is how far the prompt may grow above the low-water mark before cutting is cheaper than reading on, `eoq_high_water` the mark there (−1: no limit).
    eoq_batch: float
    eoq_high_water: float
    write_ratio: float
    read_ratio: float


class Figures(_Figures, total=False):
    """Figures are the numbers behind a decision, in tokens unless named otherwise."""

    # `ratios_assumed` reports whether the model is unpriced.
    ratios_assumed: bool


class _CutPoint(TypedDict):
    generation: int
    reason: str
    # `covers` counts the host messages seen when the cut was made; `chain` is the hash chain over their keys and contents.
    covers: int
    chain: str
    # `before` and `after` are the tokens of all items around the cut.
    before: int
    after: int


class CutPoint(_CutPoint, total=False):
    """CutPoint records one cut."""

    # `event` names the cold event that the cut used up, "" for a warm cut.
    event: str
    time: str


class _Refusal(TypedDict):
    atom: int
    rule: str


class Refusal(_Refusal, total=False):
    """Refusal is a wish, or a part of one, that the rules did not allow."""

    # `page` or `atom` is what the wish was about; "" and -1 for the cut itself.
    page: str


class Reasoning(TypedDict):
    """Reasoning is the thinking that a request no longer shows the model although the message stays that held it. What leaves with its whole message is not counted."""

    # `binding` is the model's.
    binding: str
    # `left_out_items` are blocks that the request does not send again.
    left_out_items: int
    left_out_tokens: int
    # `dropped_items` are blocks that it sends and the provider drops.
    dropped_items: int
    dropped_tokens: int
    # `stale_items` are blocks that it sends and the provider drops since an earlier cut. They were counted then.
    stale_items: int
    # `lost_usd` is the price of all these tokens as output: they were billed so when the model produced them, and cost as much if it has to think them again. It is part of no other cost. Nil if nothing is lost or the price is unknown.
    lost_usd: Optional[float]


class Reported(TypedDict, total=False):
    """Reported is what a provider tells in an answer of the request that it answers, in addition to usage."""

    # `removed` counts the reasoning items that were withheld from the model, by reason.
    removed: List["Removal"]
    # `cache_miss` is why the provider's cache was not read; nil if the answer does not say.
    cache_miss: "CacheMiss"


class Removal(TypedDict):
    """Removal counts reasoning items that a provider withheld from the model for one reason."""

    reason: str
    items: int


class CacheMiss(TypedDict):
    """CacheMiss is a provider's own diagnosis of a cache that was not read, which it makes where the request names an earlier answer to compare with."""

    reason: str
    tokens: int


class Lifetimes(TypedDict):
    """Lifetimes are how long cache entries live, and why."""

    fixed_seconds: int
    fixed_why: str
    messages_seconds: int
    messages_why: str


class Pace(TypedDict):
    """Pace is cachelayout.Pace with gaps in seconds."""

    calls: int
    idle_seconds: List[int]


class Advice(TypedDict):
    """Advice is cachelayout.Advice; a time that does not apply is null."""

    expires_at: Optional[str]
    summarise_by: Optional[str]
    summary_warm: float
    summary_cold: float
    keep_alive: bool
    keep_alive_seconds: int
    keep_alive_until: Optional[str]
    ping: float
    expiry: float


class Debug(TypedDict):
    """Debug lists every page and what became of it."""

    included: List["Included"]
    excluded: List["Excluded"]


class _Included(TypedDict):
    kind: str
    id: str
    tokens: int
    level: str
    # `full_tokens` is what the page would cost in full; it differs from `tokens` for degraded pages only.
    full_tokens: int


class Included(_Included, total=False):
    """Included is a page that the prompt shows."""

    note: str


class Excluded(TypedDict):
    """Excluded is a page, or the part of one, that the prompt does not show."""

    kind: str
    id: str
    tokens: int
    reason: str

Deferred = TypedDict(
    "Deferred",
    {
        "page": str,
        "from": str,
        "to": str,
        "saved_tokens": int,
        "why": str,
        "waits_for": str,
    },
)


class _Update(TypedDict):
    # `key` names the page, `type` what it is. A page keeps its type for life; `type` may be "" for one that exists.
    key: str
    field: str
    # `op` is how an update changes a field.
    op: Literal["append" , "merge" , "set_with_version"]
    # `scope` is where it belongs; `session` is whose private state, "" the principal's own. `session` means nothing in the project's scope.
    scope: Literal["session" , "project"]
    # `evidence_ref` names where it comes from: whatever the Resolver knows, or a committed update, as update:TX#UPDATE.
    evidence_ref: str

_MayUpdate = TypedDict(
    "_MayUpdate",
    {
        "id": str,
        "type": Literal["bootstrap" , "constraint" , "plan" , "preference" , "evidence" , "conversation"],
        "value": Any,
        "version": int,
        "session": str,
    }, total=False,
)


class Update(_Update, _MayUpdate):
    """Update is one staged change of one field."""

    pass


class _Observed(TypedDict):
    schema: str
    session_key: str
    # `outcome` says what became of an observed turn.
    outcome: str
    advancement_key: str
    # `ingested` counts the pages that were new.
    ingested: int
    # `turns` counts the committed turns of the session.
    turns: int
    # `stats` is what was written.
    stats: "Stats"


class Observed(_Observed, total=False):
    """Observed is the answer to the calls that observe."""

    # `rejected` are those of the turn's updates that were refused.
    rejected: List["Rejection"]
    # `faults` name what was not learned from the turn. It is committed all the same.
    faults: List["Fault"]
    conversation: "Mark"


class _Rejection(TypedDict):
    # `id` names the update, `code` is a rejection code such as "DESTRUCTIVE_OP", `detail` is what is wrong.
    id: str
    code: str


class Rejection(_Rejection, total=False):
    """Rejection is an update that validation refused."""

    detail: str
    body: Any


class _Passed(TypedDict):
    schema: str
    session_key: str
    # `outcome` is committed, or duplicate if nothing was new.
    outcome: str
    # `ingested` counts the pages that were new, `turns` the session's committed turns.
    ingested: int
    turns: int
    # `epoch` counts the resets of the session.
    epoch: int
    # `pinned` are the pages that hosts wrote and that every prompt shows.
    pinned: List[str]
    # `flushed` counts the entries that were appended to the day's log.
    flushed: int
    # `stats` is what was written.
    stats: "Stats"


class Passed(_Passed, total=False):
    """Passed is the answer to the calls at a boundary."""

    # `checkpoint` is the newest checkpoint, "" if there is none.
    checkpoint: str
    # `rejected` are updates that were refused, with their codes. The journal keeps them.
    rejected: List["Rejection"]
    faults: List["Fault"]
    # `compaction` is what Kernel.Compact came to, nil at every other boundary.
    compaction: "Compaction"
    conversation: "Mark"


class _Compaction(TypedDict):
    # `reason` says how a compaction on demand ended.
    reason: str
    # `tokens_before` and `tokens_after` are the prompt as the next plan would have shown it and as it does; Reclaimed is their difference.
    tokens_before: int
    tokens_after: int
    reclaimed_tokens: int
    target_tokens: int
    # `fixed_tokens` is what of them was said to be system prompt and tools that were not handed in.
    fixed_tokens: int
    context_window: int
    # `atoms` and `messages` left with this compaction; `lowered` results are shown shorter than before.
    atoms: int
    messages: int
    lowered: int
    # `spans` restore what left, by Kernel.Get.
    spans: List[str]
    # `first_kept` is the first message behind all that ever left: a host that replaces its history by `summary` keeps it from here on. Nil if none is known.
    first_kept: Optional["KeptMessage"]
    # `summary` is the past in the words of the carry block, `summary_version` counts its changes. `restore` is the working state from which the model goes on. A host that asks a summariser of its own hands it both.
    summary: str
    summary_version: int
    restore: str
    checkpoint: str
    # `generation` is the projection's after the cut.
    generation: int
    # `largest` is what takes most of the prompt, `pinned_tokens` what pins and the workspace's files do, where nothing could be reclaimed.
    largest: List["LargeItem"]
    pinned_tokens: int


class Compaction(_Compaction, total=False):
    """Compaction is what a compaction on demand came to. Tokens are the plan's: of the whole prompt, calibrated, without what the provider's own count would add to either figure alike."""

    # `detail` says the reason in words, and what can be done.
    detail: str
    # `warning` names a session that is compacted again and again, "" if it isn't.
    warning: str
    # `refusal` is what was read out of a provider's refusal, nil if there was none.
    refusal: "BudgetOverflow"


class KeptMessage(TypedDict):
    """KeptMessage is a message of the host's, by its key and its index."""

    key: str
    index: int


class LargeItem(TypedDict):
    """LargeItem is a part of a prompt and its size."""

    name: str
    tokens: int


class BudgetOverflow(TypedDict):
    """BudgetOverflow is what a provider reports of a request that it refused as too long. All figures are tokens by the provider's own count, 0 where it names none."""

    # `input_tokens` is what was sent, `limit_tokens` what the model takes of input, `answer_tokens` what was asked to be kept free for the answer where the limit is about both.
    input_tokens: int
    limit_tokens: int
    answer_tokens: int


class CallSettings(TypedDict, total=False):
    """CallSettings are what a model call is like."""

    branch: str
    model: str
    context_window: int
    reserve: int
    fixed_tokens: int
    system: Union[str, Sequence[Mapping[str, Any]]]
    tools: List[Any]
    resolver: str
    tool_choice: str
    thinking: str
    effort: str
    drop_option: bool
    format: Literal["anthropic" , "openai" , "responses"]
    overflow: "Overflow"
    # `economy` is a word or a number.
    economy: Union[Literal["save" , "balanced" , "keep"], float]


class _Checkpointed(TypedDict):
    schema: str
    session_key: str
    id: str
    text: str


class Checkpointed(_Checkpointed, total=False):
    """Checkpointed is the answer to checkpoint."""

    conversation: "Mark"


class Restore(TypedDict):
    """Restore is the document of restore."""

    schema: str
    session_key: str
    # `checkpoint` is the newest one, "" if there is none.
    checkpoint: str
    # `net` is the record that the text was made from, "" if there is none; `text` is empty then.
    net: str
    text: str
    # `damaged` are checkpoints and state files that could not be used.
    damaged: List[str]


class _FlushTurn(TypedDict):
    schema: str
    system: str
    # `prompt` is what a user would say. It is "" where a session was named in which nothing is new, or whose conversation this process was not shown: there is nothing to ask. Where flushes are switched off, `section` is "" as well.
    prompt: str
    # `section` asks for the same in something that a model writes anyway, such as the host's own summary; see FlushReply.Section.
    section: str
    # `path` is the file that the answer will be appended to.
    path: str
    # `max_tokens` is what the answer may take, in tokens.
    max_tokens: int


class FlushTurn(_FlushTurn, total=False):
    conversation: "Mark"


class _Flushed(TypedDict):
    schema: str
    # `reason` is OK, NO_REPLY, or why nothing was written: EMPTY, TOO_LARGE.
    reason: str
    # `items` counts the memories that were new.
    items: int
    # `line` tells it to people, in one line: flush: 4 entries to memory/2026-11-23.md.
    line: str


class Flushed(_Flushed, total=False):
    path: str
    # `unwritten` says why the file does not have them yet, "" if it has; see Remembered.
    unwritten: str


class _Remembered(TypedDict):
    schema: str
    session_key: str
    # `id` is the entry's; its marker follows it in the file.
    id: str
    # `ref` is the entry's text.
    ref: "Ref"
    # `duplicate`: it was there before.
    duplicate: bool
    # `masked` counts the secrets that were masked.
    masked: int


class Remembered(_Remembered, total=False):
    # `late` is the past day's log that it was meant for; it is in today's.
    late: str
    # `unwritten` says why the file does not have the entry yet, "" if it has. The session's journal keeps it, and it is written with the session's next call for which the file can be.
    unwritten: str


class Ref(TypedDict):
    """Ref cites a place in a document."""

    # `path` is relative to the workspace, with forward slashes.
    path: str
    # `start_line` and `end_line` are 1-based and inclusive.
    start_line: int
    end_line: int
    # `hash` is the sha256 of the cited bytes, in hex.
    hash: str


class EditDocument(TypedDict):
    schema: str
    session_key: str
    # `edit` names what was done, "" if there was nothing to change.
    edit: str
    files: List["EditedFile"]
    duplicate: bool
    masked: int


class EditedFile(TypedDict):
    """EditedFile is a file as an edit left it."""

    path: str
    # `version` is "" for a file that is gone.
    version: str
    start_line: int
    end_line: int


class UndoDocument(TypedDict):
    schema: str
    session_key: str
    edit: str
    time: str
    files: List["EditedFile"]


class MemoryToolDocument(TypedDict):
    """MemoryToolDocument is the result of the model's call."""

    schema: str
    content: str
    is_error: bool


class Forget(TypedDict):
    """Forget is the document of forget."""

    schema: str
    session_key: str
    applied: bool
    pages: List["ForgottenPage"]
    # `blobs` are removed, `kept_blobs` are blobs of these pages that others need too.
    blobs: List[str]
    kept_blobs: List[str]
    # `backups` are those of memory's files that quote the pages, by hash: they go, and what was pruned then can't be undone.
    backups: List[str]
    # `bytes` is what the pages held.
    bytes: int
    # `already` are ids that were forgotten before.
    already: List[str]
    # `elsewhere` names what says the same in other words or other places, and stays: pages of equal content, what hosts wrote, entries of memory files.
    elsewhere: List[str]
    # `transcripts` are documents of the session that were made to be searched. The transcripts that they were made of stay where they are, and are not read again.
    transcripts: List["Forgotten"]
    # `memory` are files of facts that came in from other programs by the session: its entries go.
    memory: List["ForgottenFacts"]

_ForgottenPage = TypedDict(
    "_ForgottenPage",
    {
        "session": str,
        "id": str,
        "type": str,
        "tool": str,
        "path": str,
        "bytes": int,
    },
)


class ForgottenPage(_ForgottenPage, total=False):
    """ForgottenPage is a page that was forgotten."""

    created: str


class Forgotten(TypedDict):
    """Forgotten is a conversation that was forgotten, or would be."""

    agent: str
    key: str
    # `path` is the transcript that it was read from, which is not touched.
    path: str
    turns: int


class ForgottenFacts(TypedDict):
    """ForgottenFacts are entries of a file of memory that were forgotten."""

    path: str
    entries: int


class Retain(TypedDict):
    """Retain is the document of retain."""

    schema: str
    applied: bool
    # `ended` are sessions that go as a whole. `cited` are those that are as old and stay, by key: memory names pages of them.
    ended: List["EndedSession"]
    cited: List[str]
    sessions: List["RetainedSession"]
    # `unreadable` are sessions that can't be read. Nothing of them goes, and no blob, since they may hold it.
    unreadable: List["Finding"]
    # `blobs` and `blob_bytes` are removed, orphans among them: blobs that no page of any session holds, as a kill between two writes leaves them.
    blobs: int
    blob_bytes: int
    orphans: int
    orphan_bytes: int
    # `backups` and `backup_bytes` are those of memory's files that are removed.
    backups: int
    backup_bytes: int


class EndedSession(TypedDict):
    """EndedSession is a session that is removed."""

    # `session` is its key, `last` when it was used last.
    session: str
    last: str
    # `bytes` is what its folder holds, without blobs.
    bytes: int


class RetainedSession(TypedDict):
    """RetainedSession is what goes of one session."""

    # `session` is its key.
    session: str
    # `pages` lose their content. `pointed` are pages as old that keep it, because a prompt or memory points to them.
    pages: int
    pointed: int
    # `idle`: nobody has planned the session for so long that it has no prompt left.
    idle: bool
    # `usage_rows` leave usage.jsonl, `trace_bytes` is the trace that goes.
    usage_rows: int
    trace_bytes: int


class Finding(TypedDict):
    """Finding is one thing that a check found. Its JSON is that of a finding in the state folder; other documents spell theirs."""

    # `session` is the session's key, or its folder where that can't be told; "" for what is of no session.
    session: str
    # `what` is the case, and `hint` the way out; "" if there is nothing to mend.
    what: str
    hint: str


class _Search(TypedDict):
    schema: str
    query: str
    results: List["Hit"]
    # `reason` is how the search of memory ended.
    reason: str
    # `mode` is by what means a question was answered.
    mode: str
    detail: str


class Search(_Search, total=False):
    """Search is the document of search."""

    # `behind` says by how much the index is behind, absent if it is not.
    behind: "Lag"
    # `progress` is how far the index is, with INDEXING.
    progress: "Progress"
    # `withheld` are parts of memory that a shared session may not see.
    withheld: List["Withheld"]
    # `weak` reports whether the results are likely beside the question, absent if not.
    weak: bool
    # `also_asked` is what was asked for beside words of the question.
    also_asked: List["Also"]


class _Hit(TypedDict):
    # `kind` is where a hit comes from.
    kind: str
    # `id` is the chunk's, the span's or the record's.
    id: str
    # `path` is "" for spans and records.
    path: str
    # `start_line` and `end_line` are 1-based and inclusive, in the file or in the span's text.
    start_line: int
    end_line: int
    # `score` is 0 to 1. Of passages the best hit's is the chance that the hits answer the question, where half of all questions have an answer: at .5 it is as likely that they do as that they don't. The others' are in proportion to what `parts` come to. Of chunks, and where the order is the index's own, it is what `parts` come to.
    score: float
    parts: "Parts"
    # `snippet` is the part of the text that holds most of the question's words, at most MaxSnippet characters; "" if the Query wants none.
    snippet: str
    # `snippet_start_line` and `snippet_end_line` are the lines that `snippet` is from.
    snippet_start_line: int
    snippet_end_line: int
    # `citation` names file and lines, or the span.
    citation: str


class Hit(_Hit, total=False):
    """Hit is a piece of memory, or of the session, that answers a question."""

    # `source` is which part of memory it is from, as the caller calls them.
    source: str
    # `trail` is the headings above it, outermost first; a span's label.
    trail: List[str]
    # `origin` is where a record of another system comes from, or the session whose agent decided or left open what a day's log says; "" for all else.
    origin: str
    # `date` is YYYY-MM-DD or "".
    date: str
    # `superseded_by` is the citation of what took its place, its own if it is itself marked as no longer valid; "" if nothing is known to have.
    superseded_by: str
    # `by_fact` is the citation of the fact whose words found the lines, as far as they lack those of the question; "" if none did. It is in no snippet.
    by_fact: str
    # `more` is what else is shown of the hit's place, in the order of its lines; the members above are about the best lines alone. nil if the Query wants lines.
    more: List["More"]
    # `dates` are the days that its text, and that of `more`, names by their distance from its own or without their year.
    dates: List["Dated"]


class _Parts(TypedDict):
    # `keyword` and `vector` are the scores of the two searches, 0 if that search did not find it, with their ranks from 1, 0 likewise.
    keyword: float
    vector: float
    # `merged` is their weighted mean, `decay` the factor that age puts on it; hits are ranked by their product.
    merged: float
    decay: float
    # `rank` is the place by score alone, from 1.
    rank: int


class Parts(_Parts, total=False):
    """Parts are what a hit's score is made of."""

    keyword_rank: int
    vector_rank: int
    # `age_days` is 0 for what doesn't age.
    age_days: float
    # `similarity` is the overlap with the most similar of the hits above, by which diversity judged; 0 if that is off.
    similarity: float


class _More(TypedDict):
    # `start_line` and `end_line` are the lines that `text` is from, counted as the hit's are.
    start_line: int
    end_line: int
    score: float
    text: str
    # `citation` names these lines.
    citation: str
    # `id` is the chunk's or the span's.
    id: str


class More(_More, total=False):
    """More is a further run of lines of a hit's place."""

    # `trail` is the headings above it, nil if they are the hit's.
    trail: List[str]
    # `superseded_by` and `by_fact` are as in Hit.
    superseded_by: str
    by_fact: str


class Dated(TypedDict):
    """Dated is a time that a text names, by its distance from the day on which it was written ("yesterday", "letzte Woche") or without its year ("on 7 May"), and when that is."""

    # `line` is where it stands, counted as the hit's own lines are.
    line: int
    # `text` is how it is named there.
    text: str
    # `date` is YYYY-MM-DD, YYYY-MM or YYYY; of other stretches the first day and the last, with a slash between them.
    date: str


class Lag(TypedDict):
    """Lag is how far an index is behind its files."""

    # `files` were written or came since they were indexed, `removed` are gone.
    files: int
    removed: int
    # `bytes` are the sizes of `files`.
    bytes: int
    # `rules`: the index was made by other rules, so that every file is to be read.
    rules: bool


class Progress(TypedDict):
    """Progress is how far an index is: it has Files of Total."""

    files: int
    total: int


class Also(TypedDict):
    """Also is what was asked for beside a word, or two words, of the question: how memory spells it."""

    typed: str
    asked: List[str]


class _Get(TypedDict):
    schema: str
    session_key: str
    id: str
    reason: str
    detail: str
    bytes: int
    # `encoding` is utf-8, or base64 for content that is no text.
    encoding: str
    text: str
    pages: List[str]
    # `path` and the lines are those of a file, "" and 0 for a page.
    path: str
    start_line: int
    end_line: int
    truncated: bool
    # `version` is that of the whole file, for who edits it; "" for a page and a file of more than a mebibyte.
    version: str
    # `references` are what of a page is stored as blobs.
    references: List["Reference"]


class Get(_Get, total=False):
    """Get is the document of get and read, for pages and for files."""

    # `sessions` are those that have it, where none was named.
    sessions: List[str]

_Reference = TypedDict(
    "_Reference",
    {
        "type": str,
        "page": str,
        "path": str,
        "bytes": int,
        "sha256": str,
    },
)


class Reference(_Reference, total=False):
    """Reference names content that the blob store has once, by its hash, in place of the bytes themselves."""

    tool_call_id: str
    media_type: str
    # `preview` is how a text begins, secrets masked.
    preview: str


class _Receipt(TypedDict):
    schema: str
    session_key: str
    # `outcome` is Refused if nothing was accepted, or not all of what is committed only together.
    outcome: str


class Receipt(_Receipt, total=False):
    # `seq` counts the journal's committed writebacks, from 1; 0 if this one is not.
    seq: int
    # `point` is the boundary at which a transaction was committed.
    point: str
    # `accepted` are the updates that were committed, `rejected` the others with their codes. A duplicate has those of the first delivery.
    accepted: List[str]
    rejected: List["Rejection"]


class PagesDocument(TypedDict):
    schema: str
    session_key: str
    pages: List["StoredPage"]

_StoredPage = TypedDict(
    "_StoredPage",
    {
        "scope": str,
        "key": str,
        "type": str,
        "version": int,
        "fields": List["StoredField"],
    },
)


class StoredPage(_StoredPage, total=False):
    """StoredPage is a page as committed. Version counts the updates that changed it."""

    session: str


class StoredField(TypedDict):
    """StoredField is a field of a page: its entries in the order in which they were first committed. Version counts the updates that changed it."""

    name: str
    # `kind` is how a field grows, and by which operation.
    kind: str
    version: int
    entries: List["Entry"]


class _Entry(TypedDict):
    versions: List["Version"]


class Entry(_Entry, total=False):
    """Entry is a list's entry, a map's member or, with ID "", a scalar: all the versions that it had, oldest first, the last of them current."""

    id: str


class _Version(TypedDict):
    # `version` counts from 1.
    version: int
    value: Any
    # `seq`, `tx` and `update` name the commit that it came by; `time` is the transaction's.
    seq: int
    tx: str
    update: str
    evidence_ref: str


class Version(_Version, total=False):
    """Version is one committed value, as it was and stays."""

    time: str
    # `by` and `session` are the principal, `evidence_ref` is the provenance.
    by: str
    session: str


class Status(TypedDict):
    """Status is the document of status."""

    schema: str
    state_dir: str
    sessions: List["Session"]
    # `others` are sessions that were not read, the newest first. `masked`, `forgotten` and `retired` don't count what is in them.
    others: List["Other"]
    # `unreadable` are sessions that can't be read, and why.
    unreadable: List["Finding"]
    # `blobs` and `blob_bytes` count the content-addressed store.
    blobs: int
    blob_bytes: int
    # `masked` counts the secrets that were masked in what is stored, by rule. Pages of versions that did not say which are counted as "unknown".
    masked: List["MaskCount"]
    # `forgotten` are pages that were forgotten, `retired` those whose content went by retention.
    forgotten: int
    retired: int
    # `memory` is what is taken from the workspace's Markdown.
    memory: "Memory"
    # `nets` is what that Markdown has of the sessions' working state.
    nets: "Nets"
    # `summary_models` are those that were asked for notes, with their cool-downs.
    summary_models: List["Cooldown"]


class Session(TypedDict):
    """Session is what is kept of one session."""

    # `key` is the session's, as the host spells it; of a folder of before December 2026 that does not say whose it is, its name. `folder` is the name of its folder.
    key: str
    folder: str
    pages: int
    turns: int
    spans: int
    lines: List["Line"]
    # `model_summaries` are the branches that a model made notes on.
    model_summaries: List["ModelSummary"]
    # `life` is what compactions, resets and flushes left behind.
    life: "Life"
    # `paging` sums up the paging of the plans of all its conversations.
    paging: "Report"
    # `journal_bytes` and `projection_bytes` are file sizes.
    journal_bytes: int
    projection_bytes: int


class _Line(TypedDict):
    branch: str
    model: str
    generation: int
    messages: int
    items: int
    cuts: int
    tokens: int
    # `fixed_tokens` is the size of system prompt and tools in the last call, beside `tokens`.
    fixed_tokens: int
    last_plan: str
    # `last_cut` is the newest, nil if there was none. `futile_cuts` of the newest reclaimed next to nothing; `breaker_open`: more are refused until the prompt grows.
    last_cut: Optional["StatusCut"]
    futile_cuts: int
    breaker_open: bool
    # `refusals` of the provider in a row were answered by smaller plans; `learned_window` is what it said that it takes, 0 if it never did.
    refusals: int
    learned_window: int


class Line(_Line, total=False):
    """Line is one conversation: a branch planned for a model."""

    last_start: str


class _StatusCut(TypedDict):
    reason: str
    tokens_before: int
    tokens_after: int


class StatusCut(_StatusCut, total=False):
    """StatusCut is a cut of a line, its tokens without tools and system, as counted."""

    time: str


class ModelSummary(TypedDict):
    """ModelSummary is the state of a model's notes on a branch of a session."""

    branch: str
    # `model` was asked last, at `time`, about so many `messages`, and proposed so many `operations`; `reason` is OK, or why there are no notes on them.
    model: str
    time: str
    messages: int
    operations: int
    reason: str
    # `deltas` counts how often a model answered.
    deltas: int
    # `notes` counts all of them, open or closed, `closed` what was closed.
    notes: int
    closed: int


class _Life(TypedDict):
    # `epoch` counts the resets, `compactions` the host's since the last one; `last_compaction` is when the newest was.
    epoch: int
    compactions: int
    # `checkpoints` are on disk, newest first.
    checkpoints: List[str]
    # `flushed` counts the entries of the day's logs that flushes wrote, `last_flush` is when the newest was.
    flushed: int
    # `flushed_by_model` counts those of them that the session's model wrote down, and `last_flush_items` and `last_flush_path` what the newest flush wrote and where.
    flushed_by_model: int
    # `cut_waiting`: a compaction was asked for that the next plan makes.
    cut_waiting: bool


class Life(_Life, total=False):
    """Life is what the boundaries of a session left behind."""

    last_compaction: str
    last_flush: str
    last_flush_items: int
    last_flush_path: str
    # `warning` names a session that was compacted again and again of late.
    warning: str


class Report(TypedDict):
    """Report is what counts come to."""

    # `explicit_faults` are all but pinned misses; `fault_codes` counts all, by code.
    explicit_faults: int
    fault_codes: Dict[str, int]
    alerts: int
    hits: int
    # `thrash` is as Totals.Thrash.
    thrash: float


class _Other(TypedDict):
    key: str
    folder: str
    # `bytes` is the size of its journal and projections, `last` when they were written to.
    bytes: int


class Other(_Other, total=False):
    """Other is a session that was not read."""

    last: str


class MaskCount(TypedDict):
    """MaskCount is how many secrets a rule found."""

    rule: str
    count: int


class Memory(TypedDict):
    """Memory says how memory is set and what is indexed of it."""

    # `workspace` is the folder of the Markdown. `enabled` is false if it is left alone; all else is then empty.
    workspace: str
    enabled: bool
    # `bootstrap` names the files of standing instructions; `remembered` and `daily_logs` say whether a session begins with MEMORY.md and USER.md, and with the logs of two days.
    bootstrap: List[str]
    remembered: bool
    daily_logs: bool
    # `workspace_tokens`, `recall_tokens` and `recall_items` bound what a prompt gets; 0 is nothing.
    workspace_tokens: int
    recall_tokens: int
    recall_items: int
    # `embedder` is the model by which questions become vectors, "" for words alone.
    embedder: str
    # `never_embedded` counts the texts that take more tokens than a whole day has.
    never_embedded: int
    index: "Index"
    # `sync` says how the index is kept up to date, `sessions` what is searched of past sessions.
    sync: "Sync"
    sessions: "Past"
    # `collections` are the names of what is searched: the workspace, and folders beside it.
    collections: List[str]
    # `searched_files` counts the files of the workspace that are searched. Only a report of Report counts them.
    searched_files: int
    # `left_out` is the Markdown that is not searched: now in a Report, else when Reindex was last called.
    left_out: "LeftOut"


class _Index(TypedDict):
    # `backend` is what keeps it: sqlite, postgres or qmd. `path` is the file, or names the database.
    backend: str
    path: str
    # `state` says in one word how an index file is.
    state: str
    files: int
    # `unread` are files that could not be read when last tried.
    unread: int
    chunks: int
    # `text_bytes` is the text of the chunks, `file_bytes` the file with its log.
    text_bytes: int
    file_bytes: int
    # `model` made the vectors, `vectors` counts the chunks that have one.
    model: str
    vectors: int
    # `behind`: files have changed since they were indexed, or the rules have.
    behind: bool
    # `lag` says by how much.
    lag: "Lag"


class Index(_Index, total=False):
    """Index is what an index file has."""

    # `detail` says why `state` is none of the others.
    detail: str


class _Sync(TypedDict):
    on_session_start: bool
    on_search: bool
    interval_seconds: float
    watch: "Watch"


class Sync(_Sync, total=False):
    """Sync says how the index is kept up to date in the background."""

    # `last` is the last run, of this kernel or else of another process; nil if none is known.
    last: "SyncRun"


class _Watch(TypedDict):
    # `on`: changes are seen as they happen. `folders` are watched.
    on: bool
    folders: int


class Watch(_Watch, total=False):
    """Watch says how the watch over the workspace's folders is."""

    # `detail` is why it is off, or sees only a part; "" if there is nothing to say.
    detail: str


class _SyncRun(TypedDict):
    # `reason` is what made the syncer look.
    reason: str
    # `time` is when it ended.
    time: str
    # `files` were read, `removed` are gone.
    files: int
    removed: int
    # `process` did it; `watching` whether it saw changes as they happened.
    process: int
    watching: bool


class SyncRun(_SyncRun, total=False):
    """SyncRun is one time that the index was brought up to date."""

    # `error` is why it failed, or why vectors are missing; "" if neither.
    error: str


class _Past(TypedDict):
    enabled: bool
    agent: str
    # `sources` are the folders of transcripts, `own` whether the kernel's own sessions are read too.
    sources: List[str]
    own: bool
    sessions: int
    turns: int
    forgotten: int


class Past(_Past, total=False):
    """Past counts what is kept of past sessions."""

    # `error` is why they can't be counted, "" if they can.
    error: str


class LeftOut(TypedDict):
    """LeftOut counts the Markdown files that are left out, and names some."""

    files: int
    # `reasons` are those that there are, those of most interest first.
    reasons: List["LeftCount"]
    # `first` are at most ten files, in the order of their reasons.
    first: List["LeftFile"]
    # `more`: folders in which nothing is included were not all looked into, so that there may be more files than these.
    more: bool


class LeftCount(TypedDict):
    """LeftCount is how many files are left out for a reason."""

    # `reason` is why a Markdown file of the workspace is no memory.
    reason: str
    files: int


class LeftFile(TypedDict):
    """LeftFile is a file that is left out."""

    path: str
    # `reason` is why a Markdown file of the workspace is no memory.
    reason: str


class Nets(TypedDict):
    """Nets is what the workspace's Markdown has of the sessions' working state."""

    session_state: "StateFile"
    working_buffer: "Buffer"


class _StateFile(TypedDict):
    path: str
    enabled: bool
    # `size_bytes` is the file's size, 0 if there is none, `other_bytes` what of it is not the kernel's.
    size_bytes: int
    other_bytes: int
    # `session` is the folder of the session whose section it has, "" if there is none; `epoch`, `messages` and `time` say how far it had come.
    session: str
    epoch: int
    messages: int
    # `edited`: somebody changed the section.
    edited: bool


class StateFile(_StateFile, total=False):
    """StateFile is what SESSION-STATE.md has."""

    time: str
    # `detail` says why the file can't be read.
    detail: str


class _Buffer(TypedDict):
    path: str
    enabled: bool
    size_bytes: int
    # `entries` counts those of the kernel, `newest` is when the last was made, and `last_dump` when all of the state was written.
    entries: int


class Buffer(_Buffer, total=False):
    """Buffer is what the working buffer has."""

    newest: str
    last_dump: str
    detail: str


class _Cooldown(TypedDict):
    model: str
    # `failures` counts those since the last answer that could be used; `until` is when the model is asked again.
    failures: int
    # `reason` and `detail` say what the last failure was, `failed` when.
    reason: str


class Cooldown(_Cooldown, total=False):
    """Cooldown is whether a model that makes notes is asked now. It is shared by all sessions of a state directory, since they have one account at one server."""

    until: str
    detail: str
    failed: str
    # `answered` is when it last gave what could be used.
    answered: str


class Check(TypedDict):
    """Check is the document of check."""

    schema: str
    state_dir: str
    ok: bool
    findings: List["Finding"]


class DocumentStats(TypedDict):
    """DocumentStats is the document of stats."""

    schema: str
    total: "Sum"
    # `sessions`, `days` and `models` are the same calls by folder of the session, by date, and by model id, each sorted by name.
    sessions: List["Sum"]
    days: List["Sum"]
    models: List["Sum"]
    # `torn` are files whose last line was cut off, as by a kill; it is left out.
    torn: List[str]
    calls: List["StatsCall"]


class Sum(TypedDict):
    """Sum adds up calls."""

    name: str
    calls: int
    # `turns` are those of the users in which the calls were made, as far as it was logged.
    turns: int
    # `compared_calls` calls have a plan to compare with: `planned`, `planned_cost_usd` and the errors are over these alone, and so is `billed_compared`.
    compared_calls: int
    planned: "Tokens"
    billed_compared: "Tokens"
    billed: "Tokens"
    # Costs are the input side of the calls that have a price, nil if none has; `unpriced_calls` counts the others. `billed_compared_cost_usd` is what the compared ones were billed.
    planned_cost_usd: Optional[float]
    billed_compared_cost_usd: Optional[float]
    billed_cost_usd: Optional[float]
    unpriced_calls: int
    # `hit_ratio` is the share of billed input that was read from the cache; nil of nothing.
    hit_ratio: Optional[float]
    # `cuts` were made by the plans. `saved_tokens` is what they kept out of all prompts.
    cuts: int
    saved_tokens: int
    # `reasoning` is what was lost of the models' reasoning.
    reasoning: "BillingReasoning"
    # `broke` sums up what hosts broke of warm caches, by what they changed.
    broke: List["Broken"]
    # `first_sight` sums up what was kept out of prompts at first sight, by kind of content.
    first_sight: List["FirstSight"]
    # `billed_usd` is what the calls cost, answers included, `without_usd` the estimate for the same calls without memkernel; nil if none has a price. `estimated_calls` counts the calls that the estimate was made for: the others cost the same in both.
    billed_usd: Optional[float]
    without_usd: Optional[float]
    estimated_calls: int
    # `cold_expected` were planned as cold, `cold_seen` billed so, `cold_expected_and_seen` both; calls of which that is not known are in none of them.
    cold_expected: int
    cold_seen: int
    cold_expected_and_seen: int
    # Errors are medians over compared calls of |planned − billed| / billed.
    input_error_median: Optional[float]
    cache_read_error_median: Optional[float]
    cache_write_error_median: Optional[float]


class Tokens(TypedDict):
    """Tokens are input tokens by how they were billed, and their sum."""

    uncached_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    input_tokens: int


class BillingReasoning(TypedDict):
    """BillingReasoning sums up what was lost of the models' reasoning."""

    # `left_out_items` and their tokens were left out by plans, `dropped_items` were sent for the provider to drop, by the plans' own count. `lost_usd` is the price of both as output, nil if nothing is lost or no price is known.
    left_out_items: int
    left_out_tokens: int
    dropped_items: int
    dropped_tokens: int
    lost_usd: Optional[float]
    # `removed` is what the providers reported. An item that is sent again by the calls that follow, and removed again, counts once.
    removed: List["Removal"]


class Broken(TypedDict):
    """Broken sums up changes by which hosts broke warm caches."""

    # `what` names the part that they changed, as of cachelayout.Broke.
    what: str
    times: int
    tokens: int
    usd: Optional[float]


class FirstSight(TypedDict):
    """FirstSight sums up results of a kind that were shortened before the model saw them."""

    # `kind` is the kind of content, as of represent.Door.
    kind: str
    results: int
    # `tokens` were kept out of the prompts that were the first with the results. `fetched_tokens` came back when the model read the results whole.
    tokens: int
    fetched_tokens: int


class StatsCall(TypedDict):
    """StatsCall is one call."""

    time: str
    session: str
    branch: str
    model: str
    plan: str
    # `planned` is null where it was not recorded.
    planned: Optional["Tokens"]
    billed: "Tokens"
    planned_cost_usd: Optional[float]
    billed_cost_usd: Optional[float]
    cut: bool
    saved_tokens: int
    billed_usd: Optional[float]
    without_usd: Optional[float]
    cold_expected: Optional[bool]
    cold_seen: Optional[bool]
    # `reasoning` is what its plan lost of the model's reasoning, null for nothing, `reported` what the provider told of the request.
    reasoning: Optional["Reasoning"]
    reported: Optional["Reported"]
    # `broke` is what the host broke of a warm cache, null for nothing.
    broke: Optional["Broke"]


class Reindex(TypedDict):
    """Reindex is the document of reindex."""

    schema: str
    index: str
    # `rebuilt` is why the index was made anew, "" if it was not.
    rebuilt: str
    # `aside` is where the old file is kept, "" if it is not.
    aside: str
    files: "ReindexFiles"
    chunks: "ReindexChunks"
    vectors: "ReindexVectors"
    # `sessions` were read, if past sessions are searched.
    sessions: "ReindexSessions"
    # `skipped` files were not indexed, `notes` are oddities of those that were.
    skipped: List["Skipped"]
    notes: List["Skipped"]
    # `left_out` is the Markdown of the workspace that is no memory.
    left_out: "DocumentLeftOut"
    # `bytes` were read in `seconds`.
    bytes: int
    seconds: float
    mb_per_second: float
    chunks_per_second: float
    index_bytes: int


class ReindexFiles(TypedDict):
    """ReindexFiles counts files."""

    listed: int
    added: int
    changed: int
    removed: int
    unchanged: int
    read: int


class ReindexChunks(TypedDict):
    """ReindexChunks counts chunks."""

    added: int
    removed: int
    kept: int
    reanalysed: int
    total: int


class ReindexVectors(TypedDict):
    """ReindexVectors counts vectors."""

    model: str
    embedded: int
    refused: int
    # `refused_reason` is why the first was, "" if none were.
    refused_reason: str
    total: int
    # `estimate` is what had to be embedded, as counted before; null without a provider.
    estimate: Optional["Estimate"]
    # `error` is why vectors are missing, "" if none are.
    error: str


class Estimate(TypedDict):
    """Estimate is what lacked a vector, and what it costs."""

    texts: int
    tokens: int
    # `cost_usd` is null if the price is not known.
    cost_usd: Optional[float]
    price_source: str
    price_as_of: str


class ReindexSessions(TypedDict):
    """ReindexSessions counts past sessions."""

    listed: int
    read: int
    turns: int
    forgotten: int
    removed: int


class Skipped(TypedDict):
    """Skipped is a file and what is to be said about it."""

    path: str
    reason: str


class DocumentLeftOut(TypedDict):
    """DocumentLeftOut is the Markdown that is no memory."""

    files: int
    more: bool
    reasons: List["LeftCount"]
    first: List["LeftFile"]


class ToolDefinitions(TypedDict):
    """ToolDefinitions is the answer to tools.list."""

    schema: str
    tools: List[Any]


class ToolAnswer(TypedDict):
    """ToolAnswer is the answer to tools.call."""

    schema: str
    name: str
    content: Any
