"""A session without its input and output: commands out of Python values.

What a method here makes is appended to `outgoing` and expected by `wire`; a driver (_connection.py
for threads, aio.py for asyncio) sends the one and feeds the other.
"""

from __future__ import annotations

import collections
import itertools
from typing import Any, Callable, Deque, Dict, Generator, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _timings
from ._errors import ConnectionLost, Error, ServerError
from ._types import (Type, array_name, as_array, describe, header, is_primitive, primitive,
                     scalar_bytes)
from ._values import DeviceValue, Request
from ._wire import CallReply, DownloadReply, Reply, Wire, words_of

Part = Union[bytes, memoryview]
Array = np.ndarray[Any, Any]
Make = Callable[[Type, str, Optional[Reply]], DeviceValue]
_SMALL = 1 << 16          # bytes below which garbage may wait for company
_GARBAGE = 64             # names that may wait
_NAMES_AT_A_TIME = 4000   # in one command


class Param:
    """A parameter of an entry point."""

    __slots__ = ("name", "where", "type", "consumed")

    def __init__(self, entry: str, name: str, type_: Type, consumed: bool) -> None:
        self.rename(entry, name)
        self.type = type_
        self.consumed = consumed

    def rename(self, entry: str, name: str) -> None:
        self.name = name
        self.where = f"{entry}: {name}"  # in messages


class Entry:
    """An entry point of the program: what it takes, what it gives, and what it is for."""

    __slots__ = ("name", "params", "result", "doc", "attributes")

    def __init__(self, name: str, params: Sequence[Param], result: Type, doc: str,
                 attributes: Sequence[str]) -> None:
        self.name = name
        self.params = list(params)
        self.result = result
        self.doc = doc
        self.attributes = list(attributes)


class _Batch:
    """The arguments of one call that come from here: one upload, then commands that build on it."""

    __slots__ = ("targets", "parts", "size", "commands", "temporaries", "sources")

    def __init__(self) -> None:
        self.targets: List[str] = []   # NAME TYPE ..
        self.parts: List[Part] = []    # the data
        self.size = 0
        self.commands: List[str] = []
        self.temporaries: List[str] = []
        self.sources: List[Reply] = []

    def add(self, name: str, type_name: str, parts: Sequence[Part]) -> None:
        self.targets += [name, word(type_name)]
        self.parts += parts
        self.size += sum(len(p) for p in parts)


def word(text: str) -> str:
    """A word of a command, in quotes where it needs them."""
    if text and not any(c.isspace() or c == '"' for c in text):
        return text
    if '"' in text or "\n" in text:
        raise ValueError(f"{text!r} cannot be written as a word of a command")
    return f'"{text}"'


