# Made by bench/clients from doc/schema.json. Don't edit.
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
    private: bool
    max_line_bytes: int
    max_in_flight: int


class Stopping(TypedDict):
    """Stopping is the answer to shutdown."""

    pass


class Overflow(TypedDict, total=False):
    """Overflow is a provider's refusal of the last call, because the prompt was too long or contained thinking of another conversation."""

    text: str
    input_tokens: int
    limit_tokens: int
    plan_id: str


class Conversation(TypedDict, total=False):
    """Conversation has the messages that a host hands in."""

    dialect: Literal["anthropic" , "openai" , "codex" , "pi"]
    base: str
    keep: int
    messages: List[Any]
    keys: List[str]


class _Memories(TypedDict):
    answer: Any


class Memories(_Memories, total=False):
    """Memories are the results of one memory of the host."""

    format: Literal["qmd" , "mem0" , "cognee" , ""]
    scope: Literal["session" , "project" , ""]


class _Planned(TypedDict):
    schema: str
    plan_id: str
    session_key: str
    branch: str
    model: str
    format: str
    generation: int
    flush_due: str
    budgets: "Budgets"
    regions: List["Region"]
    params: "Params"
    retrieval: "Retrieval"
    reduced: List["Reduced"]
    faults: List["Fault"]
    alerts: List["Fault"]
    stats: "Stats"
    cut: bool
    cold: bool
    count: int
    markers: List["Marker"]
    notes: List["Note"]


class Planned(_Planned, total=False):
    """Planned is the answer to plan and peek."""

    items: List["Item"]
    body: Any
    conversation: "Mark"
    layout: "Layout"
    debug: "Debug"


class Budgets(TypedDict):
    """Budgets is the arithmetic of a plan, in tokens."""

    context_window: int
    window_from: str
    reserve_tokens: int
    planned_input_tokens: int
    planned_cache_read_tokens: int
    planned_cache_write_tokens: int
    planned_uncached_tokens: int
    planned_cost_usd: Optional[float]
    tokens_are: str
    margin_tokens: int
    utilization: float


class Region(TypedDict):
    """Region is a part of the prompt and its size."""

    name: str
    tokens: int


class _Params(TypedDict):
    thinking_off: bool
    drop_option: bool
    betas: List[str]


class Params(_Params, total=False):
    """Params are request settings that a plan requires."""

    cache_key: str


class _Retrieval(TypedDict):
    reason: str
    mode: str
    items: int
    tokens: int
    citations: List[str]


class Retrieval(_Retrieval, total=False):
    """Retrieval is the outcome of recall for the newest user turn."""

    detail: str
    page: str
    origins: List[str]
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
    """Withheld is a part of memory that the user may not see: a file, or a class of files."""

    pass


class _Reduced(TypedDict):
    page: str
    key: str
    level: str
    handle: str


class Reduced(_Reduced, total=False):
    """Reduced is a page of the conversation that the prompt does not show in full."""

    call_id: str


class _Fault(TypedDict):
    code: str
    detail: str


class Fault(_Fault, total=False):
    """Fault is a named problem of the model or of the kernel."""

    page: str
    key: str
    turn: str
    cause: str
    plan: str
    budget_insufficient: bool


class _Stats(TypedDict):
    ingested: int
    blobs: int
    blob_bytes: int
    journal_bytes: int
    log_bytes: int
    files: int
    state_bytes: int
    lifted_bytes: int
    syncs: int
    sync_ns: int


class Stats(_Stats, total=False):
    """Stats is the kernel's own work for a plan."""

    examined: int


class Item(TypedDict, total=False):
    """Item is a run of unchanged messages of the host, or one message that is new or replaces messages of the host."""

    host: List[int]
    message: Any
    replaces: List[int]


class Marker(TypedDict):
    """Marker is a cache breakpoint after a message of the list that the items expand to."""

    message: int
    ttl: str
    why: str


class Note(TypedDict):
    rule: str
    text: str


class Mark(TypedDict):
    """Mark names the conversation that is held after a call."""

    base: str
    count: int


class Layout(TypedDict):
    """Layout describes a plan's use of the provider's cache."""

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


