"""A session for threads: sends a core's commands, and waits for its replies.

Two locks: `_sending` orders commands (who holds it sends), `_state` guards the core. One thread at a
time receives, without either, so that others go on sending; who waits for a reply meanwhile is
woken by `_news`.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from typing import Callable, List, Optional, TypeVar

from . import _timings
from ._core import Core, Part
from ._errors import ConnectionLost, Error
from ._transport import Child, Stream
from ._types import Type
from ._values import DeviceValue, Driver, Maker, Request
from ._wire import Reply

T = TypeVar("T")
# While no more replies than these wait, a server that writes them does not stop reading.
_ANSWERS_THAT_FIT = 500
# Commands that may be on their way: who sends more waits for replies.
MOST_UNDER_WAY = 20_000
_IDLE = 0.1  # seconds, less than any server's limit
_JOINED = 1 << 14  # bytes of parts that are copied together

_ALL: "weakref.WeakSet[Connection]" = weakref.WeakSet()


def _after_fork() -> None:
    for connection in list(_ALL):
        connection.core.lost = ConnectionLost("the connection belongs to the parent process")


os.register_at_fork(after_in_child=_after_fork)


class Connection(Driver):
    """`make` makes values. Takes over the stream."""

    def __init__(self, stream: Stream, core: Core, child: Optional[Child],
                 make: Maker) -> None:
        self.core = core
        self.child = child
        self._stream = stream
        self._make = make
        self._sending = threading.Lock()
        self._state = threading.Lock()
        self._news = threading.Condition(self._state)
        self._waiting = 0  # threads that wait for news
        self._receiver = 0  # the thread that receives; one that was interrupted may be it still
        self._active = time.monotonic()  # when a command was last sent
        self._finalizer = weakref.finalize(self, _close, stream, child)
        _ALL.add(self)

    # ---- sending

    def make(self, type_: Type, name: str, reply: Optional[Reply]) -> DeviceValue:
        return self._make(self, type_, name, reply)

    def run(self, action: Callable[[], T]) -> T:
        with self._sending:
            try:
                return self._run(action)
            except Exception:
                raise
            except BaseException as e:
                # Nobody knows what the core expects, and how much of a command has gone.
                self._lose(ConnectionLost(f"interrupted in the middle of a command: {e!r}"))
                raise

    def _run(self, action: Callable[[], T]) -> T:
        now = time.monotonic()
        if now - self._active > _IDLE:
            self._hear()
        self._active = now
        try:
            with self._state:
                return action()
        finally:
            # What an action that failed had begun is sent as well.
            parts, self.core.outgoing = self.core.outgoing, []
            if parts:
                self._send(parts)

    def _hear(self) -> None:
        """Takes what the server said to one that idled, which would answer the next command."""
        wire = self.core.wire
        if not wire.queue and self.core.lost is None and self._stream.ready(True, 0)[0]:
            self._take_part_in_receiving(None)
            if wire.last_words:
                self._lose(ConnectionLost("the server closed the connection"))

    def kick(self) -> None:
        self.run(lambda: None)

    def _send(self, parts: List[Part]) -> None:
        views = joined(parts) if len(parts) > 1 else parts
        try:
            while views:
                wire = self.core.wire
                quick = wire.downloads == 0 and len(wire.queue) < _ANSWERS_THAT_FIT
                if not quick and len(wire.queue) > MOST_UNDER_WAY:
                    self._take_part_in_receiving(None)
                    continue
                sent = self._stream.send_some(views, quick)
                if sent == 0:
                    self._wait_to_send()
                _drop(views, sent)
        except OSError:
            # What the server said before it closed is still to be read.
            self._drain()

    def _wait_to_send(self) -> None:
        """Until it can send: the server may be waiting for its replies to be taken."""
        with self._state:
            receive = self._receiver in (0, threading.get_ident())
            if receive:
                self._receiver = threading.get_ident()
        if not receive:
            self._stream.ready(False, 0.1)
            return
        readable = False
        try:
            readable, _ = self._stream.ready(True)
        finally:
            with self._state:
                self._receiver = 0
                self._tell()
        if readable:
            self._take_part_in_receiving(None)

    # ---- receiving

    def wait(self, reply: Reply) -> None:
        """Until the reply has come."""
        while not reply.done:
            self._take_part_in_receiving(reply)

    def _take_part_in_receiving(self, reply: Optional[Reply]) -> None:
        with self._state:
            if reply is not None and reply.done:
                return
            if self._receiver not in (0, threading.get_ident()):
                self._waiting += 1
                self._news.wait()
                self._waiting -= 1
                return
            self._receiver = threading.get_ident()
            view = self.core.wire.buffer()
        counts: List[int] = []
        error: Optional[Error] = None
        try:
            # In one step, so that no signal's handler runs between the two: what has been received
            # must not be forgotten.
            counts.extend(map(self._stream.receive_into, (view,)))
        except OSError as e:
            counts, error = [0], ConnectionLost(f"the connection is lost: {e.strerror or e}")
        finally:
            try:
                self._received(counts[0] if counts else -1, error)
            except BaseException as e:
                self._lose(ConnectionLost(f"interrupted while receiving: {e!r}"))
                raise

    def _received(self, count: int, error: Optional[Error]) -> None:
        """So many bytes have come: 0 at the end, -1 if an interrupt came instead."""
        with self._state:
            self._receiver = 0
            try:
                if count > 0:
                    self.core.wire.received(count)
            except (Error, MemoryError) as e:
                count, error = 0, e if isinstance(e, Error) else ConnectionLost(
                    "there is no memory for what the server sends")
            if count == 0:
                self.core.lose(error or self._end())
            self._tell()

    def _tell(self) -> None:
        """Wakes who waits; with `_state`."""
        if self._waiting:
            self._news.notify_all()

    def _end(self) -> Error:
        if self.child is not None:
            return ConnectionLost(self.child.ending())
        return ConnectionLost("the server closed the connection")

    def _lose(self, error: Error) -> None:
        with self._state:
            self._receiver = 0
            self.core.lose(error)
            self._tell()
        self._stream.close()

    def _drain(self) -> None:
        while self.core.lost is None:
            self._take_part_in_receiving(None)

    # ---- for users

    def get(self, ask: Callable[[], Request[T]]) -> T:
        """Asks and waits for the answer."""
        request = self.run(ask)
        self.wait(request.reply)
        request.reply.check()
        return request.finish()

    def begin(self, action: Callable[[], T]) -> T:
        if _timings.active():
            _timings.register(id(self), self.wait_for_all)
        return self.run(action)

    def wait_for_all(self) -> None:
        with self._state:
            last = self.core.wire.queue[-1] if self.core.wire.queue else None
        if last is not None:
            self.wait(last)

    def sync(self) -> None:
        self.run(self.core.discard)
        self.wait_for_all()
        with self._state:
            failures, self.core.wire.failures = self.core.wire.failures, []
        for failure in failures:
            if not failure.reported:
                failure.check()
        if self.core.lost is not None:
            raise self.core.lost.again()

    def close(self) -> None:
        closed = ConnectionLost("the connection was closed")
        with self._state:
            self.core.lose(closed)
            self.core.lost = closed
            self._tell()
        self._finalizer()


def _close(stream: Stream, child: Optional[Child]) -> None:
    stream.close()
    if child is not None:
        child.finish()


def joined(parts: List[Part]) -> List[Part]:
    """The same bytes in few parts: small ones are copied together."""
    result: List[Part] = []
    small: List[Part] = []
    for part in parts:
        if len(part) <= _JOINED:
            small.append(part)
            continue
        if small:
            result.append(b"".join(small))
            small = []
        result.append(part)
    if small:
        result.append(b"".join(small))
    return result


def _drop(parts: List[Part], count: int) -> None:
    """Removes bytes from the front."""
    gone = 0
    while gone < len(parts) and count >= len(parts[gone]):
        count -= len(parts[gone])
        gone += 1
    del parts[:gone]
    if count:
        parts[0] = memoryview(parts[0])[count:]
