#!/usr/bin/env python3
"""Several programs in one server, and programs that change while they are served.

    programs_test.py SERVER [OPTION..]     e.g. --device cpu"""
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.cases import WithServers  # noqa: E402
from support.server import Line  # noqa: E402

SERVER = []
ON_DEVICE = False


def numbers(*values):
    return b"b\x02\x01 i32" + struct.pack("<q", len(values)) + struct.pack(
        f"<{len(values)}i", *values)


def as_numbers(data):
    return list(struct.unpack(f"<{(len(data) - 15) // 4}i", data[15:]))


def version(k):
    """A program whose answers tell which version they are of, three times."""
    return f"""
def k: i32 = {k}
def table: [3]i32 = map (* k) [1, 2, 3]
entry answer (xs: []i32): []i32 = [k, i32.sum (map (+ k) xs), i32.sum table]
entry same (xs: []i32): []i32 = xs
"""


class Programs(WithServers):
    def setUp(self):
        super().setUp()
        self.programs = os.path.join(self.folder, "programs")
        os.mkdir(self.programs)

    def path(self, name):
        return os.path.join(self.programs, name)

    def write(self, name, text):
        """As editors do: the file is there whole, or not yet."""
        path = self.path(name)
        with open(path + "~", "w") as file:
            file.write(text)
        os.rename(path + "~", path)
        return path

    def start(self, *words):
        return self.serve([*SERVER, *words], listen=())

    def call(self, line, entry, *xs):
        line.upload("xs", "[]i32", numbers(*xs))
        line.request(f"call {entry} ys xs")
        data = line.download("ys")
        line.request("free xs ys")
        return as_numbers(data)

    def versions(self, line):
        return {name: hash_ for name, hash_, _ in map(str.split, line.request("programs"))}


class Several(Programs):
    def test_the_first_of_a_folder_is_meant(self):
        self.write("b.fut", "entry f (xs: []i32) = map (+ 1) xs")
        self.write("a.fut", 'import "lib/l"\nentry f (xs: []i32) = map l xs')
        os.mkdir(self.path("lib"))
        self.write("lib/l.fut", "def l (x: i32) = x * 2")
        self.write("notes.txt", "no program")
        server = self.start("--programs", self.programs)
        line = self.join(server)
        self.assertEqual(list(self.versions(line)), ["a", "b"])
        self.assertEqual(self.call(line, "f", 1, 2), [2, 4])
        line.request("program b")
        self.assertEqual(self.call(line, "f", 1, 2), [2, 3])
        self.assertRegex(server.log(), r"serves 2 programs\n.* a is \S*/a.fut, version \w{16}, with 1 ")

    def test_a_choice_is_the_sessions(self):
        paths = [self.write(n + ".fut", f"entry f (xs: []i32) = map (+ {k}) xs")
                 for n, k in [("z", 1), ("a", 2)]]
        server = self.start("--log-level", "info", *paths)
        one, other = self.join(server), self.join(server)
        one.request("program a")
        self.assertEqual(self.call(one, "f", 1), [3])
        self.assertEqual(self.call(other, "f", 1), [2])  # the first that was named
        other.request("attach together")
        other.request("program a")
        third = self.join(server)
        third.request("attach together")
        self.assertEqual(self.call(third, "f", 1), [3])
        self.eventually(lambda: re.search(r"session 1: \S*/a.fut: call f: \d+ us, ok", server.log()))

    def test_figures_are_each_programs_own(self):
        paths = [self.write(n + ".fut", "entry f (xs: []i32) = xs") for n in "ab"]
        metrics = self.path("metrics")
        server = self.start("--metrics-file", metrics, *paths)
        line = self.join(server)
        self.call(line, "f", 1)
        self.call(line, "f", 1)
        line.request("program b")
        self.call(line, "f", 1)
        self.assertEqual(server.stop(), 0)
        with open(metrics) as file:
            text = file.read()
        for row in ['{program="a",entry="f"} 2', '{program="b",entry="f"} 1']:
            self.assertIn("kenaz_entry_calls_total" + row + "\n", text)

    def test_what_cannot_be_served_is_said(self):
        good = self.write("a.fut", "entry f (x: i32) = x")
        bad = self.write("bad.fut", "entry f (x: i32) = y")
        for words, why in [([good, bad], 'Unknown name "y"'), ([good, good], "the name a"),
                           (["--check", good, bad], "takes one program"),
                           (["--programs", self.path("nosuch")], "nosuch")]:
            with self.assertRaisesRegex(RuntimeError, why):
                self.start(*words)


SPIN = """
entry spin (n: i64): i64 = loop x = 0 for i < n do x * i + 1
entry f (xs: []i32) = xs
entry grow (n: i64): i64 = i64.sum (scan (+) 0 (iota n))
"""


