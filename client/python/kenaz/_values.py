"""Values on the device: what the classes for threads and those for asyncio have in common."""

from __future__ import annotations

from typing import (TYPE_CHECKING, Any, Callable, Dict, Generic, Iterator, List, Optional, Sequence,
                    Tuple, TypeVar, Union)

import numpy as np

from ._types import Type
from ._wire import Reply

if TYPE_CHECKING:
    from ._core import Core

T = TypeVar("T")
_SMALL = 1 << 16


class Request(Generic[T]):
    """Something to be waited for: replies, and what to make of them."""

    __slots__ = ("reply", "finish")

    def __init__(self, reply: Reply, finish: Callable[[], T]) -> None:
        self.reply = reply
        self.finish = finish


class Driver:
    """Sends what `core` has to say. Subclasses also wait, each in its way."""

    core: "Core"

    def kick(self) -> None:
        """Sees to it that what is outgoing is sent, without waiting for replies."""
        raise NotImplementedError

    def make(self, type_: Type, name: str, reply: Optional[Reply]) -> "DeviceValue":
        raise NotImplementedError

    def run(self, action: Callable[[], T]) -> T:
        """Does something with `core`, alone, and sends what comes of it."""
        raise NotImplementedError

    def begin(self, action: Callable[[], T]) -> T:
        """As `run`, for what has a run time."""
        raise NotImplementedError


Maker = Callable[[Driver, Type, str, Optional[Reply]], "DeviceValue"]


