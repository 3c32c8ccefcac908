"""Types of the server's values, and which Python values become one of them."""

from __future__ import annotations

import dataclasses
import struct
from typing import Any, Dict, Iterable, List, Sequence, Tuple

import numpy as np

from ._errors import ServerError

DTYPES: Dict[str, np.dtype[Any]] = {
    "i8": np.dtype("<i1"), "i16": np.dtype("<i2"), "i32": np.dtype("<i4"), "i64": np.dtype("<i8"),
    "u8": np.dtype("<u1"), "u16": np.dtype("<u2"), "u32": np.dtype("<u4"), "u64": np.dtype("<u8"),
    "f16": np.dtype("<f2"), "f32": np.dtype("<f4"), "f64": np.dtype("<f8"), "bool": np.dtype("?"),
}
_SCALARS = {
    name: (b"b\x02\x00" + name.rjust(4).encode(), struct.Struct("<" + code))
    for name, code in zip(DTYPES, "bhiqBHIQefd?")
}


@dataclasses.dataclass
class Type:
    """A type of the program's. `name` is the server's name for it, such as `[]f32`.

    `kind` is "scalar", "array" (of scalars), "records" (an array of anything else), "record", "sum"
    or "opaque". `prim` is the element type of scalars and arrays; `elem` that of other arrays.
    `fields` has names and type names, of records and of arrays of records.
    """

    name: str
    kind: str = "opaque"
    prim: str = ""
    rank: int = 0
    elem: str = ""
    fields: List[Tuple[str, str]] = dataclasses.field(default_factory=list)
    variants: Dict[str, List[str]] = dataclasses.field(default_factory=dict)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements. Not for what is neither a scalar nor an array of scalars."""
        return DTYPES[self.prim]

    @property
    def is_tuple(self) -> bool:
        return self.kind == "record" and all(
            name == str(i) for i, (name, _) in enumerate(self.fields))

    def __repr__(self) -> str:
        return self.name


def primitive(name: str) -> Type:
    """The type of scalars and arrays of scalars: "f32", "[][]bool"."""
    element = name.lstrip("[]")
    rank = name.count("[")
    return Type(name, "array" if rank else "scalar", element, rank)


def is_primitive(name: str) -> bool:
    return name.lstrip("[]") in DTYPES


def array_name(dtype: np.dtype[Any], rank: int) -> str:
    """The server's name for arrays of a NumPy type."""
    plain = dtype.newbyteorder("<")
    for name, own in DTYPES.items():
        if own == plain:
            return "[]" * rank + name
    raise TypeError(f"the server has no elements of type {dtype}; it has {', '.join(DTYPES)}")


def dims_of(shape: Iterable[int]) -> Tuple[int, ...]:
    dims = tuple(int(d) for d in shape)
    if any(d < 0 for d in dims):
        raise ServerError(f"the server sends an array of shape {dims}")
    return dims


def header(prim: str, shape: Sequence[int]) -> bytes:
    """What stands before the elements in the binary format."""
    return (b"b\x02" + bytes([len(shape)]) + prim.rjust(4).encode()
            + struct.pack(f"<{len(shape)}q", *shape))


def describe(value: object) -> str:
    """A value in the words of an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with {value.ndim} dimension{'s' * (value.ndim != 1)}"
    if isinstance(value, np.generic):
        return f"a NumPy {value.dtype}"
    name = type(value).__name__
    return f"{value!r} ({name})" if isinstance(value, (bool, int, float)) else f"a {name}"


def scalar_bytes(prim: str, value: object, where: str) -> bytes:
    """A scalar in the binary format.

    Python's numbers are taken where they fit: bool where bool is expected, int in integers that
    have it and in floats that have exactly it, float in floats unless it becomes infinite. NumPy's
    scalars must have the type.
    """
    start, code = _SCALARS[prim]
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic):
        if value.dtype != DTYPES[prim]:
            raise TypeError(f"{where}: expected {prim}, got {describe(value)}; "
                            f"convert it with numpy.{DTYPES[prim].name}(..)")
        return start + value.tobytes()
    if isinstance(value, bool) != (prim == "bool") or not isinstance(value, (int, float)):
        raise TypeError(f"{where}: expected {prim}, got {describe(value)}")
    if prim[0] != "f" and isinstance(value, float):
        raise TypeError(f"{where}: expected {prim}, got {describe(value)}; use int(..) or round(..)")
    try:
        data = code.pack(value)
    except (struct.error, OverflowError):
        raise OverflowError(f"{where}: {value!r} does not fit in {prim}") from None
    if prim[0] == "f" and isinstance(value, int) and code.unpack(data)[0] != value:
        raise OverflowError(f"{where}: {prim} does not have the number {value!r} exactly")
    return start + data


def as_array(type_: Type, value: object, where: str) -> np.ndarray[Any, Any]:
    """An argument for an array of scalars: row-major, in the server's byte order.

    Arrays must have the element type; lists of Python's numbers are converted where they all fit.
    A copy is made only of what is not row-major or in another byte order.
    """
    if isinstance(value, (list, tuple, range)):
        value = _from_list(type_, value, where)
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{where}: expected {type_.name}, got {describe(value)}")
    if value.dtype.newbyteorder("<") != type_.dtype:
        raise TypeError(f"{where}: expected {type_.name}, got {describe(value)}; "
                        f"convert it with .astype(numpy.{type_.dtype.name})")
    if value.ndim != type_.rank:
        raise TypeError(f"{where}: expected {type_.name}, got {describe(value)}")
    return np.ascontiguousarray(value, type_.dtype)


def _from_list(type_: Type, value: Sequence[Any], where: str) -> np.ndarray[Any, Any]:
    try:
        raw = np.array(value)
    except (ValueError, OverflowError):
        raw = np.array(None)
    if raw.size == 0:
        if raw.ndim > type_.rank:
            raise TypeError(f"{where}: expected {type_.name}, got an empty list of {raw.ndim} levels")
        return np.empty(raw.shape + (0,) * (type_.rank - raw.ndim), type_.dtype)
    target = type_.dtype
    kinds = {"b": "b", "i": "iu", "u": "iu", "f": "iuf"}[target.kind]
    if raw.dtype.kind not in kinds:
        raise TypeError(f"{where}: expected {type_.name}, got a list that is no array of such "
                        "numbers")
    if target.kind in "iu":
        info = np.iinfo(target)
        if int(raw.min()) < info.min or int(raw.max()) > info.max:
            raise OverflowError(f"{where}: the list has numbers that do not fit in {type_.prim}")
    with np.errstate(over="ignore"):
        converted = raw.astype(target)
    if target.kind == "f":
        exact = raw.dtype.kind == "f" or bool((converted == raw).all())
        if not exact or bool((np.isinf(converted) & ~np.isinf(raw)).any()):
            raise OverflowError(f"{where}: the list has numbers that do not fit in {type_.prim}")
    return converted
