"""Kenaz on the workers of a Dask cluster. Needs `distributed` (pip install kenaz[dask]).

    client = distributed.Client(..)
    client.register_plugin(kenaz.dask.KenazPlugin("sums.fut"))
    parts = [client.submit(load, i) for i in range(100)]          # load gives arrays
    sums = [client.submit(kenaz.dask.call, "total", p) for p in parts]

The plugin gives each worker a server. What entry points return stays on that server's device as the
value of the task's future; Dask runs what uses it on the same worker, moves it where it must, and
computes it anew when the worker is lost. docs/scaling.md has the rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import copyreg
import os
import pathlib
import tempfile
from typing import (Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple,
                    Union)

import numpy as np
from dask.sizeof import sizeof
from distributed import Reschedule, Worker, WorkerPlugin, get_worker

from ._errors import ConnectionLost
from ._server import Array, Opaque, Record, RecordArray, Scalar, Server, Sum, Value
from ._server import open as open_server

_UNKNOWN_SIZE = 1024  # bytes, of a value that does not tell what is in it
_workers: Dict[int, Worker] = {}  # those that have servers, by id() of their connection's core


class KenazPlugin(WorkerPlugin):
    """Opens a server on each worker of a cluster, also on those that come later, and closes it with
    the worker.

    `program` is a file here: its text goes to the workers, as do `files`, which it imports, with
    paths relative to its folder. `options` are those of `kenaz.open`. Or it is a function of the
    worker that returns a `kenaz.Server`: for a device that depends on the worker, or a server that
    runs elsewhere. No two workers may have the same session: one closes its own. `name` is for
    clusters with several such plugins.
    """

    def __init__(self, program: Union[str, "os.PathLike[str]", Callable[[Worker], Server]], *,
                 files: Sequence[str] = (), name: str = "kenaz", **options: Any) -> None:
        self.name = name
        self._options = options
        self._open: Optional[Callable[[Worker], Server]] = None
        self._texts: List[Tuple[str, bytes]] = []  # the program's first
        self._server: Optional[Server] = None
        if callable(program):
            if files or options:
                raise TypeError("files and options are for a program, not for a function")
            self._open = program
            return
        path = pathlib.Path(program)
        for file in (path.name, *files):
            self._texts.append((file, (path.parent / file).read_bytes()))

    @property
    def server(self) -> Server:
        """The worker's server; for what runs on a worker."""
        if self._server is None:
            raise RuntimeError(f"the plugin {self.name!r} has no server here: it is for workers")
        return self._server

    async def setup(self, worker: Worker) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.run_in_executor(None, self._begin, worker)
        _workers[id(self._server._connection.core)] = worker

    async def teardown(self, worker: Worker) -> None:
        if self._server is not None:
            _workers.pop(id(self._server._connection.core), None)
            await asyncio.get_running_loop().run_in_executor(None, self._server.close)

    def _begin(self, worker: Worker) -> Server:
        if self._open is not None:
            return self._open(worker)
        # The server has read the files when it answers.
        with tempfile.TemporaryDirectory(dir=worker.local_directory) as folder:
            for name, text in self._texts:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
            return open_server(pathlib.Path(folder, self._texts[0][0]), **self._options)


@contextlib.contextmanager
def server(name: str = "kenaz") -> Iterator[Server]:
    """The server of the worker on which a task runs: `with kenaz.dask.server() as s: ..`. It stays
    open. If it turns out to be lost, its values are, too: then the worker ends (a nanny starts
    another one), and Dask runs the task elsewhere, as it does what made the values it needs."""
    plugin = get_worker().plugins.get(name)
    if not isinstance(plugin, KenazPlugin):
        raise RuntimeError(f"the worker has no plugin {name!r}: "
                           "client.register_plugin(kenaz.dask.KenazPlugin(..))")
    try:
        yield plugin.server
    except ConnectionLost as e:
        _lose(id(plugin.server._connection.core))
        raise Reschedule() from e


