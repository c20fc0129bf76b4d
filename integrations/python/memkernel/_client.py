from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import threading
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

PROTOCOL = 1
Json = Dict[str, Any]


class MemkernelError(Exception):
    """What the daemon answered, or the loss of the connection (code ``CLOSED``).

    ``number`` is JSON-RPC's, ``code`` the reason in one word, ``hint`` the way out.
    ``started`` says that the call may have been carried out all the same: deliver it
    again.
    """

    def __init__(self, message: str, number: int = 0, code: str = "FAILED", hint: str = "", started: bool = False, **more: Any) -> None:
        super().__init__(message)
        self.number, self.code, self.hint, self.started, self.more = number, code, hint, started, more


def connect(
    workspace: Union[str, "os.PathLike[str]"] = ".",
    *,
    state_dir: Optional[str] = None,
    socket_path: Optional[str] = None,
    binary: str = "memkernel",
    args: Sequence[str] = (),
    idle: str = "15m",
    start_timeout: float = 15.0,
    timeout: Optional[float] = 60.0,
    on_notification: Optional[Callable[[str, Json], None]] = None,
) -> "Client":
    """Connects to the daemon of a workspace, and starts one if none listens.

    With ``socket_path`` none is started. ``timeout`` bounds every call, in seconds.
    """
    tries = 0
    while True:
        try:
            return _connect(workspace, state_dir, socket_path, binary, args, idle, start_timeout, timeout, on_notification)
        except MemkernelError as err:
            # A daemon may be ending just now; then another one is started.
            tries += 1
            ending = err.code in ("CLOSED", "STOPPING") and (err.number or err.started)
            if socket_path or tries == 3 or not ending:
                raise


def _connect(workspace, state_dir, socket_path, binary, args, idle, start_timeout, timeout, on_notification) -> "Client":  # type: ignore[no-untyped-def]
    workspace = os.path.abspath(os.path.expanduser(os.fspath(workspace)))
    state = os.path.abspath(state_dir) if state_dir else os.path.join(workspace, ".memkernel")
    sock = _open(socket_path or os.path.join(state, "serve.sock"))
    if sock is None and socket_path is None:
        sock = _open(_start(workspace, state, binary, args, idle, start_timeout))
    if sock is None:
        raise MemkernelError(f"no daemon listens at {socket_path or state}", code="CLOSED", hint="run memkernel serve")
    client = Client(sock, timeout=timeout, on_notification=on_notification)
    try:
        client.server = client.call("initialize", {"protocol": PROTOCOL, "client": {"name": "memkernel-python", "version": "0.1.0"}})
    except BaseException:
        client.close()
        raise
    return client


def _open(path: str) -> Optional[socket.socket]:
    """A connected socket, None if nobody listens there. One that is somebody else's,
    or open to others, is an error."""
    try:
        st = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISSOCK(st.st_mode):
        raise MemkernelError(f"{path} is no socket", code="UNTRUSTED", hint="move it away")
    if st.st_uid != os.getuid() or st.st_mode & 0o077:
        raise MemkernelError(f"the socket {path} is not yours alone", code="UNTRUSTED", hint="remove it")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.connect(path)
    except OSError:
        sock.close()
        return None
    return sock


def _start(workspace: str, state: str, binary: str, args: Sequence[str], idle: str, wait: float) -> str:
    """Runs a daemon that outlives this process, and gives its socket: the first line
    that it prints, also when another one was faster."""
    command = [binary, "serve", "--workspace", workspace, "--state-dir", state, "--idle", idle, *args]
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except OSError as err:
        raise MemkernelError(f"run {binary}: {err}", code="CLOSED", hint="name the program by the argument binary") from err
    timer = threading.Timer(wait, child.kill)
    timer.start()
    try:
        line = child.stdout.readline().decode()
        if not line.endswith("\n"):
            said = child.stderr.read().decode().strip()
            raise MemkernelError(said or "the daemon did not begin to listen in time", code="CLOSED")
        return line[:-1]
    finally:
        timer.cancel()
        child.stdout.close()
        child.stderr.close()
        # Nobody waits for the daemon; a thread keeps it from staying as a zombie.
        threading.Thread(target=child.wait, daemon=True).start()


