"""The same calls to a server that is reached by a URL: a request each, with a token."""

from __future__ import annotations

import email.utils
import hashlib
import http.client
import json
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Set
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ._client import Call, Json

# A connection that rests longer may have been closed by the server, which keeps them for
# two minutes.
REST = 60.0


def is_url(where: Any) -> bool:
    return isinstance(where, str) and where.lower().startswith(("http://", "https://"))


def _after(value: Optional[str]) -> float:
    """How long an answer says to wait, in seconds."""
    if not value:
        return 0.0
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


class HttpConnection:
    """What stands for a connection: a call is a request, in a thread of its own."""

    def __init__(self, url: str, token: Optional[str], insecure: bool, context: Optional[ssl.SSLContext]) -> None:
        from ._client import MemkernelError

        at = urlsplit(url)
        if at.scheme == "http" and token and not insecure and at.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise MemkernelError(f"{at.scheme}://{at.hostname} is plain http: the token would travel in the clear", code="UNTRUSTED", hint="use https, or say insecure=True")
        if at.username or at.password or at.query or at.fragment or not at.hostname:
            raise MemkernelError("the URL is scheme, host, port and path alone", code="UNTRUSTED", hint="give the token by the argument token")
        self._host, self._port, self._path = at.hostname, at.port, at.path.rstrip("/") + "/rpc"
        self._tls = (context or ssl.create_default_context()) if at.scheme == "https" else None
        self._headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        self._lock = threading.Lock()
        self._resting: List[Any] = []
        self._busy: Dict[int, http.client.HTTPConnection] = {}
        self._cancelled: Set[int] = set()
        self._next = 0
        self.closed: Optional[str] = None

    def close(self) -> None:
        with self._lock:
            if self.closed is not None:
                return
            self.closed = "the connection was closed"
            busy, resting, self._resting = list(self._busy.values()), self._resting, []
        for connection in busy:
            _shut(connection)
        for connection, _ in resting:
            connection.close()

    def start(self, method: str, params: "Json", on_progress: Optional[Callable[["Json"], None]] = None) -> "Call":
        from ._client import Call, MemkernelError

        with self._lock:
            if self.closed is not None:
                raise MemkernelError(self.closed, code="CLOSED", hint="connect again")
            self._next += 1
            call = Call(self, self._next, method, on_progress)  # type: ignore[arg-type]
        data = _line({"jsonrpc": "2.0", "id": call._id, "method": method, "params": params})
        threading.Thread(target=self._run, args=(call, data, params.get("session_key")), name="memkernel", daemon=True).start()
        return call

    def _send(self, message: "Json") -> None:
        """A notification; a call that is cancelled is a request that ends."""
        if message["method"] == "$/cancelRequest":
            with self._lock:
                connection = self._busy.get(message["params"]["id"])
                if connection is not None:
                    self._cancelled.add(message["params"]["id"])
            if connection is not None:
                _shut(connection)
            return
        threading.Thread(target=self._run, args=(None, _line(message)), name="memkernel", daemon=True).start()

    def _forget(self, id: Any) -> None:
        pass

    def _run(self, call: Optional["Call"], data: bytes, session: Optional[str] = None) -> None:
        from ._client import MemkernelError

        result, error = None, None
        try:
            result = self._post(call._id if call else 0, data, session)
        except MemkernelError as err:
            error = err
        except (OSError, http.client.HTTPException, ValueError) as err:
            error = MemkernelError(str(err) or type(err).__name__, code="CLOSED", hint="connect again, and deliver the call again", started=True)
            with self._lock:
                if call is not None and call._id in self._cancelled:
                    self._cancelled.remove(call._id)
                    error = MemkernelError("the call was cancelled", number=-32800, code="CANCELLED", started=True)
        if call is not None:
            call._end(result, error)

    def _post(self, id: int, data: bytes, session: Optional[str]) -> Any:
        from ._client import MemkernelError

        connection = self._take(id)
        kept = False
        try:
            headers = self._headers
            if session:  # so that a load balancer can send all calls of a session to one server
                headers = {**headers, "Memkernel-Session": hashlib.sha256(session.encode()).hexdigest()[:16]}
            connection.request("POST", self._path, data, headers)
            answer = connection.getresponse()
            text = answer.read()
            kept = not answer.will_close
        finally:
            with self._lock:
                if id:
                    self._busy.pop(id, None)
                kept = kept and self.closed is None
                if kept:
                    self._resting.append((connection, time.monotonic()))
            if not kept:
                connection.close()
        if answer.status == 204:
            return None
        wait = _after(answer.headers.get("Retry-After"))
        try:
            message = json.loads(text)
        except ValueError:
            if answer.status in (429, 502, 503, 504):
                raise MemkernelError(f"{self._host}: {answer.status}", code="CLOSED", hint="deliver the call again", started=True, status=answer.status, retry_after=wait) from None
            message = None
        error = message.get("error") if isinstance(message, dict) else None
        if isinstance(error, dict) and isinstance(error.get("data"), dict):
            raise MemkernelError(error["message"], number=error["code"], **{**error["data"], "status": answer.status, "retry_after": wait})
        if answer.status != 200 or not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise MemkernelError(f"{self._host}: {answer.status}, and no answer of memkernel's", code="UNTRUSTED", hint="is this the URL of memkernel-server serve --listen?")
        return message.get("result")

    def _take(self, id: int) -> http.client.HTTPConnection:
        old: List[http.client.HTTPConnection] = []
        connection: Optional[http.client.HTTPConnection] = None
        with self._lock:
            while self._resting and connection is None:
                kept, since = self._resting.pop()
                if time.monotonic() - since < REST:
                    connection = kept
                else:
                    old.append(kept)
            if connection is None:
                if self._tls is not None:
                    connection = http.client.HTTPSConnection(self._host, self._port, context=self._tls)
                else:
                    connection = http.client.HTTPConnection(self._host, self._port)
            if id:
                self._busy[id] = connection
        for o in old:
            o.close()
        return connection


def _shut(connection: http.client.HTTPConnection) -> None:
    """Ends what another thread waits for."""
    sock = connection.sock
    if sock is not None:
        try:
            sock.shutdown(2)
        except OSError:
            pass


def _line(message: "Json") -> bytes:
    from ._client import _plain

    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=_plain).encode("utf-8", "surrogatepass")
