"""Kenaz for asyncio.

    async with kenaz.aio.connect("unix:///run/kenaz.sock") as server:
        total = await server.dot(xs, ys)      # has been sent; stays on the device
        print(await total.item())             # waits for the result

Calling an entry point waits only until its command has been sent, so that calls are pipelined; what
looks at a value is awaited. A server belongs to one event loop.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from typing import (Any, AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Dict,
                    Generator, Iterable, List, Mapping, Optional, Sequence, Tuple, Union)

import numpy as np

from . import _sources
from ._aio_connection import Connection
from ._core import Core, Entry, in_memory
from ._errors import ConnectionLost
from ._signatures import decorate, positional
from ._streams import Pipeline, Progress, Stage, StreamError, check_counts
from ._timings import Timing, Timings, timings
from ._transport import TLS, Address, Child, server_command
from ._types import Type, is_primitive
from ._values import DeviceValue, Driver, Maker, RecordBase
from ._wire import Reply


class Value(DeviceValue):
    """A value that stays on the device until it is looked at. Freed when nothing refers to it."""

    __slots__ = ()

    @property
    def _connection(self) -> Connection:
        assert isinstance(self._driver, Connection)
        return self._driver

    async def wait(self) -> "Value":
        """Waits until it is there. Raises what its call raises."""
        self._use()
        if self._reply is not None:
            await self._connection.wait(self._reply)
            self._reply.check()
        return self


class _Numeric(Value):
    __slots__ = ()

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the elements."""
        return self._type.dtype

    @property
    def ndim(self) -> int:
        return self._type.rank

    async def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the value in host memory. Scalars are arrays without dimensions."""
        return await self._connection.get(self._request_array)

    async def shape(self) -> Tuple[int, ...]:
        """The dimensions."""
        if self._shape is None:
            return await self._connection.get(self._request_shape)
        return self._shape

    def __array__(self, *_: Any, **__: Any) -> np.ndarray[Any, Any]:
        raise TypeError("the value is on the device: await its numpy()")


class Scalar(_Numeric):
    """A number or a truth value."""

    __slots__ = ()

    async def item(self) -> Any:
        """As one of Python's own numbers."""
        return (await self.numpy()).item()


class Array(_Numeric):
    """An array of numbers or truth values. With an integer for each dimension a[i, ..] is an
    element, which stays on the device."""

    __slots__ = ()

    def __getitem__(self, index: Union[int, Tuple[int, ...]]) -> Any:
        return self._element(_numbers(index, self._type))


class Record(RecordBase, Value):
    """A record or a tuple: r.name, r["name"], and for tuples r[0]. Fields stay on the device."""

    __slots__ = ()


class RecordArray(Value):
    """An array of records, or of other values that are no numbers. `a["x"]` is the array of the
    field x, `a[3]` an element."""

    __slots__ = ()

    async def shape(self) -> Tuple[int, ...]:
        """The dimensions."""
        if self._shape is None:
            return await self._connection.get(self._request_shape)
        return self._shape

    def __getitem__(self, key: Union[str, int, Tuple[int, ...]]) -> Any:
        if isinstance(key, str):
            return self._field(key)
        return self._element(_numbers(key, self._type))


class Sum(Value):
    """A value of a sum type."""

    __slots__ = ()

    async def variant(self) -> str:
        """The name of its constructor."""
        return await self._connection.get(self._request_variant)

    async def payload(self) -> Tuple[Any, ...]:
        """What it was constructed from; stays on the device."""
        return self._destruct(await self.variant())


class Opaque(Value):
    """A value whose type the program keeps to itself."""

    __slots__ = ()


_CLASSES: Mapping[str, Maker] = {
    "scalar": Scalar, "array": Array, "records": RecordArray, "record": Record, "sum": Sum,
    "opaque": Opaque,
}


def _make(driver: Driver, type_: Type, name: str, reply: Optional[Reply]) -> DeviceValue:
    return _CLASSES[type_.kind](driver, type_, name, reply)


def _numbers(index: Union[int, Tuple[int, ...]], type_: Type) -> Tuple[int, ...]:
    numbers = index if isinstance(index, tuple) else (index,)
    if len(numbers) != type_.rank:
        raise IndexError(f"{type_.name} takes {type_.rank} indices")
    if any(i < 0 for i in numbers):
        raise IndexError("negative indices are for arrays in host memory")
    return numbers


