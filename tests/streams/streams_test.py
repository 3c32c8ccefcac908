#!/usr/bin/env python3
"""kenaz stream, compared with the same in Python: docs/streams.md.

    streams_test.py KENAZ SERVER [OPTION..]     e.g. --reference

In the environment, STREAMS says how many random streams are tried, SEED which, and TESTS which tests
are run (all unless given)."""
import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

KENAZ, SERVER = "", []
TIMEOUT = 120
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "program.fut")


def wrap(x):
    """As an i32."""
    return (x + 2**31) % 2**32 - 2**31


def raw(xs, kind="i"):
    return struct.pack(f"<{len(xs)}{kind}", *xs)


def unraw(data, kind="i"):
    return list(struct.unpack(f"<{len(data) // struct.calcsize('<' + kind)}{kind}", data))


def array(xs, kind="i", name=" i32", shape=None):
    """In Futhark's binary format."""
    shape = [len(xs)] if shape is None else shape
    return (b"b\x02" + bytes([len(shape)]) + name.encode() + struct.pack(f"<{len(shape)}q", *shape)
            + raw(xs, kind))


# ---- the stages of program.fut, on whole streams

def running(xs):
    ys, total = [], 5
    for x in xs:
        total = wrap(total + x)
        ys.append(total)
    return ys


def changes(xs):
    numbers, number, before = [], 100, -1
    for x in xs:
        if x != before:
            numbers.append(number)
            number += 3
        before = x
    return numbers


def span(xs):
    ys, low, high = [], 2**31 - 1, -2**31
    for x in xs:
        low, high = min(low, x), max(high, x)
        ys.append(wrap(high - low))
    return ys


# name: what it does, and what the command line says of it
STAGES = {
    "scale": (lambda xs: [wrap(-3 * x) for x in xs], ["--param", "scale.a=-3"]),
    "evens": (lambda xs: [x for x in xs if x % 2 == 0], []),
    "none": (lambda xs: [], []),
    "twice": (lambda xs: [x for x in xs for _ in range(2)], []),
    "running": (running, ["--state", "5"]),
    "delay": (lambda xs: ([7, 8, 9] + xs)[:len(xs)], ["--state", "[7, 8, 9]"]),
    "span": (span, ["--state", "widest"]),
}
LAST = {
    "changes": (changes, ["--param", "step=3", "--state", "count_from"], "q"),
    "widen": (lambda xs: [float(x) for x in xs], [], "d"),
}


def child_of(process):
    """The server that kenaz has started."""
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
        return int(children.read().split()[0])


