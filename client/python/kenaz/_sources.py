"""Programs on their way to a server that compiles them: their files, as `load` takes them."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Callable, Dict, List, Mapping, Union

from ._core import Core, word
from ._errors import CompileError, Error, refusal
from ._wire import Reply

Program = Union[str, "os.PathLike[str]", Mapping[str, str]]

_IMPORT = re.compile(r'\bimport\s+"([^"\n]+)"')
_COMMENT = re.compile(r"--.*")


class LoadReply(Reply):
    """The reply to `load`: the compiler's messages are a CompileError."""

    __slots__ = ()

    def _refusal(self, failure: str) -> Error:
        return CompileError(failure) if failure.startswith("Error at ") else refusal(failure)


def _with_imports(main: pathlib.Path) -> Dict[str, str]:
    """The text of a file and of those that it imports, by paths from the folder that has all.

    What is not there is left out: the compiler looks elsewhere, or says where it is imported.
    """
    texts: Dict[str, str] = {}
    waiting: List[str] = [os.path.abspath(main)]
    while waiting:
        path = waiting.pop()
        if path in texts or (texts and not os.path.lexists(path)):
            continue
        texts[path] = pathlib.Path(path).read_text(encoding="utf-8")
        for name in _IMPORT.findall(_COMMENT.sub("", texts[path])):
            if not name.startswith("/"):
                waiting.append(os.path.normpath(
                    os.path.join(os.path.dirname(path), name + ".fut")))
    folder = os.path.commonpath([os.path.dirname(path) for path in texts])
    return {pathlib.Path(os.path.relpath(path, folder)).as_posix(): text
            for path, text in texts.items()}


def request(core: Core, name: str, program: Program) -> Callable[[], Reply]:
    """What sends `load`."""
    data = archive(program)

    def send() -> Reply:
        reply = LoadReply()
        core.submit(reply, f"load {word(name)} {len(data)}\n".encode(), data)
        return reply
    return send


def archive(program: Program) -> bytes:
    """The files of a program as bytes. `program` is a file, or texts by their paths, of which the
    first is the program. Raises OSError for a file that cannot be read."""
    files = program if isinstance(program, Mapping) else _with_imports(pathlib.Path(program))
    parts: List[bytes] = []
    for path, text in files.items():
        if '"' in path or "\n" in path:
            raise ValueError(f"{path}: a file of this name cannot be sent")
        data = text.encode()
        parts += [f'file "{path}" {len(data)}\n'.encode(), data]
    return b"".join(parts)