class Breakpoint(TypedDict):
    """Breakpoint is a cache marker."""

    block: int
    message: int
    region: str
    why: str
    ttl_seconds: int
    cumulative_tokens: int


class _Change(TypedDict):
    kind: str
    breaks: str
    block: int
    kept_tokens: int
    broken_tokens: int
    host: Optional["Broke"]


class Change(_Change, total=False):
    """Change describes the first change in a request that broke a level of the cache."""

    field: str
    old: str
    new: str


class Broke(TypedDict):
    """Broke is a change by which a host made a provider's cache useless."""

    what: str
    place: str
    tokens: int
    usd: Optional[float]


class _Bill(TypedDict):
    read_tokens: int
    write_5m_tokens: int
    write_1h_tokens: int
    uncached_tokens: int
    a: int
    b: int
    c: int
    hit_block: int
    cost_usd: Optional[float]
    no_layout_cost_usd: Optional[float]
    tier: int


class Bill(_Bill, total=False):
    """Bill holds the tokens that a request is expected to read and write, and its expected cost."""

    notes: List[str]


class _Cut(TypedDict):
    do: bool
    reason: str
    target_tokens: int
    most_tokens: int
    hurdle: float
    figures: "Figures"


class Cut(_Cut, total=False):
    """Cut is the decision."""

    force: bool
    economy: str


class _Figures(TypedDict):
    planned: int
    budget: int
    cliff: int
    limit: int
    high_water: int
    room_mark: int
    low_water: int
    max_growth: int
    median_growth: int
    mean_growth: int
    cold_rate: float
    call_cost: float
    memory_cost: float
    miss_cost: float
    saved: int
    rewritten: int
    break_even_turns: float
    expected_turns: float
    eoq_batch: float
    eoq_high_water: float
    write_ratio: float
    read_ratio: float


class Figures(_Figures, total=False):
    """Figures are the numbers on which a decision rests, in tokens unless named otherwise."""

    ratios_assumed: bool


class _CutPoint(TypedDict):
    generation: int
    reason: str
    covers: int
    chain: str
    before: int
    after: int


class CutPoint(_CutPoint, total=False):
    """CutPoint records one cut."""

    event: str
    time: str


class _Refusal(TypedDict):
    atom: int
    rule: str


class Refusal(_Refusal, total=False):
    """Refusal is a wish, or a part of a wish, that the rules did not allow."""

    page: str


class Reasoning(TypedDict):
    """Reasoning is the thinking that a request no longer shows the model although the message with the thinking stays."""

    binding: str
    left_out_items: int
    left_out_tokens: int
    dropped_items: int
    dropped_tokens: int
    stale_items: int
    lost_usd: Optional[float]


class Reported(TypedDict, total=False):
    """Reported has a provider's remarks on a request in the answer to it, in addition to usage."""

    removed: List["Removal"]
    cache_miss: "CacheMiss"


class Removal(TypedDict):
    """Removal counts reasoning items that a provider withheld from the model for one reason."""

    reason: str
    items: int


class CacheMiss(TypedDict):
    """CacheMiss is a provider's own diagnosis of a cache that was not read."""

    reason: str
    tokens: int


class Lifetimes(TypedDict):
    """Lifetimes are the cache lifetimes that the breakpoints request, with the reasons."""

    fixed_seconds: int
    fixed_why: str
    messages_seconds: int
    messages_why: str


class Pace(TypedDict):
    """Pace describes the gaps between the calls of a session, including the planned one."""

    calls: int
    idle_seconds: List[int]


class Debug(TypedDict):
    """Debug lists every page with its outcome."""

    included: List["Included"]
    excluded: List["Excluded"]


class _Included(TypedDict):
    kind: str
    id: str
    tokens: int
    level: str
    full_tokens: int


class Included(_Included, total=False):
    """Included is a page that the prompt shows."""

    note: str


class Excluded(TypedDict):
    """Excluded is a page, or a part of a page, that the prompt does not show."""

    kind: str
    id: str
    tokens: int
    reason: str