class DeviceValue:
    """A value on the device. It is freed there when nothing here refers to it any more.

    It may be the result of a call that has not ended, or that fails: then the first use that needs
    the value raises the call's exception.
    """

    __slots__ = ("_driver", "_core", "_type", "_name", "_reply", "_shape", "_consumed_by", "_parts")

    def __init__(self, driver: Driver, type_: Type, name: str, reply: Optional[Reply]) -> None:
        self._driver = driver
        self._core = driver.core
        self._type = type_
        self._name = name
        self._reply = reply
        self._shape: Optional[Tuple[int, ...]] = () if type_.kind == "scalar" else None
        self._consumed_by: Optional[str] = None
        self._parts: Optional[Dict[str, DeviceValue]] = None

    def __del__(self) -> None:
        try:
            self._core.throw_away(self._name, self._is_small())
        except AttributeError:  # of one that was not made to its end
            pass

    # Another object for the same variable would free it a second time. Nothing changes a value, so it
    # is its own copy.
    def __copy__(self) -> DeviceValue:
        return self

    def __deepcopy__(self, memo: Any) -> DeviceValue:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("values stay on the server; numpy() gives one that can be pickled")

    @property
    def type(self) -> str:
        """The Futhark type, as the server writes it."""
        return self._type.name

    def __repr__(self) -> str:
        state = ""
        if self._consumed_by is not None:
            state = f", consumed by {self._consumed_by}"
        elif self._reply is not None and self._reply.done and self._reply.error is not None:
            state = ", failed"
        return f"<kenaz.{type(self).__name__} of type {self.type}{state}>"

    def _is_small(self) -> bool:
        if self._type.kind == "scalar":
            return True
        if self._type.kind != "array":
            return self._type.kind == "record" and all(
                t.find("[") < 0 for _, t in self._type.fields)
        if self._shape is None:
            return False
        size = self._type.dtype.itemsize
        for d in self._shape:
            size *= d
        return size <= _SMALL

    def _use(self) -> str:
        """The variable's name, for a command. Raises what is known to have gone wrong with it."""
        if self._consumed_by is not None:
            raise ValueError(f"the value was consumed by a call of {self._consumed_by}")
        if self._reply is not None and self._reply.done:
            self._reply.check()
            self._reply = None
        return self._name

    # ---- what is asked for

    def _request_array(self) -> Request[np.ndarray[Any, Any]]:
        reply = self._core.download([self])

        def finish() -> np.ndarray[Any, Any]:
            self._shape = reply.arrays[0].shape
            return reply.arrays[0]
        return Request(reply, finish)

    def _request_shape(self) -> Request[Tuple[int, ...]]:
        reply = self._core.ask("shape", self._use(), sources=self._sources())

        def finish() -> Tuple[int, ...]:
            self._shape = tuple(int(line) for line in reply.lines())
            return self._shape
        return Request(reply, finish)

    def _request_variant(self) -> Request[str]:
        reply = self._core.ask("variant", self._use(), sources=self._sources())
        return Request(reply, lambda: reply.text.strip())

    def _sources(self) -> List[Reply]:
        return [self._reply] if self._reply is not None else []

    # ---- values made of this one, without waiting

    def _field(self, name: str) -> "DeviceValue":
        """A field of a record, or the array of a field of an array of records."""
        types = dict(self._type.fields)
        if name not in types:
            raise KeyError(f"{self.type} has no field {name!r}; it has {', '.join(types) or 'none'}")
        if self._parts is None:
            self._parts = {}
        if name not in self._parts:
            self._driver.run(self._project if self._type.kind == "record" else self._unzip)
        return self._parts[name]

    def _project(self) -> None:
        assert self._parts is not None
        for name, type_name in self._type.fields:
            new = self._core.fresh_name()
            self._parts[name] = self._core.derive(
                self._driver.make, self._core.type(type_name),
                ("project", new, self._use(), name), [self], new)

    def _unzip(self) -> None:
        assert self._parts is not None
        names = [self._core.fresh_name() for _ in self._type.fields]
        reply = self._core.ask("unzip", self._use(), *names, sources=self._sources())
        for (field, type_name), name in zip(self._type.fields, names):
            self._parts[field] = self._driver.make(self._core.type(type_name), name, reply)

    def _element(self, index: Tuple[int, ...]) -> "DeviceValue":
        elem = self._type.prim if self._type.kind == "array" else self._type.elem

        def make() -> DeviceValue:
            name = self._core.fresh_name()
            words = ("index", name, self._use(), *(str(i) for i in index))
            return self._core.derive(self._driver.make, self._core.type(elem), words, [self], name)
        return self._driver.run(make)

    def _destruct(self, variant: str) -> Tuple["DeviceValue", ...]:
        def make() -> Tuple[DeviceValue, ...]:
            payload = self._type.variants[variant]
            names = [self._core.fresh_name() for _ in payload]
            reply = self._core.ask("destruct", self._use(), *names, sources=self._sources())
            return tuple(self._driver.make(self._core.type(t), n, reply)
                         for t, n in zip(payload, names))
        return self._driver.run(make)


class RecordBase(DeviceValue):
    """A record or a tuple; none of this waits."""

    __slots__ = ()

    @property
    def fields(self) -> Tuple[str, ...]:
        """The fields' names, in order; "0", "1", .. for tuples."""
        return tuple(name for name, _ in self._type.fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._field(name)
        except KeyError as e:
            raise AttributeError(e.args[0]) from None

    def __getitem__(self, key: Union[int, str]) -> Any:
        if isinstance(key, int):
            names = self.fields
            if not self._type.is_tuple or not -len(names) <= key < len(names):
                raise IndexError(f"{self.type} has no field {key}")
            key = names[key]
        return self._field(key)

    def __len__(self) -> int:
        return len(self._type.fields)

    def __iter__(self) -> Iterator[Any]:
        """The fields' values."""
        return iter([self._field(name) for name in self.fields])


def within(index: Sequence[int], shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """The index with negative numbers counted from the end."""
    for i, d in zip(index, shape):
        if not -d <= i < d:
            raise IndexError(f"index {i} is out of bounds for a dimension of {d}")
    return tuple(int(i) + d if i < 0 else int(i) for i, d in zip(index, shape))
