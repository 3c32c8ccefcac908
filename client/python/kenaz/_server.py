"""Servers, their entry points and their values, for threads."""

from __future__ import annotations

import os
import secrets
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence,
                    Tuple, Union, cast)

import numpy as np

from . import _sources
from ._connection import Connection
from ._core import Core, Entry, in_memory
from ._errors import ConnectionLost
from ._signatures import decorate, positional
from ._streams import Pipeline, Stage, check_counts, run
from ._transport import TLS, Address, Child, Stream, TlsStream, dial, server_command
from ._types import Type, is_primitive
from ._values import DeviceValue, Driver, Maker, RecordBase, Request, within
from ._wire import Reply


class Value(DeviceValue):
    """A value that stays on the device until it is looked at. Freed when nothing refers to it."""

    __slots__ = ()

    @property
    def _connection(self) -> Connection:
        return cast(Connection, self._driver)

    def wait(self) -> "Value":
        """Waits until it is there. Raises what its call raises."""
        self._use()
        if self._reply is not None:
            self._connection.wait(self._reply)
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

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the value in host memory. Scalars are arrays without dimensions."""
        return self._connection.get(self._request_array)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a value on the device cannot be an array without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)


class Scalar(_Numeric):
    """A number or a truth value: float(), int() and bool() fetch it."""

    __slots__ = ()

    @property
    def shape(self) -> Tuple[int, ...]:
        return ()

    def item(self) -> Any:
        """As one of Python's own numbers."""
        return self.numpy().item()

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if self._type.prim[0] not in "iu":
            raise TypeError(f"a {self.type} is no index")
        return int(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())


class Array(_Numeric):
    """An array of numbers or truth values: numpy.asarray() fetches it."""

    __slots__ = ()

    @property
    def shape(self) -> Tuple[int, ...]:
        if self._shape is None:
            return self._connection.get(self._request_shape)
        return self._shape

    @property
    def size(self) -> int:
        count = 1
        for d in self.shape:
            count *= d
        return count

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError("the truth of an array is not defined; use .numpy().any() or .all()")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numpy())

    def __getitem__(self, index: Any) -> Any:
        """With an integer for each dimension: that element, which stays on the device. With anything
        else: that part of a copy in host memory."""
        numbers = index if isinstance(index, tuple) else (index,)
        if len(numbers) == self.ndim and all(
                isinstance(i, (int, np.integer)) and not isinstance(i, bool) for i in numbers):
            return self._element(within(numbers, self.shape))
        return self.numpy()[index]


class Record(RecordBase, Value):
    """A record or a tuple: r.name, r["name"], and for tuples r[0]. Fields stay on the device."""

    __slots__ = ()


class RecordArray(Value):
    """An array of records, or of other values that are no numbers. `a["x"]` is the array of the
    field x, `a[3]` an element."""

    __slots__ = ()

    @property
    def shape(self) -> Tuple[int, ...]:
        if self._shape is None:
            return self._connection.get(self._request_shape)
        return self._shape

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._field(key)
        numbers = key if isinstance(key, tuple) else (key,)
        if len(numbers) != self._type.rank:
            raise IndexError(f"{self.type} takes {self._type.rank} indices")
        return self._element(within(numbers, self.shape))


class Sum(Value):
    """A value of a sum type."""

    __slots__ = ()

    @property
    def variant(self) -> str:
        """The name of its constructor."""
        return self._connection.get(self._request_variant)

    def payload(self) -> Tuple[Any, ...]:
        """What it was constructed from; stays on the device."""
        return self._destruct(self.variant)


class Opaque(Value):
    """A value whose type the program keeps to itself."""

    __slots__ = ()


_CLASSES: Mapping[str, Maker] = {
    "scalar": Scalar, "array": Array, "records": RecordArray, "record": Record, "sum": Sum,
    "opaque": Opaque,
}


def _make(driver: Driver, type_: Type, name: str, reply: Optional[Reply]) -> DeviceValue:
    return _CLASSES[type_.kind](driver, type_, name, reply)


