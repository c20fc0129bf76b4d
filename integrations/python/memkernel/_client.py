from __future__ import annotations

import json
import os
import random
import socket
import ssl
import stat
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from ._http import HttpConnection, is_url
from ._methods import Methods

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


# What a call that failed so can be delivered again for: every call that writes is
# idempotent.
AGAIN = ("CLOSED", "STOPPING", "BUSY", "NOT_READY", "TRY_AGAIN")


class _Way:
    """How to reach a daemon."""

    def __init__(
        self,
        workspace: Union[str, "os.PathLike[str]"],
        state_dir: Optional[str],
        socket_path: Optional[str],
        binary: str,
        args: Sequence[str],
        idle: str,
        start_timeout: float,
        token: Optional[str] = None,
        insecure: bool = False,
        tls: Optional[ssl.SSLContext] = None,
    ) -> None:
        self.url = str(workspace) if is_url(workspace) else socket_path if is_url(socket_path) else None
        self.token, self.insecure, self.tls = token, insecure, tls
        self.workspace = os.path.abspath(os.path.expanduser(os.fspath(workspace)))
        self.state = os.path.abspath(state_dir) if state_dir else os.path.join(self.workspace, ".memkernel")
        self.socket, self.binary, self.args, self.idle, self.start_timeout = socket_path, binary, args, idle, start_timeout

    def connect(self) -> socket.socket:
        """A connected socket; a daemon is started if none listens."""
        sock = _open(self.socket or os.path.join(self.state, "serve.sock"))
        if sock is None and self.socket is None:
            sock = _open(_start(self.workspace, self.state, self.binary, self.args, self.idle, self.start_timeout))
        if sock is None:
            raise MemkernelError(f"no daemon listens at {self.socket or self.state}", code="CLOSED", hint="run memkernel serve", started=self.socket is None)
        return sock

    def open(self, on_notification: Optional[Callable[[str, Json], None]]) -> "Union[_Connection, HttpConnection]":
        """A connection to the daemon, or to a server by its URL."""
        if self.url is not None:
            return HttpConnection(self.url, self.token, self.insecure, self.tls)
        return _Connection(self.connect(), on_notification)

    def retries(self, err: MemkernelError, tries: int) -> bool:
        """A daemon may be ending just now; then another one is started."""
        return not self.socket and not self.url and tries < 3 and err.code in ("CLOSED", "STOPPING") and bool(err.number or err.started)


def greeting() -> Json:
    return {"protocol": PROTOCOL, "client": {"name": "memkernel-python", "version": "0.1.0"}}


def pause_after(tries: int, err: Optional[MemkernelError] = None) -> float:
    """Seconds before a call is delivered again: what a server says, at the least."""
    said = float(err.more.get("retry_after", 0)) if err is not None else 0.0
    return max(said, 0.02 * 2**tries * (1 + random.random()))


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
    reconnect: bool = True,
    retries: int = 3,
    token: Optional[str] = None,
    insecure: bool = False,
    tls: Optional[ssl.SSLContext] = None,
) -> "Client":
    """Connects to the daemon of a workspace, and starts one if none listens; or, given the
    URL of ``memkernel-server serve --listen`` in its place, to that server with ``token``. ``tls``
    is whom to trust, ``insecure`` lets the token travel by plain http to another machine.

    With ``socket_path`` none is started. ``timeout`` bounds every call, in seconds. A
    connection that is lost is made anew by the next call, and what was lost with it is
    delivered again, ``retries`` times at most; ``reconnect=False`` leaves that to you.
    """
    way = _Way(workspace, state_dir, socket_path, binary, args, idle, start_timeout, token, insecure, tls)
    client = Client(None, timeout=timeout, on_notification=on_notification, reconnect=reconnect, retries=retries, way=way)
    client.reach()
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
    late = threading.Event()
    timer = threading.Timer(wait, lambda: (late.set(), child.kill()))
    timer.start()
    try:
        line = child.stdout.readline().decode()
        if late.is_set():
            raise MemkernelError("the daemon did not begin to listen in time", code="DEADLINE")
        if not line.endswith("\n"):
            said = child.stderr.read().decode().strip()
            raise MemkernelError(said or "the daemon ended", code="CLOSED")
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

    def __init__(self, client: "_Connection", id: int, method: str, on_progress: Optional[Callable[[Json], None]]) -> None:
        self._client, self._id, self._method, self._on_progress = client, id, method, on_progress
        self._done = threading.Event()
        self._result: Any = None
        self._error: Optional[MemkernelError] = None
        self._after: Optional[Callable[[], None]] = None

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
        if self._after is not None:
            self._after()


