"""Entry points as Python functions: what help() and inspect say about them."""

from __future__ import annotations

import inspect
import keyword
from typing import Any, Callable, List, Mapping, Sequence

from ._core import Entry


def _python_names(entry: Entry) -> List[str]:
    """The parameters' names as Python has them: distinct identifiers."""
    names: List[str] = []
    for i, param in enumerate(entry.params):
        name = param.name.replace("'", "_")
        if not name.isidentifier():
            name = f"arg{i}"
        if keyword.iskeyword(name):
            name += "_"
        while name in names:
            name += "_"
        names.append(name)
    return names


def decorate(method: Callable[..., Any], entry: Entry) -> inspect.Signature:
    """Gives a function the entry point's name, signature and documentation."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = _python_names(entry)
    signature = inspect.Signature(
        [inspect.Parameter(n, kind, annotation=p.type) for n, p in zip(names, entry.params)],
        return_annotation=entry.result)
    for name, param in zip(names, entry.params):
        param.rename(entry.name, name)
    doc = [entry.doc] if entry.doc else []
    consumed = [p.name for p in entry.params if p.consumed]
    if consumed:
        doc.append(f"Consumes {', '.join(consumed)}: values on the device cannot be used afterwards.")
    method.__name__ = method.__qualname__ = entry.name
    method.__doc__ = "\n\n".join(doc) or None
    method.__module__ = "kenaz"
    method.__signature__ = signature  # type: ignore[attr-defined]
    return signature


def positional(entry: Entry, signature: inspect.Signature, args: Sequence[Any],
               named: Mapping[str, Any]) -> Sequence[Any]:
    """All arguments in order. Raises TypeError for what does not fit."""
    try:
        bound = signature.bind(*args, **named)
    except TypeError as e:
        raise TypeError(f"{entry.name}: {e}") from None
    return list(bound.arguments.values())