def call(entry: str, *args: object, server_name: str = "kenaz") -> Any:
    """Calls an entry point on the worker's server and waits for it, so that its failure is the
    task's. Numbers come back as NumPy's; all else stays on the device."""
    with server(server_name) as s:
        if entry not in s.entries:
            raise AttributeError(f"the program has no entry point {entry}; it has "
                                 f"{', '.join(s.entries)}")
        result = s.entries[entry](*(_there(s, arg) for arg in args)).wait()
        return result.numpy()[()] if isinstance(result, Scalar) else result


def put(value: object, type: Optional[str] = None, *, server_name: str = "kenaz") -> Any:
    """As `kenaz.Server.put`, on the worker's server; waits until the value is there."""
    with server(server_name) as s:
        return s.put(value, type).wait()


def _lose(core: int) -> None:
    """The server of a worker is lost, and with it what Dask believes to be there. A worker that has
    a process of its own ends like one that crashes: whatever is just being asked of it is asked
    again, of those that compute it anew."""
    worker = _workers.pop(core, None)
    if worker is None:
        return
    if worker.nanny:
        os._exit(1)
    worker.loop.add_callback(worker.close, executor_wait=False,
                             reason="the worker's kenaz-server is lost")


# ---- what Dask asks about values


def _size(value: Value) -> int:
    if isinstance(value, (Scalar, Array)):
        return int(np.prod(value.shape, dtype=np.int64)) * value.dtype.itemsize
    return sum(_size(part) for _, part in _parts(value)) or _UNKNOWN_SIZE


def _parts(value: Value) -> List[Tuple[str, Value]]:
    """The fields of a record, or the columns of an array of records."""
    if not isinstance(value, (Record, RecordArray)):
        return []
    return [(name, value._field(name)) for name, _ in value._type.fields]  # type: ignore[misc]


class Moved(NamedTuple):
    """A value of a sum type that has left its device: `call` takes it as an argument."""

    type: str
    variant: str
    payload: Tuple[Any, ...]


class Left(NamedTuple):
    """In place of a value that had to leave its device and cannot: one whose type the program keeps
    to itself, or an array of such or of sums. It is good for nothing but its name."""

    type: str


def _here(value: Value) -> Any:
    """The value in host memory, in a form that `call` takes as well."""
    if isinstance(value, (Scalar, Array)):
        return value.numpy()
    if isinstance(value, Sum):
        return Moved(value.type, value.variant, tuple(_here(part) for part in value.payload()))
    parts = _parts(value)
    if not parts and not isinstance(value, Record):
        return Left(value.type)
    if value._type.is_tuple:
        return tuple(_here(part) for _, part in parts)
    return {name: _here(part) for name, part in parts}


def _there(server: Server, arg: Any) -> Any:
    """What has been moved, as an argument."""
    if isinstance(arg, Left):
        raise TypeError(f"a value of type {arg.type} cannot leave its device: keep what uses it on "
                        "the same worker (workers=..), or use it in the same task")
    if isinstance(arg, Moved):
        return server.construct(arg.type, arg.variant,
                                *(_there(server, part) for part in arg.payload))
    return arg


def _moved(value: Any) -> Any:
    return value


def _reduce(value: Value) -> Tuple[Callable[[Any], Any], Tuple[Any]]:
    try:
        return _moved, (_here(value),)
    except ConnectionLost:
        _lose(id(value._core))
        raise


sizeof.register(Value)(_size)
# Dask pickles what it moves and what it writes to disk. NumPy's arrays travel beside the pickle
# without a copy, so that a serializer of our own would gain nothing.
for _class in (Array, Opaque, Record, RecordArray, Scalar, Sum):
    copyreg.pickle(_class, _reduce)

__all__ = ["KenazPlugin", "Left", "Moved", "call", "put", "server"]