class Server:
    """A server and one session of it. Entry points are its methods; `entries` has those whose names
    are not Python's, or are those of other methods.

    May be used by several threads at a time: commands go out one after the other, in the order in
    which the threads come, and each thread waits only for what it asks for. Values may be used by
    any thread. After a fork it is the parent's.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.entries: Dict[str, Callable[..., Any]] = {}
        self._make_methods()

    def _make_methods(self) -> None:
        self.entries = {name: self._method(entry)
                        for name, entry in self._connection.core.entries.items()}

    def _method(self, entry: Entry) -> Callable[..., Any]:
        connection = self._connection

        def method(*args: Any, **named: Any) -> Any:
            given = positional(entry, signature, args, named) if named else args
            values = [value if isinstance(value, DeviceValue) else in_memory(value)
                      for value in given]
            return connection.begin(
                lambda: connection.core.call(connection.make, entry, values))
        signature = decorate(method, entry)
        return method

    def __getattr__(self, name: str) -> Callable[..., Any]:
        entries: Dict[str, Callable[..., Any]] = self.__dict__.get("entries", {})
        if name in entries:
            return entries[name]
        raise AttributeError(f"the program has no entry point {name}; it has {', '.join(entries)}")

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.entries]

    @property
    def types(self) -> Tuple[str, ...]:
        """The names of the program's types."""
        return tuple(t for t in self._connection.core.types if not is_primitive(t))

    @property
    def log(self) -> str:
        """What a server that was started here has written to standard error, such as warnings."""
        child = self._connection.child
        return child.log() if child is not None else ""

    def put(self, value: object, type: Optional[str] = None) -> Any:
        """Sends a value to the device, where calls can use it often. Without a type, arrays keep
        theirs, and Python's numbers become i64, f64 and bool. Returns when all has been sent."""
        connection = self._connection
        value = in_memory(value)
        return connection.run(lambda: connection.core.put(connection.make, value, type))

    def construct(self, type: str, variant: str, *payload: object) -> Any:
        """A value of a sum type."""
        connection = self._connection
        return connection.run(
            lambda: connection.core.construct(connection.make, type, variant, payload))

    def fetch(self, *values: Value) -> List[np.ndarray[Any, Any]]:
        """Several scalars and arrays at a time, for the price of one."""
        def ask() -> Request[List[np.ndarray[Any, Any]]]:
            return self._connection.core.fetch(values)
        return self._connection.get(ask) if values else []

    def stream(self, source: Iterable[object], *stages: Union[str, Callable[..., Any], Stage],
               chunk: int = 1 << 20, ahead: int = 2) -> Iterator[np.ndarray[Any, Any]]:
        """Runs a sequence of any length, in chunks, through entry points, without coming back from
        the device in between, and yields the results in order.

        `source` is an array, or gives arrays of any lengths (or lists) whose elements are one
        sequence. Stages are entry points `[n]a -> [m]b`, as `server.name` or "name", or a
        `kenaz.Stage` with arguments and a state. Chunks have `chunk` elements, the last one may
        have fewer. `ahead` chunks are under way before the result of the first of them is waited
        for; 1 gives each result before more of the source is read. Raises TypeError if the stages
        do not fit, and StreamError when a chunk fails.
        """
        check_counts(chunk, ahead)
        pieces = [source] if isinstance(source, np.ndarray) else source
        return run(self._connection, Pipeline(self._connection, stages), pieces, chunk, ahead)

    def sync(self) -> None:
        """Waits for all calls. Raises the first failure that nobody has seen yet."""
        self._connection.sync()

    def programs(self) -> Dict[str, str]:
        """The programs that the server has: their versions, by name."""
        return self._connection.get(self._connection.core.programs)

    def program(self, name: str) -> "Server":
        """Chooses a program: its entry points are the methods from now on, for all who use this
        session. Values stay, and may be given to it where the types are the same. Also for what a
        program that was loaded anew has in new types. Returns the server."""
        _ask_all(self._connection, [["program", name]])
        self._make_methods()
        return self

    def load(self, name: str, program: _sources.Program) -> "Server":
        """Has the server compile a program and run it in a process of its own, for this session,
        and chooses it. `program` is a file, whose imports are sent as well, or texts by their
        paths, of which the first is the program. The server must allow it (--allow-load). Raises
        CompileError if the program is not good. Returns the server."""
        connection = self._connection
        reply = connection.run(_sources.request(connection.core, name, program))
        connection.wait(reply)
        reply.check()
        return self.program(name)

    def devices(self) -> Dict[str, str]:
        """The devices that the server has: their names, by number ("#0", "#1", ..)."""
        return self._connection.get(self._connection.core.devices)

    @property
    def device(self) -> str:
        """The number of the device that this session is on. Another one may be assigned: the session
        goes there, and its values with it, when all calls before have ended."""
        return self._connection.get(self._connection.core.device)

    @device.setter
    def device(self, number: str) -> None:
        _ask_all(self._connection, [["device", number]])

    def stats(self) -> Dict[str, int]:
        """The server's figures."""
        return self._connection.get(self._connection.core.stats)

    def close(self) -> None:
        """Ends the session. A server that was started here ends, too."""
        self._connection.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        try:
            if kind is None and self._connection.core.lost is None:
                self.sync()
        finally:
            self.close()