def _plain(value: Any) -> Any:
    """What a provider's library answers with, as JSON has it."""
    for name in ("model_dump", "to_dict"):
        dump = getattr(value, name, None)
        if callable(dump) and not isinstance(value, type):
            return dump()
    raise TypeError(f"{type(value).__name__} can't be written as JSON: hand in a dict")


class Call:
    """A call on its way."""

    def __init__(self, client: "Client", id: int, method: str, on_progress: Optional[Callable[[Json], None]]) -> None:
        self._client, self._id, self._method, self._on_progress = client, id, method, on_progress
        self._done = threading.Event()
        self._result: Any = None
        self._error: Optional[MemkernelError] = None

    def cancel(self) -> None:
        """Asks the daemon to end the call; :meth:`result` then raises."""
        self._client._send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": self._id}})

    def result(self, timeout: Optional[float] = None) -> Any:
        """Waits for the answer."""
        if not self._done.wait(timeout):
            self.cancel()
            self._client._forget(self._id)
            raise MemkernelError(f"{self._method} took too long", number=-32001, code="DEADLINE", started=True)
        if self._error is not None:
            raise self._error
        return self._result

    def _end(self, result: Any, error: Optional[MemkernelError]) -> None:
        self._result, self._error = result, error
        self._done.set()


class Client:
    """A connection. It may be used by several threads. Its methods take the
    parameters of the protocol as keywords; :meth:`call` takes any method."""

    server: Json = {}

    def __init__(self, sock: socket.socket, *, timeout: Optional[float] = 60.0, on_notification: Optional[Callable[[str, Json], None]] = None) -> None:
        self._sock, self._timeout, self._on_notification = sock, timeout, on_notification
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: Dict[int, Call] = {}
        self._next = 0
        self._closed: Optional[str] = None
        self._reader = threading.Thread(target=self._read, name="memkernel", daemon=True)
        self._reader.start()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        return self._closed is not None

    def close(self) -> None:
        self._end("the connection was closed")
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._sock.close()

    def start(self, method: str, params: Optional[Json] = None, *, on_progress: Optional[Callable[[Json], None]] = None) -> Call:
        """Begins a call and does not wait for it."""
        with self._lock:
            if self._closed is not None:
                raise MemkernelError(self._closed, code="CLOSED", hint="connect again")
            self._next += 1
            call = Call(self, self._next, method, on_progress)
            self._waiting[call._id] = call
        try:
            self._send({"jsonrpc": "2.0", "id": call._id, "method": method, "params": params or {}})
        except TypeError:
            self._forget(call._id)
            raise
        return call

    def call(self, method: str, params: Optional[Json] = None, *, timeout: Optional[float] = None, on_progress: Optional[Callable[[Json], None]] = None) -> Any:
        """Calls a method. ``timeout`` in seconds is the daemon's deadline, too."""
        wait = self._timeout if timeout is None else timeout
        params = dict(params or {})
        if wait:
            params.setdefault("deadline_ms", max(1, int(wait * 1000)))
        # The daemon answers at the deadline itself; one that hangs is not waited for.
        return self.start(method, params, on_progress=on_progress).result(wait + 1 if wait else None)

    def notify(self, method: str, params: Optional[Json] = None) -> None:
        """Sends a call without waiting for what becomes of it."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def session(self, session_key: str, *, dialect: str = "anthropic", **common: Any) -> "Session":
        """A conversation of a session, of which only what is new is sent."""
        return Session(self, session_key, dialect=dialect, **common)

    def _send(self, message: Json) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=_plain).encode("utf-8", "surrogatepass") + b"\n"
        with self._writing:
            try:
                self._sock.sendall(data)
            except OSError as err:
                self._end(str(err))

    def _read(self) -> None:
        why = "the daemon closed the connection"
        try:
            with self._sock.makefile("rb") as lines:
                for line in lines:
                    self._message(json.loads(line))
        except (OSError, ValueError) as err:
            why = str(err)
        self._end(why)

    def _message(self, message: Json) -> None:
        if "method" in message:
            params = message.get("params") or {}
            with self._lock:
                call = self._waiting.get(params.get("id")) if message["method"] == "$/progress" else None
            if call is not None and call._on_progress:
                call._on_progress(params)
            if self._on_notification:
                self._on_notification(message["method"], params)
            return
        call = self._forget(message.get("id"))
        if call is None:
            return  # it was given up
        error = message.get("error")
        call._end(message.get("result"), MemkernelError(error["message"], number=error["code"], **error.get("data", {})) if error else None)

    def _forget(self, id: Any) -> Optional[Call]:
        with self._lock:
            return self._waiting.pop(id, None)

    def _end(self, why: str) -> None:
        with self._lock:
            if self._closed is not None:
                return
            self._closed = why
            waiting, self._waiting = list(self._waiting.values()), {}
        for call in waiting:
            call._end(None, MemkernelError(why, code="CLOSED", hint="connect again, and deliver the call again", started=True))

    def plan(self, **params: Any) -> Json:
        return self.call("plan", params)

    def peek(self, **params: Any) -> Json:
        return self.call("peek", params)

    def observe_turn(self, **params: Any) -> Json:
        return self.call("observe_turn", params)

    def observe_tool_result(self, **params: Any) -> Json:
        return self.call("observe_tool_result", params)

    def start_session(self, **params: Any) -> Json:
        return self.call("start_session", params)

    def end_session(self, **params: Any) -> Json:
        return self.call("end_session", params)

    def flush(self, **params: Any) -> Json:
        return self.call("flush", params)

    def reset(self, **params: Any) -> Json:
        return self.call("reset", params)

    def compact(self, **params: Any) -> Json:
        return self.call("compact", params)

    def checkpoint(self, **params: Any) -> Json:
        return self.call("checkpoint", params)

    def restore(self, **params: Any) -> Json:
        return self.call("restore", params)

    def flush_turn(self, **params: Any) -> Json:
        return self.call("flush_turn", params)

    def observe_flush(self, **params: Any) -> Json:
        return self.call("observe_flush", params)

    def remember(self, text: str, **params: Any) -> Json:
        return self.call("remember", {"text": text, **params})

    def update_memory(self, path: str, text: str, **params: Any) -> Json:
        """Replaces a passage of a file of memory, if it is what was read: old, or version
        with from and lines. Where something else stands there, the error's code is CONFLICT,
        and its current says what."""
        return self.call("memory.update", {"path": path, "text": text, **params})

    def delete_memory(self, path: str, **params: Any) -> Json:
        """Takes such a passage out."""
        return self.call("memory.delete", {"path": path, **params})

    def undo_memory(self, **params: Any) -> Json:
        """Takes an edit back, the session's newest where none is named."""
        return self.call("memory.undo", params)

    def memory_tool(self, input: Json, **params: Any) -> Json:
        """Answers a call of Anthropic's memory tool: content and is_error."""
        return self.call("memory.tool", {"input": input, **params})

    def forget(self, **params: Any) -> Json:
        return self.call("forget", params)

    def retain(self, **params: Any) -> Json:
        return self.call("retain", params)

    def search(self, query: str, **params: Any) -> Json:
        """Answers with results and a reason. With INDEXING, progress says how many of the
        files are indexed; withheld names what a shared session may not see, whether or
        not it holds an answer."""
        return self.call("search", {"query": query, **params})

    def read(self, path: str, **params: Any) -> Json:
        return self.call("read", {"path": path, **params})

    def get(self, id: str, **params: Any) -> Json:
        return self.call("get", {"id": id, **params})

    def write(self, updates: List[Json], **params: Any) -> Json:
        return self.call("write", {"updates": updates, **params})

    def pages(self, **params: Any) -> Json:
        return self.call("pages", params)

    def status(self) -> Json:
        return self.call("status")

    def check(self) -> Json:
        return self.call("check")

    def usage(self, **params: Any) -> Json:
        return self.call("usage", params)

    def reindex(self, *, on_progress: Optional[Callable[[Json], None]] = None, timeout: Optional[float] = None, **params: Any) -> Json:
        return self.call("reindex", {"progress": on_progress is not None, **params}, on_progress=on_progress, timeout=timeout)

    def tools_list(self, **params: Any) -> Json:
        return self.call("tools.list", params)

    def tools_call(self, name: str, arguments: Optional[Json] = None, **params: Any) -> Json:
        return self.call("tools.call", {"name": name, "arguments": arguments or {}, **params})

    def shutdown(self) -> None:
        self.call("shutdown")


