"""The protocol without its input and output: replies out of bytes. PROTOCOL.md describes both.

Neither class is safe for threads; who drives them sees to that.
"""

from __future__ import annotations

import collections
import re
import struct
from typing import Any, Callable, Deque, List, Optional, Sequence, Tuple

import numpy as np

from ._errors import ConnectionLost, Error, refusal
from ._timings import Timings
from ._types import DTYPES, dims_of

OK = b"%%% OK\n"
FAILURE = b"%%% FAILURE\n"
_SCRATCH = 1 << 18


def words_of(line: str) -> List[str]:
    """The words of a line in which those that need it are in quotes."""
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)]


class Reply:
    """The reply to one command, which may still be on its way.

    `sources` are the replies to the commands that made what this command uses: if one of them
    failed, its error is this one's as well.
    """

    __slots__ = ("done", "error", "raw", "sources", "origin", "reported", "callbacks")

    def __init__(self, sources: Sequence["Reply"] = (), reported: bool = False) -> None:
        self.done = False
        self.error: Optional[Error] = None
        self.raw = b""
        self.sources = sources
        self.origin: Optional[Reply] = None  # whose error this one's is
        self.reported = reported  # somebody has been told of the error, or will be
        self.callbacks: Optional[List[Callable[[], None]]] = None

    def settle(self, raw: bytes, failure: Optional[str]) -> None:
        self.raw = raw
        if failure is not None:
            self.error = self._inherited() or self._refusal(failure)
        self._finish()

    def fail(self, error: Error) -> None:
        self.error = self._inherited() or error
        self._finish()

    def check(self) -> None:
        """Raises the error, if there is one."""
        if self.error is not None:
            self.reported = True
            if self.origin is not None:
                self.origin.reported = True
            raise self.error.again()

    @property
    def text(self) -> str:
        """What was answered, lines that end in line ends."""
        return self.raw.decode("utf-8", "replace")

    def lines(self) -> List[str]:
        return self.text.splitlines()

    def _refusal(self, failure: str) -> Error:
        return refusal(failure)

    def _inherited(self) -> Optional[Error]:
        for source in self.sources:
            if source.error is not None:
                self.reported = True
                self.origin = source.origin or source
                return source.error
        return None

    def _finish(self) -> None:
        self.sources = ()
        self.done = True
        callbacks, self.callbacks = self.callbacks, None
        for callback in callbacks or ():
            callback()


class CallReply(Reply):
    """The reply to `call`. `told` gets the entry point's name and its run time in seconds."""

    __slots__ = ("entry", "told")

    def __init__(self, entry: str, told: Sequence[Timings],
                 sources: Sequence[Reply]) -> None:
        super().__init__(sources)
        self.entry = entry
        self.told = told

    def _refusal(self, failure: str) -> Error:
        return refusal(failure, of_call=True)

    def _finish(self) -> None:
        if self.told:
            for line in self.lines():
                if line.startswith("runtime: "):
                    for timings in self.told:
                        timings.tell(self.entry, int(line[len("runtime: "):]) / 1e6)
        super()._finish()


class DownloadReply(Reply):
    """The reply to `download`: `arrays` are the leaves of the values, scalars of rank 0."""

    __slots__ = ("arrays", "left")

    def __init__(self, sources: Sequence[Reply] = ()) -> None:
        super().__init__(sources, reported=True)
        self.arrays: List[np.ndarray[Any, Any]] = []
        self.left = -1  # bytes that are still to come; -1: their number is not known yet


