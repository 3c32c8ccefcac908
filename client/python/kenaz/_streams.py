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
from ._values import DeviceValue, RecordBase, Request
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

    def failure(self, error: Error) -> StreamError:
        stage = next((name for name, reply in self.replies if reply.error is not None), "")
        return _failure(error, self.number, self.first, self.count, stage)


class Pipeline:
    """Stages whose types fit, with their arguments on the device. Raises TypeError for others."""

    def __init__(self, connection: Connection,
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

    def run(self, source: Iterable[object], size: int, ahead: int) -> Iterator[Array]:
        """The results of chunks of `size` elements. `ahead` chunks are under way at a time."""
        pending: Deque[_Pending] = collections.deque()
        chunks = self._chunks(source, size)
        failure: Optional[Exception] = None
        ended = False
        number = first = 0
        while True:
            while not ended and len(pending) < ahead:
                try:
                    chunk = next(chunks, None)
                except Exception as e:  # what came before it is still given
                    chunk, failure = None, e
                ended = chunk is None
                if chunk is not None:
                    try:
                        pending.append(self._begin(chunk, number, first))
                    except Error as e:  # the results that have come are still given
                        failure, ended = _failure(e, number, first, len(chunk)), True
                        failure.__cause__ = e
                    number += 1
                    first += len(chunk)
            if not pending:
                break
            yield self._end(pending.popleft())
        if failure is not None:
            raise failure

    def _chunks(self, source: Iterable[object], size: int) -> Iterator[Array]:
        """The elements of all pieces, again and again `size` of them, and in the end the rest: before
        what the source raises, too."""
        type_, name = self._stages[0].input, self._stages[0].entry.name
        row: Optional[Tuple[int, ...]] = None  # the shape of an element
        rest: Optional[Array] = None
        have = 0
        try:
            for number, given in enumerate(source):
                where = f"{name}: piece {number} of the source"
                piece = as_array(type_, in_memory(given), where)
                row = piece.shape[1:] if row is None else row
                if piece.shape[1:] != row:
                    raise ValueError(f"{where} has elements of shape {piece.shape[1:]}, where those "
                                     f"before it have {row}")
                at = 0
                while at < len(piece):
                    if have == 0 and len(piece) - at >= size:
                        yield piece[at:at + size]  # sent before the source may change it
                        at += size
                        continue
                    if rest is None or have == 0:
                        rest = np.empty((size, *row), type_.dtype)
                    taken = min(size - have, len(piece) - at)
                    rest[have:have + taken] = piece[at:at + taken]
                    have, at = have + taken, at + taken
                    if have == size:
                        yield rest
                        have = 0
        except Exception:
            if rest is not None and have > 0:
                yield rest[:have]
            raise
        if rest is not None and have > 0:
            yield rest[:have]

    def _begin(self, chunk: Array, number: int, first: int) -> _Pending:
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

    def _end(self, pending: _Pending) -> Array:
        reply = pending.request.reply
        self._connection.wait(reply)
        try:
            reply.check()
        except Error as e:
            raise pending.failure(e) from e
        return pending.request.finish()