class _Connection:
    """One connection: lines out, a thread that reads lines in, and who waits for which."""

    def __init__(self, sock: socket.socket, on_notification: Optional[Callable[[str, Json], None]]) -> None:
        self._sock, self._on_notification = sock, on_notification
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: Dict[int, Call] = {}
        self._next = 0
        self.closed: Optional[str] = None
        self.reader = threading.Thread(target=self._read, name="memkernel", daemon=True)
        self.reader.start()

    def close(self) -> None:
        self._end("the connection was closed")
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._sock.close()

    def start(self, method: str, params: Json, on_progress: Optional[Callable[[Json], None]] = None) -> Call:
        with self._lock:
            if self.closed is not None:
                raise MemkernelError(self.closed, code="CLOSED", hint="connect again")
            self._next += 1
            call = Call(self, self._next, method, on_progress)
            self._waiting[call._id] = call
        try:
            self._send({"jsonrpc": "2.0", "id": call._id, "method": method, "params": params})
        except TypeError:
            self._forget(call._id)
            raise
        return call

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
        self._sock.close()

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
            if self.closed is not None:
                return
            self.closed = why
            waiting, self._waiting = list(self._waiting.values()), {}
        for call in waiting:
            call._end(None, MemkernelError(why, code="CLOSED", hint="connect again, and deliver the call again", started=True))


class Client(Methods):
    """A client of a daemon. It may be used by several threads. It has a method for each
    of the protocol's, with its parameters as keywords; :meth:`call` takes any method. A
    connection that is lost is made anew by the next call."""

    def __init__(
        self,
        sock: Optional[socket.socket],
        *,
        timeout: Optional[float] = 60.0,
        on_notification: Optional[Callable[[str, Json], None]] = None,
        reconnect: bool = False,
        retries: int = 3,
        way: Optional[_Way] = None,
    ) -> None:
        self._timeout, self._on_notification, self._reconnect, self._retries, self._way = timeout, on_notification, reconnect and way is not None, retries, way
        self._reaching = threading.Lock()
        self._ended: Optional[str] = None
        self._connection: "Union[_Connection, HttpConnection, None]" = _Connection(sock, on_notification) if sock else None
        self.server: Any = {}

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """There will be no further connection."""
        lost = self._connection is not None and self._connection.closed is not None
        return self._ended is not None or (lost and not self._reconnect)

    def close(self) -> None:
        self._ended = self._ended or "the connection was closed"
        if self._connection is not None:
            self._connection.close()

    def reach(self) -> "Union[_Connection, HttpConnection]":
        """Waits until there is a connection."""
        with self._reaching:
            if self._ended is not None:
                raise MemkernelError(self._ended, code="CLOSED", hint="connect again")
            old = self._connection
            if old is not None and (old.closed is None or not self._reconnect):
                return old
            if self._way is None:
                raise MemkernelError("there is no connection", code="CLOSED", hint="use memkernel.connect")
            tries = 0
            while True:
                try:
                    connection = self._way.open(self._on_notification)
                    try:
                        self.server = connection.start("initialize", greeting()).result(self._timeout)
                    except BaseException:
                        connection.close()
                        raise
                    self._connection = connection
                    return connection
                except MemkernelError as err:
                    tries += 1
                    if not self._way.retries(err, tries):
                        raise

    def start(self, method: str, params: Optional[Json] = None, *, on_progress: Optional[Callable[[Json], None]] = None) -> Call:
        """Begins a call and does not wait for it. It is not delivered again."""
        return self.reach().start(method, params or {}, on_progress)

    def call(self, method: str, params: Optional[Json] = None, *, timeout: Optional[float] = None, on_progress: Optional[Callable[[Json], None]] = None) -> Any:
        """Calls a method. ``timeout`` in seconds is the daemon's deadline, too."""
        wait = self._timeout if timeout is None else timeout
        params = dict(params or {})
        if wait:
            params.setdefault("deadline_ms", max(1, int(wait * 1000)))
        tries = 0
        while True:
            try:
                # The daemon answers at the deadline itself; one that hangs is not waited for.
                result = self.start(method, params, on_progress=on_progress).result(wait + 1 if wait else None)
            except MemkernelError as err:
                again = err.code in AGAIN and self._reconnect and self._ended is None and method != "shutdown"
                # A server that asks for more than a call may take is left to the caller.
                if not again or tries >= self._retries or err.more.get("retry_after", 0) > (wait or 60):
                    raise
                time.sleep(pause_after(tries, err))
                tries += 1
                continue
            if method == "shutdown":
                self._ended = "the daemon was shut down"
            return result

    def notify(self, method: str, params: Optional[Json] = None) -> None:
        """Sends a call without waiting for what becomes of it."""
        self.reach()._send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def session(self, session_key: str, *, dialect: str = "anthropic", **common: Any) -> "Session":
        """A conversation of a session, of which only what is new is sent."""
        return Session(self, session_key, dialect=dialect, **common)


