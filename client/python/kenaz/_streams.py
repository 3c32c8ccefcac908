"""Sequences of any length through chains of entry points, in chunks. docs/streams.md says what a
stage is."""

from __future__ import annotations

import collections
from typing import Any, Callable, Deque, Iterable, Iterator, List, Optional, Tuple, Union

import numpy as np

from ._connection import Connection
from ._core import Entry, in_memory
from ._errors import Error
from ._types import Type, as_array
from ._values import DeviceValue, Driver, RecordBase, Request
from ._wire import Reply

Array = np.ndarray[Any, Any]


class StreamError(Error):
    """A chunk of a stream failed. Its cause (`__cause__`) is the call's ProgramError, or whatever
    else went wrong; `chunk` is the chunk's number, `first` and `count` are the elements of the
    source that it held (both numbers from 0), `stage` the entry point, or "" if it was none."""

    def __init__(self, message: str, chunk: int = 0, first: int = 0, count: int = 0,
                 stage: str = "") -> None:
        super().__init__(message, chunk, first, count, stage)
        self.chunk = chunk
        self.first = first
        self.count = count
        self.stage = stage

    def __str__(self) -> str:
        return str(self.args[0])


class Stage:
    """An entry point of a stream with its leading arguments, and with the first state if it carries
    one: `kenaz.Stage(server.peak, 0.25, state=0)`."""

    def __init__(self, entry: Union[str, Callable[..., Any]], *arguments: object,
                 state: object = None) -> None:
        self.entry = entry if isinstance(entry, str) else str(getattr(entry, "__name__", entry))
        self.arguments = arguments
        self.state = state


def check_counts(chunk: int, ahead: int) -> None:
    if chunk < 1 or ahead < 1:
        raise ValueError("chunk and ahead are at least 1")