def _ask_all(connection: Connection, words: Sequence[Sequence[str]]) -> None:
    """Says `words`, and asks what the program has."""
    core = connection.core

    def wait_for(replies: Sequence[Reply]) -> None:
        for reply in replies:
            connection.wait(reply)
            reply.check()
    wait_for(connection.run(lambda: [core.ask(*w) for w in words]))
    steps = core.introspect()
    while (replies := connection.run(lambda: next(steps, None))) is not None:
        wait_for(replies)


def _begin(connection: Connection, words: Sequence[Sequence[str]]) -> Server:
    """Greets, says `words`, and asks what there is."""
    def greet() -> Reply:
        greeting = Reply(reported=True)
        connection.core.wire.queue.append(greeting)
        return greeting
    try:
        greeting = connection.run(greet)
        connection.wait(greeting)
        greeting.check()
        _ask_all(connection, words)
    except BaseException:
        connection.close()
        raise
    return Server(connection)


def open(program: Union[str, "os.PathLike[str]"], *, server: Optional[str] = None,
         device: Optional[str] = None, reference: bool = False,
         options: Sequence[str] = ()) -> Server:
    """Starts a server on a Futhark program.

    `server` is the executable; without it the environment variable KENAZ_SERVER, then
    `bin/kenaz-server` in the package, then PATH say which. `device` is a part of a device's name, #k
    for the k-th, or cpu; several with commas between them, or "all", make a server with several; with `reference` the program is evaluated on the CPU. `options` are
    further options of kenaz-server. Raises CompileError if the program is not good.
    """
    child = Child(server_command(program, server=server, device=device, reference=reference,
                                 options=options))
    connection = Connection(Stream(child.socket), Core(), child, _make)
    try:
        return _begin(connection, [])
    except ConnectionLost:
        raise child.refused() from None


def connect(url: str, *, token: Optional[str] = None, tls: TLS = None,
            session: Optional[str] = None, timeout: Optional[float] = 60) -> Server:
    """Joins a server that runs: tcp://HOST:PORT, tls://HOST:PORT or unix://PATH.

    `tls`: True, with the system's authorities; or a file with authorities (PEM); or an
    ssl.SSLContext. tls:// means True. `session` is the name of a session that others use too, and
    that outlives the connection. `timeout` seconds are for connecting, not for calls. Raises
    ConnectionLost if nobody is there, ServerError if the server does not take us in.
    """
    address = Address(url, tls)
    sock = dial(address, timeout)
    stream = TlsStream(sock, address) if address.context is not None else Stream(sock)
    stream.set_timeout(timeout)
    prefix = f"_{secrets.token_hex(4)}" if session is not None else ""
    connection = Connection(stream, Core(prefix), None, _make)
    words = [["auth", token]] if token is not None else []
    if session is not None:
        words.append(["attach", session])
    server = _begin(connection, words)
    stream.set_timeout(None)
    return server