class _Update(TypedDict):
    key: str
    field: str
    op: Literal["append" , "merge" , "set_with_version"]
    scope: Literal["session" , "project"]
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
    outcome: str
    advancement_key: str
    ingested: int
    turns: int
    stats: "Stats"


class Observed(_Observed, total=False):
    """Observed is the answer to the calls that observe."""

    rejected: List["Rejection"]
    faults: List["Fault"]
    conversation: "Mark"


class _Rejection(TypedDict):
    id: str
    code: str


class Rejection(_Rejection, total=False):
    """Rejection is an update that validation refused."""

    detail: str
    body: Any


class _Passed(TypedDict):
    schema: str
    session_key: str
    outcome: str
    ingested: int
    turns: int
    epoch: int
    pinned: List[str]
    flushed: int
    stats: "Stats"


class Passed(_Passed, total=False):
    """Passed is the answer to the calls at a boundary."""

    checkpoint: str
    rejected: List["Rejection"]
    faults: List["Fault"]
    compaction: "Compaction"
    conversation: "Mark"


class _Compaction(TypedDict):
    reason: str
    tokens_before: int
    tokens_after: int
    reclaimed_tokens: int
    target_tokens: int
    fixed_tokens: int
    context_window: int
    atoms: int
    messages: int
    lowered: int
    spans: List[str]
    first_kept: Optional["KeptMessage"]
    summary: str
    summary_version: int
    restore: str
    checkpoint: str
    generation: int
    largest: List["BudgetItem"]
    pinned_tokens: int


class Compaction(_Compaction, total=False):
    """Compaction is the outcome of a compaction on demand."""

    detail: str
    warning: str
    refusal: "BudgetOverflow"


class KeptMessage(TypedDict):
    """KeptMessage names a message of the host by its key and its index."""

    key: str
    index: int


class BudgetItem(TypedDict):
    """BudgetItem is a named part of a prompt and its size in tokens."""

    name: str
    tokens: int


class BudgetOverflow(TypedDict):
    """BudgetOverflow is a provider's report about a request that it refused as too long."""

    input_tokens: int
    limit_tokens: int
    answer_tokens: int


class CallSettings(TypedDict, total=False):
    """CallSettings are the settings of a model call."""

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
    checkpoint: str
    net: str
    text: str
    damaged: List[str]


class _FlushTurn(TypedDict):
    schema: str
    system: str
    prompt: str
    section: str
    path: str
    max_tokens: int


class FlushTurn(_FlushTurn, total=False):
    conversation: "Mark"


class _Flushed(TypedDict):
    schema: str
    reason: str
    items: int
    line: str


class Flushed(_Flushed, total=False):
    path: str
    unwritten: str


class _Remembered(TypedDict):
    schema: str
    session_key: str
    id: str
    ref: "Ref"
    duplicate: bool
    masked: int


class Remembered(_Remembered, total=False):
    late: str
    edit: str
    text: str
    unwritten: str


class Ref(TypedDict):
    """Ref cites a place in a document."""

    path: str
    start_line: int
    end_line: int
    hash: str


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
    blobs: List[str]
    kept_blobs: List[str]
    backups: List[str]
    bytes: int
    already: List[str]
    elsewhere: List[str]
    transcripts: List["Forgotten"]
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
    """Forgotten is a conversation that was forgotten or would be forgotten."""

    agent: str
    key: str
    path: str
    turns: int


class ForgottenFacts(TypedDict):
    """ForgottenFacts are entries of a file of memory that were forgotten."""

    path: str
    entries: int


class Retained(TypedDict):
    """Retained lists the data that was removed, or would be."""

    schema: str
    applied: bool
    ended: List["EndedSession"]
    cited: List[str]
    sessions: List["RetainedSession"]
    unreadable: List["Finding"]
    blobs: int
    blob_bytes: int
    orphans: int
    orphan_bytes: int
    backups: int
    backup_bytes: int


class EndedSession(TypedDict):
    """EndedSession is a session that is removed."""

    session: str
    last: str
    bytes: int