class Server:
    """A server and one session of it, as kenaz.Server. Its entry points are coroutines: awaiting one
    gives a value that stays on the device. Not for use by several threads."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.entries: Dict[str, Callable[..., Awaitable[Any]]] = {}
        self._make_methods()

    def _make_methods(self) -> None:
        self.entries = {name: self._method(entry)
                        for name, entry in self._connection.core.entries.items()}

    def _method(self, entry: Entry) -> Callable[..., Awaitable[Any]]:
        connection = self._connection

        async def method(*args: Any, **named: Any) -> Any:
            given = positional(entry, signature, args, named) if named else args
            values = [in_memory(value) for value in given]
            result = connection.begin(lambda: connection.core.call(connection.make, entry, values))
            await connection.sent()
            return result
        signature = decorate(method, entry)
        return method

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        entries: Dict[str, Callable[..., Awaitable[Any]]] = self.__dict__.get("entries", {})
        if name in entries:
            return entries[name]
        raise AttributeError(f"the program has no entry point {name}; it has {', '.join(entries)}")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.entries]

    @property
    def types(self) -> Tuple[str, ...]:
        """The names of the program's types."""
        return tuple(t for t in self._connection.core.types if not is_primitive(t))

    async def put(self, value: object, type: Optional[str] = None) -> Any:
        """Sends a value to the device; as kenaz.Server.put."""
        connection = self._connection
        own = in_memory(value)
        result = connection.run(lambda: connection.core.put(connection.make, own, type))
        await connection.sent()
        return result

    async def construct(self, type: str, variant: str, *payload: object) -> Any:
        """A value of a sum type."""
        connection = self._connection
        result = connection.run(
            lambda: connection.core.construct(connection.make, type, variant, payload))
        await connection.sent()
        return result

    async def fetch(self, *values: Value) -> List[np.ndarray[Any, Any]]:
        """Several scalars and arrays at a time, for the price of one."""
        core = self._connection.core
        return await self._connection.get(lambda: core.fetch(values)) if values else []

    def stream(self, source: Union[Iterable[object], AsyncIterable[object]],
               *stages: Union[str, Callable[..., Any], Stage], chunk: int = 1 << 20,
               ahead: int = 2) -> AsyncGenerator[np.ndarray[Any, Any], None]:
        """Runs a sequence of any length, in chunks, through entry points; as kenaz.Server.stream.
        The source may also give its arrays asynchronously."""
        check_counts(chunk, ahead)
        pieces = [source] if isinstance(source, np.ndarray) else source
        progress = Progress(Pipeline(self._connection, stages), chunk, ahead)
        return _stream(self._connection, progress, pieces)

    async def sync(self) -> None:
        """Waits for all calls. Raises the first failure that nobody has seen yet."""
        await self._connection.sync()

    async def programs(self) -> Dict[str, str]:
        """The programs that the server has: their versions, by name."""
        return await self._connection.get(self._connection.core.programs)

    async def program(self, name: str) -> "Server":
        """Chooses a program; as kenaz.Server.program."""
        core = self._connection.core
        await _ask_all(self._connection, [core.ask("program", name)])
        self._make_methods()
        return self

    async def load(self, name: str, program: _sources.Program) -> "Server":
        """Has the server compile a program, and chooses it; as kenaz.Server.load."""
        connection = self._connection
        reply = connection.run(_sources.request(connection.core, name, program))
        await connection.sent()
        await connection.wait(reply)
        reply.check()
        return await self.program(name)

    async def devices(self) -> Dict[str, str]:
        """The devices that the server has: their names, by number."""
        return await self._connection.get(self._connection.core.devices)

    async def device(self) -> str:
        """The number of the device that this session is on."""
        return await self._connection.get(self._connection.core.device)

    async def move(self, device: str) -> None:
        """Has the session on another device; as assigning to kenaz.Server.device."""
        await _ask_all(self._connection, [self._connection.core.ask("device", device)])

    async def stats(self) -> Dict[str, int]:
        """The server's figures."""
        return await self._connection.get(self._connection.core.stats)

    async def close(self) -> None:
        """Ends the session. A server that was started here ends, too."""
        await self._connection.close()