class Limits(Programs):
    """Of one program's own; the other one has none."""
    def limited(self, *limits, options=()):
        paths = [self.write(name + ".fut", SPIN) for name in ("a", "b")]
        words = [w for limit in limits for w in ("--program-limit", limit)]
        return self.start(*words, *options, *paths)

    def upload(self, line, n):
        line.upload("n", "i64", b"b\x02\x00 i64" + struct.pack("<q", n))

    def failure(self, line, command):
        reply = line.ask(command)
        self.assertIn("%%% FAILURE", reply)
        return "\n".join(reply[reply.index("%%% FAILURE") + 1:])

    def test_calls_end_in_the_programs_time(self):
        server = self.limited("a.call-timeout=0.2")
        line = self.join(server)
        self.upload(line, 1 << 60)
        self.assertIn("0.2 seconds", self.failure(line, "call spin x n"))
        line.request("program b")
        line.send("call spin x n\n")
        time.sleep(0.5)
        operator = self.join(server)
        busy = [words.split() for words in operator.request("sessions") if " spin " in words]
        self.assertGreater(int(busy[0][-1]), 400_000)
        operator.request("cancel " + busy[0][1])
        self.assertIn("cancelled", "\n".join(line.read_reply()))

    def test_only_so_many_calls_wait_or_run(self):
        server = self.limited("a.calls=2", "a.call-timeout=2")
        lines = [self.join(server) for _ in range(4)]
        for line in lines:
            self.upload(line, 1 << 60)
        for line in lines[:2]:
            line.send("call spin x n\n")
        operator = self.join(server)
        self.eventually(lambda: str(operator.request("sessions")).count(" spin ") == 2)
        self.assertIn("The program a has 2 calls that wait or run; more are not allowed "
                      "(--program-limit a.calls).", self.failure(lines[2], "call spin x n"))
        lines[3].request("program b")
        self.assertEqual(self.call(lines[3], "f", 7), [7])  # takes its turn
        for line in lines[:2]:
            self.assertIn("%%% FAILURE", line.read_reply())
        self.assertEqual(self.call(lines[2], "f", 7), [7])

    def test_only_so_many_sessions_choose_it(self):
        server = self.limited("a.sessions=1")
        first, second = self.join(server), self.join(server)
        self.assertEqual(self.call(first, "f", 1), [1])
        self.assertGreater(len(second.request("stats")), 5)  # is not about the program
        self.assertIn("The program a has 1 sessions", self.failure(second, "inputs f"))
        second.request("program b")
        self.assertEqual(self.call(second, "f", 1), [1])
        self.assertIn("The program a has 1 sessions", self.failure(second, "program a"))
        first.close()
        self.eventually(lambda: not second.ask("program a"))

    def test_a_call_takes_only_so_much_memory(self):
        if not ON_DEVICE:
            return
        server = self.limited("a.call-memory=1mib")
        line = self.join(server)
        self.upload(line, 1 << 20)
        self.assertIn("of what the call may take", self.failure(line, "call grow x n"))
        line.request("program b")
        line.request("call grow x n")
        line.request("program a")
        line.request("free n x")
        self.upload(line, 1 << 10)
        line.request("call grow x n")

    def test_limits_of_nothing_are_refused(self):
        with self.assertRaisesRegex(RuntimeError, "c: there is no such program"):
            self.limited("c.calls=2")
        with self.assertRaisesRegex(RuntimeError, "there is no limit speed"):
            self.limited("a.speed=2")
        self.write("a.fut", SPIN)
        server = self.start("--programs", self.programs, "--program-limit", "later.calls=2")
        self.assertIn("later: there is no such program yet", server.log())