class _Bound:
    """A stage whose arguments are on the device."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.arguments: List[DeviceValue] = []
        self.state: Optional[DeviceValue] = None  # after the chunks so far
        self.input = entry.params[-1].type if entry.params else Type("")
        self.output = entry.result
        self.state_type = ""  # "": it carries none
        if entry.result.is_tuple and len(entry.result.fields) == 2:
            self.state_type = entry.result.fields[0][1]

    def refuse(self, why: str) -> TypeError:
        params = " -> ".join(p.type.name for p in self.entry.params)
        return TypeError(f"{self.entry.name} cannot be a stage, as {why}: {params or '()'} -> "
                         f"{self.entry.result.name}; a stage is [n]a -> [m]b or s -> [n]a -> "
                         "(s, [m]b), behind other parameters")


def _failure(error: Error, number: int, first: int, count: int, stage: str = "") -> StreamError:
    last = first + count - 1
    which = f"element {last}" if count == 1 else f"elements {first} to {last}"
    where = f"chunk {number} ({which}){', stage ' if stage else ''}{stage}"
    return StreamError(f"{where}: {error}", number, first, count, stage)


class _Pending:
    """A chunk that is under way."""

    __slots__ = ("number", "first", "count", "replies", "request")

    def __init__(self, number: int, first: int, count: int,
                 replies: List[Tuple[str, Reply]], request: Request[Array]) -> None:
        self.number = number
        self.first = first
        self.count = count
        self.replies = replies
        self.request = request

    def result(self) -> Array:
        """When the reply has come. Raises StreamError."""
        try:
            self.request.reply.check()
        except Error as e:
            stage = next((name for name, reply in self.replies if reply.error is not None), "")
            raise _failure(e, self.number, self.first, self.count, stage) from e
        return self.request.finish()


class Pipeline:
    """Stages whose types fit, with their arguments on the device. Raises TypeError for others."""

    def __init__(self, connection: Driver,
                 stages: Iterable[Union[str, Callable[..., Any], Stage]]) -> None:
        self._connection = connection
        given = [stage if isinstance(stage, Stage) else Stage(stage) for stage in stages]
        if not given:
            raise TypeError("stream takes at least one stage")
        self._stages = [self._bind(stage) for stage in given]
        for one, next_one in zip(self._stages, self._stages[1:]):
            if one.output.name != next_one.input.name:
                raise TypeError(f"the stages do not chain: {one.entry.name} gives {one.output}, but "
                                f"{next_one.entry.name} takes {next_one.input}")
        for stage, bound in zip(given, self._stages):
            self._place(stage, bound)

    @property
    def first(self) -> _Bound:
        return self._stages[0]

    def _bind(self, stage: Stage) -> _Bound:
        core = self._connection.core
        if stage.entry not in core.entries:
            raise TypeError(f"{stage.entry} is no entry point; there are {', '.join(core.entries)}")
        bound = _Bound(core.entries[stage.entry])
        params = bound.entry.params
        if bound.input.kind != "array":
            raise bound.refuse("its last parameter is no array of scalars")
        if bound.state_type:
            if len(params) < 2 or params[-2].type.name != bound.state_type:
                raise bound.refuse("it does not take the state that it returns")
            bound.output = core.type(bound.entry.result.fields[1][1])
        if bound.output.kind != "array":
            raise bound.refuse("it returns no array of scalars")
        leading = params[:-2] if bound.state_type else params[:-1]
        if any(p.consumed for p in leading):
            raise bound.refuse("it consumes a parameter that every chunk needs")
        if len(stage.arguments) != len(leading):
            raise TypeError(f"{stage.entry} takes {len(leading)} arguments before a chunk, "
                            f"but {len(stage.arguments)} were given")
        if (stage.state is not None) != bool(bound.state_type):
            raise TypeError(f"{stage.entry} carries a state of type {bound.state_type}: give the "
                            "first one, state=.." if bound.state_type else
                            f"{stage.entry} carries no state")
        return bound

    def _place(self, stage: Stage, bound: _Bound) -> None:
        for param, value in zip(bound.entry.params, stage.arguments):
            bound.arguments.append(self._on_device(value, param.type, param.where))
        if bound.state_type:
            param = bound.entry.params[-2]
            bound.state = self._on_device(stage.state, param.type, param.where)

    def _on_device(self, value: object, type_: Type, where: str) -> DeviceValue:
        connection = self._connection
        if not isinstance(value, DeviceValue):
            return connection.run(
                lambda: connection.core.put(connection.make, value, type_.name))
        if value.type != type_.name:
            raise TypeError(f"{where}: expected {type_.name}, got a value of type {value.type} "
                            "on the device")
        return value

    def begin(self, chunk: Array, number: int, first: int) -> _Pending:
        connection = self._connection
        value: object = chunk
        replies: List[Tuple[str, Reply]] = []
        for stage in self._stages:
            args = [*stage.arguments, *([stage.state] if stage.state_type else []), value]
            result = self._call(stage.entry, args)
            if result._reply is not None:
                result._reply.reported = True  # by StreamError, if its chunk is asked for
                replies.append((stage.entry.name, result._reply))
            value = result
            if stage.state_type:
                assert isinstance(result, RecordBase)
                stage.state, value = result[0], result[1]
        assert isinstance(value, DeviceValue)
        request = connection.run(value._request_array)
        return _Pending(number, first, len(chunk), replies, request)

    def _call(self, entry: Entry, args: List[object]) -> DeviceValue:
        connection = self._connection
        return connection.begin(lambda: connection.core.call(connection.make, entry, args))


class _Chunks:
    """Pieces of any lengths, again and again `size` elements of them, and in the end the rest.
    `where` begins messages."""

    def __init__(self, type_: Type, where: str, size: int) -> None:
        self._type, self._where, self._size = type_, where, size
        self._row: Optional[Tuple[int, ...]] = None  # the shape of an element
        self._number = 0  # of the next piece
        self._piece: Optional[Array] = None
        self._at = 0  # what has been taken of the piece
        self._rest: Optional[Array] = None
        self._have = 0  # elements of it that are none of the piece's
        self.ended = False

    def feed(self, given: object) -> None:
        """The next piece, when `cut` has nothing more to give."""
        where = f"{self._where}: piece {self._number} of the source"
        self._number += 1
        piece = as_array(self._type, in_memory(given), where)
        row = piece.shape[1:] if self._row is None else self._row
        if piece.shape[1:] != row:
            raise ValueError(f"{where} has elements of shape {piece.shape[1:]}, where those before "
                             f"it have {row}")
        self._row, self._piece, self._at = row, piece, 0

    def cut(self) -> Optional[Array]:
        """A chunk, or None if there must be another piece for one. It may be a part of the piece."""
        piece, at, size = self._piece, self._at, self._size
        if piece is not None and self._have == 0 and len(piece) - at >= size:
            self._at += size
            return piece[at:at + size]
        if piece is not None and at < len(piece):
            if self._rest is None or self._have == 0:
                self._rest = np.empty((size, *piece.shape[1:]), self._type.dtype)
            taken = min(size - self._have, len(piece) - at)
            self._rest[self._have:self._have + taken] = piece[at:at + taken]
            self._have, self._at = self._have + taken, at + taken
        if self._rest is not None and self._have > 0 and (self.ended or self._have == size):
            chunk = self._rest[:self._have]
            self._have = 0
            return chunk
        return None


class Progress:
    """A sequence on its way through a pipeline; who drives it reads the source, and waits."""

    def __init__(self, pipeline: Pipeline, size: int, ahead: int) -> None:
        self.pending: Deque[_Pending] = collections.deque()
        self.failure: Optional[Exception] = None  # to be raised when nothing is pending any more
        self._pipeline, self._ahead = pipeline, ahead
        first = pipeline.first
        self._chunks = _Chunks(first.input, first.entry.name, size)
        self._number = self._elements = 0  # begun
        self._stopped = False  # by a chunk that could not be begun

    def wants_piece(self) -> bool:
        """Begins chunks, up to `ahead` at a time. True if it takes more of the source to go on."""
        while len(self.pending) < self._ahead and not self._stopped:
            chunk = self._chunks.cut()
            if chunk is None:
                return not self._chunks.ended
            self._begin(chunk)
        return False

    def _begin(self, chunk: Array) -> None:
        try:
            self.pending.append(self._pipeline.begin(chunk, self._number, self._elements))
        except Error as e:  # the results that have come are still given
            self.failure = _failure(e, self._number, self._elements, len(chunk))
            self.failure.__cause__ = e
            self._stopped = True
        self._number += 1
        self._elements += len(chunk)

    def feed(self, piece: object) -> None:
        self._chunks.feed(piece)

    def end(self, failure: Optional[Exception] = None) -> None:
        """The source has ended, or failed: what came before that is still given."""
        self._chunks.ended = True
        self.failure = failure


def run(connection: Connection, pipeline: Pipeline, source: Iterable[object], size: int,
        ahead: int) -> Iterator[Array]:
    """The results of chunks of `size` elements. `ahead` chunks are under way at a time. What of the
    source is begun has been sent when more of it is read."""
    pieces = iter(source)
    progress = Progress(pipeline, size, ahead)
    while True:
        while progress.wants_piece():
            try:
                progress.feed(next(pieces))
            except StopIteration:
                progress.end()
            except Exception as e:
                progress.end(e)
        if not progress.pending:
            break
        pending = progress.pending.popleft()
        connection.wait(pending.request.reply)
        yield pending.result()
    if progress.failure is not None:
        raise progress.failure