class RetainedSession(TypedDict):
    """RetainedSession is the data of one session that is removed."""

    session: str
    pages: int
    pointed: int
    idle: bool
    usage_rows: int
    trace_bytes: int


class Finding(TypedDict):
    """Finding is one result of a check."""

    session: str
    what: str
    hint: str


class _Search(TypedDict):
    schema: str
    query: str
    results: List["Hit"]
    reason: str
    mode: str
    detail: str


class Search(_Search, total=False):
    """Search is the document of search."""

    behind: "Lag"
    progress: "Progress"
    withheld: List["Withheld"]
    weak: bool
    also_asked: List["Also"]


class _Hit(TypedDict):
    kind: str
    id: str
    path: str
    start_line: int
    end_line: int
    score: float
    parts: "Parts"
    snippet: str
    snippet_start_line: int
    snippet_end_line: int
    citation: str


class Hit(_Hit, total=False):
    """Hit is a piece of memory, or of the session, that answers a question."""

    source: str
    trail: List[str]
    origin: str
    date: str
    superseded_by: str
    more: List["More"]
    dates: List["Dated"]


class _Parts(TypedDict):
    keyword: float
    vector: float
    merged: float
    decay: float
    rank: int


class Parts(_Parts, total=False):
    """Parts are the parts of a hit's score."""

    keyword_rank: int
    vector_rank: int
    age_days: float
    similarity: float


class _More(TypedDict):
    start_line: int
    end_line: int
    score: float
    text: str
    citation: str
    id: str


class More(_More, total=False):
    """More is a further run of lines of a hit's place."""

    trail: List[str]
    superseded_by: str


class Dated(TypedDict):
    """Dated is an expression of time in a text and the date that it means."""

    line: int
    text: str
    date: str


class Lag(TypedDict):
    """Lag counts the changes of files that an index does not have yet."""

    files: int
    removed: int
    bytes: int
    rules: bool


class Progress(TypedDict):
    """Progress is the progress of an index, which has `files` of `total` files."""

    files: int
    total: int


class Also(TypedDict):
    """Also is a spelling in memory that was searched in addition to one or two words of the question."""

    typed: str
    asked: List[str]


class _Get(TypedDict):
    schema: str
    session_key: str
    id: str
    reason: str
    detail: str
    bytes: int
    encoding: str
    text: str
    pages: List[str]
    path: str
    start_line: int
    end_line: int
    truncated: bool
    version: str
    references: List["Reference"]


class Get(_Get, total=False):
    """Get is the document of get and read, for pages and for files."""

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
    """Reference names, by its hash, content that the blob store holds once."""

    tool_call_id: str
    media_type: str
    preview: str


class _Receipt(TypedDict):
    schema: str
    session_key: str
    outcome: str


class Receipt(_Receipt, total=False):
    seq: int
    point: str
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
    """StoredPage is a committed page with its fields by name."""

    session: str


class StoredField(TypedDict):
    """StoredField is a field of a page, with its entries in the order in which they were first committed."""

    name: str
    kind: str
    version: int
    entries: List["Entry"]


class _Entry(TypedDict):
    versions: List["Version"]


class Entry(_Entry, total=False):
    """Entry is a list's entry, a map's member or, with `id` "", a scalar."""

    id: str


class _Version(TypedDict):
    version: int
    value: Any
    seq: int
    tx: str
    update: str
    evidence_ref: str


class Version(_Version, total=False):
    """Version is one committed value."""

    time: str
    by: str
    session: str


class Status(TypedDict):
    """Status describes the content of a state directory."""

    schema: str
    state_dir: str
    sessions: List["SessionStatus"]
    others: List["OtherSession"]
    unreadable: List["Finding"]
    blobs: int
    blob_bytes: int
    masked: List["MaskCount"]
    forgotten: int
    retired: int
    memory: "MemoryStatus"
    nets: "NetsStatus"
    summary_models: List["Cooldown"]


class SessionStatus(TypedDict):
    """SessionStatus describes the stored state of one session."""

    key: str
    folder: str
    pages: int
    turns: int
    spans: int
    lines: List["LineStatus"]
    model_summaries: List["ModelSummary"]
    life: "LifeStatus"
    paging: "Report"
    journal_bytes: int
    projection_bytes: int