class Changing(Programs):
    def test_what_is_broken_leaves_the_old_one_running(self):
        path = self.write("p.fut", version(1))
        server = self.start("--watch", path)
        line = self.join(server)
        line.upload("kept", "[]i32", numbers(5))
        old = self.versions(line)
        self.write("p.fut", "entry answer (x: i32) = y")
        self.eventually(lambda: 'Unknown name "y"' in server.log())
        self.assertIn(f"{path}: not loaded, it goes on as it was:\nError at {path}:1:25", server.log())
        self.assertEqual(self.versions(line), old)
        self.assertEqual(self.call(line, "answer", 1), [1, 2, 6])
        self.write("p.fut", version(2))
        self.eventually(lambda: self.versions(line) != old)
        self.assertEqual(self.call(line, "answer", 1), [2, 3, 12])
        line.request("call same ys kept")

    def test_an_import_that_changes_counts(self):
        self.write("lib.fut", "def k: i32 = 1")
        path = self.write("p.fut", 'import "lib"\nentry f (xs: []i32) = map (+ k) xs')
        server = self.start("--watch", path)
        line = self.join(server)
        self.assertEqual(self.call(line, "f", 1), [2])
        self.write("lib.fut", "def k: i32 = 5")
        self.eventually(lambda: self.call(line, "f", 1) == [6])
        # The line is written after the program has been put in place.
        self.eventually(lambda: f"{path}: loaded anew, version " in server.log(), server.log)

    def test_programs_come_and_go(self):
        self.write("a.fut", version(1))
        self.write("b.fut", version(2))
        server = self.start("--watch", "--programs", self.programs)
        line = self.join(server)
        line.upload("kept", "[]i32", numbers(5))
        self.write("c.fut", version(3))
        self.eventually(lambda: list(self.versions(line)) == ["a", "b", "c"])
        os.unlink(self.path("a.fut"))
        self.eventually(lambda: list(self.versions(line)) == ["b", "c"])
        self.assertIn("The program a is not served any more.",
                      "\n".join(line.ask("call answer ys kept")))
        self.assertEqual(as_numbers(line.download("kept")), [5])
        line.request("program c")
        line.request("call answer ys kept")
        self.assertEqual(as_numbers(line.download("ys")), [3, 8, 18])
        self.assertEqual(self.call(self.join(server), "answer", 1), [2, 3, 12])
        for name in "bc":
            os.unlink(self.path(name + ".fut"))
        self.eventually(lambda: "since there is no other program" in server.log())
        self.assertEqual(len(self.versions(line)), 1)

    def test_a_call_that_runs_ends_with_the_version_it_began_with(self):
        text = "entry f (n: i32): i32 = {} + (loop x = 0 for i < n do (x + i) & 0xff) / 1000"
        path = self.write("p.fut", text.format(1))
        server = self.start(path)
        line, operator = self.join(server), self.join(server)
        line.upload("n", "i32", b"b\x02\x00 i32" + struct.pack("<i", 3_000_000))
        old = self.versions(operator)
        line.send("call f x n\n")
        self.eventually(lambda: " f " in operator.request("sessions")[0])
        self.write("p.fut", text.format(2))
        server.process.send_signal(signal.SIGHUP)
        line.read_reply()
        self.eventually(lambda: self.versions(operator) != old)
        line.request("call f y n")
        self.assertEqual([line.download(v)[-4:] for v in "xy"],
                         [struct.pack("<i", k) for k in (1, 2)])

    def test_a_hangup_while_programs_are_compiled_first_is_kept(self):
        slow = "\n".join(f"def f{k} (x: i32): i32 = f{k - 1} (x + {k}) * f{k - 1} (x * {k})"
                         for k in range(1, 18))
        path = self.write("p.fut", f"def f0 (x: i32) = x\n{slow}\n{version(1)}entry g = f17")
        log = self.path("log")
        with open(log, "w") as out:
            process = subprocess.Popen(
                [*SERVER, path, "--listen", "unix://" + self.path("socket")], stderr=out,
                env={**os.environ, "XDG_CACHE_HOME": os.path.join(self.folder, "cache")})
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.eventually(lambda: self.outlives_a_hangup(process.pid))
        time.sleep(0.3)  # it has read the program then, most likely
        self.write("p.fut", version(2))
        process.send_signal(signal.SIGHUP)
        looked = re.compile(f"{re.escape(path)}: loaded anew|no program has changed")
        self.eventually(lambda: looked.search(pathlib.Path(log).read_text()))
        line = Line.unix(self.path("socket"))
        self.assertEqual(self.call(line, "answer", 1), [2, 3, 12])
        line.close()

    @staticmethod
    def outlives_a_hangup(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        masks = re.findall(r"Sig(?:Cgt|Ign):\s*(\w+)", status)
        return any(int(mask, 16) & 1 << signal.SIGHUP - 1 for mask in masks)

    def test_hangup_without_changes_changes_nothing(self):
        path = self.write("p.fut", version(1))
        server = self.start(path)
        old = self.versions(self.join(server))
        server.process.send_signal(signal.SIGHUP)
        self.eventually(lambda: "no program has changed" in server.log())
        self.assertEqual(self.versions(self.join(server)), old)


if __name__ == "__main__":
    SERVER = sys.argv[1:]
    ON_DEVICE = "--reference" not in SERVER
    # Most of it is no matter of the device.
    names = ["Several.test_the_first_of_a_folder_is_meant",
             "Limits.test_calls_end_in_the_programs_time",
             "Limits.test_a_call_takes_only_so_much_memory",
             "Changing.test_a_call_that_runs_ends_with_the_version_it_began_with"]
    unittest.main(argv=[sys.argv[0], *(names if ON_DEVICE else [])])