class Core:
    """`prefix` starts the names of all variables: others may use the same session."""

    def __init__(self, prefix: str = "") -> None:
        self.wire = Wire()
        self.outgoing: List[Part] = []
        self.lost: Optional[Error] = None
        self.types: Dict[str, Type] = {}
        self.entries: Dict[str, Entry] = {}
        self._former_types: Dict[str, Type] = {}  # of programs that values may still be of
        self.garbage: Deque[str] = collections.deque()
        self.large_garbage = False
        self._prefix = prefix + "v"
        self._numbers = itertools.count(1)

    # ---- commands

    def submit(self, reply: Reply, *parts: Part) -> None:
        """Appends one command. Raises ConnectionLost if there is no server any more."""
        if self.lost is not None:
            raise self.lost.again()
        if self.large_garbage or len(self.garbage) >= _GARBAGE:
            self.discard()
        self.wire.expect(reply)
        self.outgoing += parts

    def ask(self, *words: str, sources: Sequence[Reply] = (), reported: bool = True) -> Reply:
        reply = Reply(sources, reported)
        self.submit(reply, (" ".join(word(w) for w in words) + "\n").encode())
        return reply

    def discard(self) -> None:
        """Has the server free what nobody here refers to."""
        self.large_garbage = False
        count = len(self.garbage)  # finalizers may add more meanwhile
        while count > 0 and self.lost is None:
            names = [self.garbage.popleft() for _ in range(min(count, _NAMES_AT_A_TIME))]
            count -= len(names)
            self.wire.expect(Reply(reported=True))
            self.outgoing.append(("discard " + " ".join(names) + "\n").encode())

    def lose(self, error: Error) -> None:
        """From now on there is no server. What it has not answered fails."""
        if self.lost is None:
            if self.wire.last_words:
                error = ConnectionLost(f"{error}: {self.wire.last_words}")
            self.lost = error
        self.outgoing.clear()
        self.garbage.clear()
        self.wire.lose(self.lost)

    def fresh_name(self) -> str:
        return self._prefix + str(next(self._numbers))

    # ---- what the program has

    def introspect(self) -> Generator[List[Reply], None, None]:
        """Asks for entry points and types; yields replies that must have come to go on. What was
        known of another program goes at the end."""
        names = [self.ask("entry_points"), self.ask("types")]
        yield names
        entries, types = (reply.lines() for reply in names)
        told = {n: [self.ask(c, n) for c in ("inputs", "parameters", "output", "documentation",
                                             "attributes")] for n in entries}
        kinds = {n: self.ask("kind", n) for n in types if not is_primitive(n)}
        yield [r for replies in told.values() for r in replies] + list(kinds.values())
        about: Dict[str, List[Reply]] = {}
        for name, kind in kinds.items():
            commands = {"record": ["fields"], "array": ["elemtype", "rank"], "sum": ["variants"]}
            about[name] = [self.ask(c, name) for c in commands.get(kind.text.strip(), [])]
        yield [r for replies in about.values() for r in replies]
        for reply in (r for replies in told.values() for r in replies):
            reply.check()
        self._former_types.update(self.types)
        self.types, self.entries = {}, {}
        for name in types:
            if is_primitive(name):
                self.types[name] = primitive(name)
            else:
                self.types[name] = _type_of(name, kinds[name].text.strip(), about[name])
        for type_ in self.types.values():
            self._add_columns(type_)
        for name, replies in told.items():
            self.entries[name] = self._entry(name, *(reply.lines() for reply in replies))

    def _add_columns(self, type_: Type) -> None:
        """An array of records has arrays as its fields."""
        elem = self.types.get(type_.elem)
        if type_.kind == "records" and elem is not None and elem.kind == "record":
            type_.fields = [(n, "[]" * type_.rank + t) for n, t in elem.fields]

    def _entry(self, name: str, inputs: List[str], names: List[str], output: List[str],
               doc: List[str], attributes: List[str]) -> Entry:
        params = [Param(name, n, self.type(t.lstrip("*")), t.startswith("*"))
                  for n, t in zip(names, inputs)]
        return Entry(name, params, self.type(output[0].lstrip("*")), "\n".join(doc), attributes)

    def type(self, name: str) -> Type:
        """Fails with ServerError if the program has no such type."""
        found = self.types.get(name) or self._former_types.get(name)
        if found is None:
            if not is_primitive(name):
                raise ServerError(f"Unknown type: {name}")
            found = self.types[name] = primitive(name)
        return found

    # ---- values

    def call(self, make: Make, entry: Entry,
             args: Sequence[object]) -> DeviceValue:
        """Begins a call. `make(type, name, reply)` makes the value that is its result."""
        if len(args) != len(entry.params):
            raise TypeError(f"{entry.name} takes {len(entry.params)} arguments "
                            f"({', '.join(repr(p.type) for p in entry.params)}), "
                            f"but {len(args)} were given")
        batch = _Batch()
        name = self.fresh_name()
        line = f"call {entry.name} {name}"
        consumed: List[DeviceValue] = []
        for param, arg in zip(entry.params, args):
            line += " " + self._place(param.type, arg, batch, param.where)
            if param.consumed and isinstance(arg, DeviceValue):
                consumed.append(arg)
        for arg in consumed:
            if sum(a is arg for a in args) > 1:
                raise ValueError(f"{entry.name} consumes a value that is given twice")
        if batch.temporaries:
            self._send(batch)
        reply = CallReply(entry.name, _timings.active(), batch.sources)
        self.submit(reply, (line + "\n").encode())
        for arg in consumed:
            arg._consumed_by = entry.name
        if batch.temporaries:
            self._forget(batch)
        return make(entry.result, name, reply)

    def put(self, make: Make, value: object,
            type_name: Optional[str]) -> DeviceValue:
        """Makes a value on the device out of one that is here."""
        if isinstance(value, DeviceValue):
            raise TypeError("put: the value is on the device already")
        if type_name is None:
            if isinstance(value, (bool, int, float)):
                type_name = {bool: "bool", int: "i64", float: "f64"}[type(value)]
            else:
                value = np.asarray(value)
                type_name = array_name(value.dtype, value.ndim)
        type_ = self.type(type_name)
        batch = _Batch()
        name = self._place(type_, value, batch, "put")
        if name in batch.temporaries:
            batch.temporaries.remove(name)
        self._send(batch)
        self._forget(batch)
        made = make(type_, name, batch.sources[-1] if batch.sources else None)
        if type_.kind in ("scalar", "array"):
            any_value: Any = value
            made._shape = np.shape(any_value)
        return made

    def derive(self, make: Make, type_: Type, words: Sequence[str],
               sources: Sequence[DeviceValue], name: str) -> DeviceValue:
        """A value that the command `words` makes as the variable `name`."""
        reply = self.ask(*words, sources=_replies(sources), reported=False)
        return make(type_, name, reply)

    def construct(self, make: Make, type_name: str, variant: str,
                  payload: Sequence[object]) -> DeviceValue:
        """A value of a sum type."""
        type_ = self.type(type_name)
        if variant not in type_.variants:
            raise TypeError(f"{type_name} has no constructor {variant}; "
                            f"it has {', '.join(type_.variants) or 'none'}")
        types = type_.variants[variant]
        if len(payload) != len(types):
            raise TypeError(f"{variant} takes {len(types)} values, but {len(payload)} were given")
        batch = _Batch()
        words = ["construct", self.fresh_name(), type_name, variant]
        for part_type, part in zip(types, payload):
            words.append(self._place(self.type(part_type), part, batch, variant))
        self._send(batch)
        reply = self.ask(*words, sources=batch.sources, reported=False)
        self._forget(batch)
        return make(type_, words[1], reply)

    def fetch(self, values: Sequence[DeviceValue]) -> Request[List[Array]]:
        for v in values:
            if v._core is not self or v._type.kind not in ("scalar", "array"):
                raise TypeError(f"fetch takes scalars and arrays of this server, not {v!r}")
        reply = self.download(values)
        return Request(reply, lambda: reply.arrays)

    def stats(self) -> Request[Dict[str, int]]:
        """The server's figures."""
        reply = self.ask("stats")
        return Request(reply, lambda: {n: int(v) for n, v in (s.split() for s in reply.lines())})

    def programs(self) -> Request[Dict[str, str]]:
        """The server's programs: their versions, by name."""
        reply = self.ask("programs")
        return Request(reply, lambda: {w[0]: w[1] for w in map(words_of, reply.lines())})

    def device(self) -> Request[str]:
        """The session's device: "#0"."""
        reply = self.ask("device")
        return Request(reply, lambda: reply.lines()[0])

    def devices(self) -> Request[Dict[str, str]]:
        """The server's devices: their names, by number."""
        reply = self.ask("devices")
        return Request(reply, lambda: {w[0]: w[5] for w in map(words_of, reply.lines())})

    def download(self, values: Sequence[DeviceValue]) -> DownloadReply:
        reply = DownloadReply(_replies(values))
        line = "download " + " ".join(v._use() for v in values) + "\n"
        self.submit(reply, line.encode())
        return reply

    def _place(self, type_: Type, arg: object, batch: _Batch, where: str) -> str:
        """The name of the variable that will hold an argument, which may have to be made first."""
        if isinstance(arg, DeviceValue):
            if arg._core is not self:
                raise ValueError(f"{where}: the value belongs to another server")
            if arg.type != type_.name:
                raise TypeError(f"{where}: expected {type_.name}, got a value of type {arg.type} "
                                "on the device")
            name = arg._use()
            if arg._reply is not None:
                batch.sources.append(arg._reply)
            return name
        if type_.kind == "scalar":
            return self._upload(batch, type_, [scalar_bytes(type_.prim, arg, where)])
        if type_.kind == "array":
            array = as_array(type_, arg, where)
            parts: List[Part] = [header(type_.prim, array.shape)]
            if array.nbytes:
                parts.append(array.reshape(-1).view(np.uint8).data)
            return self._upload(batch, type_, parts)
        if not type_.fields and not (type_.kind == "record" and arg in ((), [], {})):
            raise TypeError(f"{where}: expected a value of type {type_.name} on the device, "
                            f"got {describe(arg)}")
        words = ["new" if type_.kind == "record" else "zip", self.fresh_name(), type_.name]
        for (field, field_type), part in zip(type_.fields, _fields_of(type_, arg, where)):
            words.append(self._place(self.type(field_type), part, batch, f"{where}.{field}"))
        batch.commands.append(" ".join(word(w) for w in words) + "\n")
        batch.temporaries.append(words[1])
        return words[1]

    def _upload(self, batch: _Batch, type_: Type, parts: Sequence[Part]) -> str:
        name = self.fresh_name()
        batch.add(name, type_.name, parts)
        batch.temporaries.append(name)
        return name

    def _send(self, batch: _Batch) -> None:
        """Sends what a command's arguments need; it is not undone if the command fails."""
        if batch.targets:
            reply = Reply()
            line = f"upload {batch.size} {' '.join(batch.targets)}\n".encode()
            self.submit(reply, line, *batch.parts)
            batch.sources.append(reply)
        for command in batch.commands:
            reply = Reply(list(batch.sources))
            self.submit(reply, command.encode())
            batch.sources.append(reply)

    def _forget(self, batch: _Batch) -> None:
        self.garbage.extend(batch.temporaries)
        self.large_garbage = self.large_garbage or batch.size > _SMALL

    def throw_away(self, name: str, small: bool) -> None:
        """For finalizers: by any thread, at any time."""
        if self.lost is None:
            self.garbage.append(name)
            if not small:
                self.large_garbage = True