class Wire:
    """Turns received bytes into replies, in the order of `queue`.

    The bytes of large arrays are received where they stay: `buffer()` is where to receive next, and
    `received(n)` says how much came.
    """

    def __init__(self) -> None:
        self.queue: Deque[Reply] = collections.deque()
        self.downloads = 0  # of the replies in the queue
        self.failures: List[Reply] = []  # that nobody has been told of
        self.last_words = ""  # what the server said without being asked
        self._scratch = bytearray(_SCRATCH)
        self._view = memoryview(self._scratch)
        self._begin = self._end = self._scan = 0
        self._target: Optional[memoryview] = None

    def expect(self, reply: Reply) -> None:
        self.queue.append(reply)
        if isinstance(reply, DownloadReply):
            self.downloads += 1

    def buffer(self) -> memoryview:
        if self._target is not None:
            return self._target
        if self._begin == self._end:
            self._begin = self._end = self._scan = 0
        elif self._end == len(self._scratch):
            self._make_room()
        return self._view[self._end:]

    def received(self, count: int) -> None:
        """Fails with ConnectionLost where the bytes make no sense."""
        if self._target is None:
            self._end += count
        else:
            reply = self.queue[0]
            assert isinstance(reply, DownloadReply)
            reply.left -= count
            self._target = self._target[count:] if count < len(self._target) else None
            if self._target is not None:
                return
        while self._parse():
            pass

    def lose(self, error: Error) -> None:
        """Answers all that is left by `error`."""
        self._target = None
        while self.queue:
            reply = self.queue.popleft()
            reply.fail(error)
        self.downloads = 0

    def _make_room(self) -> None:
        size = self._end - self._begin
        old = self._view
        if size > len(self._scratch) // 2:
            self._scratch = bytearray(2 * len(self._scratch))
            self._view = memoryview(self._scratch)
        self._view[:size] = bytes(old[self._begin:self._end])
        self._scan -= self._begin
        self._begin, self._end = 0, size

    def _parse(self) -> bool:
        """Takes one step; false if it needs more bytes."""
        if self._begin == self._end:
            return False
        head = self.queue[0] if self.queue else None
        if isinstance(head, DownloadReply):
            if head.left < 0 and self._scratch[self._begin] != FAILURE[0]:
                return self._parse_count(head)
            if head.left > 0:
                return self._parse_leaf(head)
        return self._parse_text(head)

    def _parse_text(self, head: Optional[Reply]) -> bool:
        begin = self._begin
        at = max(self._scan, begin)
        while True:
            at = self._scratch.find(OK, at, self._end)
            if at < 0:
                self._scan = max(begin, self._end - len(OK))
                return False
            if at == begin or self._scratch[at - 1] == 10:
                break
            at += 1
        text, failure = bytes(self._view[begin:at]), None
        self._begin = self._scan = at + len(OK)
        if FAILURE in text:
            where = 0 if text.startswith(FAILURE) else text.find(b"\n" + FAILURE) + 1
            if where > 0 or text.startswith(FAILURE):
                failure = text[where + len(FAILURE):].decode("utf-8", "replace").rstrip("\n")
                text = text[:where]
        if head is None:
            self.last_words = failure if failure is not None else ""
        else:
            self._settle(head, text, failure)
        return True

    def _settle(self, head: Reply, text: bytes, failure: Optional[str]) -> None:
        self.queue.popleft()
        if isinstance(head, DownloadReply):
            self.downloads -= 1
        head.settle(text, failure)
        if head.error is not None and not head.reported and len(self.failures) < 100:
            self.failures.append(head)

    def _parse_count(self, head: DownloadReply) -> bool:
        end = self._scratch.find(b"\n", self._begin, self._end)
        if end < 0:
            return False
        digits = bytes(self._scratch[self._begin:end])
        if not digits.isdigit():
            raise ConnectionLost(f"the server answers a download by {digits[:80]!r}")
        self._begin = end + 1
        head.left = int(digits)
        return True

    def _parse_leaf(self, head: DownloadReply) -> bool:
        have = self._end - self._begin
        if have < 3 or have < 7 + 8 * self._scratch[self._begin + 2]:
            return False
        dtype, shape = self._header()
        size = 7 + 8 * len(shape)
        count = 1
        for d in shape:
            count *= d
        if count * dtype.itemsize + size > head.left:
            raise ConnectionLost("the values that the server sends end too early")
        array = np.empty(shape, dtype)
        head.arrays.append(array)
        self._begin += size
        head.left -= size
        if array.nbytes:
            here = min(array.nbytes, self._end - self._begin)
            place = array.reshape(-1).view(np.uint8).data
            place[:here] = self._view[self._begin:self._begin + here]
            self._begin += here
            head.left -= here
            self._target = place[here:] if here < array.nbytes else None
        return self._target is None

    def _header(self) -> Tuple[np.dtype[Any], Tuple[int, ...]]:
        at = self._begin
        name = bytes(self._scratch[at + 3:at + 7]).strip().decode("ascii", "replace")
        if self._scratch[at:at + 2] != b"b\x02" or name not in DTYPES:
            raise ConnectionLost("the server sends what is no value in the binary format")
        rank = self._scratch[at + 2]
        shape = struct.unpack_from(f"<{rank}q", self._scratch, at + 7)
        return DTYPES[name], dims_of(shape)
