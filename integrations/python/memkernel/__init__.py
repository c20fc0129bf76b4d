"""Client of ``memkernel serve``.

Connects to the daemon of a workspace, starts one if there is none, and calls it.
doc/rpc.md is the protocol. Standard library only, Python 3.9 or later, and a system
with unix sockets.

    import memkernel

    with memkernel.connect("~/project") as client:
        session = client.session("build-42", model="claude-sonnet-4-6", private=True)
        plan = session.plan(messages)
        answer = ...  # call the model with plan["messages"]
        messages.append({"role": "assistant", "content": answer.content})
        session.observe_turn(messages, plan_id=plan["plan_id"], usage=answer.usage)
"""

from ._aio import AsyncClient, AsyncSession, connect_async
from ._client import PROTOCOL, Call, Client, MemkernelError, Session, connect, expand

__all__ = ["PROTOCOL", "AsyncClient", "AsyncSession", "Call", "Client", "MemkernelError", "Session", "connect", "connect_async", "expand"]
__version__ = "0.1.0"