class Session:
    """A session's conversation. Messages are handed in whole; what the daemon holds
    already is not sent again, and what it lost is."""

    def __init__(self, client: Client, session_key: str, *, dialect: str = "anthropic", **common: Any) -> None:
        self._client, self._dialect = client, dialect
        self._common = {"session_key": session_key, **common}
        self._base = ""
        self._sent: List[str] = []
        self._known: Json = {}
        self._lock = threading.Lock()

    def plan(self, messages: List[Json], **params: Any) -> Json:
        """Plans a call, and gives the messages to send as ``messages``."""
        known = self._known
        if known:
            params.setdefault("known_plan", known["plan_id"])
        plan = self.call("plan", messages, **params)
        items = [{**it, "message": known["items"][it["known"]]["message"]} if "known" in it else it for it in plan.get("items", [])]
        plan = {**plan, "items": items, "messages": expand(items, messages)}
        self._known = plan if plan["plan_id"] else {}
        return plan

    def observe_turn(self, messages: List[Json], **params: Any) -> Json:
        return self.call("observe_turn", messages, **params)

    def observe_tool_result(self, messages: List[Json], **params: Any) -> Json:
        return self.call("observe_tool_result", messages, **params)

    def write_down(self, messages: List[Json], complete: Callable[[Json], str]) -> Optional[Json]:
        """Has a model write down what should outlive the next cut of a conversation.
        ``complete`` is given ``system``, ``prompt`` and ``max_tokens``, and gives the text
        of one completion without tools, which nobody else should see. Gives what was made
        of it, None if there was nothing to ask."""
        ask = self.call("flush_turn", messages)
        if not ask["prompt"]:
            return None
        who = {k: v for k, v in self._common.items() if k in ("session_key", "private")}
        return self._client.observe_flush(text=complete(ask) or "", **who)

    def call(self, method: str, messages: Optional[List[Json]] = None, *, timeout: Optional[float] = None, **params: Any) -> Json:
        """Calls any method that takes a conversation."""
        params = {**self._common, **params}
        if messages is None:
            return self._client.call(method, params, timeout=timeout)
        with self._lock:  # what is sent depends on what was held before
            texts = [json.dumps(m, ensure_ascii=False, default=_plain) for m in messages]
            keep = 0
            while keep < min(len(texts), len(self._sent)) and texts[keep] == self._sent[keep]:
                keep += 1
            whole = {"dialect": self._dialect, "messages": messages}
            new = {"base": self._base, "keep": keep, "messages": messages[keep:]} if self._base else whole
            self._base = ""
            try:
                result = self._client.call(method, {**params, "conversation": new}, timeout=timeout)
            except MemkernelError as err:
                if err.code != "BASE_UNKNOWN":
                    raise
                result = self._client.call(method, {**params, "conversation": whole}, timeout=timeout)
            self._base = result.get("conversation", {}).get("base", "")
            self._sent = texts
            return result


def expand(items: List[Json], messages: List[Json]) -> List[Json]:
    """The messages that a plan's items come to: the host's own where they stand."""
    out: List[Json] = []
    for item in items:
        if "host" in item:
            out.extend(messages[item["host"][0] : item["host"][1]])
        else:
            out.append(item["message"])
    return out