async def _pieces(source: Iterable[object]) -> AsyncIterator[object]:
    for piece in source:
        yield piece


async def _stream(connection: Connection, progress: Progress,
                  source: Union[Iterable[object], AsyncIterable[object]]
                  ) -> AsyncGenerator[np.ndarray[Any, Any], None]:
    """The results of what `progress` has of the source."""
    pieces = (source if isinstance(source, AsyncIterable) else _pieces(source)).__aiter__()
    while True:
        while progress.wants_piece():
            await connection.sent()  # the source may change what it gave
            try:
                progress.feed(await pieces.__anext__())
            except StopAsyncIteration:
                progress.end()
            except Exception as e:
                progress.end(e)
        if not progress.pending:
            break
        await connection.sent()
        pending = progress.pending.popleft()
        await connection.wait(pending.request.reply)
        yield pending.result()
    if progress.failure is not None:
        raise progress.failure


class _Opening:
    """A server to come: awaited, or entered by `async with`, which also closes it."""

    def __init__(self, begin: Callable[[], Awaitable[Server]]) -> None:
        self._begin = begin
        self._server: Optional[Server] = None

    def __await__(self) -> Generator[Any, None, Server]:
        return self._begin().__await__()

    async def __aenter__(self) -> Server:
        self._server = await self._begin()
        return self._server

    async def __aexit__(self, kind: Any, *_: object) -> None:
        assert self._server is not None
        try:
            if kind is None and self._server._connection.core.lost is None:
                await self._server.sync()
        finally:
            await self._server.close()


async def _ask_all(connection: Connection, first: Sequence[Reply]) -> None:
    """Waits for the first replies, and asks what the program has."""
    replies: Optional[Sequence[Reply]] = first
    steps = connection.core.introspect()
    while replies is not None:
        connection.kick()
        for reply in replies:
            await connection.wait(reply)
            reply.check()
        replies = next(steps, None)


async def _greet(connection: Connection, words: Sequence[Sequence[str]]) -> Server:
    """Greets, says `words`, and asks what there is."""
    core = connection.core
    try:
        greeting = Reply(reported=True)
        core.wire.queue.append(greeting)
        await _ask_all(connection, [greeting] + [core.ask(*w) for w in words])
    except BaseException:
        await connection.close()
        raise
    return Server(connection)


def open(program: Union[str, "os.PathLike[str]"], *, server: Optional[str] = None,
         device: Optional[str] = None, reference: bool = False,
         options: Sequence[str] = ()) -> _Opening:
    """Starts a server on a Futhark program; as kenaz.open."""
    async def begin() -> Server:
        child = Child(server_command(program, server=server, device=device, reference=reference,
                                     options=options))
        connection = Connection(Core(), child, _make)
        await asyncio.get_running_loop().create_unix_connection(lambda: connection,
                                                                sock=child.socket)
        try:
            return await _greet(connection, [])
        except ConnectionLost:
            raise child.refused() from None
    return _Opening(begin)


def connect(url: str, *, token: Optional[str] = None, tls: TLS = None,
            session: Optional[str] = None, timeout: Optional[float] = 60) -> _Opening:
    """Joins a server that runs; as kenaz.connect."""
    address = Address(url, tls)

    async def begin() -> Server:
        loop = asyncio.get_running_loop()
        connection = Connection(Core(f"_{secrets.token_hex(4)}" if session else ""), None, _make)
        words = [["auth", token]] if token is not None else []
        if session is not None:
            words.append(["attach", session])
        try:
            if address.path:
                await loop.create_unix_connection(lambda: connection, address.path)
            else:
                await loop.create_connection(
                    lambda: connection, address.host, address.port, ssl=address.context,
                    server_hostname=address.host if address.context else None)
        except OSError as e:
            raise ConnectionLost(f"cannot connect to {url}: {e.strerror or e}") from e
        return await _greet(connection, words)

    async def begin_in_time() -> Server:
        try:
            return await asyncio.wait_for(begin(), timeout)
        except asyncio.TimeoutError:
            raise ConnectionLost(f"{url} does not answer") from None
    return _Opening(begin_in_time)


__all__ = ["Array", "Opaque", "Record", "RecordArray", "Scalar", "Server", "Stage", "StreamError",
           "Sum", "Timing", "Timings", "Value", "connect", "open", "timings"]
