"""Kenaz: data-parallel programs on GPUs, called from Python.

    import kenaz, numpy as np

    with kenaz.open("dot.fut") as server:
        xs = np.ones(1000, np.float32)
        print(float(server.dot(xs, xs)))

`open` starts a server on a program, `connect` joins one that runs. Entry points are methods of the
server; results stay on the device until they are looked at. `kenaz.aio` has the same for asyncio.
"""

from ._errors import CompileError, ConnectionLost, Error, ProgramError, ServerError
from ._server import (Array, Opaque, Record, RecordArray, Scalar, Server, Sum, Value, connect, open)
from ._streams import Stage, StreamError
from ._timings import Timing, Timings, timings

# Where users find them, in messages and help texts.
for _class in (Array, CompileError, ConnectionLost, Error, Opaque, ProgramError, Record, RecordArray,
               Scalar, Server, ServerError, Stage, StreamError, Sum, Timing, Timings, Value):
    _class.__module__ = __name__
for _function in (connect, open, timings):
    _function.__module__ = __name__

__version__ = "0.1.0"
__all__ = [
    "Array", "CompileError", "ConnectionLost", "Error", "Opaque", "ProgramError", "Record",
    "RecordArray", "Scalar", "Server", "ServerError", "Stage", "StreamError", "Sum", "Timing",
    "Timings", "Value", "connect", "open", "timings",
]