class Streams(unittest.TestCase):
    def command(self, stages, *options, program=PROGRAM):
        return [KENAZ, "stream", program, *(["-e", stages] if stages else []), "--server", *SERVER,
                *options]

    def run_stream(self, stages, data, *options, program=PROGRAM):
        return subprocess.run(self.command(stages, *options, program=program), input=data,
                              timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def stream(self, stages, data, *options):
        done = self.run_stream(stages, data, *options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), (stages, options))
        return done.stdout

    def fails(self, stages, data, *options, code=1, **more):
        done = self.run_stream(stages, data, *options, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.startswith(b"kenaz: "), done.stderr)
        return done.stdout, done.stderr.decode()

    def write(self, name, text):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.addCleanup(scratch.cleanup)
        path = os.path.join(scratch.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    # ---- what comes out

    def test_random_chains_lengths_and_chunks(self):
        seed = int(os.environ.get("SEED", random.randrange(2**32)))
        rng = random.Random(seed)
        for k in range(int(os.environ.get("STREAMS", 14))):
            chunk = rng.choice([1, 2, 3, 10, 64])
            n = [0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, rng.randrange(6 * chunk + 1)][k % 7]
            xs = expected = [rng.choice([rng.randrange(-5, 6), rng.randrange(-2**31, 2**31)])
                             for _ in range(n)]
            stages = rng.choices(list(STAGES), k=rng.randrange(1, 4))
            # One that leaves nothing is tried, but not before all others.
            stages.sort(key="none".__eq__)
            kind, last = "i", rng.choice([None, None, *LAST])
            options = []
            for name in stages:
                expected = STAGES[name][0](expected)
                options += STAGES[name][1]
            if last:
                function, more, kind = LAST[last]
                stages, options, expected = [*stages, last], options + more, function(expected)
            got = self.stream(",".join(stages), raw(xs), *options, "--chunk", str(chunk))
            self.assertEqual(unraw(got, kind), expected, (seed, stages, n, chunk))

    def test_results_larger_than_their_chunks(self):
        """They have no room where others come; the last chunk's has."""
        xs = list(range(20010))
        for stages, times in [("twice", 2), ("twice,twice", 4)]:
            got = self.stream(stages, raw(xs), "--chunk", "5000")
            self.assertEqual(unraw(got), [x for x in xs for _ in range(times)])

    def test_all_formats(self):
        xs = [1, -2, 3, 4, -2147483648, 6, 7]
        expected = [wrap(2 * x) for x in xs]
        inputs = {"raw": raw(xs), "text": " ".join(map(str, xs)).encode(),
                  "binary": array(xs[:3]) + array([]) + array(xs[3:])}
        outputs = {"raw": raw(expected), "text": "".join(f"{x}\n" for x in expected).encode(),
                   "binary": array(expected[:3]) + array(expected[3:6]) + array(expected[6:])}
        for given, wanted in [("raw", "text"), ("text", "binary"), ("binary", "raw")]:
            got = self.stream("scale", inputs[given], "-p", "a=2", "-c", "3", "--input-format",
                              given, "--output-format", wanted)
            self.assertEqual(got, outputs[wanted])
        self.assertEqual(self.stream("none", b"", "-f", "binary"), array([]))

    def test_elements_that_are_arrays(self):
        xs = list(range(10))
        sums = [x + y for x, y in zip(xs[::2], xs[1::2])]
        for chunk in ["1", "2", "4", "5", "99"]:
            got = self.stream("both", raw(xs), "--shape", "2", "--chunk", chunk)
            self.assertEqual(unraw(got), sums)
        got = self.stream("both,corners", b"1 2 3\n4\n", "--shape", "2", "-f", "text")
        self.assertEqual(got, b"3 -3\n7 -7\n")
        _, error = self.fails("both", b"", code=2)
        self.assertIn("both takes [][]i32: the shape of one element must have 1 dimensions, but 0 are given", error)

    def test_parameters(self):
        got = self.stream("widen,weigh", raw([1, 2]), "-p", "a=10", "-p", "weights=[1, 0.5]")
        self.assertEqual(unraw(got, "d"), [11.5, 13])
        got = self.stream("scale,scale", raw([1, 2]), "-p", "a=zero", "-p", "scale.a=3")
        self.assertEqual(unraw(got), [9, 18])
        got = self.stream("scale", raw([1, 2]), "-p", "a=zero")
        self.assertEqual(unraw(got), [0, 0])

    def test_a_state_that_shares_memory_with_a_result(self):
        got = self.stream("shared,overwrite", raw([1, 2, 3, 4, 5, 6]), "--chunk", "2", "--state",
                          "[]")
        self.assertEqual(unraw(got), [0, 2, 0, 6, 0, 12])

    def test_a_chunk_that_is_consumed(self):
        got = self.stream("negate_bytes,negate_bytes,negate_bytes", raw([1, 2, -3], "b"), "-c", "2")
        self.assertEqual(unraw(got, "b"), [-1, -2, 3])

    # ---- refused before anything is read

    def test_stages_must_be_stages_that_chain(self):
        for stages, options, message in [
                ("widen,evens", [], "the stages do not chain: widen gives []f64, but evens takes []i32"),
                ("total", [], "total cannot be a stage, as it returns no array of scalars: []i32 -> i32"),
                ("add", [], "its last parameter is no array of scalars: i32 -> i32 -> i32"),
                ("lost", [], "it takes a state of type i64, but returns one of type i32"),
                ("three", [], "it returns 3 values: []i32 -> (i32, []i32, []i32)"),
                ("zero", [], "it has no parameters"),
                ("used_up", [], "it consumes its parameter 1, which every chunk needs"),
                ("evnes", [], "Did you mean 'evens'?"),
                ("running", [], "these do: running (i32); given are 0"),
                ("evens", ["-s", "1"], "--state is given, but no stage carries a state"),
                ("running", ["-s", "x"],
                 "the state of stage running: x is neither a value of type i32 nor an entry point.\n"),
                ("scale", ["-p", "a=zeroo"], "parameter a of stage scale: zeroo is neither a value of "
                 "type i32 nor an entry point. Did you mean 'zero'?\n"),
                ("running", ["-s", "1.5"], "the state of stage running: "),
                ("running", ["-s", "1 2"], "the state of stage running: more than one value"),
                ("running", ["-s", "widest"], "is of type i32, but widest gives extremes"),
                ("running", ["-s", "evens"], "is to come from evens, which takes 1 arguments, not 0"),
                ("span", ["-s", "(1, 2)"], "name an entry point without parameters"),
                ("scale", [], "has a parameter a of type i32: give it by --param a=VALUE"),
                ("scale", ["-p", "a=1", "-p", "b=2"], "no stage has a parameter for --param b=2"),
                ("scale", ["-p", "a"], '"a" is not NAME=VALUE'),
        ]:
            # The input never ends, so nobody waits for it.
            process = subprocess.Popen(self.command(stages, *options), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with process:
                error = process.stderr.read().decode()
                self.assertEqual((process.wait(TIMEOUT), process.stdout.read()), (2, b""), error)
            self.assertIn(message, error)

    def test_bad_options(self):
        for options in [["-c", "0"], ["-f", "json"], ["--shape", "0"]]:
            done = self.run_stream("evens", b"", *options)
            self.assertEqual(done.returncode, 2, options)

    def test_a_program_that_is_rejected(self):
        done = self.run_stream(None, b"", program=self.write("bad.fut", "entry f (x: i32) = (x"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"bad.fut:1", done.stderr)

    # ---- failures on the way

    def test_inputs_that_are_no_elements(self):
        for data, options, message, before in [
                (raw([1, 2, 3]) + b"xy", [], "14 bytes are no whole number of i32 elements of 4 bytes",
                 [1, 2, 3]),
                (b"1\n2\n3\nfour\n5\n", ["--input-format", "text"],
                 'standard input, line 4: "four" is not a value', [1, 2, 3]),
                (array([1, 2, 3]) + array([4.0], "f", " f32"), ["--input-format", "binary"],
                 "standard input, array 2: a value of type []f32, where the first stage takes []i32",
                 [1, 2, 3])]:
            for chunk in ["1", "2", "3", "100"]:
                out, error = self.fails("scale", data, "-p", "a=1", "-c", chunk, *options)
                self.assertIn(message, error)
                self.assertEqual(unraw(out), before)

    def test_a_program_that_fails_says_where(self):
        xs = [1, 2, 4, 5, 8, 10, 0, 20, 25]
        out, error = self.fails("scale,inverse", raw(xs), "-p", "a=1", "-c", "2")
        self.assertEqual(unraw(out), [1000, 500, 250, 200, 125, 100])
        self.assertIn("kenaz: chunk 3 (elements 6 to 7), stage inverse:\nError: division by zero",
                      error)
        out, error = self.fails("running,inverse", raw([3, -3]), "-s", "0", "-c", "1")
        self.assertIn("chunk 1 (element 1), stage inverse:", error)

    def test_a_program_that_fails_while_its_input_goes_on(self):
        with subprocess.Popen(self.command("inverse", "-c", "2"), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(raw([1, 0]))
            process.stdin.flush()
            self.assertEqual(process.wait(TIMEOUT), 1)
            self.assertIn(b"chunk 0 (elements 0 to 1)", process.stderr.read())

    def test_a_server_that_is_killed(self):
        with subprocess.Popen(self.command("evens", "-c", "2"), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(raw([1, 2]))
            process.stdin.flush()
            self.assertEqual(process.stdout.read(4), raw([2]))
            os.kill(child_of(process), signal.SIGKILL)
            process.stdin.write(raw([3, 4]))
            process.stdin.flush()
            self.assertEqual(process.wait(TIMEOUT), 1)
            self.assertIn(b"kenaz: chunk 1 (elements 2 to 3), ", error := process.stderr.read())
            self.assertIn(b"was killed by signal 9", error)

    # ---- pipes

    def test_results_do_not_wait_for_more_input(self):
        with subprocess.Popen(self.command("running", "-s", "0", "-c", "2", "-f", "text"),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for given, got in [(b"1 2 ", b"1\n3\n"), (b"3 4\n", b"6\n10\n")]:
                process.stdin.write(given)
                process.stdin.flush()
                self.assertEqual(os.read(process.stdout.fileno(), 100), got)
            process.stdin.close()
            self.assertEqual(process.wait(TIMEOUT), 0)

    def test_a_reader_that_leaves(self):
        with open("/dev/zero", "rb") as zeros:
            process = subprocess.Popen(self.command("twice", "-c", "1000"), stdin=zeros,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with process:
            process.stdout.read(100)
            process.stdout.close()
            self.assertEqual(process.wait(TIMEOUT), -signal.SIGPIPE)
            self.assertEqual(process.stderr.read(), b"")

    def test_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(self.command("evens"), input=raw([2] * 100), stdout=full,
                                  stderr=subprocess.PIPE, timeout=TIMEOUT)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left on device", done.stderr)

    def test_streams_that_are_closed(self):
        for closed, message in [("<&-", b"cannot read standard input: Bad file descriptor"),
                                (">&-", b"cannot write the standard output: Bad file descriptor")]:
            done = subprocess.run(["bash", "-c", f'"$0" "$@" {closed}', *self.command("evens")],
                                  input=raw([2]), stderr=subprocess.PIPE, timeout=TIMEOUT)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)

    def test_memory_does_not_grow_with_the_stream(self):
        if "--reference" in SERVER:
            self.skipTest("the evaluator takes too long for so many elements")
        most = [self.peaks(mib << 20) for mib in (1, 48)]
        for less, more in zip(*most):
            self.assertLess(more, less + (16 << 20))

    def peaks(self, size):
        """The most bytes of memory that a client and its server have taken for a stream of `size`
        bytes."""
        with subprocess.Popen(self.command("negate_bytes,negate_bytes", "-c", "131072"),
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            writer = threading.Thread(target=lambda: process.stdin.write(bytes(size)))
            writer.start()
            left = size
            while left > 0:
                left -= len(process.stdout.read(min(left, 1 << 20)))
            writer.join()
            found = []
            for pid in (process.pid, child_of(process)):
                with open(f"/proc/{pid}/status") as status:
                    found += [int(line.split()[1]) << 10 for line in status if "VmHWM" in line]
            process.stdin.close()
            self.assertEqual((process.wait(TIMEOUT), len(found)), (0, 2))
        return found

    def test_input_waits_while_nobody_reads_the_output(self):
        """What nobody reads is not computed: the input is not taken, either."""
        with subprocess.Popen(self.command("twice", "-c", "100"), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            os.set_blocking(process.stdin.fileno(), False)
            taken, chunk, idle = 0, raw([0] * 1024), 0
            while idle < 10 and taken < 1 << 24:
                try:
                    taken += os.write(process.stdin.fileno(), chunk)
                    idle = 0
                except BlockingIOError:
                    idle += 1
                    time.sleep(0.05)
            # Of the pipes before and behind, the sockets of the server, and a few chunks.
            self.assertLess(taken, 1 << 20)
            process.kill()

    @contextlib.contextmanager
    def listening(self):
        """The URL of a server; its process is self.listener."""
        with tempfile.TemporaryDirectory(prefix="kenaz_test_") as folder:
            url = f"unix://{folder}/socket"
            server = self.listener = subprocess.Popen([*SERVER, "--listen", url, PROGRAM],
                                                      stderr=subprocess.DEVNULL)
            try:
                # The socket has a name a moment before it can be connected to.
                while server.poll() is None:
                    with socket.socket(socket.AF_UNIX) as probe:
                        if probe.connect_ex(url[7:]) == 0:
                            break
                    time.sleep(0.01)
                yield url
            finally:
                server.terminate()
                server.wait(60)

    def sums(self, url, *options):
        """A stream with a parameter and a state."""
        return [KENAZ, "stream", url, "-e", "scale,running", "-p", "a=2", "-s", "5", "-c", "2", "-f",
                "text", *options]

    def gives_sums(self, url, *options):
        done = subprocess.run(self.sums(url, *options), input=b"1 2 3", timeout=TIMEOUT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"7\n11\n17\n", b""))

    def variables(self, url):
        """What is in the session "s": names, types and sizes."""
        done = subprocess.run([KENAZ, "connect", url, "--session", "s"], input="vars\n", text=True,
                              timeout=TIMEOUT, stdout=subprocess.PIPE)
        return done.stdout.replace("%%% OK\n", "").split()

    def test_a_server_on_a_socket(self):
        with self.listening() as url:
            for session in [[], ["--session", "s"], ["--session", "s"]]:
                self.gives_sums(url, *session)
            failed = [KENAZ, "stream", url, "--session", "s", "-e", "inverse"]
            self.assertEqual(subprocess.run(failed, input=raw([0]), stderr=subprocess.DEVNULL,
                                            timeout=TIMEOUT).returncode, 1)
            # Nothing of these streams stays in the session.
            self.assertEqual(self.variables(url), [])

    def test_a_server_on_a_socket_that_ends(self):
        for end in [signal.SIGKILL, signal.SIGTERM]:
            with self.listening() as url:
                command = [KENAZ, "stream", url, "-e", "evens", "-c", "2"]
                with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE) as process:
                    process.stdin.write(raw([1, 2]))
                    process.stdin.flush()
                    self.assertEqual(process.stdout.read(4), raw([2]))
                    self.listener.send_signal(end)
                    self.listener.wait(60)
                    process.stdin.write(raw([3, 4]))
                    process.stdin.flush()
                    try:
                        code = process.wait(TIMEOUT)
                    finally:
                        process.kill()  # where it hangs
                    self.assertEqual(code, 1)
                    self.assertIn(b"kenaz: chunk 1 (elements 2 to 3), ", process.stderr.read())

    def test_a_session_after_streams_that_did_not_end_well(self):
        with self.listening() as url:
            session = ["--session", "s"]
            # Refused once its arguments have been made, by the command and by the pipeline.
            for wrong in [["-p", "b=2"], ["--shape", "2"]]:
                refused = subprocess.run(self.sums(url, *session, *wrong), input=b"1",
                                         stderr=subprocess.DEVNULL, timeout=TIMEOUT)
                self.assertEqual((refused.returncode, self.variables(url)), (2, []))
            with subprocess.Popen(self.sums(url, *session), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as process:
                process.stdin.write(b"1 2 ")
                process.stdin.flush()
                self.assertEqual(os.read(process.stdout.fileno(), 100), b"7\n11\n")
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(TIMEOUT), -signal.SIGINT)
            self.assertNotEqual(self.variables(url), [])  # nobody was there to free them
            self.gives_sums(url, *session)
            self.assertEqual(self.variables(url), [])


def main():
    global KENAZ
    KENAZ, SERVER[:] = sys.argv[1], sys.argv[2:3]
    # Behind --server, the others are options of kenaz stream, and mean the same.
    SERVER.extend(sys.argv[3:])
    unittest.main(argv=[sys.argv[0], *os.environ.get("TESTS", "").split()])


if __name__ == "__main__":
    main()
