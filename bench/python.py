#!/usr/bin/env python3
"""python.py [--gib N] [--rounds N] SERVER [OPTION..]: what the Python package costs over a Unix socket.

    latency   a call of a small entry point, against the same bytes sent to a bare Python server, which
              sends them back; in the same pieces
    transfer  put and get of --gib GiB (1), against plain sendall and recv_into between two Python
              processes, into fresh memory as well

Both sides are measured in turn, in one run. Prints medians, and ratios. Needs the package `kenaz`;
`ninja bench_python` runs it where it is installed."""
import argparse
import multiprocessing
import os
import pathlib
import re
import socket
import statistics
import subprocess
import tempfile
import time

import kenaz
import numpy as np

PROGRAM = """entry next (x: i32): i32 = x + 1
entry add (x: i32) (y: i32): i32 = x + y
entry total [n] (xs: [n]i64): i64 = i64.sum xs
"""
CALLS = 400  # per round


class Peer:
    """A process at the other end of a Unix socket; `serve` runs there, with its end."""

    def __init__(self, serve, *args):
        self.socket, theirs = socket.socketpair()
        self.process = multiprocessing.get_context("fork").Process(
            target=self._run, args=(serve, theirs, args), daemon=True)
        self.process.start()
        theirs.close()

    def _run(self, serve, theirs, args):
        self.socket.close()
        serve(theirs, *args)

    def close(self):
        self.socket.close()
        self.process.join()


def echo(sock):
    while data := sock.recv(1 << 16):
        sock.sendall(data)


def receive_all(sock, view):
    while len(view):
        count = sock.recv_into(view)
        if count == 0:
            raise ConnectionError("the other end has gone")
        view = view[count:]


def take_and_give(sock, size):
    """Receives `size` bytes at the word `p`, sends them at `g`."""
    source = np.ones(size, np.uint8)
    while word := sock.recv(1):
        if word == b"p":
            source = np.empty(size, np.uint8)
            receive_all(sock, source.data)
            sock.sendall(b".")
        else:
            sock.sendall(source.data)


def bare_call(sock, pieces):
    """Sends the pieces, receives as many bytes."""
    left = 0
    for piece in pieces:
        sock.sendall(piece)
        left += len(piece)
    while left:
        left -= len(sock.recv(1 << 16))


def timed(work, count=1):
    start = time.perf_counter()
    for _ in range(count):
        work()
    return (time.perf_counter() - start) / count


def each(work, count):
    """The median of single ones."""
    return statistics.median(timed(work) for _ in range(count))


def compare(rounds, *works):
    """Medians of medians, the works taken in turn."""
    times = [[work() for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*times)]


def latency(server, rounds):
    peer = Peer(echo)
    x = server.put(np.int32(1))
    scalar = b"b\x02\x00 i32" + bytes(4)
    cases = {
        "call next x, waited for": (
            lambda: server.next(x).wait(), [b"call next v12345 v1\n"]),
        "int(next(x))": (
            lambda: int(server.next(x)), [b"call next v12345 v1\n", b"download v12345\n"]),
        "int(add(1, 2))": (
            lambda: int(server.add(1, 2)),
            [b"upload 22 v12345 i32 v12346 i32\n" + 2 * scalar + b"call add v12347 v12345 v12346\n",
             b"download v12347\n"]),
    }
    for name, (call, pieces) in cases.items():
        ours, bare = compare(rounds, lambda: each(call, CALLS),
                             lambda: each(lambda: bare_call(peer.socket, pieces), CALLS))
        print(f"{name}: {1e6 * ours:.1f} us, the same bytes echoed {1e6 * bare:.1f} us, "
              f"{ours / bare:.2f} times")
    peer.close()


def transfer(server, rounds, size):
    peer = Peer(take_and_give, size)
    source = np.arange(size // 8)
    kept = server.put(source)

    def bare_put():
        peer.socket.sendall(b"p")
        peer.socket.sendall(source.view(np.uint8).data)
        peer.socket.recv(1)

    def bare_get():
        peer.socket.sendall(b"g")
        receive_all(peer.socket, np.empty(size, np.uint8).data)

    def put():
        server.put(source).wait()
    for name, work, bare in [("put", put, bare_put), ("get", kept.numpy, bare_get)]:
        ours, plain = compare(rounds, lambda: timed(work), lambda: timed(bare))
        server.sync()  # frees
        print(f"{name} of {size / 2**30:g} GiB: {size / ours / 1e9:.2f} GB/s, plain "
              f"{size / plain / 1e9:.2f} GB/s, {plain / ours:.2f} of the rate")
    peer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gib", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="SERVER [OPTION..]")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kenaz_bench_") as folder:
        program, log = pathlib.Path(folder) / "bench.fut", pathlib.Path(folder) / "log"
        program.write_text(PROGRAM)
        url = f"unix://{folder}/socket"
        with open(log, "wb") as file:
            process = subprocess.Popen([*args.command, "--listen", url, program], stderr=file)
        try:
            while not re.search("listening on", log.read_text()):
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.01)
            print(f"{os.cpu_count()} cores")
            with kenaz.connect(url) as server:
                latency(server, args.rounds)
                transfer(server, args.rounds, int(args.gib * 2**30) // 8 * 8)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
