"""A server whose memory a neighbour shares, and calls of entry points on it."""
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.server import Line, Server  # noqa: E402
from sizes.models import TYPES, Array  # noqa: E402

CODES = {"u8": "B", "i8": "b", "i32": "i", "i64": "q", "u64": "Q", "bool": "B"}
# A failure that says what the matter is. Anything else is one of the server's own.
NAMED = re.compile(r"Error: |out of memory|out of device memory|out of host memory|"
                   r"more than the device can launch|took longer than")
MARK = b"NEIGHBOR"
HEAP = 128 * 4096  # bytes: the first heap of a workgroup's threads


def encode(kind, shape, elements):
    head = b"b\x02" + bytes([len(shape)]) + kind.rjust(4).encode()
    return (head + b"".join(struct.pack("<Q", d) for d in shape) +
            struct.pack(f"<{len(elements)}{CODES[kind]}", *elements))


def decode(data):
    kind, rank = data[3:7].decode().strip(), data[2]
    shape = struct.unpack_from(f"<{rank}q", data, 7)
    count = 1
    for d in shape:
        count *= d
    return kind, shape, list(struct.unpack_from(f"<{count}{CODES[kind]}", data, 7 + 8 * rank))


class Neighbour:
    """Another client, whose arrays must stay as they are and be seen by nobody else. The programs
    have arrays of i64."""

    def __init__(self, path):
        self.line = Line.unix(path)
        self.arrays = {}
        for k in range(96):
            size = 2 << k % 12
            marks = [k, *[struct.unpack("<q", MARK)[0]] * (size - 1)]
            self.arrays[f"a{k}"] = encode("i64", [size], marks)
        # Other blocks go where something was freed, right before the neighbour's: what is written
        # behind their ends is seen.
        gaps = []
        for k, (name, data) in enumerate(self.arrays.items()):
            gaps.append((f"g{k}", HEAP if k % 24 == 0 else 64 << k % 8))
            self.upload(gaps[-1][0], encode("i64", [gaps[-1][1] // 8], [0] * (gaps[-1][1] // 8)))
            self.upload(name, data)
        self.line.request("free " + " ".join(name for name, _ in gaps))

    def upload(self, name, data):
        failed = self.line.upload(name, "[]i64", data)
        if failed:
            raise RuntimeError(f"upload of the neighbour's arrays: {failed}")

    def intact(self):
        return all(self.line.download(name) == data for name, data in self.arrays.items())


class Subject:
    """`command`: SERVER OPTION.. . Started anew for each program."""

    def __init__(self, command, program, timeout):
        self.server = Server([*command, "--call-timeout", str(timeout), program], listen=())
        self.line = Line.unix(self.server.path)
        self.neighbour = Neighbour(self.server.path)
        self.signatures = {}

    def types(self, entry):
        if entry not in self.signatures:
            inputs = [line.split()[-1] for line in self.line.request("inputs " + entry)]
            self.signatures[entry] = [t.lstrip("*") for t in inputs]
        return self.signatures[entry]

    def call(self, entry, args):
        """(kind, shape, elements), or the text of the failure."""
        names = []
        for k, (arg, type_name) in enumerate(zip(args, self.types(entry))):
            kind = type_name.replace("[]", "")
            if isinstance(arg, tuple):
                data = encode(kind, arg[1:], list(range(arg[1] * arg[2])))
            elif isinstance(arg, list):
                data = encode(kind, [len(arg)], arg)
            else:
                data = encode(kind, [], [arg])
            names.append(f"x{k}")
            failed = self.line.upload(names[-1], type_name, data)
            if failed:
                raise RuntimeError(f"upload of {arg}: {failed}")
        lines = self.line.ask(f"call {entry} r {' '.join(names)}")
        result = "\n".join(lines)
        if "%%% FAILURE" not in lines:
            result = self.line.download("r")
            self.line.request("free r")
            if MARK in result:
                raise RuntimeError("the result has the neighbour's bytes")
            result = decode(result)
        self.line.request("free " + " ".join(names))
        return result

    def end(self):
        """What is wrong, if anything."""
        if self.server.process.poll() is not None:
            return f"the server has ended with status {self.server.process.returncode}"
        try:
            intact = self.neighbour.intact()
        except ConnectionError:
            return f"the server has ended with status {self.server.process.wait()}"
        except TimeoutError:
            return "the server does not answer"
        finally:
            status = self.server.stop()
        if not intact:
            return "the neighbour's arrays have changed"
        return None if status == 0 else f"the server ended with status {status}"


def as_model(arg):
    if isinstance(arg, tuple):
        _, _, m = arg
        return Array("u8", arg[1:], lambda i, j: i * m + j)
    return arg


def differs(result, wanted):
    """`wanted`: an Array or a number."""
    if not isinstance(wanted, Array):
        low, high, _ = TYPES[result[0]]
        return result[1] != () or not low <= wanted <= high or result[2] != [wanted]
    if result[:2] != (wanted.kind, wanted.shape):
        return True
    return wanted.count() < 10**5 and result[2] != wanted.elements()