def in_memory(value: object) -> object:
    """What is an array in another library's clothes as one of NumPy's. It may wait, so this is for
    before a session's turn."""
    if isinstance(value, (DeviceValue, np.ndarray, np.generic)) or not hasattr(value, "__array__"):
        return value
    return np.asarray(value)


def _replies(values: Sequence[DeviceValue]) -> List[Reply]:
    return [v._reply for v in values if v._reply is not None]


def _fields_of(type_: Type, arg: object, where: str) -> List[object]:
    """The parts of a record: a dict with all fields, or for a tuple a sequence."""
    names = [name for name, _ in type_.fields]
    expected = f"{where}: expected {type_.name}"
    if isinstance(arg, dict):
        if set(arg) != set(names):
            raise TypeError(f"{expected}, a dict with {', '.join(map(repr, names))}; "
                            f"got {', '.join(map(repr, arg)) or 'none'}")
        return [arg[name] for name in names]
    numbered = names == [str(i) for i in range(len(names))]
    if numbered and isinstance(arg, (tuple, list)):
        if len(arg) != len(names):
            raise TypeError(f"{expected}, {len(names)} values; got {len(arg)}")
        return list(arg)
    raise TypeError(f"{expected}, a {'tuple' if numbered else 'dict'}; got {describe(arg)}")


def _type_of(name: str, kind: str, replies: Sequence[Reply]) -> Type:
    for reply in replies:
        reply.check()
    lines = [reply.lines() for reply in replies]
    if kind == "record":
        pairs = (line.split(" ", 1) for line in lines[0])
        return Type(name, "record", fields=[(n, t) for n, t in pairs])
    if kind == "array":
        return Type(name, "records", rank=int(lines[1][0]), elem=lines[0][0])
    if kind == "sum":
        type_ = Type(name, "sum")
        payload: List[str] = []
        for line in lines[0]:
            if line.startswith("- "):
                payload.append(line[2:])
            else:
                payload = type_.variants.setdefault(line, [])
        return type_
    return Type(name)

