#!/usr/bin/env python3
"""Sessions call a program while it is loaded anew, again and again. Every answer must be that of one
version, which was served at some time of the call; what the server holds must not grow.

    reload_test.py [--reloads N] [--sessions N] [--seconds N] [--slack MIB] SERVER [OPTION..]

Ends after so many reloads, or after --seconds if that comes first. Some versions have errors and must
leave the one before them running; some sessions end and begin anew meanwhile; values of the first
version are used with the last one."""
import argparse
import os
import random
import signal
import struct
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.server import Line, Server, raise_file_limit  # noqa: E402
from soak.client import expect, value  # noqa: E402

MIB = 1 << 20
FIRST = 2  # version
PATIENCE = 120  # seconds, for what takes much less on a machine that has nothing else to do


def version(k):
    """A program whose answers tell three times which version they are of."""
    return f"""
import "scale"
def k: i32 = {k}
def table: [3]i32 = map scale [1, 2, 3]
entry answer (xs: []i32): []i32 = [k, i32.sum (map (+ k) xs), i32.sum table]
entry same (xs: []i32): []i32 = xs
"""


def as_numbers(data):
    return list(struct.unpack(f"<{(len(data) - 15) // 4}i", data[15:]))


def is_answer(answer, xs):
    """Both files that a version consists of were those of one version."""
    return answer == [answer[0], sum(xs) + answer[0] * len(xs), 6 * answer[0]]


