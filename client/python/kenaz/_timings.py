"""Run times of calls, collected."""

from __future__ import annotations

import contextvars
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

_ACTIVE: "contextvars.ContextVar[Tuple[Timings, ...]]" = contextvars.ContextVar(
    "kenaz.timings", default=())


class Timing(NamedTuple):
    """One call: the entry point's name, and its run time on the server in seconds."""

    entry: str
    seconds: float


class Timings:
    """`with timings() as t:` collects the run times of the calls that the block begins, in threads
    only those of its own. They do not include transfers. When the block ends they are complete; a
    call that failed has a time as well if it ran.
    """

    def __init__(self) -> None:
        self.calls: List[Timing] = []
        self._waits: Dict[int, Callable[[], Any]] = {}
        self._lock = threading.Lock()
        self._token: Any = None

    @property
    def total(self) -> float:
        """Seconds of all calls."""
        return sum(call.seconds for call in self.calls)

    def __getitem__(self, entry: str) -> List[float]:
        """The run times of one entry point, in the order of its calls."""
        return [call.seconds for call in self.calls if call.entry == entry]

    def __len__(self) -> int:
        return len(self.calls)

    def tell(self, entry: str, seconds: float) -> None:
        with self._lock:
            self.calls.append(Timing(entry, seconds))

    def _wait_by(self, key: int, wait: Callable[[], Any]) -> None:
        with self._lock:
            self._waits[key] = wait

    def _begin(self) -> None:
        self._token = _ACTIVE.set(_ACTIVE.get() + (self,))

    def _end(self) -> List[Callable[[], Any]]:
        _ACTIVE.reset(self._token)
        waits, self._waits = list(self._waits.values()), {}
        return waits

    def __enter__(self) -> "Timings":
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        for wait in self._end():
            wait()

    async def __aenter__(self) -> "Timings":
        self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        for wait in self._end():
            await wait()


def timings() -> Timings:
    """Collects run times: `with kenaz.timings() as t: ..`, and in coroutines `async with`."""
    return Timings()


def active() -> Tuple[Timings, ...]:
    """The blocks that are open here, the outermost first."""
    return _ACTIVE.get()


def register(key: int, wait: Callable[[], Any]) -> None:
    """Has the blocks that are open wait in this way, once for each key, when they end."""
    for t in _ACTIVE.get():
        t._wait_by(key, wait)