class _LineStatus(TypedDict):
    branch: str
    model: str
    generation: int
    messages: int
    items: int
    cuts: int
    tokens: int
    fixed_tokens: int
    last_plan: str
    last_cut: Optional["LineCut"]
    futile_cuts: int
    breaker_open: bool
    refusals: int
    learned_window: int


class LineStatus(_LineStatus, total=False):
    """LineStatus is one conversation: a branch planned for a model."""

    last_start: str


class _LineCut(TypedDict):
    reason: str
    tokens_before: int
    tokens_after: int


class LineCut(_LineCut, total=False):
    """LineCut is a cut of a line."""

    time: str


class ModelSummary(TypedDict):
    """ModelSummary is the state of a model's notes on a branch of a session."""

    branch: str
    model: str
    time: str
    messages: int
    operations: int
    reason: str
    deltas: int
    notes: int
    closed: int


class _LifeStatus(TypedDict):
    epoch: int
    compactions: int
    checkpoints: List[str]
    flushed: int
    flushed_by_model: int
    cut_waiting: bool


class LifeStatus(_LifeStatus, total=False):
    """LifeStatus describes the boundaries of a session and their outcomes."""

    last_compaction: str
    last_flush: str
    last_flush_items: int
    last_flush_path: str
    warning: str


class Report(TypedDict):
    """Report is the summary of counts."""

    explicit_faults: int
    fault_codes: Dict[str, int]
    alerts: int
    hits: int
    thrash: float


class _OtherSession(TypedDict):
    key: str
    folder: str
    bytes: int


class OtherSession(_OtherSession, total=False):
    """OtherSession is a session that was not read."""

    last: str


class MaskCount(TypedDict):
    """MaskCount is the number of secrets that a rule found."""

    rule: str
    count: int


class MemoryStatus(TypedDict):
    """MemoryStatus holds the settings of memory and the size of its index."""

    workspace: str
    enabled: bool
    bootstrap: List[str]
    remembered: bool
    daily_logs: bool
    workspace_tokens: int
    recall_tokens: int
    recall_items: int
    embedder: str
    index: "IndexStatus"
    sync: "SyncStatus"
    sessions: "PastSessions"
    collections: List[str]
    searched_files: int
    standing_files: int
    left_out: "LeftOut"


class _IndexStatus(TypedDict):
    backend: str
    path: str
    state: str
    files: int
    unread: int
    chunks: int
    text_bytes: int
    file_bytes: int
    model: str
    vectors: int
    behind: bool
    lag: "Lag"


class IndexStatus(_IndexStatus, total=False):
    """IndexStatus describes an index file."""

    detail: str


class _SyncStatus(TypedDict):
    on_session_start: bool
    on_search: bool
    interval_seconds: float
    watch: "WatchStatus"


class SyncStatus(_SyncStatus, total=False):
    """SyncStatus is the state of the index's updates in the background."""

    last: "SyncRun"


class _WatchStatus(TypedDict):
    on: bool
    folders: int


class WatchStatus(_WatchStatus, total=False):
    """WatchStatus is the state of the watch over the workspace's folders."""

    detail: str


class _SyncRun(TypedDict):
    reason: str
    time: str
    files: int
    removed: int
    process: int
    watching: bool


class SyncRun(_SyncRun, total=False):
    """SyncRun is one update of the index."""

    error: str


class _PastSessions(TypedDict):
    enabled: bool
    agent: str
    sources: List[str]
    own: bool
    sessions: int
    turns: int
    forgotten: int


class PastSessions(_PastSessions, total=False):
    """PastSessions counts the stored past sessions."""

    error: str


class LeftOut(TypedDict):
    """LeftOut counts the Markdown files that are left out, and names some."""

    files: int
    reasons: List["LeftCount"]
    first: List["LeftFile"]
    more: bool


class LeftCount(TypedDict):
    """LeftCount is the number of files that are left out for a reason."""

    reason: str
    files: int


class LeftFile(TypedDict):
    """LeftFile is a file that is left out."""

    path: str
    reason: str