class Reloads:
    """The server, its program's files, and what is served now."""

    def __init__(self, command, folder):
        self.folder = folder
        self.path = os.path.join(folder, "program.fut")
        # Versions that an answer may be of, from .. to. Those before would be simplified.
        self.surely = self.perhaps = FIRST
        self.write(FIRST)
        self.server = Server([*command, self.path], listen=(),
                             env={**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache")})
        self.operator = Line.unix(self.server.path, PATIENCE)

    def replace(self, name, text):
        """As editors do: the file is there whole, or not yet."""
        path = os.path.join(self.folder, name)
        with open(path + "~", "w") as file:
            file.write(text)
        os.rename(path + "~", path)

    def write(self, k):
        # The server may read between the two: that has errors, and is not taken.
        if k > FIRST:
            os.unlink(os.path.join(self.folder, "scale.fut"))
        self.replace("program.fut", version(k))
        self.replace("scale.fut", f"def scale (x: i32) = {k} * x")

    def hang_up(self):
        self.server.process.send_signal(signal.SIGHUP)

    def served(self):
        return self.operator.request("programs")[0].split()[1]

    def wait(self, look, what):
        end = time.monotonic() + PATIENCE
        while not look():
            expect(time.monotonic() < end, f"{what}; log:\n{self.server.log()[-2000:]}")
            time.sleep(0.002)

    def load(self, k):
        before = self.served()
        self.perhaps = k
        self.write(k)
        self.hang_up()
        self.wait(lambda: self.served() != before, f"version {k} is not served")
        self.surely = k

    def load_broken(self):
        """Whether the version before goes on is seen by the sessions."""
        before, path = self.served(), os.path.getsize(self.server.log_path)
        self.replace("program.fut", "entry answer (xs: []i32): []i32 = ys")
        self.hang_up()

        def is_refused():
            with open(self.server.log_path, "rb") as log:
                log.seek(path)
                return b"it goes on as it was" in log.read()
        self.wait(is_refused, "nothing is said of a version with errors")
        expect(self.served() == before, "a version with errors is served")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def device_bytes(self):
        """What the program that is served has there, which it does from its first call on."""
        self.operator.upload("xs", "[]i32", value([1]))
        self.operator.request("call answer ys xs")
        self.operator.request("free xs ys")
        return self.server.stats(self.operator)["device_memory_used_bytes"]


class Session(threading.Thread):
    """Calls until it is told to end, or gets a wrong answer."""

    def __init__(self, reloads, number, ended):
        super().__init__()
        self.reloads, self.number, self.ended = reloads, number, ended
        self.calls, self.problem = 0, None
        self.rng = random.Random(number)

    def run(self):
        try:
            while not self.ended.is_set():
                line = Line.unix(self.reloads.server.path, PATIENCE)
                self.converse(line)
                line.close()
        except Exception as error:  # pylint: disable=broad-except
            self.problem = f"session {self.number}: {type(error).__name__}: {error}"
            self.ended.set()

    def converse(self, line):
        xs, last = [self.number, 2, 3], 0
        expect(line.upload("xs", "[]i32", value(xs)) == [], "upload")
        for _ in range(self.rng.choice([5, 200, 5000])):
            if self.ended.is_set():
                return
            least = max(last, self.reloads.surely)
            line.send("call answer ys xs\ndownload ys\nfree ys\n")
            line.read_reply()
            data = line.take(int(line.line()))
            line.read_reply()
            line.read_reply()
            answer, most = as_numbers(data), self.reloads.perhaps
            expect(is_answer(answer, xs) and least <= answer[0] <= most,
                   f"{answer} for {xs}, versions {least} to {most}")
            last = answer[0]
            self.calls += 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--reloads", type=int, default=1000)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--slack", type=int, default=16, help="MiB by which memory may grow")
    parser.add_argument("server", nargs=argparse.REMAINDER)
    return parser.parse_args()


def run(arguments, reloads, ended, sessions):
    """What the server had at each of 21 times, as rows."""
    kept = Line.unix(reloads.server.path, PATIENCE)
    expect(kept.upload("kept", "[]i32", value([7, 8])) == [], "upload")
    before = reloads.descriptors()
    for session in sessions:
        session.start()
    rows, start = [], time.monotonic()
    step = max(1, arguments.reloads // 20)
    for k in range(1, arguments.reloads + 1):
        if ended.is_set() or time.monotonic() - start > arguments.seconds:
            break
        if k % 10 == 5:
            reloads.load_broken()
        reloads.load(FIRST + k)
        if k % step == 0 or k == 1:
            rows.append((k, reloads.server.rss(), reloads.descriptors()))
            calls = sum(session.calls for session in sessions)
            print(f"{k} reloads, {calls} calls in {time.monotonic() - start:.0f} s: "
                  f"{rows[-1][1] / MIB:.1f} MiB, {rows[-1][2]} descriptors", flush=True)
    ended.set()
    for session in sessions:
        session.join()
    kept.request("call same ys kept")
    expect(as_numbers(kept.download("ys")) == [7, 8], "values of the first version")
    kept.close()
    reloads.wait(lambda: reloads.descriptors() < before, "descriptors are left over")
    return rows


def check(arguments, reloads, rows, at_start):
    """What is wrong with what the server holds."""
    half = len(rows) // 2
    first, last = (max(row[1] for row in part) for part in (rows[:half + 1], rows[half:]))
    if last > first + arguments.slack * MIB:
        yield f"memory grows from {first / MIB:.1f} to {last / MIB:.1f} MiB"
    most = max(row[2] for row in rows)
    # Each of those that begin anew may have two connections for a moment.
    if most > rows[0][2] + 2 * arguments.sessions:
        yield f"there are {most} open descriptors"
    reloads.wait(lambda: reloads.device_bytes() <= at_start,
                 f"device memory is left over, more than {at_start} bytes")


def main():
    arguments = parse_arguments()
    if not arguments.server:
        sys.exit("usage: reload_test.py [--reloads N] [--sessions N] SERVER [OPTION..]")
    raise_file_limit()
    with tempfile.TemporaryDirectory(prefix="kenaz_test_") as folder:
        reloads = Reloads(arguments.server, folder)
        at_start = reloads.device_bytes()
        ended = threading.Event()
        sessions = [Session(reloads, i, ended) for i in range(arguments.sessions)]
        try:
            rows = run(arguments, reloads, ended, sessions)
            problems = [s.problem for s in sessions if s.problem]
            problems = problems or list(check(arguments, reloads, rows, at_start))
        except (AssertionError, RuntimeError, OSError) as error:
            problems = [str(error), *(s.problem for s in sessions if s.problem)]
            ended.set()
        status = reloads.server.stop()
        if status != 0:
            problems.append(f"exit status {status}, log:\n{reloads.server.log()[-2000:]}")
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
