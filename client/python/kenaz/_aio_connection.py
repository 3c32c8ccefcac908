"""A session for asyncio: sends a core's commands, and receives its replies."""

from __future__ import annotations

import asyncio
from typing import Callable, Optional, TypeVar

from . import _timings
from ._connection import MOST_UNDER_WAY, joined
from ._core import Core
from ._errors import ConnectionLost, Error
from ._transport import Child
from ._types import Type
from ._values import DeviceValue, Driver, Maker, Request
from ._wire import Reply

T = TypeVar("T")
_AT_A_TIME = 1 << 20
_SMALL = 1 << 16


class Connection(asyncio.BufferedProtocol, Driver):
    """A session of one event loop. `_sender` is the task that sends what is too large to be written
    at once; until it ends it sends all that comes after as well."""

    def __init__(self, core: Core, child: Optional[Child], make: Maker) -> None:
        self.core = core
        self._make = make
        self.child = child
        self._transport: Optional[asyncio.Transport] = None
        self._room = asyncio.Event()
        self._room.set()
        self._sender: Optional["asyncio.Task[None]"] = None
        self._ending: Optional["asyncio.Task[None]"] = None

    # ---- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # So that a writer that is resumed knows that nothing refers to its arrays. With TLS, 0 would
        # mean paused for ever.
        tls = transport.get_extra_info("ssl_object") is not None
        transport.set_write_buffer_limits(high=1 if tls else 0, low=0)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.core.wire.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            self.core.wire.received(nbytes)
        except Error as e:
            self._lose(e)
        except MemoryError:
            self._lose(ConnectionLost("there is no memory for what the server sends"))

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._room.set()
        if self._ending is None and self.core.lost is None:
            self._ending = asyncio.ensure_future(self._end(exc))

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    async def _end(self, exc: Optional[Exception]) -> None:
        why = f"the connection is lost: {exc}" if exc else "the server closed the connection"
        if self.child is not None:
            why = await asyncio.get_running_loop().run_in_executor(None, self.child.ending)
        self._lose(ConnectionLost(why))

    def _lose(self, error: Error) -> None:
        self.core.lose(error)
        self._room.set()
        if self._transport is not None:
            self._transport.abort()

    # ---- sending

    def make(self, type_: Type, name: str, reply: Optional[Reply]) -> DeviceValue:
        return self._make(self, type_, name, reply)

    def run(self, action: Callable[[], T]) -> T:
        try:
            return action()
        finally:
            self.kick()

    def begin(self, action: Callable[[], T]) -> T:
        _timings.register(id(self), self.wait_for_all)
        return self.run(action)

    def kick(self) -> None:
        if self._sender is not None or not self.core.outgoing:
            return
        assert self._transport is not None
        if self._room.is_set() and sum(len(p) for p in self.core.outgoing) <= _SMALL:
            parts, self.core.outgoing = self.core.outgoing, []
            self._transport.write(b"".join(parts))
        else:
            self._sender = asyncio.ensure_future(self._send())

    async def _send(self) -> None:
        assert self._transport is not None
        try:
            await self._room.wait()
            while self.core.outgoing:
                parts, self.core.outgoing = self.core.outgoing, []
                for part in joined(parts):
                    view = memoryview(part)
                    for at in range(0, len(view), _AT_A_TIME):
                        if self.core.lost is not None or self._transport.is_closing():
                            return
                        self._transport.write(view[at:at + _AT_A_TIME])
                        await self._room.wait()
        finally:
            self._sender = None

    # ---- waiting

    async def sent(self) -> None:
        """Until all has been sent, and not too many replies are missing."""
        while self._sender is not None:
            await asyncio.shield(self._sender)
        queue = self.core.wire.queue
        if len(queue) > MOST_UNDER_WAY:
            await self.wait(queue[len(queue) // 2])

    async def wait(self, reply: Reply) -> None:
        if reply.done:
            return
        come: "asyncio.Future[None]" = asyncio.get_running_loop().create_future()
        if reply.callbacks is None:
            reply.callbacks = []
        reply.callbacks.append(lambda: None if come.done() else come.set_result(None))
        await come

    async def get(self, ask: Callable[[], Request[T]]) -> T:
        request = self.run(ask)
        await self.wait(request.reply)
        request.reply.check()
        return request.finish()

    async def wait_for_all(self) -> None:
        if self.core.wire.queue:
            await self.wait(self.core.wire.queue[-1])

    async def sync(self) -> None:
        self.run(self.core.discard)
        await self.wait_for_all()
        failures, self.core.wire.failures = self.core.wire.failures, []
        for failure in failures:
            if not failure.reported:
                failure.check()
        if self.core.lost is not None:
            raise self.core.lost.again()

    async def close(self) -> None:
        self._lose(ConnectionLost("the connection was closed"))
        if self._ending is not None:
            await self._ending
        if self.child is not None:
            self.child.socket.close()
            await asyncio.get_running_loop().run_in_executor(None, self.child.finish)
