"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Tuple


class Error(Exception):
    """Base of the exceptions of this package."""

    def again(self) -> "Error":
        """A copy without a traceback, to be raised once more."""
        return type(self)(*self.args)


class ServerError(Error):
    """The server refuses a command: its message says why."""

    @property
    def message(self) -> str:
        return str(self.args[0]) if self.args else ""


class CompileError(ServerError):
    """The server does not serve the program: the message has the compiler's diagnostics."""


class ProgramError(Error):
    """A call failed in the program: an index out of bounds, a division by zero, an assertion.

    `message` is the program's, without "Error: "; `backtrace` has the places in the program, one
    per line, the innermost first, and may be empty.
    """

    def __init__(self, message: str, backtrace: str = "") -> None:
        super().__init__(message, backtrace)
        self.message = message
        self.backtrace = backtrace

    def __str__(self) -> str:
        return f"{self.message}\n\n{self.backtrace}" if self.backtrace else self.message


class ConnectionLost(Error, ConnectionError):
    """The server has ended, or cannot be reached any more. Its values are gone."""


def _split_backtrace(text: str) -> Tuple[str, str]:
    message, _, rest = text.partition("\n\nBacktrace:\n")
    return message[len("Error: "):], rest


def refusal(text: str, of_call: bool = False) -> Error:
    """The exception for the lines of a failure."""
    if of_call and text.startswith("Error: "):
        return ProgramError(*_split_backtrace(text))
    return ServerError(text)