class Held:
    """What the daemon holds of a session's conversation."""

    def __init__(self, session_key: str, dialect: str, common: Json) -> None:
        self.dialect, self.common = dialect, {"session_key": session_key, **common}
        self._base = ""
        self._sent: List[str] = []

    def whole(self, messages: List[Json]) -> Json:
        return {"dialect": self.dialect, "messages": messages}

    def new(self, messages: List[Json]) -> Tuple[Json, List[str]]:
        """The conversation as it travels, and what to hand to :meth:`took`."""
        texts = [json.dumps(m, ensure_ascii=False, default=_plain) for m in messages]
        keep = 0
        while keep < min(len(texts), len(self._sent)) and texts[keep] == self._sent[keep]:
            keep += 1
        base, self._base = self._base, ""
        return ({"base": base, "keep": keep, "messages": messages[keep:]} if base else self.whole(messages)), texts

    def took(self, result: Json, texts: List[str]) -> None:
        self._base = (result.get("conversation") or {}).get("base", "")
        self._sent = texts

    def who(self) -> Json:
        return {k: v for k, v in self.common.items() if k in ("session_key", "private")}


class Session:
    """A session's conversation. Messages are handed in whole; what the daemon holds
    already is not sent again, and what it lost is."""

    def __init__(self, client: Client, session_key: str, *, dialect: str = "anthropic", **common: Any) -> None:
        self._client, self._held = client, Held(session_key, dialect, common)
        self._lock = threading.Lock()

    def plan(self, messages: List[Json], **params: Any) -> Json:
        """Plans a call, and gives the messages to send as ``messages``."""
        plan = self.call("plan", messages, **params)
        return {**plan, "messages": expand(plan.get("items", []), messages)}

    def observe_turn(self, messages: List[Json], **params: Any) -> Json:
        return self.call("observe_turn", messages, **params)

    def observe_tool_result(self, messages: List[Json], **params: Any) -> Json:
        return self.call("observe_tool_result", messages, **params)

    def write_down(self, messages: List[Json], complete: Callable[[Json], str]) -> Any:
        """Has a model write down what should outlive the next cut of a conversation.
        ``complete`` is given ``system``, ``prompt`` and ``max_tokens``, and gives the text
        of one completion without tools, which nobody else should see. Gives what was made
        of it, None if there was nothing to ask."""
        ask = self.call("flush_turn", messages)
        if not ask["prompt"]:
            return None
        return self._client.call("observe_flush", {"text": complete(ask) or "", **self._held.who()})

    def end(self) -> Json:
        """Ends the conversation."""
        return self.call("end_session")

    def call(self, method: str, messages: Optional[List[Json]] = None, *, timeout: Optional[float] = None, **params: Any) -> Json:
        """Calls any method that takes a conversation; ``messages`` may be None."""
        params = {**self._held.common, **params}
        if messages is None:
            return self._client.call(method, params, timeout=timeout)
        with self._lock:  # what is sent depends on what was held before
            new, texts = self._held.new(messages)
            try:
                result = self._client.call(method, {**params, "conversation": new}, timeout=timeout)
            except MemkernelError as err:
                if err.code != "BASE_UNKNOWN":
                    raise
                result = self._client.call(method, {**params, "conversation": self._held.whole(messages)}, timeout=timeout)
            self._held.took(result, texts)
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