class NetsStatus(TypedDict):
    """NetsStatus describes the copies of the sessions' working state in the workspace's Markdown."""

    session_state: "StateFileStatus"
    working_buffer: "BufferStatus"


class _StateFileStatus(TypedDict):
    path: str
    enabled: bool
    size_bytes: int
    other_bytes: int
    session: str
    epoch: int
    messages: int
    edited: bool


class StateFileStatus(_StateFileStatus, total=False):
    """StateFileStatus describes SESSION-STATE.md."""

    time: str
    detail: str


class _BufferStatus(TypedDict):
    path: str
    enabled: bool
    size_bytes: int
    entries: int


class BufferStatus(_BufferStatus, total=False):
    """BufferStatus describes the working buffer."""

    newest: str
    last_dump: str
    detail: str


class _Cooldown(TypedDict):
    model: str
    failures: int
    reason: str


class Cooldown(_Cooldown, total=False):
    """Cooldown is the pause before a model that makes notes is asked again."""

    until: str
    detail: str
    failed: str
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
    sessions: List["Sum"]
    days: List["Sum"]
    models: List["Sum"]
    torn: List[str]
    calls: List["StatsCall"]


class Sum(TypedDict):
    """Sum adds up calls."""

    name: str
    calls: int
    turns: int
    compared_calls: int
    planned: "Tokens"
    billed_compared: "Tokens"
    billed: "Tokens"
    planned_cost_usd: Optional[float]
    billed_compared_cost_usd: Optional[float]
    billed_cost_usd: Optional[float]
    unpriced_calls: int
    hit_ratio: Optional[float]
    cuts: int
    saved_tokens: int
    reasoning: "BillingReasoning"
    broke: List["Broken"]
    first_sight: List["FirstSight"]
    billed_usd: Optional[float]
    without_usd: Optional[float]
    estimated_calls: int
    cold_expected: int
    cold_seen: int
    cold_expected_and_seen: int
    input_error_median: Optional[float]
    cache_read_error_median: Optional[float]
    cache_write_error_median: Optional[float]


class Tokens(TypedDict):
    """Tokens counts input tokens by the way in which they were billed, and their sum."""

    uncached_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    input_tokens: int


class BillingReasoning(TypedDict):
    """BillingReasoning counts the lost reasoning of the models."""

    left_out_items: int
    left_out_tokens: int
    dropped_items: int
    dropped_tokens: int
    lost_usd: Optional[float]
    removed: List["Removal"]


class Broken(TypedDict):
    """Broken sums up changes by which hosts broke warm caches."""

    what: str
    times: int
    tokens: int
    usd: Optional[float]


class FirstSight(TypedDict):
    """FirstSight sums up results of a kind that were shortened before the model saw them."""

    kind: str
    results: int
    tokens: int
    fetched_tokens: int


class StatsCall(TypedDict):
    """StatsCall is one call."""

    time: str
    session: str
    branch: str
    model: str
    plan: str
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
    reasoning: Optional["Reasoning"]
    reported: Optional["Reported"]
    broke: Optional["Broke"]


class Reindex(TypedDict):
    """Reindex is the document of reindex."""

    schema: str
    index: str
    rebuilt: str
    aside: str
    files: "ReindexFiles"
    chunks: "ReindexChunks"
    vectors: "ReindexVectors"
    sessions: "ReindexSessions"
    skipped: List["SkippedFile"]
    notes: List["SkippedFile"]
    left_out: "LeftOut"
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
    refused_reason: str
    total: int
    estimate: Optional["Estimate"]
    error: str


class Estimate(TypedDict):
    """Estimate counts the texts without a vector, and the price of their vectors."""

    texts: int
    tokens: int
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


class SkippedFile(TypedDict):
    """SkippedFile is a file that was skipped, with the reason."""

    path: str
    reason: str


class ToolDefinitions(TypedDict):
    """ToolDefinitions is the answer to tools.list."""

    schema: str
    tools: List[Any]


class ToolAnswer(TypedDict):
    """ToolAnswer is the answer to tools.call."""

    schema: str
    name: str
    content: Any
