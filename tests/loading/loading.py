"""For tests of programs that clients load: a server that takes them, and some of them."""
import contextlib
import os
import struct
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.cases import WithServers  # noqa: E402

COMMANDS = {"kenaz": "", "server": []}  # what the tests run
FAILURE = "%%% FAILURE"
PATIENCE = 120  # seconds, for what takes much less on a machine that has nothing else to do

OWN = """
type~ pair = {a: i32, b: []i32}
entry twice (xs: []i32): []i32 = map (* 2) xs
entry sum_of (p: pair): i32 = p.a + i32.sum p.b
"""
GOOD = """
import "lib/more"
type~ pair = {a: i32, b: []i32}
-- | Adds.
entry add (xs: []i32) (k: i32): []i32 = map (+ more k) xs
entry make (a: i32) (b: []i32): pair = {a, b}
entry five: i32 = 5
entry spin (n: i64): i64 = loop x = 0 for i < n do x * i + 1
"""
MORE = "def more (k: i32) = k * 10"
# Kernels that use addresses which nobody gave them.
WILD = """
entry wild (is: []i64): []i32 =
  map (\\i -> let t = replicate 100 0i32 let t = #[unsafe] (t with [i] = 7) in i32.sum t) is
"""
HUNGRY = """
entry hungry (n: i64): i64 = i64.sum (scan (+) 0 (iota n))
"""


def array(*values):
    return b"b\x02\x01 i32" + struct.pack("<q", len(values)) + struct.pack(
        f"<{len(values)}i", *values)


def array64(*values):
    return b"b\x02\x01 i64" + struct.pack("<q", len(values)) + struct.pack(
        f"<{len(values)}q", *values)


def scalar(type_name, code, value):
    return b"b\x02\x00" + type_name.rjust(4).encode() + struct.pack("<" + code, value)


def archive(main, **others):
    files = {"main.fut": main, **{name + ".fut": text for name, text in others.items()}}
    return b"".join(b"file %s %d\n" % (path.encode(), len(text.encode())) + text.encode()
                    for path, text in files.items())


class Loading(WithServers):
    patience = PATIENCE

    def setUp(self):
        super().setUp()
        self.own = self.write("own.fut", OWN)

    def start(self, *options, listen=()):
        return self.serve([*COMMANDS["server"], "--allow-load", *options, self.own], listen)

    def load(self, line, name, main, **others):
        return self.load_bytes(line, name, archive(main, **others))

    def load_bytes(self, line, name, data):
        line.send(f"load {name} {len(data)}\n".encode() + data)
        return line.read_reply()

    def start_with(self, program, *options, **others):
        """A server, and a connection that has loaded the program, and chosen it."""
        server = self.start(*options)
        line = self.join(server)
        self.assertEqual(self.load(line, "it", program, **others), [])
        line.request("program it")
        return server, line

    def assertFails(self, reply, pattern):
        self.assertIn(FAILURE, reply)
        self.assertRegex("\n".join(reply[reply.index(FAILURE) + 1:]), pattern)

    def workers(self, server):
        """The processes of loaded programs."""
        tasks = f"/proc/{server.process.pid}/task"
        found = []
        for task in os.listdir(tasks):
            with contextlib.suppress(FileNotFoundError):
                with open(f"{tasks}/{task}/children") as file:
                    found += map(int, file.read().split())
        return sorted(found)

    def states(self, process):
        """Of a process's threads, as in proc(5): T for one that is stopped."""
        tasks = f"/proc/{process}/task"
        found = []
        for task in os.listdir(tasks):
            with contextlib.suppress(FileNotFoundError):
                with open(f"{tasks}/{task}/stat") as file:
                    found.append(file.read().rpartition(")")[2].split()[0])
        return found

    def call_own(self, line, *xs):
        """Of the server's program."""
        line.upload("own", "[]i32", array(*xs))
        line.request("call twice own2 own")
        data = line.download("own2")
        line.request("free own own2")
        return data

    @contextlib.contextmanager
    def others_go_on(self, server):
        """Another client calls the server's program all the while, and gets right answers."""
        line = self.join(server)
        stop, outcome = threading.Event(), []

        def serve():
            k = 0
            while not stop.is_set() and len(outcome) < 1:
                k += 1
                data = self.call_own(line, k, k + 1)
                if data != array(2 * k, 2 * k + 2):
                    outcome.append(data)
            outcome.append(k)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
        self.assertEqual(len(outcome), 1, outcome)
        self.assertGreater(outcome[0], 0)
