"""The same client, to be awaited."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from typing import Any, Awaitable, Callable, Dict, List, Optional, Sequence, Union

from ._client import AGAIN, Held, Json, MemkernelError, _plain, _Way, expand, greeting, pause_after
from ._http import HttpConnection
from ._methods import AsyncMethods

LINE_BYTES = 1 << 30  # a line of the daemon's is bounded by the daemon


async def connect_async(
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
) -> "AsyncClient":
    """As :func:`memkernel.connect`, to be awaited."""
    way = _Way(workspace, state_dir, socket_path, binary, args, idle, start_timeout, token, insecure, tls)
    client = AsyncClient(way, timeout=timeout, on_notification=on_notification, reconnect=reconnect, retries=retries)
    await client.reach()
    return client


class _Stream:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_notification: Optional[Callable[[str, Json], None]]) -> None:
        self._reader, self._writer, self._on_notification = reader, writer, on_notification
        self._waiting: Dict[int, "asyncio.Future[Any]"] = {}
        self._progress: Dict[int, Callable[[Json], None]] = {}
        self._next = 0
        self.closed: Optional[str] = None
        self._task = asyncio.ensure_future(self._read())

    async def call(self, method: str, params: Json, timeout: Optional[float], on_progress: Optional[Callable[[Json], None]] = None) -> Any:
        if self.closed is not None:
            raise MemkernelError(self.closed, code="CLOSED", hint="connect again")
        self._next += 1
        id = self._next
        future = asyncio.get_running_loop().create_future()
        data = line({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        self._waiting[id] = future
        if on_progress is not None:
            self._progress[id] = on_progress
        try:
            self._writer.write(data)
            # Nothing is awaited before the answer: what is cancelled is cancelled there, too.
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            self.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}})
            raise MemkernelError(f"{method} took too long", number=-32001, code="DEADLINE", started=True) from None
        except asyncio.CancelledError:
            self.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}})
            raise
        finally:
            self._waiting.pop(id, None)
            self._progress.pop(id, None)

    def send(self, message: Json) -> None:
        if self.closed is None:
            self._writer.write(line(message))

    def end(self, why: str) -> None:
        if self.closed is not None:
            return
        self.closed = why
        self._writer.close()
        self._task.cancel()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(MemkernelError(why, code="CLOSED", hint="connect again, and deliver the call again", started=True))

    async def _read(self) -> None:
        why = "the daemon closed the connection"
        try:
            while True:
                got = await self._reader.readline()
                if not got:
                    break
                self._message(json.loads(got))
        except (OSError, ValueError) as err:
            why = str(err)
        self.end(why)

    def _message(self, message: Json) -> None:
        if "method" in message:
            params = message.get("params") or {}
            if message["method"] == "$/progress" and params.get("id") in self._progress:
                self._progress[params["id"]](params)
            if self._on_notification:
                self._on_notification(message["method"], params)
            return
        future = self._waiting.get(message.get("id"))  # type: ignore[arg-type]
        if future is None or future.done():
            return  # it was given up
        error = message.get("error")
        if error:
            future.set_exception(MemkernelError(error["message"], number=error["code"], **error.get("data", {})))
        else:
            future.set_result(message.get("result"))


class _Requests:
    """A server that is reached by a URL."""

    def __init__(self, http: HttpConnection) -> None:
        self._http = http

    @property
    def closed(self) -> Optional[str]:
        return self._http.closed

    async def call(self, method: str, params: Json, timeout: Optional[float], on_progress: Optional[Callable[[Json], None]] = None) -> Any:
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        call = self._http.start(method, params, on_progress)
        call._after = lambda: loop.call_soon_threadsafe(ended.set)
        if call._done.is_set():  # it ended before it was told whom to tell
            ended.set()
        try:
            await asyncio.wait_for(ended.wait(), timeout)
        except asyncio.TimeoutError:
            call.cancel()
            raise MemkernelError(f"{method} took too long", number=-32001, code="DEADLINE", started=True) from None
        except asyncio.CancelledError:
            call.cancel()
            raise
        finally:
            call._after = None
        return call.result(0)

    def send(self, message: Json) -> None:
        self._http._send(message)

    def end(self, why: str) -> None:
        self._http.close()


def line(message: Json) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=_plain).encode("utf-8", "surrogatepass") + b"\n"


class AsyncClient(AsyncMethods):
    """A client of a daemon for one event loop. Cancelling a task cancels its call there,
    too. A connection that is lost is made anew by the next call."""

    def __init__(self, way: _Way, *, timeout: Optional[float], on_notification: Optional[Callable[[str, Json], None]], reconnect: bool, retries: int) -> None:
        self._way, self._timeout, self._on_notification, self._reconnect, self._retries = way, timeout, on_notification, reconnect, retries
        self._stream: Union[_Stream, _Requests, None] = None
        self._reaching = asyncio.Lock()
        self._ended: Optional[str] = None
        self.server: Any = {}

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """There will be no further connection."""
        lost = self._stream is not None and self._stream.closed is not None
        return self._ended is not None or (lost and not self._reconnect)

    def close(self) -> None:
        self._ended = self._ended or "the connection was closed"
        if self._stream is not None:
            self._stream.end(self._ended)

    async def reach(self) -> Union[_Stream, _Requests]:
        """Waits until there is a connection."""
        async with self._reaching:
            if self._ended is not None:
                raise MemkernelError(self._ended, code="CLOSED", hint="connect again")
            if self._stream is not None and (self._stream.closed is None or not self._reconnect):
                return self._stream
            tries = 0
            while True:
                try:
                    stream = await self._open()
                    try:
                        self.server = await stream.call("initialize", greeting(), self._timeout)
                    except BaseException:
                        stream.end("the connection was closed")
                        raise
                    self._stream = stream
                    return stream
                except MemkernelError as err:
                    tries += 1
                    if not self._way.retries(err, tries):
                        raise

    async def _open(self) -> Union[_Stream, _Requests]:
        if self._way.url is not None:
            return _Requests(HttpConnection(self._way.url, self._way.token, self._way.insecure, self._way.tls))
        # A daemon that is to be started takes its time; the loop goes on.
        sock = await asyncio.get_running_loop().run_in_executor(None, self._way.connect)
        sock.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=sock, limit=LINE_BYTES)
        return _Stream(reader, writer, self._on_notification)

    async def call(self, method: str, params: Optional[Json] = None, *, timeout: Optional[float] = None, on_progress: Optional[Callable[[Json], None]] = None) -> Any:
        """Calls a method. ``timeout`` in seconds is the daemon's deadline, too."""
        wait = self._timeout if timeout is None else timeout
        params = dict(params or {})
        if wait:
            params.setdefault("deadline_ms", max(1, int(wait * 1000)))
        tries = 0
        while True:
            try:
                result = await (await self.reach()).call(method, params, wait + 1 if wait else None, on_progress)
            except MemkernelError as err:
                again = err.code in AGAIN and self._reconnect and self._ended is None and method != "shutdown"
                # A server that asks for more than a call may take is left to the caller.
                if not again or tries >= self._retries or err.more.get("retry_after", 0) > (wait or 60):
                    raise
                await asyncio.sleep(pause_after(tries, err))
                tries += 1
                continue
            if method == "shutdown":
                self._ended = "the daemon was shut down"
            return result

    async def notify(self, method: str, params: Optional[Json] = None) -> None:
        """Sends a call without waiting for what becomes of it."""
        (await self.reach()).send({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def session(self, session_key: str, *, dialect: str = "anthropic", **common: Any) -> "AsyncSession":
        """A conversation of a session, of which only what is new is sent."""
        return AsyncSession(self, session_key, dialect=dialect, **common)


class AsyncSession:
    """A session's conversation; see :class:`memkernel.Session`."""

    def __init__(self, client: AsyncClient, session_key: str, *, dialect: str = "anthropic", **common: Any) -> None:
        self._client, self._held = client, Held(session_key, dialect, common)
        self._lock = asyncio.Lock()

    async def plan(self, messages: List[Json], **params: Any) -> Json:
        plan = await self.call("plan", messages, **params)
        return {**plan, "messages": expand(plan.get("items", []), messages)}

    async def observe_turn(self, messages: List[Json], **params: Any) -> Json:
        return await self.call("observe_turn", messages, **params)

    async def observe_tool_result(self, messages: List[Json], **params: Any) -> Json:
        return await self.call("observe_tool_result", messages, **params)

    async def write_down(self, messages: List[Json], complete: Callable[[Json], Awaitable[str]]) -> Any:
        ask = await self.call("flush_turn", messages)
        if not ask["prompt"]:
            return None
        return await self._client.call("observe_flush", {"text": await complete(ask) or "", **self._held.who()})

    async def end(self) -> Json:
        return await self.call("end_session")

    async def call(self, method: str, messages: Optional[List[Json]] = None, *, timeout: Optional[float] = None, **params: Any) -> Json:
        params = {**self._held.common, **params}
        if messages is None:
            return await self._client.call(method, params, timeout=timeout)  # type: ignore[no-any-return]
        async with self._lock:  # what is sent depends on what was held before
            new, texts = self._held.new(messages)
            try:
                result = await self._client.call(method, {**params, "conversation": new}, timeout=timeout)
            except MemkernelError as err:
                if err.code != "BASE_UNKNOWN":
                    raise
                result = await self._client.call(method, {**params, "conversation": self._held.whole(messages)}, timeout=timeout)
            self._held.took(result, texts)
            return result  # type: ignore[no-any-return]
